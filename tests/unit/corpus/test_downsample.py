"""A limit of words per document: drawn without replacement, by the document, and reported."""

import numpy as np
import pytest

from franchise import HDPTopicModel
from franchise.corpus import Corpus, from_counts, from_texts
from franchise.corpus.data_warnings import corpus_warnings
from franchise.corpus.downsample import Downsampling
from franchise.errors import CorpusError, SettingsError
from tests.raising import check, raises

COUNTS = np.array([[900, 0, 100], [0, 0, 0], [0, 7, 3], [20, 1000, 2], [4, 3, 3]])


@pytest.fixture
def corpus():
    return from_counts(COUNTS, vocabulary=["ant", "bee", "cat"], document_names=list("pqrst"))


def as_words(corpus):
    return Corpus(corpus.x, corpus.doc_ptr, corpus.vocabulary, corpus.document_names)


def test_no_document_has_more(corpus):
    fewer = corpus.downsampled(10)
    counts = fewer.to_counts().toarray()
    assert fewer.document_lengths.tolist() == [10, 0, 10, 10, 10]
    assert (counts <= COUNTS).all()
    np.testing.assert_array_equal(counts[[1, 2, 4]], COUNTS[[1, 2, 4]])
    assert fewer.downsampling == Downsampling(10, 0, 2, corpus.n_words)
    assert (fewer.vocabulary, fewer.document_names) == (corpus.vocabulary, corpus.document_names)


@pytest.mark.parametrize("n", [1, 10, 500, 5000])
def test_the_same_whether_words_or_cells_are_held(corpus, n):
    words = as_words(corpus)
    assert corpus.keeps_cells
    assert not words.keeps_cells
    assert corpus.downsampled(n, random_state=3) == words.downsampled(n, random_state=3)


def test_by_seed_and_by_document(corpus):
    one = corpus.downsampled(100, random_state=1)
    assert one == corpus.downsampled(100, random_state=1)
    assert one != corpus.downsampled(100, random_state=2)
    # Neither the place of a document nor what else is there matters.
    assert corpus.select([3, 0]).downsampled(100, random_state=1) == one.select([3, 0])


def test_documents_have_draws_of_their_own():
    same = from_counts(np.full((50, 4), 1000)).downsampled(100).to_counts().toarray()
    assert len(np.unique(same, axis=0)) > 40


def test_words_stay_in_their_order():
    words = ["bee", "ant", "cat", "bee", "bee", "ant", "dog"] * 3
    corpus = from_texts([" ".join(words)], metadata={"year": [1999]})
    fewer = corpus.downsampled(12)
    kept = [fewer.vocabulary[v] for v in fewer.x]
    left = dict(zip(fewer.vocabulary, fewer.term_counts.tolist()))
    expected = []
    for word in words:
        if left[word]:
            expected.append(word)
            left[word] -= 1
    assert kept == expected
    assert fewer.texts == corpus.texts
    assert fewer.text_options == corpus.text_options
    assert fewer.metadata.equals(corpus.metadata)


def test_nothing_to_leave_out(corpus):
    same = corpus.downsampled(10_000)
    assert same == corpus
    assert same.downsampling == Downsampling(10_000, 0, 0, corpus.n_words)
    assert corpus.downsampling is None


def test_drawn_without_replacement():
    """Mean and variance of what is kept are the hypergeometric's, within five standard errors."""
    n_documents, kept = 4000, 30
    counts = np.tile([50, 30, 20], (n_documents, 1))
    drawn = from_counts(counts).downsampled(kept).to_counts().toarray()
    for column, total in zip(drawn.T, (50, 30, 20)):
        share = total / 100
        variance = kept * share * (1 - share) * (100 - kept) / 99
        assert abs(column.mean() - kept * share) < 5 * np.sqrt(variance / n_documents)
        # The variance of a nearly normal number's variance is 2 variance^2 / n.
        assert abs(column.var() - variance) < 5 * variance * np.sqrt(2 / n_documents)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "10", True, None, 2**31])
def test_what_is_no_number_of_words(corpus, wrong):
    with raises(SettingsError, "not-a-whole-number", "words="):
        corpus.downsampled(wrong)


def test_what_is_no_seed(corpus):
    with raises(SettingsError, "not-a-seed", "random_state=-1"):
        corpus.downsampled(5, random_state=-1)


def test_more_words_than_can_be_drawn_from():
    with raises(CorpusError, "document-too-long", "document '0'", "1,000,000,007"):
        from_counts([[1_000_000_000, 7]]).downsampled(100)


def test_in_words():
    assert Downsampling(5, 1, 1, 2000).in_words().endswith("of 2,000 words; 1 document lost words")


def test_very_large_counts_are_doubted():
    counts = np.random.default_rng(0).poisson(200.0, (60, 1_001))
    (doubt,) = corpus_warnings(from_counts(counts))
    check(doubt, "large-counts", "200 on average", "--downsample 1000")
    (same,) = corpus_warnings(as_words(from_counts(counts)))
    assert str(same) == str(doubt)
    assert corpus_warnings(from_counts(counts).downsampled(1000)) == []
    assert corpus_warnings(from_counts(counts // 10)) == []
    assert corpus_warnings(from_counts(counts[:, :96])) == []  # few terms: that is measured


def test_a_model_says_what_was_done(tmp_path, corpus):
    model = HDPTopicModel(eta=1.0, sweeps=4, chains=1, random_state=0, verbose=0)
    model.fit(corpus.downsampled(20, random_state=7))
    said = "Down-sampled: at most 20 words per document (seed 7), of 2,042 words; 2 documents lost words"
    assert said in str(model)
    model.save(tmp_path / "model")
    assert said in (tmp_path / "model" / "README.md").read_text("utf-8")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert loaded.corpus_ == model.corpus_
    assert loaded.corpus_.downsampling == model.corpus_.downsampling


def test_a_limit_for_each_document(corpus):
    fewer = corpus.downsampled([10, 0, 20, 500, 3], random_state=3)
    assert fewer.document_lengths.tolist() == [10, 0, 10, 500, 3]
    assert (fewer.to_counts().toarray() <= COUNTS).all()
    assert fewer.downsampling == Downsampling(500, 3, 3, corpus.n_words, by_document=True)
    assert fewer.downsampling.in_words().startswith("a limit for each document, 500 words or less (seed 3)")
    assert as_words(corpus).downsampled(np.array([10, 0, 20, 500, 3]), random_state=3) == fewer
    # A document draws as it would under the same limit for all.
    np.testing.assert_array_equal(fewer.document(3), corpus.downsampled(500, random_state=3).document(3))


@pytest.mark.parametrize("wrong", [[10, 10], [[10] * 5], [10, 10, 10, 10.5, 10]])
def test_what_are_no_limits(corpus, wrong):
    with pytest.raises(CorpusError, match="words has"):
        corpus.downsampled(wrong)


def test_a_limit_below_one(corpus):
    with pytest.raises(SettingsError, match=r"words\[2\]=0"):
        corpus.downsampled([10, 10, 0, 10, 10])


@pytest.mark.parametrize("as_cells", [False, True])
def test_evenly_scaled_counts_are_next_to_their_expected_values(as_cells):
    rng = np.random.default_rng(4)
    table = rng.poisson(30.0, (40, 12)) + 1
    corpus = from_counts(table)
    if as_cells:
        corpus = Corpus.from_cells(corpus.cells, corpus.vocabulary)
    limits = table.sum(axis=1) // rng.integers(1, 9, 40)
    sums = np.zeros(table.shape)
    for seed in range(400):
        kept = corpus.downsampled(limits, random_state=seed, evenly=True)
        counts = kept.to_counts().toarray()
        expected = table * (limits / table.sum(axis=1))[:, None]
        assert counts.sum(axis=1).tolist() == limits.tolist()
        assert np.all(np.abs(counts - expected) < 1.0 + 1e-9)
        sums += counts
    assert kept.downsampling.evenly
    assert "scaled down" in kept.downsampling.in_words()
    # The standard deviation of a rounded fraction is at most a half: each mean is off by 0.025 at most, and
    # of 480 none by six of these but once in a million times.
    assert np.all(np.abs(sums / 400 - expected) < 0.15)
