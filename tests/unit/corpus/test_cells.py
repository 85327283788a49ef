"""Corpora that keep cells (document, term, count): the same corpus as its words, in all that can be asked."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from franchise import HDPTopicModel
from franchise._arrays import CellArrays
from franchise._files import read_arrays
from franchise.corpus import (
    Corpus,
    as_corpus,
    encode,
    from_counts,
    from_texts,
    large_arrays,
    read_corpus,
    write_corpus,
)
from franchise.corpus.cells import blocks_of_cells, blocks_of_words, cells_of
from franchise.errors import CorpusError
from franchise.posterior.coherence import coherence
from tests.raising import raises

COUNTS = np.array([[900, 0, 100], [0, 0, 0], [0, 7, 0], [1, 1000, 2]])
TERMS = ["ant", "bee", "cat"]

tables = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 5)),
    elements=st.integers(0, 3) | st.integers(0, 300),
).filter(lambda counts: counts.any())


def as_words(counts, vocabulary=None):
    """Return the corpus of a table of counts, words laid out one by one."""
    x = [np.repeat(np.arange(counts.shape[1]), row) for row in counts]
    names = vocabulary or [str(v) for v in range(counts.shape[1])]
    return Corpus(np.concatenate(x), np.cumsum([0, *map(len, x)]), names)


@pytest.fixture
def corpus():
    return from_counts(COUNTS, vocabulary=TERMS)


def has_laid_out(corpus):
    return corpus._x is not None


def test_large_counts_are_kept_as_cells_and_small_ones_are_not(corpus):
    assert corpus.keeps_cells
    assert not has_laid_out(corpus)
    assert not from_counts([[7, 7]]).keeps_cells
    assert from_counts([[8, 8]]).keeps_cells
    assert not from_texts(["ant bee", "bee " * 50]).keeps_cells


@given(tables)
def test_cells_are_the_words(counts):
    words = as_words(counts)
    kept = Corpus.from_cells(words.cells, words.vocabulary)
    assert kept.fingerprint() == words.fingerprint()
    assert kept == words
    assert words == kept
    assert not has_laid_out(kept)
    assert kept.n_words == words.n_words
    np.testing.assert_array_equal(kept.term_counts, words.term_counts)
    np.testing.assert_array_equal(kept.document_lengths, words.document_lengths)
    np.testing.assert_array_equal(kept.to_counts().toarray(), counts)
    np.testing.assert_array_equal(words.to_counts().toarray(), counts)
    for j in range(kept.n_documents):
        np.testing.assert_array_equal(kept.document(j), words.document(j))
        for a, b in zip(kept.runs(j), words.runs(j), strict=True):
            np.testing.assert_array_equal(a, b)
    assert not has_laid_out(kept)
    np.testing.assert_array_equal(kept.x, words.x)
    assert not kept.x.flags.writeable
    assert from_counts(counts) == words


@given(tables, st.integers(1, 40))
def test_words_come_in_pieces(counts, piece):
    words = as_words(counts)
    pieces = list(blocks_of_words(words.cells, piece))
    assert [len(one) for one in pieces[:-1]] == [piece] * (len(pieces) - 1)
    np.testing.assert_array_equal(np.concatenate(pieces), words.x)


@pytest.mark.parametrize("piece", [1, 3, 10**6])
def test_cells_are_counted_some_documents_at_a_time(monkeypatch, piece):
    monkeypatch.setattr(large_arrays, "BLOCK", piece)
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 9, 30) * rng.integers(0, 2, 30)
    corpus = Corpus(rng.integers(0, 5, lengths.sum()), np.cumsum([0, *lengths]), list("abcde"))
    counts = np.zeros((30, 5), np.int64)
    np.add.at(counts, (np.repeat(np.arange(30), lengths), corpus.x), 1)
    cells = cells_of(corpus.arrays)
    np.testing.assert_array_equal(np.diff(cells.cell_ptr), (counts > 0).sum(axis=1))
    rows, columns = counts.nonzero()
    np.testing.assert_array_equal(cells.terms, columns)
    np.testing.assert_array_equal(cells.counts, counts[rows, columns])
    assert [array.dtype.name for array in cells[:4]] == ["int64", "int64", "int32", "int32"]
    blocks = list(blocks_of_cells(corpus.arrays))
    assert (len(blocks) > 1) == (piece < 10**6)
    assert sum(block.n_words for _, block in blocks) == corpus.n_words
    for first, block in blocks:
        np.testing.assert_array_equal(block.cell_ptr[1:] > block.cell_ptr[:-1], np.diff(block.doc_ptr) > 0)
        assert first == 0 or corpus.doc_ptr[first] > 0


def test_cells_are_counted_once():
    corpus = as_words(COUNTS)
    assert corpus.cells is corpus.cells
    assert all(not array.flags.writeable for array in corpus.cells[:4])


def test_select_copy_and_pickle_keep_cells(corpus):
    words = as_words(COUNTS, TERMS)
    assert corpus.select([3, 0]) == words.select([3, 0])
    assert corpus.select([False, False, True, True]).document_names == ("2", "3")
    renamed = corpus.with_vocabulary(["x", "y", "z"])
    assert renamed == words.with_vocabulary(["x", "y", "z"])
    dated = corpus.with_metadata({"year": [1, 2, 3, 4]})
    again = pickle.loads(pickle.dumps(dated))
    assert again == words
    assert again.metadata["year"].tolist() == [1, 2, 3, 4]
    for one in (corpus.select([3, 0]), renamed, dated, again):
        assert one.keeps_cells
        assert not has_laid_out(one)
        assert not one.cells.counts.flags.writeable
    assert not has_laid_out(corpus)
    with raises(CorpusError, "empty-corpus"):
        corpus.select([1])


def test_corpora_that_differ(corpus):
    others = (COUNTS + np.eye(4, 3, dtype=int), COUNTS[:, [0, 2, 1]], COUNTS[[0, 1, 3, 2]])
    for counts in others:
        assert corpus != from_counts(counts, vocabulary=TERMS)
        assert corpus != as_words(counts, TERMS)
        assert as_words(counts, TERMS) != corpus
        assert corpus.fingerprint() != as_words(counts, TERMS).fingerprint()


def test_more_names(corpus):
    wider = corpus.with_names(["a", "b", "c", "d"])
    assert wider.n_terms == wider.cells.n_terms == 4
    assert wider.document_names == ("0", "1", "2", "3")
    with raises(CorpusError, "term-out-of-range", "word 900", "term id 2", "2 terms"):
        corpus.with_names(["a", "b"])


@pytest.mark.parametrize("name", ["t.ldac", "docword.t.txt", "t.mtx", "t.npz", "t.ldac.gz"])
def test_files_of_counts(tmp_path, corpus, name):
    write_corpus(corpus, tmp_path / name)
    assert not has_laid_out(corpus)
    read = read_corpus(tmp_path / name)
    assert read.keeps_cells
    assert read.fingerprint() == corpus.fingerprint()
    assert not has_laid_out(read)


def test_what_is_not_in_order(tmp_path):
    path = tmp_path / "docword.t.txt"
    path.write_text("2\n2\n5\n2 2 50\n1 2 30\n1 1 10\n2 2 1\n1 1 0\n")
    read = read_corpus(path)
    assert read.keeps_cells
    np.testing.assert_array_equal(read.to_counts().toarray(), [[10, 30], [0, 51]])


def test_other_commands_need_no_words(corpus):
    phi = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    words = as_words(COUNTS, TERMS)
    for measure in ("u_mass", "c_npmi"):
        np.testing.assert_array_equal(
            coherence(phi, corpus, measure=measure, n_terms=2),
            coherence(phi, words, measure=measure, n_terms=2),
        )
    assert as_corpus(corpus) is corpus
    assert not has_laid_out(corpus)
    np.testing.assert_array_equal(encode(corpus, words).arrays.x, words.x)


GOOD = {"doc_ptr": [0, 3, 3, 8], "cell_ptr": [0, 2, 2, 3], "terms": [0, 1, 0], "counts": [1, 2, 5]}


@pytest.mark.parametrize(
    ("changes", "code", "facts"),
    [
        ({"doc_ptr": [0, 3, 8]}, "wrong-offsets", ("cell_ptr", "doc_ptr")),
        ({"cell_ptr": [1, 2, 2, 3]}, "wrong-offsets", ("cell_ptr", "doc_ptr")),
        ({"cell_ptr": [0, 2, 1, 3]}, "wrong-offsets", ("cell_ptr", "doc_ptr")),
        ({"cell_ptr": [0, 2, 2, 4]}, "wrong-offsets", ("cell_ptr", "4", "3 terms", "3 counts")),
        ({"counts": [1, 2]}, "wrong-offsets", ("cell_ptr", "3 terms", "2 counts")),
        ({"counts": [3, 0, 5]}, "empty-cell", ()),
        ({"terms": [1, 0, 0]}, "not-increasing", ()),
        ({"terms": [1, 1, 0]}, "not-increasing", ()),
        ({"terms": [0, 2, 0]}, "term-out-of-range", ("word 1", "term id 2", "2 terms")),
        ({"terms": [-1, 1, 0]}, "term-out-of-range", ("word 0", "term id -1")),
        ({"terms": [0.5, 1, 0]}, "wrong-type", ("terms", "float64")),
        ({"doc_ptr": [0, 2, 2, 8]}, "wrong-offsets", ("doc_ptr",)),
        ({"doc_ptr": [0, 0], "cell_ptr": [0, 0], "terms": [], "counts": []}, "empty-corpus", ()),
        (
            {"doc_ptr": [0, 3, 3, 2**31 + 2], "counts": [1, 2, 2**31 - 1]},
            "too-many-words",
            ("2,147,483,650", "2,147,483,647"),
        ),
    ],
)
def test_cells_that_do_not_fit(changes, code, facts):
    arrays = {name: np.array(values) for name, values in (GOOD | changes).items()}
    with raises(CorpusError, code, *facts):
        Corpus.from_cells(CellArrays(**arrays, n_terms=2), ["ant", "bee"])


def test_cells_given_are_not_changed_and_cannot_change_the_corpus():
    arrays = {name: np.array(values) for name, values in GOOD.items()}
    corpus = Corpus.from_cells(CellArrays(**arrays, n_terms=2), ["ant", "bee"])
    arrays["counts"][0] = 7
    np.testing.assert_array_equal(corpus.to_counts().toarray(), [[1, 2], [0, 0], [5, 0]])
    assert corpus.x.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]


def test_a_model_of_cells_is_saved_as_cells(tmp_path, corpus):
    model = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0).fit(corpus)
    model.save(tmp_path / "model")
    arrays, _ = read_arrays(tmp_path / "model" / "corpus.safetensors", "corpus")
    assert "x" not in arrays
    np.testing.assert_array_equal(arrays["counts"], corpus.cells.counts)
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert loaded.corpus_.keeps_cells
    assert loaded.corpus_ == corpus
    words = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0).fit(as_words(COUNTS, TERMS))
    assert loaded.resume(2).trace_["log_joint"].tolist() == words.resume(2).trace_["log_joint"].tolist()
