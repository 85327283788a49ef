import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from franchise.corpus import Corpus, from_counts, from_tokens, shard
from franchise.errors import CorpusError, SettingsError
from franchise.posterior.coherence import coherence, diversity, effective_terms, exclusivity, top_terms
from tests.raising import raises

# ---------------------------------------------------------------- by brute force


def plain_top_terms(phi, n):
    return [sorted(range(len(row)), key=lambda v, row=row: (-row[v], v))[:n] for row in phi]


def plain_coherence(phi, corpus, measure, n):
    documents = [set(corpus.document(j).tolist()) for j in range(corpus.n_documents)]
    documents = [document for document in documents if document]
    return [plain_coherence_of(terms, documents, measure) for terms in plain_top_terms(phi, n)]


def plain_coherence_of(terms, documents, measure):
    def d(*wanted):
        return sum(set(wanted) <= document for document in documents)

    scores = []
    for w, v in itertools.combinations(terms, 2):  # w is ranked above v
        if d(v) == 0 or d(w) == 0:
            continue
        if measure == "u_mass":
            scores.append(math.log((d(v, w) + 1) / d(w)))
        elif d(v, w) == 0:
            scores.append(-1.0)
        elif d(v, w) == len(documents):
            scores.append(0.0)
        else:
            p, p_v, p_w = (count / len(documents) for count in (d(v, w), d(v), d(w)))
            scores.append(math.log(p / (p_v * p_w)) / -math.log(p))
    return sum(scores) / len(scores) if scores else math.nan


counts = arrays(np.int64, st.tuples(st.integers(1, 7), st.integers(2, 8)), elements=st.integers(0, 2)).filter(
    np.any
)
# Few different values, so that ties are common.
weights = st.integers(0, 3).map(float)


def topics(n_terms):
    shape = st.tuples(st.integers(1, 4), st.just(n_terms))
    return arrays(np.float64, shape, elements=weights).map(
        lambda phi: (phi + 0.1) / (phi + 0.1).sum(1)[:, None]
    )


@given(counts, st.data(), st.sampled_from(["u_mass", "c_npmi"]), st.integers(2, 9))
def test_coherence_is_what_two_loops_give(table, data, measure, n_terms):
    corpus = from_counts(table)
    phi = data.draw(topics(corpus.n_terms))
    found = coherence(phi, corpus, measure=measure, n_terms=n_terms)
    assert np.allclose(found, plain_coherence(phi, corpus, measure, n_terms), atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("measure", ["u_mass", "c_npmi"])
def test_coherence_is_what_two_loops_give_on_a_larger_corpus(measure, seed):
    rng = np.random.default_rng(seed)
    corpus = from_counts(rng.poisson(rng.gamma(0.3, 1.0, (1, 40)), (60, 40)))
    phi = rng.dirichlet(np.full(40, 0.1), 9)
    found = coherence(phi, corpus, measure=measure, n_terms=6)
    assert found.shape == (9,)
    assert np.allclose(found, plain_coherence(phi, corpus, measure, 6), atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("measure", ["u_mass", "c_npmi"])
def test_a_corpus_in_shards_need_not_fit_in_one_piece(tmp_path, monkeypatch, measure, seed):
    rng = np.random.default_rng(seed)
    corpus = from_counts(rng.poisson(rng.gamma(0.3, 1.0, (1, 40)), (60, 40)))
    phi = rng.dirichlet(np.full(40, 0.1), 9)
    sharded = shard(corpus, tmp_path / "shards", 7)
    monkeypatch.setattr("franchise.corpus.shards.corpus.MAX_WORDS", corpus.n_words - 1)
    with raises(CorpusError, "too-many-words"):
        sharded.x  # noqa: B018
    assert np.array_equal(coherence(phi, sharded, measure=measure), coherence(phi, corpus, measure=measure))


@given(counts, st.data())
def test_npmi_stays_in_its_range_whatever_the_order_of_documents(table, data):
    corpus = from_counts(table)
    phi = data.draw(topics(corpus.n_terms))
    found = coherence(phi, corpus)
    known = found[~np.isnan(found)]
    assert np.all((known >= -1 - 1e-12) & (known <= 1 + 1e-12))
    order = data.draw(st.permutations(range(corpus.n_documents)))
    assert np.allclose(coherence(phi, corpus.select(order)), found, atol=1e-12, equal_nan=True)


@given(st.data(), st.integers(1, 9), st.integers(1, 9))
def test_top_terms_are_sorted_by_probability_then_number(data, n_terms, n):
    phi = data.draw(topics(n_terms))
    assert top_terms(phi, n).tolist() == plain_top_terms(phi, n)


@given(st.data(), st.integers(1, 9), st.integers(1, 9))
def test_diversity_and_exclusivity_are_what_loops_give(data, n_terms, n):
    phi = data.draw(topics(n_terms))
    top = plain_top_terms(phi, n)
    listed = [v for row in top for v in row]
    assert diversity(phi, n) == pytest.approx(len(set(listed)) / len(listed))
    shares = [[phi[k][v] / sum(row[v] for row in phi) for v in top[k]] for k in range(len(phi))]
    assert exclusivity(phi, n) == pytest.approx([sum(row) / len(row) for row in shares])


@given(st.data(), st.integers(1, 9))
def test_effective_terms_lie_between_one_and_all(data, n_terms):
    found = effective_terms(data.draw(topics(n_terms)))
    assert np.all((found >= 1 - 1e-12) & (found <= n_terms + 1e-9))


# ---------------------------------------------------------------- what is known


def test_npmi_equals_gensims():
    # CoherenceModel(coherence="c_npmi", window_size=110) of gensim 4.4.0 on these documents.
    documents = [
        "cat dog milk cat", "dog bone dog milk", "cat milk bone", "tax vote law", "vote law law dog",
        "tax law cat", "bone dog cat milk", "vote tax",
    ]  # fmt: skip
    vocabulary = ["cat", "dog", "milk", "bone", "tax", "vote", "law"]
    corpus = from_tokens([text.split() for text in documents], vocabulary=vocabulary)
    phi = [[0.3, 0.25, 0.2, 0.15, 0.04, 0.03, 0.03], [0.02, 0.02, 0.02, 0.04, 0.3, 0.25, 0.35]]
    expected = [0.3247521270596902, 0.4150374992829267]
    assert coherence(phi, corpus, n_terms=4)[0] == pytest.approx(expected[0], abs=1e-6)
    assert coherence(phi, corpus, n_terms=3)[1] == pytest.approx(expected[1], abs=1e-6)


def two_terms(*documents):
    corpus = from_tokens([list(document) for document in documents], vocabulary=["a", "b", "c"])
    phi = [[0.6, 0.4, 0.0]]
    return [coherence(phi, corpus, measure=measure, n_terms=2)[0] for measure in ("c_npmi", "u_mass")]


@pytest.mark.parametrize(
    ("documents", "npmi", "u_mass"),
    [
        (["ab", "ba", "c"], 1.0, math.log(3 / 2)),  # only together
        (["a", "b", "c"], -1.0, math.log(1 / 1)),  # never together
        (["ab", "a", "b", "c"], 0.0, math.log(2 / 2)),  # as often as by chance
        (["ab", "ab"], 0.0, math.log(3 / 2)),  # in every document: they say nothing about each other
        (["ab", "a", "ac"], 0.0, math.log(2 / 3)),  # one of them in every document
        (["aab", "abb", "c", "", ""], 1.0, math.log(3 / 2)),  # repeats and empty documents do not count
        (["aaa", "aa", "a", "b"], -1.0, math.log(1 / 3)),
    ],
)
def test_pairs_whose_score_is_known(documents, npmi, u_mass):
    assert two_terms(*documents) == pytest.approx([npmi, u_mass], abs=1e-12)


def test_u_mass_divides_by_the_documents_of_the_more_probable_term():
    corpus = from_tokens([["a"], ["a"], ["a", "b"], ["c"]])
    scores = coherence([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]], corpus, measure="u_mass", n_terms=2)
    assert scores == pytest.approx([math.log(2 / 3), math.log(2 / 1)])


def test_terms_that_no_document_has_are_left_out():
    fitted_to = from_tokens([["a", "b", "c"], ["d"]])
    other = from_tokens([["a", "b"], ["d"]], vocabulary=fitted_to.vocabulary)
    # The first topic's top terms are a, b, c; the second's are c, d. Nobody has c any more.
    phi = [[0.4, 0.3, 0.2, 0.1], [0.0, 0.1, 0.5, 0.4]]
    for measure in ("c_npmi", "u_mass"):
        with_c, of_two = (
            coherence(phi, other, measure=measure, n_terms=3),
            coherence(phi, other, measure=measure, n_terms=2),
        )
        assert with_c[0] == of_two[0]
        assert np.isnan(of_two[1])


def test_one_term_makes_no_pair():
    assert np.isnan(coherence([[1.0]], Corpus([0], [0, 1], ["a"]))).all()


def test_planted_topics_are_more_coherent_than_shuffled_ones(seed):
    rng = np.random.default_rng(seed)
    planted = np.kron(np.eye(4), np.full(5, 0.2))
    documents = [rng.choice(20, 12, p=planted[j % 4]) for j in range(80)]
    corpus = Corpus(np.concatenate(documents), np.arange(81) * 12, [f"w{v}" for v in range(20)])
    shuffled = planted[:, np.arange(20).reshape(4, 5).T.ravel()]
    for measure in ("c_npmi", "u_mass"):
        good, bad = (coherence(phi, corpus, measure=measure, n_terms=5) for phi in (planted, shuffled))
        assert good.min() > bad.max()


def test_extremes_of_the_measures_of_phi():
    apart, same = np.eye(4), np.tile([0.4, 0.3, 0.2, 0.1], (4, 1))
    assert diversity(apart, 1) == 1
    assert diversity(same, 2) == 1 / 4
    assert exclusivity(apart, 1) == pytest.approx(1)
    assert exclusivity(same, 3) == pytest.approx(1 / 4)
    assert effective_terms(apart) == pytest.approx(1)
    assert effective_terms([np.full(7, 1 / 7)]) == pytest.approx(7)


def test_a_term_that_no_topic_has_is_nobodys():
    assert exclusivity([[1.0, 0.0, 0.0]], 2) == pytest.approx(0.5)


def test_the_prior_of_many_terms_hardly_counts_as_effective_terms():
    # Ten terms carry 90 %; 10,000 others share the rest. Only the ten matter: 0.9 squared / 10 a term.
    phi = np.r_[np.full(10, 0.09), np.full(10_000, 0.1 / 10_000)]
    assert effective_terms([phi]) == pytest.approx(10 / 0.81, rel=1e-3)


def test_no_topics():
    phi = np.zeros((0, 3))
    corpus = Corpus([0], [0, 1], ["a", "b", "c"])
    assert top_terms(phi, 2).shape == (0, 2)
    assert coherence(phi, corpus).shape == exclusivity(phi).shape == effective_terms(phi).shape == (0,)
    assert math.isnan(diversity(phi))


# ---------------------------------------------------------------- what is refused


def test_an_unknown_measure_is_told_the_known_ones_and_why_there_is_no_c_v():
    corpus = Corpus([0], [0, 1], ["a", "b"])
    with raises(SettingsError, "unknown-choice", "measure='c_v'", "'c_npmi'", "'u_mass'", "window"):
        coherence([[0.5, 0.5]], corpus, measure="c_v")


def test_another_vocabulary_is_refused():
    with raises(CorpusError, "vocabulary-mismatch", "3 terms", "2"):
        coherence([[0.5, 0.3, 0.2]], Corpus([0], [0, 1], ["a", "b"]))


def test_what_is_no_table_of_topics_is_refused():
    for function in (top_terms, diversity, exclusivity, effective_terms):
        with raises(SettingsError, "wrong-shape", "phi", "1 dimensions"):
            function([0.5, 0.5])


def test_numbers_of_terms_are_checked():
    phi, corpus = [[0.5, 0.5]], Corpus([0], [0, 1], ["a", "b"])
    with raises(SettingsError, "not-a-whole-number", "n=0"):
        top_terms(phi, 0)
    with raises(SettingsError, "not-a-whole-number", "n_terms=1", "2 or more"):
        coherence(phi, corpus, n_terms=1)
    with raises(SettingsError, "not-a-whole-number", "n_terms=0"):
        diversity(phi, 0)
    with raises(SettingsError, "not-a-whole-number", "n_terms=0"):
        exclusivity(phi, 0)
