"""Warnings that help, and none where all is well."""

import warnings

import numpy as np
import pytest

from franchise import HDPTopicModel
from franchise.corpus import Corpus, from_counts, from_texts, planted
from franchise.corpus.data_warnings import corpus_warnings, held_out_warnings, topic_warnings
from franchise.datasets import arxiv_abstracts
from tests.raising import check, warns

QUICK = {"sweeps": 4, "chains": 1, "random_state": 0, "verbose": 0}


@pytest.fixture(scope="module")
def texts():
    return from_texts(arxiv_abstracts())


def of_size(n_documents, n_terms):
    """Return a corpus of documents of two words."""
    x = np.arange(2 * n_documents) % n_terms
    return Corpus(x, 2 * np.arange(n_documents + 1), [f"t{v}" for v in range(n_terms)])


@pytest.mark.parametrize("n", [60, 300, 2000])
@pytest.mark.parametrize(
    "options", [{}, {"min_df": 1, "max_df": 1.0, "stop_words": None}], ids=["usual", "all"]
)
def test_counts_of_texts_are_not_transposed(n, options):
    counts = from_texts(arxiv_abstracts()[:n], **options).to_counts()
    assert corpus_warnings(from_counts(counts)) == []
    if n > 60 or options:
        (doubt,) = corpus_warnings(from_counts(counts.T))
        check(doubt, "transposed-counts", f"{counts.shape[1]:,} rows", f"{counts.shape[0]:,} columns")


def test_other_counts_are_not_transposed():
    rng = np.random.default_rng(1)
    lengths = rng.lognormal(3.0, 1.5, 500).astype(int) + 1
    uneven = planted(n_documents=500, document_length=lengths, n_topics=10, n_terms=400, seed=1).corpus
    few_terms = from_counts(rng.poisson(rng.gamma(0.3, 100.0, (300, 1)), (300, 96)))
    few_rows = from_counts(np.diag(np.arange(1, 20)))
    planted_few = planted(n_documents=100, document_length=50, n_topics=5, n_terms=12, seed=1).corpus
    for corpus in (uneven, few_terms, few_rows, planted_few):
        assert corpus_warnings(corpus) == []


def mutations(n_tumours, n_types, *, deep=True):
    """Return counts of types of mutation in tumours; the totals of tumours vary more than those of types."""
    rng = np.random.default_rng(2)
    totals, shares = rng.lognormal(0.0, 1.5, (n_tumours, 1)), rng.lognormal(0.0, 1.0, n_types)
    return rng.poisson((60.0 if deep else 1.0) * totals * shares)


def test_dense_counts_that_are_transposed():
    doubt, *_ = corpus_warnings(from_counts(mutations(2780, 96).T))
    check(doubt, "transposed-counts", "2,780 columns", "96 rows")


def test_dense_counts_that_are_not_transposed():
    rng = np.random.default_rng(3)
    genes = rng.poisson(300.0 * rng.lognormal(0.0, 0.3, (40, 1)) * rng.lognormal(0.0, 1.5, 2000))
    for counts in (
        mutations(2780, 96),
        mutations(40, 96),
        mutations(40, 96).T,  # either way round is possible
        mutations(100, 1536),
        mutations(2780, 96, deep=False).T,  # many are 0
        genes,  # in samples
    ):
        assert "transposed-counts" not in [doubt.code for doubt in corpus_warnings(from_counts(counts))]


def test_large_corpora_are_looked_at_in_part(texts, monkeypatch):
    counts = texts.to_counts()
    monkeypatch.setattr("franchise.corpus.data_warnings._MOST_WORDS", 20_000)
    assert corpus_warnings(from_counts(counts)) == []
    assert len(corpus_warnings(from_counts(counts.T))) == 1


def test_transposed_counts_in_the_estimator(texts):
    with warns("transposed-counts", "rows", "columns") as caught:
        HDPTopicModel(**QUICK, init="fitted").fit(texts.to_counts()[:400].T)
    assert caught[0].filename == __file__


def test_texts_are_never_transposed(texts, monkeypatch):
    monkeypatch.setattr("franchise.corpus.data_warnings._TERMS_VARY", 0.0)
    monkeypatch.setattr("franchise.corpus.data_warnings._TIMES_AS_MUCH", 0.0)
    assert corpus_warnings(texts) == []


@pytest.mark.parametrize("documents", [["A cat and a dog, a cat"], ["", "A cat and a dog, a cat"], [[3, 1]]])
def test_one_document(documents):
    with warns("only-one-document") as caught:
        HDPTopicModel(**QUICK).fit(documents)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("n_topics", "n_documents", "n_terms", "facts"),
    [
        (5, 50, 4, ("topics (5)", "terms (4)", "eta")),
        (4, 50, 4, None),
        (11, 100, 50, ("11 topics", "100 documents", "eta")),
        (10, 100, 50, None),
        (30, 99, 50, None),
    ],
)
def test_too_many_topics(n_topics, n_documents, n_terms, facts):
    found = topic_warnings(n_topics, of_size(n_documents, n_terms))
    assert len(found) == (facts is not None)
    for doubt in found:
        check(doubt, "many-topics", *facts)


def test_too_many_topics_in_the_estimator():
    corpus = from_texts(arxiv_abstracts()[:120])
    with warns("many-topics", "120 documents", "eta") as caught:
        HDPTopicModel(**QUICK, init=80, eta=0.02).fit(corpus)
    assert caught[0].filename == __file__


def test_a_start_says_nothing_of_the_number_of_topics():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HDPTopicModel(**QUICK, burn_in=4, init=80, eta=0.02).fit(from_texts(arxiv_abstracts()[:120]))


def test_one_held_out_document():
    assert held_out_warnings(np.array([0, 3, 3])) != []
    assert held_out_warnings(np.array([0, 3, 5])) == []
    abstracts = arxiv_abstracts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HDPTopicModel(**(QUICK | {"chains": 2}), eta=0.5).fit(from_texts(abstracts[:60], min_df=1))
    for call in (model.score, model.held_out, model.chain_weights):
        with warns("one-document-held-out"):
            call([abstracts[0]])
    model.held_out(abstracts[:2])
