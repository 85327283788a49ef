"""Which topics every chain has, and which of them independent runs found."""

import numpy as np
import pytest

from franchise.posterior.advice import Advice, in_python, the_others
from franchise.posterior.agreement import (
    Agreement,
    agreement,
    found_by,
    verdict_on,
)
from franchise.posterior.estimates import Posterior
from tests.unit.posterior.made import posterior_of_counts
from tests.unit.posterior.made_diagnoses import (
    AGREED,
    asked,
    autoregressive,
    changing,
    diagnosis_of,
    kinds,
    numbers_of,
)


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- topics of one chain


def test_topics_of_one_chain_are_named(rng):
    # The small topics 2 and 3 are each in one chain.
    first, second = np.diag([60, 30, 6, 0, 4])[[0, 1, 2, 4]], np.diag([60, 30, 0, 6, 4])[[0, 1, 3, 4]]
    posterior = posterior_of_counts([[first] * 10, [second] * 10])
    found = diagnosis_of(np.full((2, 250), 4), rng, posterior)
    assert posterior.n_topics == 4
    (lonely,) = np.flatnonzero(posterior.support == 0.5)
    assert found.one_chain_topics == found.doubtful_topics == [lonely]
    assert (found.verdict, found.settled) == ("agree on most", True)
    assert kinds(found)[0] == "holds"
    assert kinds(found)[-1] == "doubtful"
    assert numbers_of(found, "doubtful") == {"topics": [lonely], "n_topics": 4, "n_chains": 2}
    assert str(lonely) in found.messages[-1]


def test_many_topics_of_one_chain_are_not_all_named(rng):
    n = 12
    posterior = posterior_of_counts([[np.eye(2 * n, dtype=int)[:n]] * 9, [np.eye(2 * n, dtype=int)[n:]] * 9])
    found = diagnosis_of(np.full((2, 250), n), rng, posterior)
    assert found.one_chain_topics == found.doubtful_topics == list(range(n))
    # All numbers agree, and no topic does.
    assert (found.verdict, found.solid_topics, found.shared) == ("do not agree", [], 0.0)
    assert numbers_of(found, "differ")["share"] == 1.0
    assert "no single topic" in numbers_of(found, "rely")["topics"]
    assert asked(found) == []
    assert numbers_of(found, "doubtful")["topics"] == list(range(n))
    assert "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...)" in found.messages[-1]


def test_chains_that_share_less_than_half_of_the_words_do_not_agree(rng):
    shared, own = np.diag([40, 0, 0]), np.diag([0, 30, 30])
    first = np.hstack([shared + own, np.zeros((3, 2), int)])
    second = np.hstack([shared, [[0, 0], [30, 0], [0, 30]]])
    posterior = posterior_of_counts([[first] * 10, [second] * 10])
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]]), rng, posterior)
    assert (found.verdict, found.agree) == ("do not agree", False)
    assert found.shared == pytest.approx(0.4)
    assert "40%" in found.messages[0]
    assert numbers_of(found, "differ")["number"] == "number of topics"


def test_chains_that_all_go_through_many_answers_do_not_keep_to_their_own(rng):
    """Two topics are always there; the third is one of four, in turn, in both chains."""
    full = np.diag([40, 20, 40, 40, 40, 40])
    chain = [full[[0, 1, 2 + i % 4]] for i in range(24)]
    posterior = posterior_of_counts([chain, chain])
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.0, 2.0), rng, posterior)
    assert (found.verdict, found.solid_topics, found.doubtful_topics) == ("agree on some", [0, 1, 2], [])
    assert "not listed" in numbers_of(found, "differ")["missing"]
    assert "many answers" in kinds(found)
    assert "own answers" not in kinds(found)


def test_topics_of_most_chains_are_likely(rng):
    """Of four chains, all have topic 0, three topic 1, two topic 2, one topic 3; each has one of its own."""
    full = np.diag([60, 20, 12, 8])

    def chain(*topics):
        return [full[list(topics)]] * 10

    posterior = posterior_of_counts([chain(0, 1, 2, 3), chain(0, 1, 2), chain(0, 1), chain(0)])
    posterior.corpus = posterior_of_counts([[full]]).corpus
    listed = agreement(posterior)
    assert posterior.n_topics == 2  # the median
    assert (listed.solid, listed.likely, listed.doubtful) == ([0], [1], [])
    assert listed.others_are_smaller
    everything = Agreement([0], [1], [2, 3], 0.6, others_are_smaller=True)
    assert the_others(everything) == "1 smaller one is in most chains, 2 differ from chain to chain"
    assert found_by(posterior.chain_counts, 4) == ["every chain", "most chains"]


def test_the_number_of_topics_of_very_many_chains():
    said = in_python(
        Advice("by chain", {"ranges": {c: (3 + (c * 5) % 9, 3 + (c * 5) % 9) for c in range(9)}})
    )
    assert said == "Number of topics: 3 in chain 0, 11 in chain 7."


# ---------------------------------------------------------------- independent runs


def test_firm_topics_are_those_of_the_runs_too(rng):
    counts = np.diag([60, 25, 15])
    posterior = posterior_of_counts([[counts] * 24] * 2)
    posterior.run_support = np.array([1.0, 0.5, 0.4])
    listed = agreement(posterior)
    assert (listed.solid, listed.firm, listed.firm_share) == ([0, 1, 2], [0, 1], pytest.approx(0.85))
    found = diagnosis_of(AGREED, rng, posterior, starts=("fitted", "fitted"))
    assert (found.firm_topics, found.firm_share, found.shared) == ([0, 1], pytest.approx(0.85), 1.0)
    assert found.verdict == "agree on most"  # not by the chains, which share everything
    assert numbers_of(found, "holds")["found"] == listed
    assert "85%" in found.messages[0]
    assert "same start" not in kinds(found)
    posterior.run_support = np.zeros(3)
    none = diagnosis_of(AGREED, rng, posterior)
    assert (none.firm_topics, none.verdict, none.agree) == ([], "do not agree", False)


def alone(rng, run_support, sweeps=250, posterior=None):
    """Diagnose one chain of 24 draws with three topics (60, 25 and 15% of the words) after short runs."""
    posterior = posterior or posterior_of_counts([[np.diag([60, 25, 15])] * 24])
    posterior.run_support = run_support
    return diagnosis_of(autoregressive(rng, 1, sweeps, 0.5, 2.0), rng, posterior)


def test_one_chain_has_firm_topics_and_no_verdict(rng):
    found = alone(rng, np.array([1.0, 0.5, 0.4]))
    assert (found.firm_topics, found.firm_share) == ([0, 1], pytest.approx(0.85))
    assert (found.verdict, found.agree, found.converged, found.solid_topics) == (None, None, None, [])
    assert np.isnan(found.shared)
    assert kinds(found) == ["one chain holds", "one chain and runs", "more chains", "settled"]
    assert numbers_of(found, "one chain holds") == {
        "firm": [0, 1],
        "share": pytest.approx(0.85),
        "n_topics": 3,
        "few_draws": 0,
    }
    assert numbers_of(found, "settled") == {"which": "firm"}
    assert found.settled is True


def test_one_chain_without_firm_topics(rng):
    found = alone(rng, np.zeros(3))
    assert (found.firm_topics, found.firm_share) == ([], 0.0)
    assert numbers_of(found, "one chain holds")["firm"] == []
    assert "settled" not in kinds(found)


def test_one_chain_that_is_short_is_not_settled(rng):
    found = alone(rng, np.ones(3), sweeps=200)
    assert (found.settled, asked(found)) == (None, [(300, None)])


def test_firm_topics_of_one_chain_that_change(rng):
    found = alone(rng, np.ones(2), posterior=changing(1))
    assert (found.settled, found.changing_topics) == (False, [0, 1])
    changing_ = numbers_of(found, "still changing")
    assert (changing_["topics"], changing_["n_topics"], changing_["which"]) == ([0, 1], 2, "firm")
    assert asked(found) == [(250, 250)]


def test_firm_topics_of_one_chain_with_few_draws(rng):
    posterior = posterior_of_counts([[np.diag([60, 40])] * 9])
    posterior.run_support = np.ones(2)
    found = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 2.0), rng, posterior)
    assert numbers_of(found, "one chain holds")["few_draws"] == 9
    early = diagnosis_of(autoregressive(rng, 1, 5, 0.5, 2.0), rng, posterior)
    assert early.firm_topics is None
    assert kinds(early) == ["too few sweeps", "resume"]


def test_without_runs_no_topic_is_said_to_be_firm(rng):
    found = diagnosis_of(AGREED, rng)
    assert found.firm_topics is None
    assert np.isnan(found.firm_share)
    assert "firm" not in str(found)


def test_the_support_is_that_of_the_listed_topics():
    alike = posterior_of_counts([[np.diag([60, 40])] * 2] * 2)
    posterior = Posterior(alike.corpus, alike.draws, [], find_support=lambda phi: phi[:, 1])
    assert posterior.run_support.tolist() == posterior.phi[:, 1].tolist()
    assert posterior.run_support.shape == (posterior.n_topics,)


@pytest.mark.parametrize(
    ("shared", "r_hat", "words"),
    [
        (0.95, 1.04, "agree"),
        (0.95, 1.06, "agree on most"),
        (0.94, 1.0, "agree on most"),
        (0.75, 3.5, "agree on most"),
        (0.66, 3.5, "agree on some"),
        (0.49, 1.0, "do not agree"),
    ],
)
def test_the_words_follow_from_one_rule(shared, r_hat, words):
    assert verdict_on(shared, r_hat) == words
