from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus, as_corpus, encode, from_counts, from_texts, from_tokens
from franchise.errors import CorpusError
from tests.raising import raises

TEXTS = ["The ant saw a bee", "", "Bee, bee, cat!"]
TOKENS = [["ant", "bee"], [], ["bee", "bee", "cat"]]
COUNTS = [[1, 1, 0], [0, 0, 0], [0, 2, 1]]


class Column:
    """As much of a polars Series as matters: it has neither index nor ndim."""

    def __init__(self, values):
        self.values = values
        self.dtype = "String"

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def to_list(self):
        return list(self.values)


class Table:
    """As much of a polars DataFrame as matters: it has no index."""

    def __init__(self, columns):
        self.columns = list(columns)
        self.values = np.array(list(columns.values())).T

    def to_numpy(self):
        return self.values


# ---------------------------------------------------------------- as_corpus


def test_a_corpus_is_returned_as_it_is():
    corpus = from_tokens(TOKENS)
    assert as_corpus(corpus) is corpus


LISTS = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "generator": lambda items: (item for item in items),
    "Series": lambda items: pd.Series(items, dtype=object),
    "Index": lambda items: pd.Index(items, dtype=object),
    "polars": Column,
}


def object_array(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@pytest.mark.parametrize("make", [*LISTS.values(), object_array, np.array, pd.Series, pd.Categorical])
def test_texts_in_any_list(make):
    corpus = as_corpus(make(TEXTS))
    assert corpus == from_texts(TEXTS)
    assert corpus.texts == tuple(TEXTS)


@pytest.mark.parametrize(
    "make", [*(LISTS[kind] for kind in LISTS if kind != "Index"), object_array]
)  # an Index makes tuples of lists
def test_lists_of_words_in_any_list(make):
    assert as_corpus(make(TOKENS)) == from_tokens(TOKENS)
    assert as_corpus(make([np.array(words) for words in TOKENS[::2]])) == from_tokens(TOKENS[::2])


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        np.array,
        lambda rows: [np.array(row) for row in rows],
        lambda rows: np.array(rows, dtype=float),
        lambda rows: np.array(rows).tolist(),
        scipy.sparse.csr_array,
        scipy.sparse.csc_matrix,
        scipy.sparse.coo_array,
        scipy.sparse.dok_array,
        lambda rows: pd.DataFrame(rows),
        lambda rows: pd.Series(rows),
    ],
)
def test_counts_in_any_matrix(make):
    assert as_corpus(make(COUNTS)) == from_counts(COUNTS)


def test_a_data_frame_of_counts_gives_terms_and_names():
    frame = pd.DataFrame(COUNTS, columns=["ant", "bee", "cat"], index=["p", "q", "r"])
    corpus = as_corpus(frame)
    assert corpus == from_counts(COUNTS, vocabulary=["ant", "bee", "cat"], document_names=["p", "q", "r"])
    sparse = frame.astype(pd.SparseDtype(int, 0))
    assert as_corpus(sparse) == corpus
    assert as_corpus(frame.astype("Int64")) == corpus
    assert as_corpus(frame.astype({"ant": bool})) == corpus


def test_a_data_frame_without_index():
    corpus = as_corpus(Table({"ant": [1, 0], "bee": [2, 1]}))
    assert corpus == from_counts([[1, 2], [0, 1]], vocabulary=["ant", "bee"])


def test_the_index_of_a_series_gives_names():
    table = pd.DataFrame({"text": TEXTS, "year": [1999, 2001, 2003]})
    assert as_corpus(table["text"]).document_names == ("0", "1", "2")
    assert as_corpus(table.loc[table.year > 2000, "text"]).document_names == ("1", "2")
    assert as_corpus(table.set_index("year")["text"]).document_names == ("1999", "2001", "2003")
    assert as_corpus(pd.Series(TOKENS, index=["p", "q", "r"])).document_names == ("p", "q", "r")
    assert as_corpus(pd.Series(COUNTS, index=["p", "q", "r"])).document_names == ("p", "q", "r")


def test_the_kind_is_told_by_the_first_document_that_is_not_an_empty_list():
    assert as_corpus([[], [], ["ant"]]) == from_tokens([[], [], ["ant"]])
    assert as_corpus(iter(["", "ant"])) == from_texts(["", "ant"])


@given(st.lists(st.lists(st.sampled_from(["ant", "bee", "cat"]), max_size=4), max_size=9).filter(any))
def test_texts_words_and_counts_agree(tokens):
    corpus = as_corpus(tokens)
    assert as_corpus([" ".join(words) for words in tokens]) == corpus
    counts = pd.DataFrame(corpus.to_counts().toarray(), columns=corpus.vocabulary)
    assert np.array_equal(as_corpus(counts).to_counts().toarray(), corpus.to_counts().toarray())


@pytest.mark.parametrize(
    ("documents", "code", "facts"),
    [
        ("the ant", "single-string", ("the documents",)),
        (b"the ant", "single-string", ("the documents",)),
        ({"a": "the ant"}, "unordered-collection", ("the documents", "dict")),
        ({"the ant"}, "unordered-collection", ("the documents", "set")),
        (None, "wrong-type", ("the documents", "None (NoneType)")),
        (7, "wrong-type", ("the documents", "7 (int)")),
        ([1, 2], "wrong-type", ("document 0", "1 (int)")),
        (np.array([1, 2]), "wrong-type", ("document 0", "np.int64(1) (int64)")),
        (["ant", None], "wrong-type", ("document 1", "None (NoneType)")),
        (pd.Series(["ant", np.nan]), "wrong-type", ("document 1", "nan (float)")),
        ([float("nan"), "ant"], "wrong-type", ("document 0", "nan (float)")),
        ([b"ant"], "wrong-type", ("document 0", "bytes", "document.decode('utf-8')")),
        ([(word for word in ["ant"])], "wrong-type", ("document 0", "(generator)")),
        ([{"ant"}], "unordered-collection", ("document 0", "set")),
        ([{"ant": 2}], "unordered-collection", ("document 0", "dict")),
        ([[("ant", 2), ("bee", 1)]], "wrong-type", ("document 0", "('ant', 2) (tuple)")),
        (
            [[(0, 2), (3, 1)], ["ant"]],
            "mixed-documents",
            ("document 1", "lists of words", "lists of pairs (term id, count)"),
        ),
        ([[None, "ant"]], "wrong-type", ("document 0", "None (NoneType)")),
        ([[b"ant"]], "wrong-type", ("document 0", "b'ant' (bytes)")),
        (
            ["ant", ["bee"]],
            "mixed-documents",
            ("document 1", "lists of words", "texts"),
        ),
        (
            [[], ["ant"], "bee"],
            "mixed-documents",
            ("document 2", "texts", "lists of words"),
        ),
        (
            [["ant"], [1]],
            "mixed-documents",
            ("document 1", "rows of counts", "lists"),
        ),
        ([[1], ["ant"]], "mixed-documents", ("document 1", "lists of words", "rows of counts")),
        (["ant", []], "not-a-text", ("document 1", "[] (list)")),
        ([["ant", 3]], "not-a-word", ("document 0, word 1", "3 (int)")),
        ([[1, 2], [3]], "ragged-counts", ()),
        ([[0.5, 2]], "fractional-count", ("row 0", "column 0", "0.5")),
        (np.array([["ant", "bee"]]), "counts-not-numeric", ("dtype <U3",)),
        (np.ones((2, 2, 2)), "wrong-shape", ("3 dimensions",)),
        (np.array(3), "wrong-shape", ("0 dimensions",)),
        (scipy.sparse.coo_array(np.ones(3)), "wrong-shape", ("1 dimensions",)),
        ([], "empty-corpus", ()),
        ([[], []], "empty-corpus", ()),
        (
            pd.DataFrame({"n": [1, 2], "text": ["ant", "bee"]}),
            "texts-not-counts",
            ("'text'",),
        ),
        (
            pd.DataFrame({0: ["ant", None]}),
            "texts-not-counts",
            ("column 0", "df[0]"),
        ),
        (
            Table({"text": ["ant", "bee"]}),
            "texts-not-counts",
            ("'text'", "df['text']"),
        ),
        (pd.DataFrame({"n": [1], "words": [["ant", "bee"]]}), "texts-not-counts", ("'words'", "df['words']")),
        (pd.DataFrame({"when": pd.to_datetime(["2001-01-01"])}), "counts-not-numeric", ("dtype datetime64",)),
        (pd.DataFrame({"n": [1, np.nan]}), "count-not-finite", ("row 1", "column 0 (term 'n')", "NaN")),
        (pd.DataFrame({"n": [1, 2], "m": [pd.NA, 2]}), "counts-not-numeric", ("dtype object",)),
    ],
)
def test_documents_refused(documents, code, facts):
    with raises(CorpusError, code, *facts):
        as_corpus(documents)


# ---------------------------------------------------------------- encode


def words_of(encoded, vocabulary):
    x, doc_ptr, _ = encoded.arrays
    return [[vocabulary[v] for v in x[a:b]] for a, b in pairwise(doc_ptr)]


def assert_fit_for_kernels(arrays):
    assert isinstance(arrays, CorpusArrays)
    assert (arrays.x.dtype, arrays.doc_ptr.dtype, type(arrays.n_terms)) == (np.int32, np.int64, int)
    for array in (arrays.x, arrays.doc_ptr):
        assert array.flags.c_contiguous
        assert not array.flags.writeable


TRAINING = [
    ["The ant saw a bee", "", "Bee, bee, cat!"],
    [["bee", "ant"], [], ["bee", "bee", "cat"]],
    COUNTS,
    np.array(COUNTS),
    scipy.sparse.csr_array(COUNTS),
    pd.Series(["The ant saw a bee", "Bees"], index=["p", "q"]),
    pd.Series([["ant"], ["bee"]], index=["p", "q"]),
    pd.DataFrame(COUNTS, columns=["cat", "ant", "bee"], index=["p", "q", "r"]),
]


@pytest.mark.parametrize("documents", TRAINING)
def test_training_documents_come_out_as_they_were(documents):
    corpus = as_corpus(documents)
    for again in (documents, corpus):
        encoded = encode(again, corpus)
        assert np.array_equal(encoded.arrays.x, corpus.x)
        assert np.array_equal(encoded.arrays.doc_ptr, corpus.doc_ptr)
        assert encoded.arrays.n_terms == corpus.n_terms
        assert encoded.document_names == corpus.document_names
        assert encoded.unknown.tolist() == [0] * corpus.n_documents
        assert_fit_for_kernels(encoded.arrays)


@given(
    st.lists(st.lists(st.sampled_from(["ant", "bee", "cat", "the"]), max_size=6), min_size=2, max_size=9),
    st.sampled_from([{}, {"min_df": 2}, {"max_df": 0.5}, {"ngram_range": (1, 2)}, {"stop_words": ["bee"]}]),
)
def test_training_texts_give_the_training_words(tokens, options):
    texts = [" ".join(words) for words in tokens]
    try:
        corpus = from_texts(texts, **options)
    except ValueError:
        return
    encoded = encode(iter(texts), corpus)
    assert np.array_equal(encoded.arrays.x, corpus.x)
    assert np.array_equal(encoded.arrays.doc_ptr, corpus.doc_ptr)
    analyze = corpus.text_options.build_analyzer()
    left_out = [sum(word not in corpus.vocabulary for word in analyze(text)) for text in texts]
    assert encoded.unknown.tolist() == left_out


def test_unknown_words_are_skipped_and_counted():
    corpus = from_tokens([["ant", "bee", "cat"]])
    encoded = encode([["dog", "cat", "dog"], [], ["ant"], ["eel"]], corpus)
    assert words_of(encoded, corpus.vocabulary) == [["cat"], [], ["ant"], []]
    assert encoded.unknown.tolist() == [2, 0, 0, 1]
    assert encoded.unknown.dtype == np.int64
    assert encoded.document_names == ("0", "1", "2", "3")
    assert_fit_for_kernels(encoded.arrays)


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=6),
    st.sets(st.sampled_from("abcdefg"), min_size=1),
)
def test_unknown_words_against_plain_python(documents, vocabulary):
    corpus = Corpus([0], [0, 1], sorted(vocabulary, reverse=True))
    encoded = encode(documents, corpus)
    assert words_of(encoded, corpus.vocabulary) == [
        [w for w in words if w in vocabulary] for words in documents
    ]
    assert encoded.unknown.tolist() == [sum(w not in vocabulary for w in words) for words in documents]
    if any(documents):
        by_corpus = encode(from_tokens(documents), corpus)
        assert words_of(by_corpus, corpus.vocabulary) == words_of(encoded, corpus.vocabulary)
        assert by_corpus.unknown.tolist() == encoded.unknown.tolist()


def test_texts_are_split_as_those_of_the_corpus():
    corpus = from_texts(["Ant, Bee", "the ant"], lowercase=False, stop_words=None, token_pattern=r"\w+")
    encoded = encode(pd.Series(["the Ant ant Ants", "x y"], index=["p", "q"]), corpus)
    assert words_of(encoded, corpus.vocabulary) == [["the", "Ant", "ant"], []]
    assert encoded.unknown.tolist() == [1, 2]
    assert encoded.document_names == ("p", "q")


def test_stop_words_are_not_unknown():
    encoded = encode(["the ant and an eel"], from_texts(["ant"]))
    assert encoded.unknown.tolist() == [1]


def test_lists_of_words_for_a_corpus_of_texts():
    corpus = from_texts(["The ant", "the bee"])
    assert encode([["bee", "The", "ant"]], corpus).arrays.x.tolist() == [1, 0]


@pytest.mark.parametrize(
    "documents",
    [
        ["the", "eel"],
        ["", ""],
        [["eel"], []],
        [[], []],
        [[0, 0], [0, 0]],
        np.zeros((2, 2)),
        scipy.sparse.csr_array((2, 2)),
        pd.DataFrame(np.zeros((2, 2)), columns=["ant", "bee"]),
    ],
)
def test_documents_without_words(documents):
    encoded = encode(documents, from_texts(["ant bee"]))
    assert encoded.arrays.x.tolist() == []
    assert encoded.arrays.doc_ptr.tolist() == [0, 0, 0]
    assert len(encoded.unknown) == len(encoded.document_names) == 2
    assert_fit_for_kernels(encoded.arrays)


@pytest.mark.parametrize("documents", [[], np.zeros((0, 2)), iter(())])
def test_no_documents(documents):
    encoded = encode(documents, from_texts(["ant bee"]))
    assert encoded.arrays.doc_ptr.tolist() == [0]
    assert encoded.unknown.tolist() == []
    assert encoded.document_names == ()
    assert_fit_for_kernels(encoded.arrays)


def test_order_of_documents_changes_nothing_else(seed):
    rng = np.random.default_rng(seed)
    corpus = from_tokens([["ant", "bee", "cat"]])
    documents = [rng.choice(["ant", "bee", "eel"], rng.integers(0, 5)).tolist() for _ in range(20)]
    order = rng.permutation(20)
    one, other = encode(documents, corpus), encode([documents[j] for j in order], corpus)
    assert other.unknown.tolist() == one.unknown[order].tolist()
    words = words_of(one, corpus.vocabulary)
    assert words_of(other, corpus.vocabulary) == [words[j] for j in order]


def test_a_corpus_is_mapped_by_term():
    like = from_tokens([["dog", "bee", "ant"]])
    other = from_tokens([["cat", "bee"], ["ant", "dog", "dog"]], document_names=["p", "q"])
    encoded = encode(other, like)
    assert words_of(encoded, like.vocabulary) == [["bee"], ["ant", "dog", "dog"]]
    assert encoded.unknown.tolist() == [1, 0]
    assert encoded.document_names == ("p", "q")


@pytest.mark.parametrize(
    ("documents", "code", "facts"),
    [
        (
            ["the ant"],
            "cannot-split-texts",
            ("from_texts",),
        ),
        (
            np.ones((2, 4)),
            "vocabulary-mismatch",
            ("3 terms", "4 columns"),
        ),
        ([[1, 2]], "vocabulary-mismatch", ("3 terms", "2 columns")),
        (
            scipy.sparse.csr_array((3, 5)),
            "vocabulary-mismatch",
            ("3 terms", "5 columns", "counts.T"),
        ),
        (pd.DataFrame(np.ones((1, 2))), "vocabulary-mismatch", ("3 terms", "2 columns")),
        (
            pd.DataFrame(np.ones((1, 3)), columns=["ant", "cat", "bee"]),
            "vocabulary-mismatch",
            ("column 1", "'cat'", "term 1", "'bee'", "df[list(corpus.vocabulary)]"),
        ),
        (pd.DataFrame({"text": ["ant"]}), "texts-not-counts", ("'text'",)),
        ("the ant", "single-string", ("the documents",)),
        ([["ant", 3]], "not-a-word", ("document 0, word 1", "3 (int)")),
        ([["ant"], "bee"], "mixed-documents", ("document 1",)),
        ([["ant"], 3], "wrong-type", ("document 1", "3 (int)")),
        ([{"ant"}], "unordered-collection", ("document 0", "set")),
        ([[-1, 0, 1]], "negative-count", ("row 0", "column 0 (term 'ant')", "-1")),
    ],
)
def test_encode_refuses(documents, code, facts):
    with raises(CorpusError, code, *facts):
        encode(documents, from_tokens([["ant", "bee", "cat"]]))


def test_the_advice_for_columns_in_another_order_works():
    corpus = from_tokens([["ant", "bee", "cat"]])
    frame = pd.DataFrame([[3, 2, 1]], columns=["cat", "bee", "ant"])
    encoded = encode(frame[list(corpus.vocabulary)], corpus)
    assert words_of(encoded, corpus.vocabulary) == [["ant", "bee", "bee", "cat", "cat", "cat"]]
