from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from franchise._version import versions_here
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.methods import Made
from franchise.report import render
from franchise.report.data import page_data
from franchise.report.topics import N_TOPIC_COLOURS, topic_colours
from tests.unit.report.made import SETTINGS, large_model, posterior_of


def nearest(place: np.ndarray, n: int) -> list[tuple[int, int]]:
    away = np.hypot(*(place[:, None] - place).transpose(2, 0, 1))
    np.fill_diagonal(away, np.inf)
    return [(k, int(other)) for k, row in enumerate(away) for other in np.argsort(row)[:n]]


@pytest.mark.parametrize("n_topics", [1, 2, 7, 57, 500])
def test_what_stands_beside_each_other_differs(n_topics, seed):
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(n_topics, 2))
    lanes = [rng.permutation(n_topics)[:40].tolist() for _ in range(3)]
    colours = topic_colours(place, lanes)
    assert len(colours) == n_topics
    assert set(colours) <= set(range(N_TOPIC_COLOURS))
    beside = [(k, k + 1) for k in range(n_topics - 1)]
    beside += [pair for one in lanes for pair in pairwise(one)]
    beside += nearest(place, min(2, n_topics - 1))
    assert [pair for pair in beside if colours[pair[0]] == colours[pair[1]]] == []


def test_few_topics_have_the_first_colours():
    assert topic_colours(np.zeros((4, 2)), []) == [0, 1, 2, 3]


def test_a_topic_beside_itself_or_beside_one_that_is_not_listed_is_no_matter():
    assert topic_colours(np.zeros((2, 2)), [[0, 0, -1, 1, -1]]) == [0, 1]


def test_every_colour_is_in_the_style_sheet_and_in_the_scripts():
    folder = Path(render.__file__).parent / "templates"
    style = (folder / "style.css").read_text(encoding="utf-8")
    for colour in range(N_TOPIC_COLOURS):
        assert f"--t{colour}: light-dark(" in style
        assert f".t{colour} {{ --colour" in style
    assert f"--t{N_TOPIC_COLOURS}:" not in style
    assert f"const N_TOPIC_COLOURS = {N_TOPIC_COLOURS};" in (folder / "page.js").read_text(encoding="utf-8")


def test_neighbours_on_the_page_differ():
    corpus, chains = large_model(60, 300)
    posterior = posterior_of(corpus, chains)
    diagnosis = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule)
    data = page_data(Made(posterior, corpus, chains, diagnosis, SETTINGS, versions_here()), None, {})
    topics = data["page"]["topics"]
    colours = [topic["colour"] for topic in topics]
    assert [row["colour"] for row in data["words"]["rows"]] == colours
    assert all(a != b for a, b in pairwise(colours))
    for chain in data["page"]["chains"]:
        lanes = [life["topic"] for life in chain["family"]["lives"]]
        assert all(colours[a] != colours[b] for a, b in pairwise(lanes) if a != b and min(a, b) >= 0)
