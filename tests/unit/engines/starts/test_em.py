"""Topics fitted by EM, and chains that start from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Chain, Corpus, Priors
from franchise.engines.starts import em, sample
from franchise.engines.starts.em import fitted_topics, topics_at_documents
from franchise.engines.starts.sample import in_random_order
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.engines.starts.topic_steps import fit_step
from franchise.model import broken_invariants
from franchise.sampling import Timetable
from tests.golden.fingerprint import arithmetic_corpus, seats
from tests.reference.fitted import Limits, fit
from tests.reference.franchise import corpus_of
from tests.reference.strategies import corpora

pytestmark = pytest.mark.nojit

MANY = arithmetic_corpus()
CORPORA = {
    "one word": ([[0]], 1),
    "one term": ([[0, 0], [0, 0, 0]], 1),
    "one document": ([[0, 1, 2, 0, 1, 2, 3]], 4),
    "empty documents": ([[], [0, 1], [], [], [1, 2], []], 3),
    "terms without words": ([[1, 1, 3], [3]], 6),
    "documents alike": ([[0, 1, 1]] * 7, 2),
    "more topics than documents": ([[0, 1, 2, 3] * 100, []], 4),
    "all lengths": ([[v % 5] * v for v in range(12)], 5),
    "six topics": ([words.tolist() for words in np.split(MANY.x, MANY.doc_ptr[1:-1])], MANY.n_terms),
}


def log_likelihood(corpus, phi, theta, common):
    """Return the log probability of the words under the mixture, up to a constant."""
    words = [corpus.document(j) for j in range(corpus.n_documents)]
    return sum(np.log(common[v] + phi[v] @ theta_j).sum() for v, theta_j in zip(words, theta, strict=True))


# ---------------------------------------------------------------- the fit


@given(corpora(max_documents=6, max_length=9, max_terms=5), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_every_step_raises_the_likelihood(corpus, n_topics, seed):
    rng, n_terms = np.random.default_rng(seed), corpus[1]
    corpus = corpus_of(*corpus)
    corpus = corpus.select(np.flatnonzero(corpus.document_lengths))
    common = rng.dirichlet(np.ones(n_terms)) / 9.0
    phi = np.ascontiguousarray(rng.dirichlet(np.full(n_terms, 0.5), n_topics).T)
    theta = rng.dirichlet(np.full(n_topics, 0.5), corpus.n_documents)
    new_phi, weight, expected = np.zeros_like(phi), np.zeros(n_topics), np.zeros(n_topics)
    topics = StartingTopics(phi, np.arange(n_terms), common)
    before = log_likelihood(corpus, phi, theta, common)
    for _ in range(10):
        fit_step(corpus.cells, topics, theta, new_phi, weight, expected)
        after = log_likelihood(corpus, phi, theta, common)
        assert after >= before - 1e-9
        before = after
        np.testing.assert_allclose(phi.sum(axis=0), 1.0)
        np.testing.assert_allclose(theta.sum(axis=1), 1.0)


def test_a_topic_without_words_stays_as_it_is():
    cells = corpus_of([[0, 0, 1], [1]], 3).cells
    phi, theta = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 1.0]]), np.full((2, 2), 0.5)
    topics = StartingTopics(phi, np.arange(3), np.full(3, 0.1))
    fit_step(cells, topics, theta, np.zeros_like(phi), np.zeros(2), np.zeros(2))
    assert phi[:, 1].tolist() == [0.0, 0.0, 1.0]
    assert theta.tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert np.all(np.isfinite(phi))


@pytest.mark.parametrize("name", CORPORA)
def test_topics_are_those_of_the_twin(name):
    documents, n_terms = CORPORA[name]
    order = in_random_order(np.flatnonzero([len(words) for words in documents]), 5).tolist()
    fitted, twin = fitted_topics(corpus_of(documents, n_terms), 0.3, 5), fit(documents, n_terms, 0.3, order)
    np.testing.assert_allclose(fitted.phi[fitted.row].T, twin.phi, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fitted.common, twin.common)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_topics_of_a_sample_are_those_of_the_twin(share, monkeypatch):
    """Of a small sample there are fewer steps."""
    documents, n_terms = CORPORA["six topics"]
    limits = Limits(documents=round(share * len(documents)))
    monkeypatch.setattr(sample, "_MOST_DOCUMENTS", limits.documents)
    order = in_random_order(np.flatnonzero([len(words) for words in documents]), 5).tolist()
    fitted = fitted_topics(corpus_of(documents, n_terms), 0.3, 5)
    twin = fit(documents, n_terms, 0.3, order, limits)
    np.testing.assert_allclose(fitted.phi[fitted.row].T, twin.phi, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("lengths", "eta", "n_topics"),
    [
        ([1], 0.1, 1),
        ([400], 0.1, 1),
        ([4] * 100, 0.1, 10),
        ([4] * 100, 0.2, 5),
        ([1] * 2, 1.0, 1),
        ([4] * 144, 5.0, 4),
        ([10] * 40, 1e-9, 40),
    ],
)
def test_how_many_topics_are_fitted(lengths, eta, n_topics):
    """In proportion to the square root of the words, and to 1 / eta up to 0.3; no more than documents."""
    corpus = Corpus([0] * sum(lengths), np.cumsum([0, *lengths]), ["a"])
    assert fitted_topics(corpus, eta, 0).phi.shape == (1 + 1, n_topics)


@pytest.mark.parametrize(
    ("n_words", "most"),
    [(0, 200), (500_000, 200), (4_000_000, 400), (32_000_000, 800), (62_500_000, 1_000), (2**31, 1_000)],
)
def test_large_corpora_have_more_topics(n_words, most):
    assert sample.most_topics(n_words) == most
    assert em.number_of_topics(n_words, 1e-3, 10**6, 10_000) == (most if n_words else 1)


def test_few_terms_have_no_more():
    many = 125_000_000
    found = [em.number_of_topics(many, 0.1, 10**6, n_terms) for n_terms in (3, 2_000, 5_000, 10**6)]
    assert found == [200, 200, 500, 1_000]


@pytest.mark.parametrize(
    ("length", "n_documents", "number"),
    [
        (50, 1_000, 1_000),
        (100, 4_000, 2_000),  # 200,000 words
        (1, 10**6, 20_000),  # as many as are ever taken
        (500, 1_000, 600),  # three for each of 200 topics
        (100_000, 640, 10),  # a million words
        (100, 1_250_000, 5_000),  # 500 words of each of 1,000 topics
        (0, 0, 0),
    ],
)
def test_how_many_documents_are_fitted(length, n_documents, number):
    assert sample.number_to_fit(length * n_documents, n_documents) == number


def test_planted_topics_are_found():
    """Documents of one of three topics: each becomes the topic of its words."""
    documents = [[3 * (j % 3) + i % 3 for i in range(20)] for j in range(30)]
    phi = fitted_topics(corpus_of(documents, 9), 0.1, 2).phi
    for k in range(3):
        own = phi[3 * k : 3 * k + 3].sum(axis=0)
        assert own.max() > 0.999


# ---------------------------------------------------------------- topics that begin at documents


@pytest.mark.parametrize("name", CORPORA)
def test_half_of_a_topic_is_the_document_that_it_begins_at(name):
    documents, n_terms = CORPORA[name]
    corpus, filled = corpus_of(documents, n_terms), [words for words in documents if words]
    begun = topics_at_documents(corpus, 0.3, 5)
    frequencies = corpus.term_counts / corpus.n_words
    np.testing.assert_allclose(begun.common, frequencies / 9)  # a tenth of all words
    number = em.number_of_topics(corpus.n_words, 0.3, len(filled), n_terms)
    order = in_random_order(np.flatnonzero(corpus.document_lengths), 5)[:number]
    used = np.isin(np.arange(n_terms), np.concatenate([documents[j] for j in order]))
    for phi, j in zip(begun.phi[begun.row].T, order, strict=True):
        own = np.bincount(documents[j], minlength=n_terms) / len(documents[j])
        np.testing.assert_allclose(phi, np.where(used, (own + frequencies) / 2, 0.0))


# ---------------------------------------------------------------- the start


def test_chains_of_a_seed_have_the_same_topics_and_seatings_of_their_own():
    seatings = set()
    for seed, number in ((0, 0), (0, 1), (7, 0)):
        chain = Chain(arithmetic_corpus(), random_state=seed, number=number, init="fitted")
        chain.start()
        seatings.add(b"".join(array.tobytes() for array in seats(chain)))
    assert len(seatings) == 3
    one, same, other = (fitted_topics(arithmetic_corpus(), 0.1, seed) for seed in (0, 0, 7))
    assert one.phi.tobytes() == same.phi.tobytes()
    assert one.phi.tobytes() != other.phi.tobytes()  # its topics began at other documents


def test_the_order_of_documents_matters_by_chance_alone():
    """Which topics are begun at a document depends on its place, but every place is as likely."""
    first = np.array([in_random_order(np.arange(10), seed)[0] for seed in range(2_000)])
    counts = np.bincount(first, minlength=10)
    # Standard deviation 13.4: a fair order fails with a probability below 1e-5.
    assert np.all(np.abs(counts - 200) < 67)


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("eta", [0.1, 1e-100, 1e100])
@pytest.mark.parametrize("start", ["fitted", "documents"])
def test_corpora_and_etas_at_the_edge(name, eta, start, seed):
    schedule = Timetable(sweeps=6, burn_in=4, warm_up=4)
    chain = Chain(
        corpus_of(*CORPORA[name]), Priors(eta=eta), schedule, random_state=seed, init=start, capacity=1
    )
    chain.start()
    assert broken_invariants(chain.corpus.arrays, chain.state) == []
    assert chain.trace.last["n_tables"] == chain.draw().document_topics.nnz  # one a document and topic
    chain.run()
    assert broken_invariants(chain.corpus.arrays, chain.state) == []
    assert np.all(np.isfinite(chain.trace["log_joint"]))


@pytest.mark.parametrize("most", ["_MOST_DOCUMENTS", "_MOST_WORDS"])
def test_terms_of_documents_left_out_are_common_words(most, monkeypatch, seed):
    """The fit has not seen them: they belong to no topic in particular."""
    documents = [[0, 1, 0, 1], [2, 3, 2, 2, 3, 3]]
    monkeypatch.setattr(sample, most, 1)
    fitted = fitted_topics(corpus_of(documents, 4), 0.1, seed)
    assert fitted.phi.shape[0] == 2 + 1  # however many terms there are
    seen = fitted.phi[fitted.row].sum(axis=1) > 0.0
    assert sorted([seen[:2].tolist(), seen[2:].tolist()]) == [[False, False], [True, True]]
    left_out = 1 if seen[0] else 0
    chain = Chain(corpus_of(documents, 4), random_state=seed, init="fitted")
    chain.start()
    assert chain.state.m_j[left_out] == 1
