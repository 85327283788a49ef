"""The largest topics, and rows that hold these alone."""

import numpy as np
import pytest

from franchise import SettingsError
from franchise._arrays import CorpusArrays
from franchise.corpus.documents import Encoded
from franchise.predict import largest
from franchise.predict.largest import blocks_of, largest_topics, sparse_rows
from tests.raising import raises


@pytest.fixture
def theta():
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(7, 0.5), 40).round(2)  # with ties and zeros


@pytest.mark.parametrize("top", [1, 3, 7, 100])
def test_the_largest_are_those_of_a_sorted_list(theta, top):
    for row, found in zip(theta.tolist(), largest_topics(theta, top).tolist(), strict=True):
        assert found == sorted(range(7), key=lambda k: (-row[k], k))[:top]


@pytest.mark.parametrize("top", [None, 1, 3, 7, 100])
def test_sparse_rows_hold_these_alone(theta, top):
    rows = sparse_rows(theta, top)
    kept = np.zeros_like(theta)
    for row, new, chosen in zip(theta, kept, largest_topics(theta, top or 7), strict=True):
        new[chosen] = row[chosen]
    assert np.array_equal(rows.toarray(), kept)
    assert rows.nnz == np.count_nonzero(kept)
    assert rows.has_canonical_format


def test_no_rows():
    assert sparse_rows(np.zeros((0, 3)), 2).shape == (0, 3)


@pytest.mark.parametrize("top", [0, -1, 1.5, "all"])
def test_a_number_that_cannot_be(theta, top):
    with raises(SettingsError, "not-a-whole-number", "top="):
        largest_topics(theta, top)


def test_blocks_are_the_whole(monkeypatch):
    lengths = [3, 0, 0, 5, 1, 1, 1, 9, 0]
    doc_ptr = np.cumsum([0, *lengths])
    x = np.arange(doc_ptr[-1], dtype=np.int32)
    new = Encoded(CorpusArrays(x, doc_ptr, 99), np.arange(9), tuple("abcdefghi"))
    for words in (1, 4, 100):
        monkeypatch.setattr(largest, "WORDS", words)
        monkeypatch.setattr(largest, "DOCUMENTS", 2)
        blocks = list(blocks_of(new))
        assert max(len(block.unknown) for block in blocks) <= 2
        assert "".join(name for block in blocks for name in block.document_names) == "abcdefghi"
        assert np.array_equal(np.concatenate([block.arrays.x for block in blocks]), x)
        assert [n for block in blocks for n in np.diff(block.arrays.doc_ptr).tolist()] == lengths
        assert np.array_equal(np.concatenate([block.unknown for block in blocks]), np.arange(9))
