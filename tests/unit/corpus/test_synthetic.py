"""Each statistical assertion fails a right program at most once in a million seeds.

Where one is made, a comment says what error it would find nine times in ten.
"""

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from franchise.corpus import draw_hdp, five_topics, planted
from franchise.errors import SettingsError
from tests.raising import raises

FALSE_FAIL_RATE = 1e-6


def total_variation(p, q):
    return 0.5 * np.abs(p - q).sum()


def assert_share(events, p):
    """Test independent events against their chance, exactly (binomial)."""
    events = np.asarray(events)
    pvalue = binomtest(int(events.sum()), events.size, p).pvalue
    assert pvalue > FALSE_FAIL_RATE, f"share {events.mean():.4f}, expected {p:.4f}"


def assert_number_of_seats(observed, new_seat):
    """Test sums of independent coin tosses with these chances against their mean (normal for such many)."""
    error = (np.sum(observed) - np.sum(new_seat)) / np.sqrt(np.sum(new_seat * (1 - new_seat)))
    assert 2 * norm.sf(abs(error)) > FALSE_FAIL_RATE, f"off by {error:.1f} standard errors"


# ---------------------------------------------------------------- five_topics


def test_five_topics_sizes_and_shares(seed):
    corpus, topics, z = five_topics(seed)
    assert (corpus.n_documents, corpus.n_terms, corpus.n_words) == (100, 12, 5000)
    assert set(corpus.document_lengths) == {50}
    assert topics.shape == (5, 12)
    assert z.dtype == np.int32
    assert np.bincount(z).tolist() == [1000] * 5


def test_five_topics_documents(seed):
    z = five_topics(seed).z.reshape(100, 50)
    counts = np.array([np.bincount(document, minlength=5) for document in z])
    # 5 topics alone, 4 documents each; 10 pairs in 4 mixtures, 2 documents each.
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    alone = kinds.max(axis=1) == 50
    assert alone.sum() == 5
    assert len(kinds) == 45
    np.testing.assert_array_equal(times, np.where(alone, 4, 2))
    assert set(counts.ravel()) == {0, 6, 19, 31, 44, 50}
    np.testing.assert_array_equal(counts.sum(axis=0), 1000)


@pytest.mark.parametrize("mixed", [0, 20, 40, 60, 80])
def test_five_topics_mixes_as_many_documents_as_asked(mixed):
    truth = five_topics(4, mixed=mixed)
    topics = [len(set(truth.z[50 * j : 50 * (j + 1)].tolist())) for j in range(100)]
    assert topics.count(2) == mixed
    assert topics.count(1) == 100 - mixed
    assert np.bincount(truth.z).tolist() == [1000] * 5


@pytest.mark.parametrize(
    ("mixed", "code"), [(-20, "not-a-whole-number"), (10, "out-of-range"), (100, "not-a-whole-number")]
)
def test_five_topics_refuses_other_numbers_of_mixed_documents(mixed, code):
    with raises(SettingsError, code, "mixed", mixed):
        five_topics(1, mixed=mixed)


@pytest.mark.parametrize("twin", [0.10, 0.11, 0.12])
def test_five_topics_truth(twin):
    topics = five_topics(0, twin=twin).topics
    np.testing.assert_allclose(topics.sum(axis=1), 1)
    np.testing.assert_allclose(topics[0], [twin, 0.125 - twin, *[0.125] * 7, 0, 0, 0])
    np.testing.assert_allclose(topics[1], [0.125 - twin, twin, *[0.125] * 7, 0, 0, 0])
    np.testing.assert_allclose(topics[2:, 9:], [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    assert not topics[2:, :9].any()


def test_five_topics_words_come_from_their_topics(seed):
    # 1,000 words per topic: detects 0.125 off by 0.065, and 0.8 off by 0.08.
    corpus, topics, z = five_topics(seed)
    assert np.all(topics[z, corpus.x] > 0)
    for k in range(5):
        for v in range(12):
            assert_share(corpus.x[z == k] == v, topics[k, v])


def test_five_topics_are_shuffled(seed):
    z = five_topics(seed).z.reshape(100, 50)
    assert not np.array_equal(z, np.sort(z, axis=1))
    assert len(set(z[:20].max(axis=1))) > 1


@pytest.mark.parametrize("twin", [0.0625, 0.125, -1.0, float("nan")])
def test_five_topics_refuses_other_twins(twin):
    with raises(SettingsError, "out-of-range", "twin", "0.0625", "0.125"):
        five_topics(0, twin=twin)


# ---------------------------------------------------------------- planted

SMALL = {"n_topics": 4, "n_terms": 30, "n_documents": 20, "document_length": 15}


def test_planted_shapes(seed):
    corpus, topics, z = planted(**SMALL, seed=seed)
    assert (corpus.n_documents, corpus.n_terms, corpus.n_words) == (20, 30, 300)
    assert topics.shape == (4, 30)
    np.testing.assert_allclose(topics.sum(axis=1), 1)
    assert z.shape == corpus.x.shape
    assert z.dtype == np.int32
    assert np.all(topics[z, corpus.x] > 0)


def test_planted_lengths_one_by_one(seed):
    lengths = [3, 0, 7]
    corpus = planted(**{**SMALL, "n_documents": 3, "document_length": lengths}, seed=seed).corpus
    assert corpus.document_lengths.tolist() == lengths


def test_planted_one_topic(seed):
    assert not planted(**{**SMALL, "n_topics": 1}, seed=seed).z.any()


def test_planted_words_come_from_their_topics(seed):
    # 60,000 words in 3 topics: sees a probability off by about 0.02.
    corpus, topics, z = planted(
        n_topics=3, n_terms=5, n_documents=600, document_length=100, seed=seed, topic_concentration=1.0
    )
    for k in range(3):
        words = corpus.x[z == k]
        for v, p in enumerate(topics[k]):
            assert_share(words == v, p)


def test_planted_shares_have_the_concentration(seed):
    # E[sum of squared shares] is (1 + c / K) / (1 + c); two words of a document agree that often.
    # 20,000 documents of two words, independent: sees an error of 0.022.
    n, c, n_topics = 20_000, 3.0, 4
    z = planted(n_topics=n_topics, n_terms=2, n_documents=n, document_length=2, seed=seed).z.reshape(n, 2)
    p = (1 + c / n_topics) / (1 + c)
    assert_share(z[:, 0] == z[:, 1], p)
    # Neither comes first more often than the other: the words of a document are shuffled.
    different = z[z[:, 0] != z[:, 1]]
    assert_share(different[:, 0] < different[:, 1], 0.5)


def test_overlap_makes_pairs_similar(seed):
    topics = planted(**{**SMALL, "n_topics": 6, "n_terms": 500}, seed=seed, overlap=0.8).topics
    np.testing.assert_allclose(topics.sum(axis=1), 1)
    # Four fifths are common to a pair by construction; between pairs nothing is.
    for a in range(6):
        for b in range(a):
            distance = total_variation(topics[a], topics[b])
            assert distance <= 0.2 + 1e-12 if a // 2 == b // 2 else distance > 0.4


@pytest.mark.parametrize(
    ("change", "code", "facts"),
    [
        ({"n_topics": 0}, "out-of-range", ("n_topics", "0")),
        ({"n_terms": 0}, "out-of-range", ("n_terms", "0")),
        ({"n_documents": 0}, "out-of-range", ("n_documents", "0")),
        ({"topic_concentration": 0.0}, "not-a-positive-number", ("topic_concentration", "0.0")),
        ({"document_concentration": -1.0}, "not-a-positive-number", ("document_concentration", "-1.0")),
        ({"overlap": 1.0}, "out-of-range", ("overlap", "1.0")),
        ({"overlap": 0.5, "n_topics": 3}, "odd-number", ("n_topics", "3")),
        ({"document_length": [1, 2]}, "wrong-shape", ("document_length", "(2,)")),
        ({"document_length": -1}, "not-a-whole-number", ("document_length",)),
        ({"document_length": 2.5}, "not-a-whole-number", ("document_length",)),
        ({"document_length": 0}, "empty-corpus", ("document_length",)),
    ],
)
def test_planted_refuses(change, code, facts):
    with raises(SettingsError, code, *facts):
        planted(**{**SMALL, **change}, seed=0)


# ---------------------------------------------------------------- draw_hdp

HDP = {"n_terms": 6, "alpha": 1.5, "gamma": 2.0, "eta": 0.5}


def new_seat_probabilities(concentration, n):
    """Chance that customer i opens a new table in a Chinese restaurant process, for i < n."""
    return concentration / (concentration + np.arange(n))


def test_draw_hdp_seating_is_consistent(seed):
    corpus, t_ji, k_jt = draw_hdp(document_lengths=[8, 0, 20, 1], **HDP, seed=seed)
    assert corpus.document_lengths.tolist() == [8, 0, 20, 1]
    assert t_ji.dtype == k_jt.dtype == np.int32
    n_tables = 0
    for j in range(4):
        tables = t_ji[corpus.doc_ptr[j] : corpus.doc_ptr[j + 1]]
        # In order of appearance: each table's first word follows those of all tables before it.
        firsts = [tables.tolist().index(t) for t in range(len(set(tables)))]
        assert firsts == sorted(firsts)
        n_tables += len(firsts)
    assert len(k_jt) == n_tables
    firsts = [k_jt.tolist().index(k) for k in range(len(set(k_jt)))]
    assert firsts == sorted(firsts)


def test_draw_hdp_tables_follow_the_crp(seed):
    # The number of tables is a sum of independent coin tosses with chances alpha / (alpha + i).
    # 3,000 documents of 10 words: detects an error of 0.14 in 3.5 tables per document.
    n, length = 3000, 10
    corpus, t_ji, _ = draw_hdp(document_lengths=[length] * n, **HDP, seed=seed)
    assert corpus.n_documents == n
    tables = t_ji.reshape(n, length)
    p = new_seat_probabilities(HDP["alpha"], length)
    assert_number_of_seats(tables.max(axis=1) + 1, np.tile(p, n))
    # Sizes matter too: all of the first three words sit together with chance 2 / ((alpha + 1)(alpha + 2)).
    together = 2 / ((HDP["alpha"] + 1) * (HDP["alpha"] + 2))
    assert_share((tables[:, :3] == 0).all(axis=1), together)


def test_draw_hdp_topics_and_words(seed):
    # 1,500 draws: sees an error of 0.15 topics a draw, of 2.8, and of about 0.08 in a chance.
    alone, n_topics, new_topic, together, same_topic, other_topic = [], [], [], [], [], []
    for i in range(1500):
        corpus, t_ji, k_jt = draw_hdp(document_lengths=[4, 4], **HDP, seed=seed + i)
        n_topics.append(k_jt.max() + 1)
        new_topic.append(new_seat_probabilities(HDP["gamma"], len(k_jt)))
        together += [(k_jt[:3] == 0).all()] if len(k_jt) > 2 else []
        second = int(t_ji[:4].max()) + 1  # tables of the second document start here
        z = k_jt[np.concatenate([t_ji[:4], second + t_ji[4:]])]
        first, other = corpus.x[z == 0], corpus.x[z == 1]
        alone.append(first[0] == 0)
        same_topic += [first[0] == first[1]] if len(first) > 1 else []
        other_topic += [first[0] == other[0]] if len(other) else []
    # Given the tables, topics follow a Chinese restaurant process over all of them, across documents.
    assert_number_of_seats(n_topics, np.concatenate(new_topic))
    assert_share(together, 2 / ((HDP["gamma"] + 1) * (HDP["gamma"] + 2)))
    # Given the topics, their words follow Polya urns, one a topic, independent of each other.
    n_terms, eta = HDP["n_terms"], HDP["eta"]
    assert_share(alone, 1 / n_terms)
    assert_share(same_topic, (1 + eta) / (1 + n_terms * eta))
    assert_share(other_topic, 1 / n_terms)


@pytest.mark.parametrize(
    ("change", "code", "facts"),
    [
        ({"alpha": 0.0}, "not-a-positive-number", ("alpha", "0.0")),
        ({"gamma": -1.0}, "not-a-positive-number", ("gamma", "-1.0")),
        ({"eta": float("inf")}, "not-a-positive-number", ("eta", "inf")),
        ({"n_terms": 0}, "out-of-range", ("n_terms", "0")),
        ({"document_lengths": [0, 0]}, "empty-corpus", ("document_length",)),
        ({"document_lengths": [3, -1]}, "not-a-whole-number", ("document_length",)),
    ],
)
def test_draw_hdp_refuses(change, code, facts):
    with raises(SettingsError, code, *facts):
        draw_hdp(**{"document_lengths": [3], **HDP, **change}, seed=0)


# ---------------------------------------------------------------- seeds

MAKERS = {
    "five_topics": five_topics,
    "planted": lambda seed: planted(**SMALL, seed=seed),
    "overlapping": lambda seed: planted(**SMALL, seed=seed, overlap=0.5),
    "draw_hdp": lambda seed: draw_hdp(document_lengths=[20, 30], **HDP, seed=seed),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_seed_decides_everything(make, seed):
    first, again, other = make(seed), make(seed), make(seed + 1)
    assert first.corpus == again.corpus
    assert all(np.array_equal(a, b) for a, b in zip(first[1:], again[1:], strict=True))
    assert first.corpus != other.corpus
