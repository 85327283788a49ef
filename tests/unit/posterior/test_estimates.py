"""Every number of the posterior against plain loops over draws, documents, topics and terms."""

from fractions import Fraction
from math import ceil, floor, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from franchise.corpus import Corpus
from franchise.errors import FranchiseError, SettingsError
from franchise.posterior.estimates import Posterior
from tests.raising import raises
from tests.unit.posterior.made import draw_of_words, posterior_of_counts

# ---------------------------------------------------------------- plain loops


def quantile(values, q):
    """Return the quantile, linear between the values."""
    values = sorted(values)
    place = (len(values) - 1) * q
    low, high = floor(place), min(ceil(place), len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def smallest_with(values, share):
    """Return the smallest value that at least this share of the values does not exceed."""
    return next(x for x in sorted(values) if Fraction(sum(y <= x for y in values), len(values)) >= share)


def plain(posterior):
    """Return the answer's numbers, computed one by one from dense counts."""
    corpus, draws = posterior.corpus, posterior.flat_draws
    lengths = np.diff(corpus.doc_ptr).tolist()
    n_terms, n_documents, n_draws = len(corpus.vocabulary), len(lengths), len(draws)
    n_kv = [draw.topic_terms.toarray().tolist() for draw in draws]
    n_jk = [draw.document_topics.toarray().tolist() for draw in draws]
    ks = [len(counts) for counts in n_kv]
    n_topics = smallest_with(ks, Fraction(1, 2))
    interval = smallest_with(ks, Fraction(1, 40)), smallest_with(ks, Fraction(39, 40))

    weight = {}  # of a cluster in a draw
    for i, clusters in enumerate(posterior.alignment.clusters):
        for k, cluster in enumerate(clusters.tolist()):
            weight[i, cluster] = sum(n_kv[i][k]) / len(corpus.x)
    clusters = sorted({cluster for _, cluster in weight})
    times = {c: sum(cluster == c for _, cluster in weight) for c in clusters}
    mean_weight = {c: sum(weight.get((i, c), 0.0) for i in range(n_draws)) / n_draws for c in clusters}
    listed = sorted(clusters, key=lambda c: (-times[c], -mean_weight[c], c))[:n_topics]
    listed.sort(key=lambda c: (-mean_weight[c], c))
    columns = [
        [listed.index(c) if c in listed else n_topics for c in clusters.tolist()]
        for clusters in posterior.alignment.clusters
    ]

    phis = [[[] for _ in range(n_terms)] for _ in range(n_topics)]  # over the draws that have the topic
    seen = np.zeros((n_topics, n_terms))
    thetas = np.zeros((n_draws, n_documents, n_topics + 1))
    predictive = np.zeros((n_documents, n_terms))
    together, terms_together = np.zeros((n_documents,) * 2), np.zeros((n_terms,) * 2)
    occurrences = [sum(1 for x in corpus.x if x == v) for v in range(n_terms)]
    for i, draw in enumerate(draws):
        alpha, gamma, eta = draw.concentrations.tolist()
        m = draw.m_k.tolist()
        phi = [
            [(n_kv[i][k][v] + eta) / (sum(n_kv[i][k]) + n_terms * eta) for v in range(n_terms)]
            for k in range(ks[i])
        ]
        theta = [
            [(n_jk[i][j][k] + alpha * m[k] / (sum(m) + gamma)) / (lengths[j] + alpha) for k in range(ks[i])]
            for j in range(n_documents)
        ]
        rest = [alpha * gamma / (sum(m) + gamma) / (n + alpha) for n in lengths]
        for k, column in enumerate(columns[i]):
            for v in range(n_terms):
                if column < n_topics:
                    phis[column][v].append(phi[k][v])
                    seen[column, v] += n_kv[i][k][v] / (sum(n_kv[i][k]) + n_terms * eta)
            for j in range(n_documents):
                thetas[i, j, column] += theta[j][k]
        for j in range(n_documents):
            thetas[i, j, n_topics] += rest[j]
            for v in range(n_terms):
                predictive[j, v] += sum(theta[j][k] * phi[k][v] for k in range(ks[i])) + rest[j] / n_terms
            for l in range(n_documents):
                together[j, l] += sum(theta[j][k] * theta[l][k] for k in range(ks[i]))
        for v in range(n_terms):
            for w in range(n_terms):
                pairs = sum(n_kv[i][k][v] * n_kv[i][k][w] for k in range(ks[i]))
                possible = occurrences[v] * occurrences[w]
                terms_together[v, w] += pairs / possible if possible else np.nan
    return SimpleNamespace(
        n_topics=n_topics,
        interval=interval,
        columns=columns,
        phis=phis,
        weights=np.array([[weight.get((i, c), 0.0) for c in listed] for i in range(n_draws)]),
        support=[times[c] / n_draws for c in listed],
        thetas=thetas,
        predictive=predictive / n_draws,
        together=together / n_draws,
        terms_together=terms_together / n_draws,
        similarity=[
            [sum(sqrt(p * q) for p, q in zip(a, b)) / sqrt(sum(a) * sum(b)) for b in seen] for a in seen
        ],
    )


def bounds(values, level):
    """Return lower and upper bounds over the first axis."""
    values = np.asarray(values)
    flat = values.reshape(len(values), -1)
    pairs = [[quantile(column, (1 - level) / 2), quantile(column, (1 + level) / 2)] for column in flat.T]
    return np.array(pairs).reshape(*values.shape[1:], 2)


# ---------------------------------------------------------------- cases


def random_posterior(seed, lengths=(5, 0, 9, 1), n_terms=6, most_topics=4, chains=(4, 3)):
    """Return the posterior of random draws: unequal chains, a document without words, unused terms."""
    rng = np.random.default_rng(seed)
    doc_ptr = np.cumsum([0, *lengths])
    used = max(1, n_terms - 1)
    corpus = Corpus(rng.integers(0, used, doc_ptr[-1]), doc_ptr, [f"w{v}" for v in range(n_terms)])

    def draw():
        z = rng.integers(0, rng.integers(1, most_topics + 1), corpus.n_words)
        z = np.unique(z, return_inverse=True)[1]  # no topic without words
        n_topics = z.max() + 1
        return draw_of_words(corpus, z, rng.integers(1, 5, n_topics), rng.uniform(0.05, 3.0, 3))

    draws = [[draw() for _ in range(length)] for length in chains]
    return Posterior(corpus, draws, [], mode=draws[0][0])


CASES = {
    "plain": {},
    "more": {"seed": 1, "lengths": (8, 8, 3), "n_terms": 4, "chains": (3, 1, 6)},
    "many topics": {"seed": 2, "lengths": (20, 5, 0), "n_terms": 9, "most_topics": 9, "chains": (5, 5)},
    "one chain": {"seed": 3, "chains": (6,)},
    "one draw": {"seed": 4, "chains": (1,)},
    "one term": {"seed": 5, "n_terms": 1},
    "one topic": {"seed": 6, "most_topics": 1},
    "one word": {"seed": 7, "lengths": (0, 1, 0)},
    "forty draws": {"seed": 8, "lengths": (9, 2), "n_terms": 3, "most_topics": 8, "chains": (20, 20)},
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    posterior = random_posterior(**{"seed": 0, **CASES[request.param]})
    return posterior, plain(posterior)


def close(expected):
    return pytest.approx(np.asarray(expected), rel=1e-12, abs=1e-14)


# ---------------------------------------------------------------- the number of topics


def test_number_of_topics(case):
    posterior, expected = case
    assert posterior.n_topics_draws.tolist() == [draw.names.size for draw in posterior.flat_draws]
    assert type(posterior.n_topics) is int
    assert posterior.n_topics == expected.n_topics
    assert posterior.n_topics in posterior.n_topics_draws
    assert posterior.n_topics_interval == expected.interval
    assert [type(bound) for bound in posterior.n_topics_interval] == [int, int]


def test_the_interval_holds_at_least_95_percent():
    posterior = posterior_of_counts([[np.ones((k, 1), int)] * n for k, n in ((1, 1), (2, 38), (3, 1))])
    assert posterior.n_topics_interval == (1, 2)  # 2.5% are not more than 1, 97.5% not more than 2
    posterior = posterior_of_counts([[np.ones((k, 1), int)] * n for k, n in ((1, 1), (2, 39), (3, 1))])
    assert posterior.n_topics_interval == (2, 2)


# ---------------------------------------------------------------- topics


def test_listed_topics(case):
    posterior, expected = case
    assert [column.tolist() for column in posterior.columns] == expected.columns
    listed = {k for column in expected.columns for k in column} - {posterior.n_topics}
    assert listed == set(range(posterior.n_topics))  # as many as there are, none empty
    assert np.all(np.diff(posterior.weights) <= 0)  # largest first
    assert np.all(posterior.weights > 0)


def test_weights_and_support(case):
    posterior, expected = case
    assert posterior.weights == close(expected.weights.mean(axis=0))
    assert posterior.weights_interval() == close(bounds(expected.weights, 0.95))
    assert posterior.weights_interval(0.5) == close(bounds(expected.weights, 0.5))
    assert posterior.weights.sum() + posterior.unlisted_weight == pytest.approx(1.0, abs=1e-12)
    assert posterior.support == close(expected.support)


def test_chain_support_and_stability_are_those_of_the_listed_clusters(case):
    posterior, expected = case
    clusters = np.concatenate(posterior.alignment.clusters)
    columns = np.concatenate(expected.columns)
    of_column = [clusters[columns == k][0] for k in range(expected.n_topics)]
    assert np.array_equal(posterior.chain_support, posterior.alignment.chain_support[of_column])
    assert np.array_equal(posterior.stability, posterior.alignment.stability[of_column])


def test_phi(case):
    posterior, expected = case
    assert posterior.phi == close([[np.mean(values) for values in topic] for topic in expected.phis])
    assert posterior.phi.sum(axis=1) == pytest.approx(np.ones(posterior.n_topics), abs=1e-12)


def assert_tails(bounds, shapes, others, level):
    """Test bounds against the mixture of Beta(shapes, others), equally weighted; shape 0 is the number 0.

    About 1,000 points: the share of the mixture below a bound is off by less than 0.04 practically always.
    """
    for bound, tail in zip(bounds, ((1 - level) / 2, (1 + level) / 2)):
        below = [
            1.0 if a == 0 else 1.0 if b == 0 and bound >= 1 else beta.cdf(bound, a, b)
            for a, b in zip(shapes, others)
        ]
        upto = [1.0 if a == 0 else beta.cdf(bound + 1e-12, a, b) for a, b in zip(shapes, others)]
        assert np.mean(below) - 0.04 < tail < np.mean(upto) + 0.04 or (bound == 0 and np.mean(upto) > tail)


def test_phi_interval(case):
    """A draw's probability of a term is Beta, given its counts."""
    posterior, expected = case
    n_terms = posterior.corpus.n_terms
    for topic in range(expected.n_topics):
        shapes, others = [], []
        for draw, columns in zip(posterior.flat_draws, expected.columns):
            for k in (k for k, column in enumerate(columns) if column == topic):
                counts = draw.topic_terms.toarray()[k] + draw.concentrations[2]
                shapes.append(counts)
                others.append(counts.sum() - counts)
        found = posterior.phi_interval(topic, np.arange(n_terms)[::-1], level=0.8)
        assert found.shape == (n_terms, 2)
        for v in range(n_terms):
            if n_terms > 1:
                assert_tails(found[n_terms - 1 - v], np.array(shapes)[:, v], np.array(others)[:, v], 0.8)
            else:
                assert found[0] == pytest.approx([1.0, 1.0])
            assert np.array_equal(posterior.phi_interval(topic, [v], level=0.8)[0], found[n_terms - 1 - v])


def test_similarity(case):
    posterior, expected = case
    assert posterior.similarity == pytest.approx(np.array(expected.similarity), abs=1e-6)
    others = np.array(expected.similarity) - 2 * np.eye(expected.n_topics)
    if expected.n_topics == 1:
        assert posterior.nearest.tolist() == [0]
        assert posterior.nearest_similarity.tolist() == [0.0]
    else:
        assert posterior.nearest_similarity == pytest.approx(others.max(axis=1), abs=1e-6)
        chosen = others[np.arange(expected.n_topics), posterior.nearest]
        assert chosen == pytest.approx(others.max(axis=1), abs=1e-6)


def test_small_topics_without_a_term_in_common_are_not_alike():
    # With eta they would be: most of what is expected of a small topic is eta.
    posterior = posterior_of_counts([[np.kron(np.eye(3, dtype=int), np.ones((1, 2), int))]])
    assert np.all(np.sqrt(posterior.phi) @ np.sqrt(posterior.phi).T > 0.4)
    assert posterior.similarity == pytest.approx(np.eye(3), abs=1e-6)


# ---------------------------------------------------------------- documents


def test_document_topics(case):
    posterior, expected = case
    assert posterior.document_topics == close(expected.thetas.mean(axis=0))
    assert posterior.document_topics.shape == (posterior.corpus.n_documents, posterior.n_topics + 1)
    assert np.abs(posterior.document_topics.sum(axis=1) - 1.0).max() < 1e-12


def test_document_topics_interval(case):
    """A draw's proportion of a topic is Beta, given its counts; 0 where the draw does not have the topic."""
    posterior, expected = case
    documents = [posterior.corpus.n_documents - 1, 0]
    found = posterior.document_topics_interval(documents, level=0.8)
    assert np.array_equal(posterior.document_topics_interval([0], 0.8)[0], found[1])
    for bounds_of_document, j in zip(found, documents):
        totals = [
            posterior.corpus.document_lengths[j] + draw.concentrations[0] for draw in posterior.flat_draws
        ]
        for topic, bounds_of_topic in enumerate(bounds_of_document):
            shapes = expected.thetas[:, j, topic] * totals
            assert_tails(bounds_of_topic, shapes, totals - shapes, 0.8)
    assert posterior.document_topics_interval([]).shape == (0, posterior.n_topics, 2)


def test_intervals_of_a_document_without_words_where_alpha_is_tiny():
    """All shapes of its Dirichlet are tiny: it has one topic or another, and no numbers get lost."""
    corpus = Corpus([0, 1, 2, 3], [0, 4, 4], ["a", "b", "c", "d"])
    draw = draw_of_words(corpus, [0, 1, 2, 3], [1, 1, 1, 1], (1e-4, 1.0, 0.1))
    found = Posterior(corpus, [[draw] * 3], []).document_topics_interval([1], level=0.9)
    assert found == pytest.approx(np.broadcast_to([0.0, 1.0], (1, 4, 2)), abs=1e-6)


def test_predictive(case):
    posterior, expected = case
    documents = np.arange(posterior.corpus.n_documents)[::-1]
    assert posterior.predictive(documents) == close(expected.predictive[documents])
    assert np.abs(posterior.predictive(documents).sum(axis=1) - 1.0).max() < 1e-12


def test_co_assignment(case):
    posterior, expected = case
    documents = [0, posterior.corpus.n_documents - 1]
    assert posterior.co_assignment(documents) == close(expected.together[np.ix_(documents, documents)])


def test_term_co_assignment(case):
    posterior, expected = case
    terms = np.arange(posterior.corpus.n_terms)[::-1]
    found = posterior.term_co_assignment(terms)
    assert found == pytest.approx(expected.terms_together[np.ix_(terms, terms)], rel=1e-12, nan_ok=True)
    occurs = posterior.corpus.term_counts[terms] > 0
    assert np.array_equal(np.isnan(found), ~np.outer(occurs, occurs))


def test_what_needs_no_labels_does_not_depend_on_them(seed):
    rng = np.random.default_rng(seed)
    posterior = random_posterior(seed)
    permuted = [[relabelled(draw, rng.permutation(draw.names.size)) for draw in c] for c in posterior.draws]
    other = Posterior(posterior.corpus, permuted, [])
    documents, terms = np.arange(4), np.unique(posterior.corpus.x)
    assert other.predictive(documents) == close(posterior.predictive(documents))
    assert other.co_assignment(documents) == close(posterior.co_assignment(documents))
    assert other.term_co_assignment(terms) == close(posterior.term_co_assignment(terms))


def relabelled(draw, order):
    return draw._replace(
        topic_terms=draw.topic_terms[order],
        document_counts=draw.document_topics[:, order],
        m_k=draw.m_k[order],
    )


@settings(max_examples=50)
@example(0, [11], 1, 8, [1, 3, 5])  # two topics of one weight, but for rounding
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 12), min_size=1, max_size=6).filter(any),
    st.integers(1, 8),
    st.integers(1, 9),
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
)
def test_sums_and_order_hold_of_all_draws(seed, lengths, n_terms, most_topics, chains):
    posterior = random_posterior(seed, lengths, n_terms, most_topics, chains)
    low, high = posterior.n_topics_interval
    assert low <= posterior.n_topics <= high
    assert len(posterior.phi) == len(posterior.weights) == len(posterior.support) == posterior.n_topics
    assert np.abs(posterior.phi.sum(axis=1) - 1.0).max() < 1e-12
    assert np.abs(posterior.document_topics.sum(axis=1) - 1.0).max() < 1e-12
    assert np.all(posterior.document_topics >= 0)
    assert np.all(posterior.weights > 0)
    assert np.all(np.diff(posterior.weights) <= 0)
    assert 0 <= posterior.unlisted_weight < 1
    assert posterior.weights.sum() + posterior.unlisted_weight == pytest.approx(1.0, abs=1e-12)
    assert np.all((posterior.similarity >= 0) & (posterior.similarity <= 1))
    bounds_of_weights = posterior.weights_interval()
    assert np.all(bounds_of_weights[:, 0] <= bounds_of_weights[:, 1])


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("draws", [[], [[]]])
def test_no_draws(draws):
    with raises(FranchiseError, "no-draws"):
        Posterior(random_posterior(0).corpus, draws, [])


@pytest.mark.parametrize("wrong", [[4], [-1], [0.5], [True, False, True, True], ["0"], 7])
def test_documents_that_there_are_not(wrong):
    posterior = random_posterior(0)
    for ask in (posterior.predictive, posterior.co_assignment, posterior.document_topics_interval):
        with raises(SettingsError, "not-a-whole-number", "documents=", "0 to 3"):
            ask(wrong)


@pytest.mark.parametrize("wrong", [[6], [-1], [0.5]])
def test_terms_that_there_are_not(wrong):
    posterior = random_posterior(0)
    with raises(SettingsError, "not-a-whole-number", "terms=", "0 to 5"):
        posterior.term_co_assignment(wrong)
    with raises(SettingsError, "not-a-whole-number", "terms=", "0 to 5"):
        posterior.phi_interval(0, wrong)


def test_a_topic_that_there_is_not():
    posterior = random_posterior(0)
    for wrong in (-1, posterior.n_topics, 0.5):
        with raises(SettingsError, "not-a-whole-number", f"topic={wrong}", f"0 to {posterior.n_topics - 1}"):
            posterior.phi_interval(wrong, [0])


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_that_is_no_probability(level):
    with raises(SettingsError, "not-a-probability", f"level={level}", "0 and 1"):
        random_posterior(0).weights_interval(level)
