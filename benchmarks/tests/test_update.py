import numpy as np
import pytest

from benchmarks import update
from benchmarks.update import COLUMNS, Week, kept, mean, row, words_of


class Model:
    def __init__(self, terms, components, weights=()):
        self.corpus_ = type("Corpus", (), {"vocabulary": tuple(terms)})
        self.components_, self.topic_weights_ = np.array(components), np.array(weights)


def test_topics_that_another_model_has():
    before = Model("abc", [[0.9, 0.1, 0.0], [0.0, 0.5, 0.5], [0.0, 0.1, 0.9]], [5.0, 3.0, 2.0])
    now = Model("cabd", [[0.9, 0.0, 0.1, 0.0], [0.0, 0.8, 0.1, 0.1]])
    assert kept(before, now) == (pytest.approx(2 / 3), pytest.approx(0.7))


def test_words_that_only_one_text_has_are_left_out():
    assert words_of(["the bee and the ant", "bee hive hive", "ant"]) == [["bee", "ant"], ["bee"], ["ant"]]


def test_a_row_has_a_cell_for_every_column():
    week = Week(2, 1200, (0.5, 7.0), (-7.0, -7.25), ((0.8, 0.9), (0.7, 0.85)))
    assert row(week) == "| 2 | 1,200 | 0.5 | 7.0 | -7.000 | -7.250 | 80% | 90% | 70% | 85% |"
    assert mean([week]).count("|") == row(week).count("|") == len(COLUMNS) + 1


def test_a_small_run(capsys):
    small = {"documents": 60, "batches": 3, "sweeps": 4, "update-sweeps": 2, "chains": 1}
    update.main([f"--{name}={value}" for name, value in small.items()])
    assert len(capsys.readouterr().out.splitlines()) == 2 + 2 + 1
