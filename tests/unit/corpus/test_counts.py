import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from franchise.corpus import from_counts, from_tokens
from franchise.errors import CorpusError
from tests.raising import raises

NOT_ALL_ZERO = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 4)
).filter(np.any)


class Frame:
    """As much of a DataFrame as the converter looks at."""

    def __init__(self, values, columns, index):
        self.values, self.columns, self.index = np.asarray(values), columns, index

    def to_numpy(self):
        return self.values


# ---------------------------------------------------------------- from_tokens


def test_terms_are_sorted_and_words_keep_their_order():
    corpus = from_tokens([["bee", "ant", "bee"], [], ("cat",)])
    assert corpus.vocabulary == ("ant", "bee", "cat")
    assert corpus.x.tolist() == [1, 0, 1, 2]
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 4]


@given(st.lists(st.lists(st.text(max_size=2), max_size=5), max_size=5).filter(any))
def test_tokens_come_back(documents):
    corpus = from_tokens(iter(documents))
    back = [[corpus.vocabulary[v] for v in corpus.document(j)] for j in range(corpus.n_documents)]
    assert back == documents
    assert list(corpus.vocabulary) == sorted({word for document in documents for word in document})


def test_a_vocabulary_keeps_its_order_and_its_unused_terms():
    corpus = from_tokens([["bee"], ["ant"]], vocabulary=["cat", "bee", "ant"], document_names=["p", "q"])
    assert corpus.vocabulary == ("cat", "bee", "ant")
    assert corpus.x.tolist() == [1, 2]
    assert corpus.document_names == ("p", "q")


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda ids: [np.int16(v) for v in ids]])
def test_term_ids_with_a_vocabulary(make):
    corpus = from_tokens([make([1, 0]), make([1])], vocabulary=["ant", "bee"])
    assert corpus.x.tolist() == [1, 0, 1]


def test_arrays_of_strings():
    assert from_tokens([np.array(["bee", "ant"])]).x.tolist() == [1, 0]
    assert from_tokens([list(np.array(["bee", "ant"]))]).vocabulary == ("ant", "bee")


@pytest.mark.parametrize(
    ("documents", "vocabulary", "code", "facts"),
    [
        ([["ant"], "the bee"], None, "single-string", ("document 1",)),
        ("the bee", None, "single-string", ("document 0",)),
        ([b"bee"], None, "single-string", ("document 0",)),
        ([["ant"], None], None, "wrong-type", ("document 1", "None")),
        ([{"ant", "bee"}], None, "unordered-collection", ("document 0", "set")),
        ([{"ant": 2}], None, "unordered-collection", ("document 0", "dict")),
        ([["ant", 3]], None, "not-a-word", ("document 0, word 1", "3 (int)", "vocabulary")),
        ([["ant"], ["ant", "eel"]], ["ant"], "unknown-term", ("document 1", "'eel'")),
        ([["ant", 0]], ["ant"], "not-a-word", ("document 0, word 1", "0 (int)")),
        ([[0, None]], ["ant"], "not-a-word", ("document 0, word 0", "0 (int)")),
        ([[0], [0, 1]], ["ant"], "term-out-of-range", ("document 1", "term id 1", "1 terms")),
        ([[-1]], ["ant"], "term-out-of-range", ("term id -1",)),
        ([[2**40]], ["ant"], "term-out-of-range", ("term id 1099511627776",)),
        ([["a"]], "abc", "single-string", ("vocabulary",)),
        ([["ant"]], ["ant", "bee", "ant"], "duplicate-term", ("'ant'",)),
        ([[], []], None, "empty-corpus", ()),
        ([], None, "empty-corpus", ()),
    ],
)
def test_tokens_refused(documents, vocabulary, code, facts):
    with raises(CorpusError, code, *facts):
        from_tokens(documents, vocabulary=vocabulary)


def test_a_document_that_mixes_ids_with_other_things_is_refused():
    with raises(CorpusError, "not-a-word", "word 0", "True (bool)"):
        from_tokens([[True]], vocabulary=["ant"])
    with raises(CorpusError, "not-a-word", "document 0, word 0"):
        from_tokens([np.zeros((2, 2), int)], vocabulary=["ant"])


def test_names_of_the_wrong_length():
    with raises(CorpusError, "wrong-length", "1 document names", "2 documents"):
        from_tokens([["ant"], ["bee"]], document_names=["p"])


# ---------------------------------------------------------------- from_counts


@given(NOT_ALL_ZERO)
def test_counts_come_back(counts):
    corpus = from_counts(counts)
    assert np.array_equal(corpus.to_counts().toarray(), counts)
    assert corpus.vocabulary == tuple(map(str, range(counts.shape[1])))
    assert all(np.all(np.diff(corpus.document(j)) >= 0) for j in range(corpus.n_documents))


@pytest.mark.parametrize("container", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format_gives_the_same(container, kind):
    counts = np.array([[0, 2, 1], [0, 0, 0], [3, 0, 0]])
    matrix = getattr(scipy.sparse, f"{container}_{kind}")(counts)
    assert from_counts(matrix) == from_counts(counts)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int16, np.uint64, np.float32, float])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array])
def test_every_numeric_dtype_gives_the_same(dtype, container):
    counts = np.array([[0, 1], [1, 1]])
    assert from_counts(container(counts.astype(dtype))) == from_counts(counts)


@pytest.mark.parametrize("dtype", [bool, np.uint8, float])
def test_duplicate_sparse_entries_add_up_without_overflow(dtype):
    n, one = 300, np.ones(300, dtype)
    coo = scipy.sparse.coo_array((one, (np.zeros(n, int), np.ones(n, int))), shape=(1, 2))
    csr = scipy.sparse.csr_array((one, np.ones(n, np.int32), [0, n]), shape=(1, 2))
    for matrix in (coo, csr):
        assert from_counts(matrix).term_counts.tolist() == [0, n]
    assert csr.nnz == n  # the caller's matrix is left as it was


def test_a_data_frame_gives_its_labels():
    corpus = from_counts(Frame([[1, 0], [0, 2]], columns=["ant", 7], index=["p", 3]))
    assert corpus.vocabulary == ("ant", "7")
    assert corpus.document_names == ("p", "3")
    named = from_counts(Frame([[1, 0]], ["ant", "bee"], [0]), vocabulary=["x", "y"], document_names=["d"])
    assert named.vocabulary == ("x", "y")
    assert named.document_names == ("d",)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (-1.0, "negative-count"),
        (0.5, "fractional-count"),
        (np.nan, "count-not-finite"),
        (np.inf, "count-not-finite"),
        (1e12, "count-too-large"),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_bad_counts_are_named_by_row_and_column(bad, code, container):
    counts = np.ones((3, 4))
    counts[1, 2] = bad
    with raises(CorpusError, code, "row 1,", "column 2 ", "NaN" if np.isnan(bad) else bad):
        from_counts(container(counts))
    with raises(CorpusError, code, "row 1 (document 'b')", "column 2 (term 'y')"):
        from_counts(container(counts), vocabulary=[*"wxyz"], document_names=[*"abc"])


@pytest.mark.parametrize(
    ("counts", "code", "facts"),
    [
        ([1, 2], "wrong-shape", ("1 dimensions",)),
        (np.ones((1, 1, 1)), "wrong-shape", ("3 dimensions",)),
        (scipy.sparse.coo_array(np.ones(3)), "wrong-shape", ("1 dimensions",)),
        ([[1, 2], [3]], "ragged-counts", ()),
        ([["a", "b"]], "counts-not-numeric", ()),
        (np.array([[1, None]], dtype=object), "counts-not-numeric", ("dtype object",)),
        ([[1j]], "counts-not-numeric", ()),
        (np.zeros((2, 2)), "empty-corpus", ()),
        (np.zeros((2, 0)), "empty-corpus", ()),
        (scipy.sparse.csr_array((2, 2)), "empty-corpus", ()),
        ([[2**31 - 1, 2**31 - 1]], "too-many-words", ("4,294,967,294",)),
    ],
)
def test_counts_refused(counts, code, facts):
    with raises(CorpusError, code, *facts):
        from_counts(counts)


def test_a_vocabulary_of_the_wrong_length():
    with raises(CorpusError, "vocabulary-mismatch", "5 terms", "3 columns") as caught:
        from_counts(np.ones((2, 3)), vocabulary=list("abcde"))
    assert "counts.T" not in str(caught.value)


def test_a_transposed_matrix_is_recognised():
    with raises(CorpusError, "vocabulary-mismatch", "2 terms", "3 columns", "counts.T"):
        from_counts(np.ones((2, 3)), vocabulary=["ant", "bee"])
