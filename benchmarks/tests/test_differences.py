"""The benchmark of differences plants what it says, and finds it again."""

import numpy as np
import pytest

from benchmarks.differences import CASES, K, matched, of_corpus, plant


@pytest.mark.parametrize("name", CASES)
def test_planted_differences_are_those_of_the_documents(name):
    """The slope of found on planted differences is 1; over 60 corpora, its error is about 0.05."""
    found, planted = [], []
    for seed in range(60):
        made = plant(CASES[name], seed)
        party = made.corpus.metadata["party"].to_numpy() == "party 0"
        month = made.corpus.metadata["month"].to_numpy()
        shares = _shares_of_terms(made)
        of_months = [
            shares[party & (month == one)].mean(axis=0) - shares[~party & (month == one)].mean(axis=0)
            for one in np.unique(month)
        ]
        found.append(np.mean(of_months, axis=0))
        planted.append(made.difference @ made.topics)
    found, planted = np.concatenate(found), np.concatenate(planted)
    assert found @ planted / (planted @ planted) == pytest.approx(1.0, abs=0.15)


def _shares_of_terms(made):
    counts = np.zeros((made.corpus.n_documents, made.topics.shape[1]))
    documents = np.repeat(np.arange(len(counts)), made.corpus.document_lengths)
    np.add.at(counts, (documents, made.corpus.x), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def test_topics_are_matched_one_to_one():
    topics = np.eye(K, 20)
    fitted = np.vstack([topics[2], topics[0], topics[0] + 0.1, np.ones(20)])
    assert matched(fitted, topics) == {0: 1, 2: 0}
    assert matched(topics[:1], topics + 0.001 * topics[0]) == {0: 0}


def test_rows_of_a_corpus():
    rows = of_corpus(CASES["columns"], 0)
    assert {row["what"] for row in rows} == {"together", "apart"}
    assert all(row["width"] > 0 for row in rows)
