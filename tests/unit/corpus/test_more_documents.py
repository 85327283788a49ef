"""Documents that join a corpus: their terms, names, texts and metadata."""

import numpy as np
import pandas as pd
import pytest

from franchise import CorpusError, from_counts, from_texts, from_tokens
from franchise.corpus.more_documents import joined, missing_columns, more_documents
from franchise.corpus.text_options import TextOptions
from tests.raising import raises

TEXTS = ["ant bee", "bee cat cat", "ant cat the dog"]


def enlarged(before, documents):
    return joined(before, more_documents(documents, before))


def words(corpus, j):
    return [corpus.vocabulary[v] for v in corpus.document(j)]


def test_old_documents_and_terms_stay_where_they_are():
    before = from_texts(TEXTS)
    after = enlarged(before, ["eel bee eel", "", "The ant"])
    assert after.vocabulary[: before.n_terms] == before.vocabulary
    assert after.x[: before.n_words].tolist() == before.x.tolist()
    assert [words(after, j) for j in (3, 4, 5)] == [["eel", "bee", "eel"], [], ["ant"]]
    assert after.vocabulary[before.n_terms :] == ("eel",)
    assert after.document_names == ("0", "1", "2", "3", "4", "5")
    assert list(after.texts) == [*TEXTS, "eel bee eel", "", "The ant"]


def test_a_new_term_needs_enough_of_the_new_documents():
    before = from_texts(TEXTS, min_df=2, max_df=0.7)
    assert before.vocabulary == ("ant", "bee", "cat")
    # dog was left out as it was rare, and is in enough of the new ones; gnu is in too many, fox in too few.
    new = ["dog gnu bee", "dog gnu", "gnu fox", "gnu ant", "gnu"]
    after = enlarged(before, new)
    assert after.vocabulary == ("ant", "bee", "cat", "dog")
    assert [words(after, j) for j in range(3, 8)] == [["dog", "bee"], ["dog"], [], ["ant"], []]
    # An old term is kept however rare it is in the new documents.
    assert after.text_options.min_df == 2


def test_the_options_of_the_first_fit_stay_as_the_corpus_grows():
    before = from_texts(TEXTS * 10)  # fewer than 50 documents: every term counts
    assert before.text_options.min_df is None
    after = enlarged(before, ["new words"] * 30)
    assert after.text_options == TextOptions(min_df=1, max_df=1.0)
    assert "later" in enlarged(after, ["later"]).vocabulary


def test_max_features_leaves_room_for_few():
    before = from_texts(TEXTS, max_features=6)
    after = enlarged(before, ["eel eel fox", "gnu gnu gnu hen"])
    assert after.n_terms == 6
    assert after.vocabulary[4:] == ("eel", "gnu")


def test_words_of_lists_all_join():
    after = enlarged(from_tokens([["b", "a"], ["a"]]), [["z", "a"], []])
    assert (after.vocabulary, words(after, 2)) == (("a", "b", "z"), ["z", "a"])


@pytest.mark.parametrize("counts", [np.array([[0, 3], [1, 0]]), [[0, 3], [1, 0]], [[(1, 3)], [(0, 1)]]])
def test_counts_without_names_have_the_columns_of_the_model(counts):
    before = from_counts([[2, 1], [1, 1]], vocabulary=["ant", "bee"])
    after = enlarged(before, counts)
    assert after.vocabulary == ("ant", "bee")
    assert after.to_counts().toarray().tolist() == [[2, 1], [1, 1], [0, 3], [1, 0]]


@pytest.mark.parametrize("large", [1, 100])
def test_columns_of_a_table_are_known_by_their_names(large):
    before = from_counts(large * np.array([[2, 1], [1, 1]]), vocabulary=["ant", "bee"])
    assert before.keeps_cells == (large > 1)
    table = pd.DataFrame({"cat": [5, 0], "bee": [0, 7]}, index=["p", "q"])
    after = enlarged(before, table)
    assert after.document_names == ("0", "1", "p", "q")
    assert after.keeps_cells == before.keeps_cells
    expected = [[2 * large, large, 0], [large, large, 0], [0, 0, 5], [0, 7, 0]]
    assert after.to_counts().toarray().tolist() == expected


def test_cells_joined_to_words_become_words():
    after = enlarged(from_tokens([["a", "b"]]), from_counts([[90, 80]], vocabulary=["b", "c"]))
    assert not after.keeps_cells
    assert after.to_counts().toarray().tolist() == [[1, 1, 0], [0, 90, 80]]


@pytest.mark.parametrize(
    ("counts", "code", "facts"),
    [
        (np.ones((2, 3)), "vocabulary-mismatch", ("3 columns", "2 terms")),
        ([[1], [1]], "vocabulary-mismatch", ("1 columns", "2 terms")),
        ([[(5, 1)]], "term-out-of-range", ("5", "1")),
        (["a text"], "cannot-split-texts", ()),
        ([["unknown"]], None, ()),
    ],
)
def test_what_does_not_fit_the_model(counts, code, facts):
    before = from_counts([[2, 1], [1, 1]], vocabulary=["ant", "bee"])
    if code is None:
        assert enlarged(before, counts).n_terms == 3
        return
    with raises(CorpusError, code, *facts):
        more_documents(counts, before)


def test_documents_without_a_word_that_counts_are_refused():
    with raises(CorpusError, "no-common-terms", "3 terms"):
        more_documents(["the", "fox"], from_texts(TEXTS, min_df=2, max_df=1.0))


def test_names_that_are_there_already_are_refused():
    before = from_texts(pd.Series(TEXTS, index=["x", "y", "z"]))
    with raises(CorpusError, "duplicate-documents", "'y', 'x'"):
        more_documents(pd.Series(["bee", "bee", "ant"], index=["y", "new", "x"]), before)
    with raises(CorpusError, "duplicate-documents", "twice", "'new'"):
        more_documents(pd.Series(["bee", "ant"], index=["new", "new"]), before)
    # Consecutive numbers are no names, and continue where the documents end.
    assert more_documents(["bee"], before).document_names == ("3",)


def test_metadata_join_and_what_one_lacks_is_missing():
    rank = pd.Categorical(["low", "high", "low"], ["low", "high"])
    before = from_texts(TEXTS, metadata={"year": [2001, 2002, 2003], "rank": rank, "old": ["a", "b", "c"]})
    new = more_documents(["bee", "ant"], before)
    new = new.with_metadata({"rank": ["mid", "high"], "year": [2004, 2005], "score": [0.5, None]})
    table = joined(before, new).metadata
    assert list(table) == ["year", "rank", "old", "score"]
    assert (table["year"].dtype, table["year"].tolist()) == (np.int64, [2001, 2002, 2003, 2004, 2005])
    assert list(table["rank"].cat.categories) == ["low", "high", "mid"]  # in the order they had
    assert table["rank"].tolist() == ["low", "high", "low", "mid", "high"]
    assert table["old"].isna().tolist() == [False, False, False, True, True]
    assert table["score"].isna().tolist() == [True, True, True, False, True]
    assert missing_columns(before, new.metadata_names) == ["old"]


def test_a_column_of_numbers_with_a_text_in_new_documents_becomes_texts():
    before = from_texts(TEXTS, metadata={"grade": [1, 2, 3]})
    new = more_documents(["bee"], before).with_metadata({"grade": ["A"]})
    assert joined(before, new).metadata["grade"].tolist() == ["1", "2", "3", "A"]


def test_no_metadata_at_all():
    assert enlarged(from_texts(TEXTS), ["bee"]).metadata is None
