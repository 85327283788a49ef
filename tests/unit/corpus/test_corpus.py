import copy
import dataclasses
import pickle

import numpy as np
import pytest

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus, TextOptions
from franchise.errors import CorpusError
from tests.raising import raises


@pytest.fixture
def corpus():
    # The middle document is empty; no word uses the last term.
    return Corpus([2, 0, 2, 1], [0, 3, 3, 4], ["ant", "bee", "cat", "dog"], ["a", "b", "c"])


def test_sizes_and_counts(corpus):
    assert (corpus.n_documents, corpus.n_words, corpus.n_terms) == (3, 4, 4)
    assert corpus.document_lengths.tolist() == [3, 0, 1]
    assert corpus.term_counts.tolist() == [1, 1, 2, 0]
    assert [corpus.document(j).tolist() for j in range(3)] == [[2, 0, 2], [], [1]]


def test_arrays_are_what_kernels_take(corpus):
    arrays = corpus.arrays
    assert isinstance(arrays, CorpusArrays)
    assert arrays.x is corpus.x
    assert arrays.x.dtype == np.int32
    assert arrays.doc_ptr.dtype == np.int64
    assert arrays.n_terms == 4
    assert arrays.x.flags.c_contiguous
    assert not arrays.x.flags.writeable
    assert not arrays.doc_ptr.flags.writeable


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64])
def test_every_integer_dtype_becomes_the_same(corpus, dtype):
    x, doc_ptr = corpus.x.astype(dtype), corpus.doc_ptr.astype(dtype)
    other = Corpus(x, doc_ptr, corpus.vocabulary, corpus.document_names)
    assert other == corpus
    assert other.x.dtype == np.int32


def test_repr():
    corpus = Corpus(np.zeros(2500, np.int32), [0, 2500], ["ant", "bee"])
    assert repr(corpus) == "Corpus(1 document, 2 terms, 2,500 words)"


def test_default_document_names():
    assert Corpus([0, 0], [0, 1, 2], ["ant"]).document_names == ("0", "1")


def test_fields_cannot_be_set(corpus):
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.x = np.zeros(4, np.int32)
    with pytest.raises(ValueError, match="read-only"):
        corpus.x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        corpus.document(0)[0] = 1


def test_the_callers_arrays_are_copied():
    x = np.zeros(3, dtype=np.int32)
    view = x[:]
    view.flags.writeable = False
    for given in (x, view):
        corpus = Corpus(given, [0, 3], ["ant", "bee"])
        x[0] = 1
        assert corpus.x[0] == 0
        x[0] = 0
    assert x.flags.writeable


def test_read_only_arrays_are_shared():
    x = np.zeros(3, dtype=np.int32)
    x.flags.writeable = False
    assert Corpus(x, [0, 3], ["ant"]).x is x


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_are_equal_and_frozen(corpus, duplicate):
    other = duplicate(corpus)
    assert other == corpus
    assert hash(other) == hash(corpus)
    assert not other.x.flags.writeable


def test_equality_is_by_content(corpus):
    assert corpus != Corpus([2, 0, 2, 0], corpus.doc_ptr, corpus.vocabulary, corpus.document_names)
    assert corpus != Corpus(corpus.x, [0, 3, 4, 4], corpus.vocabulary, corpus.document_names)
    assert corpus != Corpus(corpus.x, corpus.doc_ptr, corpus.vocabulary)
    assert corpus != "corpus"


def test_fingerprint_sees_words_offsets_and_terms_only(corpus):
    same = Corpus(corpus.x, corpus.doc_ptr, corpus.vocabulary)
    assert same.fingerprint() == corpus.fingerprint()
    others = [
        Corpus([2, 0, 2, 0], corpus.doc_ptr, corpus.vocabulary),
        Corpus(corpus.x, [0, 3, 4, 4], corpus.vocabulary),
        Corpus(corpus.x, corpus.doc_ptr, ["ant", "bee", "cat", "eel"]),
        Corpus(corpus.x, corpus.doc_ptr, ["an", "tbee", "cat", "dog"]),
    ]
    assert len({corpus.fingerprint(), *(other.fingerprint() for other in others)}) == 5


def test_fingerprint_never_changes():
    # Saved models record it: a new value would orphan them.
    expected = "fc843ebffae75487d77d1ebeafc8753141104be24ed4c0a9d794b3c0919e563a"
    assert Corpus([1, 0], [0, 2], ["ant", "bee"]).fingerprint() == expected


@pytest.fixture
def with_texts(corpus):
    return Corpus(
        *(corpus.x, corpus.doc_ptr, corpus.vocabulary, corpus.document_names),
        texts=["Cat ant cat", "", "Bee!"],
        text_options=TextOptions(min_df=1),
    )


def test_texts_are_kept_beside_the_words(corpus, with_texts):
    assert with_texts.texts == ("Cat ant cat", "", "Bee!")
    assert with_texts.text_options == TextOptions(min_df=1)
    assert (corpus.texts, corpus.text_options) == (None, None)
    # They tell where the words came from, which are the same.
    assert with_texts == corpus
    assert hash(with_texts) == hash(corpus)
    assert with_texts.fingerprint() == corpus.fingerprint()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_keep_their_texts(with_texts, duplicate):
    other = duplicate(with_texts)
    assert other.texts == with_texts.texts
    assert other.text_options == with_texts.text_options


def test_select_takes_the_texts_along(corpus, with_texts):
    chosen = with_texts.select([2, 0, 2])
    assert chosen.texts == ("Bee!", "Cat ant cat", "Bee!")
    assert chosen.text_options == with_texts.text_options.resolved(with_texts.n_documents)
    assert corpus.select([2]).texts is None


@pytest.mark.parametrize(
    ("texts", "code", "facts"),
    [
        (["one"], "wrong-length", ("1 texts", "3 documents")),
        (["one", None, "three"], "wrong-type", ("texts", "document 1", "None")),
        ("one", "single-string", ("texts",)),
    ],
)
def test_texts_refused(corpus, texts, code, facts):
    with raises(CorpusError, code, *facts):
        Corpus(corpus.x, corpus.doc_ptr, corpus.vocabulary, texts=texts)


def test_select_keeps_order_names_and_vocabulary(corpus):
    chosen = corpus.select([2, 1, 0, 2])
    assert [chosen.document(j).tolist() for j in range(4)] == [[1], [], [2, 0, 2], [1]]
    assert chosen.document_names == ("c", "b", "a", "c")
    assert chosen.vocabulary == corpus.vocabulary
    assert corpus.select(np.array([True, False, True])) == corpus.select([0, 2])


@pytest.mark.parametrize(
    ("documents", "code", "facts"),
    [
        ([3], "no-such-document", ("document 3", "0 to 2")),
        ([-1], "no-such-document", ("document -1",)),
        ([True, False], "wrong-shape", ("(2,)", "3 documents")),
        ([0.5], "wrong-type", ("float64",)),
        ([1], "empty-corpus", ()),
        ([], "empty-corpus", ()),
    ],
)
def test_select_refuses(corpus, documents, code, facts):
    with raises(CorpusError, code, *facts):
        corpus.select(documents)


@pytest.mark.parametrize("j", [-1, 3])
def test_document_outside_the_corpus(corpus, j):
    with raises(CorpusError, "no-such-document", f"document {j}", "0 to 2"):
        corpus.document(j)


def test_to_counts(corpus):
    counts = corpus.to_counts()
    assert counts.toarray().tolist() == [[1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert counts.has_canonical_format
    assert corpus.x.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize(
    ("x", "doc_ptr", "vocabulary", "names", "code", "facts"),
    [
        ([0, 1], [0, 2], "ab", None, "single-string", ("vocabulary",)),
        ([0.0, 1.0], [0, 2], ["a", "b"], None, "wrong-type", ("x has", "float64")),
        ([[0, 1]], [0, 2], ["a", "b"], None, "wrong-shape", ("x has", "2 dimensions")),
        ([0, 1], [0.0, 2.0], ["a", "b"], None, "wrong-type", ("doc_ptr", "float64")),
        ([0, 1], [], ["a", "b"], None, "wrong-offsets", ("doc_ptr", "0")),
        ([0, 1], [1, 2], ["a", "b"], None, "wrong-offsets", ("doc_ptr", "0")),
        ([0, 1], [0, 2, 1, 2], ["a", "b"], None, "wrong-offsets", ("doc_ptr", "document 1", "from 2 to 1")),
        (
            [0, 1],
            np.array([0, 2, 1, 2], np.uint64),
            ["a", "b"],
            None,
            "wrong-offsets",
            ("doc_ptr", "document 1"),
        ),
        ([0, 1], [0, 1], ["a", "b"], None, "wrong-offsets", ("doc_ptr", "1", "2 words")),
        ([0, 2], [0, 2], ["a", "b"], None, "term-out-of-range", ("word 1", "term id 2", "vocabulary of 2")),
        ([0, -1], [0, 2], ["a", "b"], None, "term-out-of-range", ("word 1", "term id -1")),
        ([0, 2**32], [0, 2], ["a", "b"], None, "term-out-of-range", ("term id 4294967296",)),
        ([0, 1], [0, 2], ["a", "b", "a"], None, "duplicate-term", ("'a'", "terms 0 and 2")),
        ([0, 1], [0, 2], ["a", 7], None, "wrong-type", ("vocabulary", "term 1", "7 (int)")),
        ([], [0, 0], ["a"], None, "empty-corpus", ()),
        ([], [0], [], None, "empty-corpus", ()),
        ([0], [0, 1], ["a"], ["d", "e"], "wrong-length", ("2 document names", "1 documents")),
        ([0], [0, 1], ["a"], "d", "single-string", ("document_names",)),
    ],
)
def test_constructor_refuses(x, doc_ptr, vocabulary, names, code, facts):
    with raises(CorpusError, code, *facts):
        Corpus(x, doc_ptr, vocabulary, names)


def test_numpy_strings_become_plain():
    corpus = Corpus([0], [0, 1], np.array(["ant"]))
    assert type(corpus.vocabulary[0]) is str
