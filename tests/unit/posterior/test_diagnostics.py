import re

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.posterior.advice import CONVERGED, TOO_FEW_DRAWS, same_start_as
from franchise.posterior.agreement import (
    Agreement,
    agreement,
    found_by,
    topics_by_chain,
    verdict_on,
    what_holds,
)
from franchise.posterior.diagnostics import (
    _drift,
    _r_hat_by_chance,
    _standard_error,
    diagnose,
)
from franchise.posterior.estimates import Posterior
from franchise.posterior.settling import settling
from franchise.sampling import Schedule
from tests.unit.posterior.made import draw_of_counts, one_document, posterior_of_counts, trace_of

ALL_THREE = "All 3 topics were found by every chain; they hold 100% of the words."
THREE_EACH = "Number of topics: 3 in chain 0, 3 in chain 1."  # of `posterior_of_sizes`
KEEP_APART = "more sweeps will hardly bring them together"
TOPICS = np.array([[40, 10, 0, 0, 0, 0], [0, 0, 30, 0, 0, 0], [0, 0, 0, 10, 9, 1]])


def autoregressive(rng, n_chains, length, phi, sd, mean=50.0):
    """Return stationary AR(1) chains, rounded to whole numbers."""
    x = np.empty((n_chains, length))
    x[:, 0] = rng.normal(0.0, sd, n_chains)
    steps = rng.normal(0.0, sd * np.sqrt(1 - phi**2), (n_chains, length))
    for i in range(1, length):
        x[:, i] = phi * x[:, i - 1] + steps[:, i]
    return np.rint(mean + x).astype(int)


def posterior_of_sizes(rng, n_chains, n_draws):
    """Return the posterior of draws with the same three topics of random sizes."""

    def draw():
        spread = rng.multinomial(90, TOPICS.ravel() / TOPICS.sum()).reshape(TOPICS.shape)
        return draw_of_counts(spread + (TOPICS > 0))  # no topic without words

    n_words = 90 + (TOPICS > 0).sum()
    chains = [[draw() for _ in range(n_draws)] for _ in range(n_chains)]
    return Posterior(one_document(n_words, TOPICS.shape[1]), chains, [])


def diagnosis_of(n_topics, rng, posterior=None, burn_in=0, sweeps=None, n_draws=25, starts=(), **columns):
    """Diagnose chains with these numbers of topics; the other numbers are independent noise."""
    traces = [
        trace_of(
            chain,
            **{
                "log_p_words": rng.normal(-900, 5, len(chain)),
                "log_joint": rng.normal(-999, 5, len(chain)),
                "alpha": rng.gamma(5, 1, len(chain)),
                **columns,
            },
        )
        for chain in n_topics
    ]
    posterior = posterior or posterior_of_sizes(rng, len(n_topics), n_draws)
    sweeps = max(map(len, n_topics)) if sweeps is None else sweeps
    return diagnose(posterior, traces, Schedule(sweeps=sweeps, burn_in=burn_in), starts)


def changing(n_chains):
    """Return the posterior of chains whose two topics trade a third of the words half-way."""
    early, late = np.diag([70, 30]), np.diag([35, 65])
    return posterior_of_counts([[early] * 12 + [late] * 12] * n_chains)


def asked(found):
    """Return the arguments of the calls of `resume` that a diagnosis asks for."""
    return [call for message in found.messages for call in re.findall(r"resume\(([^)]*)\)", message)]


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- verdicts


def test_chains_of_one_distribution_agree(rng):
    found = diagnosis_of(autoregressive(rng, 4, 250, 0.5, 3.0), rng)
    assert found.messages == [ALL_THREE, CONVERGED]
    assert (found.verdict, found.solid_topics, found.shared) == ("agree", [0, 1, 2], pytest.approx(1.0))
    assert (found.agree, found.converged, found.drifting, found.one_chain_topics) == (True, True, False, [])


def test_shifted_chains_do_not_agree(rng):
    n_topics = autoregressive(rng, 3, 250, 0.5, 2.0) + np.array([[5], [0], [12]])
    found = diagnosis_of(n_topics, rng)
    assert (found.agree, found.converged, found.drifting) == (False, False, False)
    r_hat = array_stats.rhat(n_topics)
    assert r_hat > 1.2
    assert found.verdict == "agree on most"  # they have the same topics
    assert found.messages[0] == ALL_THREE
    assert f"R-hat of the number of topics is {r_hat:.2f}" in found.messages[2]
    assert KEEP_APART not in str(found)
    assert "same topics" in found.messages[3]
    assert asked(found) == []
    assert found.messages[-1] == "Number of topics: 3 in chain 0, 3 in chain 1, 3 in chain 2."


def test_what_chains_do_not_agree_on_is_named(rng):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0)
    traces = [trace_of(k, log_p_words=rng.normal(mean, 1, 250)) for k, mean in zip(n_topics, (-10, -20))]
    found = diagnose(posterior_of_sizes(rng, 2, 25), traces, Schedule(sweeps=250, burn_in=0))
    assert found.agree is False
    assert "R-hat of the log probability of the words is" in str(found)


def test_the_worst_number_is_named(rng):
    even, uneven = np.diag([30, 30, 30]), np.diag([80, 7, 3])
    posterior = posterior_of_counts([[even] * 25, [uneven] * 25])
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    found = diagnosis_of(n_topics, rng, posterior)
    assert found.table["r_hat"].max() == found.table.loc["entropy of topic sizes", "r_hat"] == np.inf
    assert found.table.loc["number of topics", "r_hat"] > 1.2
    assert "R-hat of the entropy of topic sizes is infinite" in str(found)
    assert found.messages[-1] == THREE_EACH


def test_topic_sizes_of_another_kind_do_not_agree(rng):
    even, uneven = np.diag([30, 30, 30]), np.diag([80, 7, 3])
    posterior = posterior_of_counts([[even] * 25, [uneven] * 25])
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.5, 2.0), rng, posterior)
    assert found.agree is False
    assert "R-hat of the entropy of topic sizes is infinite" in str(found)


@pytest.mark.parametrize(("shift", "agree"), [(4, True), (11, False), (18, False)])
def test_the_limit_of_r_hat(rng, shift, agree):
    # Values that are their own quantiles: an R-hat of 1.01, one of 1.06, and one of 1.13.
    values = np.round(100 + 20 * np.random.default_rng(0).permutation(np.linspace(-1.7, 1.7, 250)))
    found = diagnosis_of(np.stack([values, values + shift]), rng)
    assert (found.table.loc["number of topics", "r_hat"] < 1.05) == agree
    assert (found.agree, found.converged) == (agree, agree)
    assert found.verdict == ("agree" if agree else "agree on most")


def test_the_number_of_topics_does_not_make_runs_longer(rng):
    # It has hardly moved, or moves on and on: the topics are the same in both halves.
    found = diagnosis_of(np.tile([10, 11, 11, 10], (2, 5)), rng)
    assert found.table.loc["number of topics", "ess_bulk"] < 100  # there are 40 sweeps
    assert (found.agree, found.settled, found.converged, asked(found)) == (True, True, True, [])


def test_draws_that_are_too_few_do_not_tell_whether_topics_change(rng):
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.5, 3.0), rng, n_draws=7)
    assert (found.agree, found.settled, found.converged) == (True, None, False)
    assert "(in 7 draws per chain)" in found.messages[0]
    assert found.messages[1] == TOO_FEW_DRAWS


def test_the_same_number_of_topics_everywhere_is_agreement(rng):
    found = diagnosis_of(np.full((2, 250), 7), rng)
    assert (found.agree, found.converged) == (True, True)
    assert found.table.loc["number of topics", ["r_hat", "ess_bulk", "sd"]].tolist() == [1.0, 500.0, 0.0]


@pytest.mark.parametrize("length", [30, 250])
def test_chains_that_never_leave_a_number_of_their_own_do_not_agree(rng, length):
    found = diagnosis_of(np.repeat([[7], [9]], length, axis=1), rng)
    assert (found.agree, found.converged) == (False, False)
    assert found.table.loc["number of topics", "r_hat"] == np.inf
    assert "R-hat of the number of topics is infinite" in str(found)
    assert asked(found) == (["sweeps=100"] if length == 30 else [])
    assert ("They have the same topics" in str(found)) == (length == 250)
    assert KEEP_APART not in str(found)


def test_two_numbers_in_turn_are_agreement(rng):
    # As many of one as of the other: nothing is left of them when they are folded about their median.
    found = diagnosis_of(np.tile([7, 7, 8, 8, 7, 8, 8, 7], (2, 50)), rng)
    assert found.agree is True


def test_one_chain(rng):
    found = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 3.0), rng)
    assert (found.agree, found.converged, found.one_chain_topics) == (None, None, [])
    assert found.messages == [
        "There is only one chain, and nothing to compare it with. To see whether others find the same, "
        "fit with chains=4."
    ]
    assert found.table["r_hat"].isna().all()
    assert found.table["ess_bulk"].notna().all()


def test_one_chain_that_changes_says_so(rng):
    found = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 2.0), rng, changing(1))
    assert (found.settled, found.converged) == (False, None)
    assert asked(found) == ["sweeps=250, burn_in=250"]


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("n_kept", [1, 2, 7])
def test_too_few_sweeps(rng, n_chains, n_kept):
    n_topics = autoregressive(rng, n_chains, 5 + n_kept, 0.5, 3.0)
    found = diagnosis_of(n_topics, rng, burn_in=5, n_draws=n_kept)
    assert (found.agree, found.converged, found.drifting) == (None, None, False)
    assert found.messages == [
        f"Too few sweeps after the burn-in ({n_kept}) to tell whether to trust the answer. "
        "Run longer: resume(sweeps=100)."
    ]
    assert found.table.loc["number of topics", "mean"] == pytest.approx(n_topics[:, 5:].mean())
    assert found.table[["r_hat", "ess_bulk", "ess_tail"]].isna().all(axis=None)


def test_no_sweep_after_the_burn_in(rng):
    found = diagnosis_of(autoregressive(rng, 2, 20, 0.5, 3.0), rng, burn_in=20, n_draws=1, sweeps=40)
    assert found.converged is None
    assert found.messages[0].startswith("Too few sweeps after the burn-in (0)")
    assert found.messages[0].endswith("Run longer: resume().")


def test_a_chain_that_is_still_in_its_burn_in(rng):
    # The posterior has the draws of the first chain alone.
    n_topics = [autoregressive(rng, 1, n, 0.5, 3.0)[0] for n in (100, 20)]
    found = diagnosis_of(n_topics, rng, posterior_of_sizes(rng, 1, 10), burn_in=50)
    assert (found.agree, found.converged, found.one_chain_topics) == (None, None, [])
    assert found.messages[0].startswith("Too few sweeps after the burn-in (0)")


def test_an_unfinished_run_is_to_be_finished(rng):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    assert asked(diagnosis_of(n_topics, rng, sweeps=500)) == [""]
    assert asked(diagnosis_of(n_topics, rng, changing(2), sweeps=500)) == [""]


def test_the_burn_in_does_not_count(rng):
    late = autoregressive(rng, 2, 250, 0.5, 3.0)
    early = np.array([[1] * 100, [200] * 100])
    found = diagnosis_of(np.hstack([early, late]), rng, burn_in=100)
    assert found.converged is True
    assert found.table.loc["number of topics", "mean"] == pytest.approx(late.mean())


# ---------------------------------------------------------------- numbers


def test_the_table_is_what_arviz_says(rng):
    posterior = posterior_of_sizes(rng, 3, 25)
    n_topics = autoregressive(rng, 3, 120, 0.8, 3.0)
    words, alpha = rng.normal(-50, 4, (3, 120)), rng.gamma(3, 1, (3, 120))
    traces = [trace_of(*row[:1], log_p_words=row[1], alpha=row[2]) for row in zip(n_topics, words, alpha)]
    table = diagnose(posterior, traces, Schedule(sweeps=120, burn_in=0)).table
    shares = [[draw.topic_terms.toarray().sum(axis=1) for draw in chain] for chain in posterior.draws]
    shares = np.array([[sizes / sizes.sum() for sizes in chain] for chain in shares])
    expected = {
        "number of topics": n_topics,
        "log probability of the words": words,
        "alpha": alpha,
        "number of topics of 1% or more": (shares >= 0.01).sum(axis=2),
        "entropy of topic sizes": [[-sum(p * np.log(p) for p in draw) for draw in chain] for chain in shares],
        "share of the largest topic": shares.max(axis=2),
    }
    for name, numbers in expected.items():
        numbers = np.asarray(numbers, float)
        assert table.loc[name, "mean"] == pytest.approx(numbers.mean())
        assert table.loc[name, "sd"] == pytest.approx(numbers.std())
        if np.ptp(numbers):
            assert table.loc[name, "r_hat"] == pytest.approx(array_stats.rhat(numbers))
            assert table.loc[name, "ess_bulk"] == pytest.approx(array_stats.ess(numbers, method="bulk"))
            tail = array_stats.ess(numbers, method="tail", prob=(0.05, 0.95))
            assert table.loc[name, "ess_tail"] == pytest.approx(tail)
    assert np.ptp(expected["entropy of topic sizes"]) > 0


def test_topics_of_one_percent_are_counted(rng):
    posterior = posterior_of_counts([[np.diag([98, 1, 1]), np.diag([989, 9, 2])]])
    table = diagnosis_of(np.full((1, 20), 3), rng, posterior).table
    assert table.loc["number of topics of 1% or more", "mean"] == (3 + 1) / 2
    assert table.loc["share of the largest topic", "mean"] == pytest.approx((0.98 + 0.989) / 2)


def test_concentrations_that_are_fixed_are_left_out(rng):
    n_topics = autoregressive(rng, 2, 50, 0.5, 3.0)
    named = set(diagnosis_of(n_topics, rng).table.index)  # alpha is sampled
    assert {"alpha"} == named & {"alpha", "gamma", "eta"}
    columns = {"alpha": np.full(50, 0.3), "gamma": rng.random(50), "eta": rng.random(50)}
    named = set(diagnosis_of(n_topics, rng, **columns).table.index)
    assert {"gamma", "eta"} == named & {"alpha", "gamma", "eta"}


def test_of_longer_chains_the_last_numbers_are_compared(rng):
    long, short = autoregressive(rng, 1, 300, 0.5, 3.0)[0], autoregressive(rng, 1, 200, 0.5, 3.0)[0]
    found = diagnosis_of([np.concatenate([np.full(100, 500), long[100:]]), short], rng, n_draws=20)
    both = np.stack([long[100:], short])
    assert found.table.loc["number of topics", "r_hat"] == pytest.approx(array_stats.rhat(both))


# ---------------------------------------------------------------- few draws


@pytest.mark.parametrize(("n_chains", "length"), [(2, 8), (4, 25)])
def test_independent_draws_seldom_exceed_the_r_hat_of_chance(rng, n_chains, length):
    # The larger of two R-hats (of the values, and folded), each more once in a thousand times. More than 12
    # of 600 fail a right program once in 10^6 seeds.
    limit = _r_hat_by_chance((n_chains, length))
    r_hats = array_stats.rhat(rng.normal(size=(600, n_chains, length)))
    assert np.sum(r_hats > limit) <= 12
    # Nor is the limit far too large: of R-hats a third as far above 1 there are 10% or more (measured); fewer
    # than 20 fail a right program once in 10^6 seeds.
    assert np.sum(r_hats > 1 + (limit - 1) / 3) >= 20


def test_short_chains_of_one_distribution_are_not_said_to_disagree(rng):
    # Without regard to chance, half of these would.
    agree = [diagnosis_of(autoregressive(rng, 2, 10, 0.0, 3.0), rng, n_draws=10).agree for _ in range(30)]
    # Each fails at most once in a hundred times (four numbers): 5 of 30, once in 10^5 seeds.
    assert agree.count(False) < 5


def test_a_large_r_hat_of_few_draws_still_counts(rng):
    found = diagnosis_of(autoregressive(rng, 2, 12, 0.0, 1.0) + np.array([[0], [30]]), rng, n_draws=12)
    assert found.agree is False
    assert found.table.loc["number of topics", "r_hat"] > 1.1


# ---------------------------------------------------------------- drift


@pytest.mark.parametrize("curve", ["straight", "bending"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n_chains", [2, 4])
@pytest.mark.parametrize("length", [250, 400])
def test_drift_is_found(rng, curve, sign, n_chains, length):
    t = np.linspace(0, 1, length)
    course = sign * (30 * t if curve == "straight" else 50 * (1 - np.exp(-3 * t)))
    n_topics = autoregressive(rng, n_chains, length, 0.5, 1.5, mean=100 + course)
    found = diagnosis_of(n_topics, rng)
    third = length // 3
    rise = abs(n_topics[:, -third:].mean() - n_topics[:, :third].mean())
    assert found.drifting is True
    assert (found.settled, asked(found)) == (True, [])
    drift = next(message for message in found.messages if "number of topics still" in message)
    how = "rises" if sign > 0 else "falls"
    said = re.match(
        rf"The number of topics still {how}, by (\d+\.\d) from the first to the last third", drift
    )
    assert float(said[1]) == pytest.approx(rise, abs=0.051)


@pytest.mark.parametrize("sd", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("n_chains", [1, 2, 4])
@pytest.mark.parametrize("length", [100, 250])
def test_slow_chains_that_go_nowhere_seldom_seem_to_drift(rng, length, n_chains, sd):
    # Measured: at most 1.5%. More than 5% of 300 then fail a right program about once in 10^5 seeds.
    alarms = [_drift(list(autoregressive(rng, n_chains, length, 0.95, sd))) != 0.0 for _ in range(300)]
    assert np.mean(alarms) <= 0.05


@pytest.mark.parametrize(
    ("n_chains", "length", "sd", "low", "high"),
    # Measured: 1.2 (two thirds of that if rounding were overlooked), and 0.75 (0.6 without Kendall's bias).
    [(1, 250, 1.0, 0.85, 1.7), (4, 250, 1.0, 0.85, 1.7), (4, 100, 5.0, 0.66, 1.2)],
)
def test_the_standard_error_of_a_slow_chain_is_about_right(rng, n_chains, length, sd, low, high):
    third, phi = length // 3, 0.95
    weights = np.concatenate([np.full(third, -1), np.zeros(length - 2 * third), np.full(third, 1)]) / third
    covariance = sd**2 * phi ** np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    right = np.sqrt(weights @ covariance @ weights / n_chains)
    found = [_standard_error(autoregressive(rng, n_chains, length, phi, sd), weights) for _ in range(300)]
    assert low < np.median(found) / right < high


def test_a_small_drift_that_r_hat_does_not_see(rng):
    n_topics = autoregressive(rng, 4, 250, 0.0, 3.0, mean=50 + np.linspace(0, 3.0, 250))
    found = diagnosis_of(n_topics, rng)
    assert found.table.loc["number of topics", "r_hat"] < 1.05
    assert (found.agree, found.converged, found.drifting) == (True, True, True)


def test_one_step_of_one_topic_is_no_drift():
    assert _drift([np.repeat([10, 11], 100)]) == 0.0
    assert _drift([np.repeat([10, 11], 100), np.full(200, 10)]) == 0.0


def test_a_rise_without_noise_is_drift():
    assert _drift([np.arange(30)]) == pytest.approx(20.0)


def test_chains_that_go_opposite_ways_do_not_drift_together():
    assert _drift([np.arange(60), 59 - np.arange(60)]) == 0.0
    assert _drift([np.arange(60), 30 - np.arange(60) // 2]) == 0.0


# ---------------------------------------------------------------- the same start

SAME_START = same_start_as("fitted")


@pytest.mark.parametrize("shift", [0, 12])
def test_chains_that_agree_or_nearly_say_that_they_started_alike(rng, shift):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [shift]])
    found = diagnosis_of(n_topics, rng, starts=("fitted", "fitted"))
    assert found.verdict == ("agree on most" if shift else "agree")
    assert found.same_start
    assert found.messages[-1] == SAME_START
    assert "all from the same start" in found.messages[0]
    assert str(found).count(SAME_START) == 1


@pytest.mark.parametrize("start", ["consensus", "counts"])
def test_topics_that_chains_found_together_are_the_same_start(rng, start):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0)
    n_topics[:, 0] = n_topics[0, 0]
    found = diagnosis_of(n_topics, rng, starts=(start, start))
    assert found.same_start
    assert found.messages[-1] == SAME_START.replace("fitted topics", "topics")


def test_chains_of_a_table_from_different_numbers_have_not_the_same_start(rng):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0)
    n_topics[:, 0] = 4, 5
    assert not diagnosis_of(n_topics, rng, starts=("counts", "counts")).same_start
    assert diagnosis_of(n_topics, rng, starts=("fitted", "fitted")).same_start


@pytest.mark.parametrize(
    "starts", [(), ("fitted", "one"), ("one", "one"), (50, 50), ("sequential", "consensus")]
)
def test_nothing_is_said_of_other_starts(rng, starts):
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.5, 2.0), rng, starts=starts)
    assert found.agree
    assert not found.same_start
    assert found.messages == [ALL_THREE, CONVERGED]


def test_nothing_is_said_of_the_start_where_there_is_nothing_to_agree_on(rng):
    fitted = ("fitted", "fitted")
    apart = posterior_of_counts([[np.eye(8, dtype=int)[:4]] * 9, [np.eye(8, dtype=int)[4:]] * 9])
    found = diagnosis_of(np.full((2, 250), 4), rng, apart, starts=fitted)
    assert found.verdict == "do not agree"
    assert found.same_start
    short = diagnosis_of(autoregressive(rng, 2, 5, 0.5, 2.0), rng, starts=fitted)
    one = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 2.0), rng, starts=fitted[:1])
    for said in (found, short, one):
        assert SAME_START not in said.messages


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
    assert found.messages[0].startswith("3 topics, found by every chain, hold 94% of the words")
    assert found.messages[-1] == f"1 of 4 topics is in one chain only ({lonely}): do not rely on it."


def test_many_topics_of_one_chain_are_not_all_named(rng):
    n = 12
    posterior = posterior_of_counts([[np.eye(2 * n, dtype=int)[:n]] * 9, [np.eye(2 * n, dtype=int)[n:]] * 9])
    found = diagnosis_of(np.full((2, 250), n), rng, posterior)
    assert found.one_chain_topics == found.doubtful_topics == list(range(n))
    # All numbers agree, and no topic does.
    assert (found.verdict, found.solid_topics, found.shared) == ("do not agree", [], 0.0)
    assert found.messages[0].startswith("No topic was found by every chain")
    assert "hold 100% of the words" in found.messages[1]
    assert "Rely on no single topic" in found.messages[2]
    assert asked(found) == []
    assert found.messages[-1] == (
        "12 of 12 topics are in one chain only (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...): do not rely on them."
    )


def test_chains_that_share_less_than_half_of_the_words_do_not_agree(rng):
    shared, own = np.diag([40, 0, 0]), np.diag([0, 30, 30])
    first = np.hstack([shared + own, np.zeros((3, 2), int)])
    second = np.hstack([shared, [[0, 0], [30, 0], [0, 30]]])
    posterior = posterior_of_counts([[first] * 10, [second] * 10])
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]]), rng, posterior)
    assert (found.verdict, found.agree) == ("do not agree", False)
    assert found.shared == pytest.approx(0.4)
    assert found.messages[0].startswith("1 topic, found by every chain, holds 40% of the words")
    assert "R-hat of the number of topics is " in found.messages[1]


def test_chains_that_all_go_through_many_answers_do_not_keep_to_their_own(rng):
    """Two topics are always there; the third is one of four, in turn, in both chains."""
    full = np.diag([40, 20, 40, 40, 40, 40])
    chain = [full[[0, 1, 2 + i % 4]] for i in range(24)]
    posterior = posterior_of_counts([chain, chain])
    found = diagnosis_of(autoregressive(rng, 2, 250, 0.0, 2.0), rng, posterior)
    assert (found.verdict, found.solid_topics, found.doubtful_topics) == ("agree on some", [0, 1, 2], [])
    assert "topics that are not listed hold " in str(found)
    assert "every chain goes through them" in str(found)
    assert KEEP_APART not in str(found)


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
    everything = Agreement([0], [1], [2, 3], 0.6)
    assert what_holds(everything, np.array([0.6, 0.2, 0.12, 0.08])) == (
        "1 topic, found by every chain, holds 60% of the words; 1 smaller one is in most chains, 2 differ "
        "from chain to chain."
    )
    assert found_by(posterior.chain_counts, 4) == ["every chain", "most chains"]


def test_the_number_of_topics_of_very_many_chains():
    posterior = posterior_of_counts([[np.eye(12, dtype=int)[: 3 + (c * 5) % 9]] * 2 for c in range(9)])
    assert topics_by_chain(posterior) == "Number of topics: 3 in chain 0, 11 in chain 7."


# ---------------------------------------------------------------- for people


def test_printed(rng):
    text = str(diagnosis_of(autoregressive(rng, 2, 250, 0.5, 3.0), rng))
    holds, message, empty, header, *rows, empty_again, legend = text.split("\n")
    assert (holds, message) == (ALL_THREE, CONVERGED)
    assert empty == empty_again == ""
    assert header.split() == ["mean", "sd", "r_hat", "ess_bulk", "ess_tail"]
    assert rows[0].startswith("number of topics ")
    assert re.fullmatch(r"log joint +-99\d\.\d\d +\d\.\d\d +1\.0\d +\d+ +\d+", rows[3])
    assert re.fullmatch(r"entropy of topic sizes +\d\.\d\d +\d\.\d\d +1\.\d\d +\d+ +\d+", rows[-2])
    assert legend.startswith("r_hat: 1.00 where the chains agree")


# ---------------------------------------------------------------- an estimate of eta


def test_an_eta_that_runs_away_is_named(rng):
    n_topics, noise = autoregressive(rng, 2, 120, 0.5, 3.0), rng.normal(0.0, 0.01, 120)
    falling = np.exp(np.linspace(np.log(0.02), np.log(0.005), 120) + noise)
    found = diagnosis_of(n_topics, rng, eta=falling)
    (said,) = [message for message in found.messages if "eta" in message]
    assert re.match(r"The estimate of eta is still falling, by 6\d% .* and now 0.005\.", said)
    assert "tune_eta(documents)" in said
    assert not found.converged
    assert CONVERGED not in found.messages
    rising = diagnosis_of(n_topics, rng, eta=falling[::-1])
    assert any("is still rising" in message for message in rising.messages)


def test_an_eta_that_has_settled_far_away_is_named(rng):
    n_topics, noise = autoregressive(rng, 2, 120, 0.5, 3.0), rng.normal(0.0, 0.02, 120)
    far = diagnosis_of(n_topics, rng, eta=0.003 * np.exp(noise))
    assert any("has come to 0.003, far below" in message for message in far.messages)
    usual = diagnosis_of(n_topics, rng, eta=0.05 * np.exp(noise))
    assert usual.messages == [ALL_THREE, CONVERGED]


def test_a_longer_run_is_not_advised_where_eta_runs_away(rng):
    n_topics = autoregressive(rng, 2, 120, 0.5, 2.0)
    assert asked(diagnosis_of(n_topics, rng, changing(2))) == ["sweeps=120, burn_in=120"]
    falling = np.geomspace(0.02, 0.005, 120)
    for some in (n_topics, n_topics[:1]):
        found = diagnosis_of(some, rng, changing(len(some)), eta=falling)
        assert (found.settled, asked(found)) == (False, [])
        assert any("eta is still falling" in message for message in found.messages)


# ---------------------------------------------------------------- settling

AGREED = autoregressive(np.random.default_rng(0), 2, 250, 0.0, 2.0)


@pytest.mark.parametrize(
    ("sweeps", "burn_in", "request_"),
    [(500, 250, "sweeps=500, burn_in=500"), (1000, 500, "sweeps=1000, burn_in=1000"), (2000, 1000, None)],
)
def test_requests_end(rng, sweeps, burn_in, request_):
    """The topics change in the same way however long the run is: after two doublings nothing is asked for."""
    found = diagnosis_of(autoregressive(rng, 2, sweeps, 0.0, 2.0), rng, changing(2), burn_in=burn_in)
    assert (found.settled, found.converged) == (False, False)
    assert found.changing_topics == [0, 1]
    assert asked(found) == ([request_] if request_ else [])


def test_short_runs_are_not_said_to_be_settled(rng):
    """Chains differ in the number of topics; halves of 200 sweeps are the same, and too near in time."""
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    short, long = (diagnosis_of(n_topics[:, :n], rng) for n in (200, 250))
    assert (short.verdict, short.settled, asked(short)) == ("agree on most", None, ["sweeps=200"])
    assert (long.verdict, long.settled, asked(long)) == ("agree on most", True, [])


def test_small_topics_may_change(rng):
    """A topic with 4% of the words grows threefold; the others stay."""
    early, late = np.diag([500, 480, 20]), np.diag([490, 450, 60])
    found = diagnosis_of(AGREED, rng, posterior_of_counts([[early] * 12 + [late] * 12] * 2))
    assert (found.settled, found.changing_topics) == (True, [2])


def test_terms_that_change_are_no_settled_topics(rng):
    """Sizes stay; the terms of one topic move from two of four to the other two, by steps."""
    early = np.array([[50, 0, 0, 0, 0], [0, 30, 20, 0, 0]])
    late = np.array([[50, 0, 0, 0, 0], [0, 4, 20, 26, 0]])
    posterior = posterior_of_counts([[early] * 12 + [late] * 12] * 2)
    assert posterior.n_topics == 2
    found = settling(posterior, [0, 1])
    assert found.changing == [1]
    assert found.changing_share == pytest.approx(0.5)
    assert not found.settled


def test_chance_is_no_change(rng):
    """Sizes of independent draws that vary much: fewer than one in 300 is said to change."""
    draws = rng.integers(1, 40, (2, 24))
    posterior = posterior_of_counts([[np.diag([50 - n, n, 50]) for n in chain] for chain in draws])
    assert settling(posterior, [2]).changing == []


def test_sizes_that_differ_between_chains_are_uneven_but_settled(rng):
    posterior = posterior_of_counts([[np.diag([60, 40])] * 10, [np.diag([30, 70])] * 10])
    found = settling(posterior, [0, 1])
    assert (found.changing, found.uneven, found.uneven_share) == ([], [0, 1], pytest.approx(1.0))
    said = diagnosis_of(AGREED, rng, posterior)
    assert (said.settled, said.agree, asked(said)) == (True, False, [])


def test_of_nothing_there_is_nothing_to_say():
    posterior = posterior_of_counts([[np.diag([60, 40])] * 7] * 2)
    assert settling(posterior, [0, 1]) is None
    assert settling(posterior_of_counts([[np.diag([60, 40])] * 9] * 2), []) is None


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
    assert found.messages[0].startswith("2 firm topics")
    assert "85% of the words" in found.messages[0]
    assert "same start" not in found.messages[0]
    assert SAME_START not in found.messages
    posterior.run_support = np.zeros(3)
    none = diagnosis_of(AGREED, rng, posterior)
    assert (none.firm_topics, none.verdict, none.agree) == ([], "do not agree", False)


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
