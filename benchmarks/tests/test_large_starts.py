import sys

import pytest

from benchmarks import large_starts
from benchmarks.defaults import text
from benchmarks.large_starts import COLUMNS, STARTS, Documents, rows


@pytest.fixture(scope="module")
def documents():
    truth = text(4_000, 100, 3)(1)
    return Documents("tiny", truth.corpus, truth.test, truth)


def said(documents, starts=STARTS, marks=(2, 4)):
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows(documents, starts, 1, marks)]


def test_each_start_has_a_row_for_each_mark(documents):
    found = said(documents)
    assert [(row["start"], row["sweeps"]) for row in found] == [
        (start, mark) for start in STARTS for mark in ("2", "4")
    ]


def test_a_chain_from_the_truth_has_its_topics(documents):
    (row,) = said(documents, ["truth"], [4])
    assert (row["planted"], row["matched"], row["missing"], row["doubled"]) == ("3", "3", "0.0%", "0")


def test_a_corpus_without_a_truth_does_not_start_from_it(documents):
    found = said(documents._replace(truth=None), marks=[2])
    assert [row["start"] for row in found] == ["fitted", "documents"]
    assert {row["matched"] for row in found} == {"-"}


def test_the_command_prints_a_table(monkeypatch, capsys, documents):
    monkeypatch.setattr(large_starts, "corpora", lambda *_: [documents])
    monkeypatch.setattr(sys, "argv", ["large_starts", "--starts", "documents", "--marks", "2"])
    large_starts.main()
    assert "Starts of large corpora" in capsys.readouterr().out
