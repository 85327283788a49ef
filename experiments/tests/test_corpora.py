"""The corpora of the experiments, and their division."""

import numpy as np

from experiments.corpora import find, read_split
from franchise import CorpusError
from franchise.corpus import five_topics, read_corpus, write_corpus
from tests.raising import raises


def test_the_shipped_corpus_is_cut_into_four_fifths_and_one():
    split = read_split("arxiv", None)
    whole = read_corpus(find("arxiv", None))
    assert (split.training.n_documents, split.test.n_documents) == (1600, 400)
    assert split.training.n_words + split.test.n_words == whole.n_words == 100_517
    assert split.training.vocabulary == split.test.vocabulary == whole.vocabulary
    assert "galaxies" in whole.vocabulary
    counts = split.training.term_counts + split.test.term_counts
    assert np.array_equal(counts, whole.term_counts)
    assert not set(split.training.document_names) & set(split.test.document_names)


def test_the_same_documents_are_put_aside_every_time():
    assert read_split("arxiv", None).test == read_split("arxiv", None).test


def test_a_folder_of_the_user_comes_first(tmp_path):
    (tmp_path / "arxiv").mkdir()
    write_corpus(five_topics(1).corpus, tmp_path / "arxiv" / "arxiv.ldac")
    assert read_split("arxiv", tmp_path).training.n_documents == 80


def test_a_missing_corpus_says_what_to_give(tmp_path):
    with raises(CorpusError, "no-such-file", "'nips'", "--corpora FOLDER"):
        find("nips", None)
    with raises(CorpusError, "no-such-file", tmp_path / "nips" / "nips.ldac"):
        find("nips", tmp_path)
