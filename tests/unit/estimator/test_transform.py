"""`transform`: dense or sparse, all topics or the largest, and counts of any size."""

import tracemalloc
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from franchise import HDPTopicModel, SettingsError
from franchise.corpus import from_counts
from franchise.corpus.documents import encode
from franchise.errors import CorpusError
from franchise.predict import fixed_topics, largest
from franchise.predict.fixed_topics import scaled_down_counts
from franchise.predict.largest import largest_topics
from tests.raising import raises

V = 12


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(V, 0.2), 4)
    return np.array([rng.multinomial(40, rng.dirichlet(np.full(4, 0.3)) @ phi) for _ in range(60)])


@pytest.fixture(scope="module")
def model(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many topics
        return HDPTopicModel(sweeps=20, chains=2, random_state=0, verbose=0).fit(counts)


@pytest.mark.parametrize("top", [None, 1, 2, 100])
def test_sparse_rows_are_the_dense_ones(model, counts, monkeypatch, top):
    monkeypatch.setattr(largest, "DOCUMENTS", 7)
    dense = model.transform(counts)
    kept = np.zeros_like(dense)
    chosen = largest_topics(dense, top or dense.shape[1])
    np.put_along_axis(kept, chosen, np.take_along_axis(dense, chosen, axis=1), axis=1)
    rows = model.transform(counts, return_sparse=True, top=top)
    assert isinstance(rows, csr_array)
    assert np.array_equal(rows.toarray(), kept)
    assert np.array_equal(model.transform(counts, top=top), kept)
    if top == 1:
        assert rows.nnz == len(counts)


def test_the_bits_do_not_depend_on_blocks_and_threads(model, counts, monkeypatch):
    found = set()
    for documents, jobs in ((1, 1), (7, 2), (1000, 2)):
        monkeypatch.setattr(largest, "DOCUMENTS", documents)
        rows = model.set_params(n_jobs=jobs).transform(counts, return_sparse=True, top=3)
        found.add(rows.toarray().tobytes())
    model.set_params(n_jobs=-1)
    assert len(found) == 1


def test_no_documents(model):
    topics = model.known_topics_
    assert topics.sparse_mixtures(encode([], model.corpus_), 2).shape == (0, topics.n_topics)


@pytest.mark.parametrize("top", [0, -2, 2.5, "two"])
def test_a_top_that_cannot_be(model, counts, top):
    with raises(SettingsError, "not-a-whole-number", "top="):
        model.transform(counts, top=top)


def test_sparse_must_be_yes_or_no(model, counts):
    with raises(SettingsError, "not-a-flag", "return_sparse="):
        model.transform(counts, return_sparse="yes")


def test_frames_and_sparse_rows_do_not_go_together(model, counts):
    framed = deepcopy(model).set_output(transform="pandas")
    assert isinstance(framed.transform(counts, top=1), pd.DataFrame)
    with pytest.raises(ValueError, match="sparse"):
        framed.transform(counts, return_sparse=True)
    assert isinstance(model.transform(counts), np.ndarray)


# ---------------------------------------------------------------- large counts


def large_rows():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 9000, (6, V))
    rows[1] = 0
    rows[2] = [20_000] + [0] * (V - 1)
    rows[3] = rng.integers(0, 5, V)
    rows[4, 3:] = 0
    return rows


@pytest.mark.parametrize(
    "kind", [np.array, csr_array, csr_matrix, coo_array, lambda rows: rows.astype(float)]
)
def test_counts_are_scaled_down_as_their_words_are(model, kind):
    """To the bit what words of the same documents give, which are laid out and then thinned."""
    rows = large_rows()
    corpus = from_counts(rows, vocabulary=model.corpus_.vocabulary)
    words = model.known_topics_.mixtures(encode(corpus, model.corpus_), jobs=1)
    assert np.array_equal(model.transform(kind(rows)), words)
    scaled = scaled_down_counts(kind(rows))
    scaled = scaled.toarray() if hasattr(scaled, "toarray") else scaled
    assert scaled.sum(axis=1).tolist() == [min(n, 20_000) for n in rows.sum(axis=1).tolist()]


def test_a_million_counts_per_row_are_not_laid_out(model):
    rows = np.full((40, V), 1_000_000 // V)
    model.transform(rows[:1])
    tracemalloc.start()
    model.transform(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * rows.sum()  # less than the words alone would take


def test_small_counts_are_left_alone(counts):
    assert scaled_down_counts(counts) is counts
    assert fixed_topics.MOST_WORDS == 20_000


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (-5.0, "negative-count"),
        (0.5, "fractional-count"),
        (np.nan, "count-not-finite"),
        (1e12, "count-too-large"),
    ],
)
def test_what_is_no_count_is_refused_beside_large_ones(model, value, code):
    rows = np.full((3, V), 9000.0)
    rows[1, 4] = value
    with raises(CorpusError, code, "row 1", "column 4"):
        model.transform(rows)
