"""What is said of chains: whether they agree, what to do, and where they started."""

import re

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.posterior.diagnostics import diagnose
from franchise.sampling import Timetable
from tests.unit.posterior.made import posterior_of_counts, trace_of
from tests.unit.posterior.made_diagnoses import (
    asked,
    autoregressive,
    changing,
    diagnosis_of,
    kinds,
    numbers_of,
    posterior_of_sizes,
)

CONVERGED = ["holds", "converged"]


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- verdicts


def test_chains_of_one_distribution_agree(rng):
    found = diagnosis_of(autoregressive(rng, 4, 250, 0.5, 3.0), rng)
    assert kinds(found) == CONVERGED
    assert (found.verdict, found.solid_topics, found.shared) == ("agree", [0, 1, 2], pytest.approx(1.0))
    assert (found.agree, found.converged, found.drifting, found.one_chain_topics) == (True, True, False, [])


def test_shifted_chains_do_not_agree(rng):
    n_topics = autoregressive(rng, 3, 250, 0.5, 2.0) + np.array([[5], [0], [12]])
    found = diagnosis_of(n_topics, rng)
    assert (found.agree, found.converged, found.drifting) == (False, False, False)
    r_hat = array_stats.rhat(n_topics)
    assert r_hat > 1.2
    assert found.verdict == "agree on most"  # they have the same topics
    assert kinds(found) == ["holds", "settled", "differ", "same topics", "rely", "by chain"]
    differ = numbers_of(found, "differ")
    assert (differ["missing"], differ["number"], differ["r_hat"]) == (
        "",
        "number of topics",
        pytest.approx(r_hat),
    )
    assert asked(found) == []
    assert numbers_of(found, "by chain") == {"ranges": {0: (3, 3), 1: (3, 3), 2: (3, 3)}}


def test_what_chains_do_not_agree_on_is_named(rng):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0)
    traces = [trace_of(k, log_p_words=rng.normal(mean, 1, 250)) for k, mean in zip(n_topics, (-10, -20))]
    found = diagnose(posterior_of_sizes(rng, 2, 25), traces, Timetable(sweeps=250, burn_in=0))
    assert found.agree is False
    assert numbers_of(found, "differ")["number"] == "log probability of the words"


def test_the_worst_number_is_named(rng):
    even, uneven = np.diag([30, 30, 30]), np.diag([80, 7, 3])
    posterior = posterior_of_counts([[even] * 25, [uneven] * 25])
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    found = diagnosis_of(n_topics, rng, posterior)
    assert found.table["r_hat"].max() == found.table.loc["entropy of topic sizes", "r_hat"] == np.inf
    assert found.table.loc["number of topics", "r_hat"] > 1.2
    differ = numbers_of(found, "differ")
    assert (differ["number"], differ["r_hat"]) == ("entropy of topic sizes", np.inf)
    assert numbers_of(found, "by chain") == {"ranges": {0: (3, 3), 1: (3, 3)}}


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
    assert numbers_of(found, "holds")["few_draws"] == 7
    assert kinds(found) == ["holds", "too few draws", "keep more draws"]


def test_the_same_number_of_topics_everywhere_is_agreement(rng):
    found = diagnosis_of(np.full((2, 250), 7), rng)
    assert (found.agree, found.converged) == (True, True)
    assert found.table.loc["number of topics", ["r_hat", "ess_bulk", "sd"]].tolist() == [1.0, 500.0, 0.0]


@pytest.mark.parametrize("length", [30, 250])
def test_chains_that_never_leave_a_number_of_their_own_do_not_agree(rng, length):
    found = diagnosis_of(np.repeat([[7], [9]], length, axis=1), rng)
    assert (found.agree, found.converged) == (False, False)
    assert found.table.loc["number of topics", "r_hat"] == np.inf
    differ = numbers_of(found, "differ")
    assert (differ["number"], differ["r_hat"]) == ("number of topics", np.inf)
    assert asked(found) == ([(500, None)] if length == 30 else [])
    assert ("same topics" in kinds(found)) == (length == 250)
    assert "own answers" not in kinds(found)


def test_two_numbers_in_turn_are_agreement(rng):
    # As many of one as of the other: nothing is left of them when they are folded about their median.
    found = diagnosis_of(np.tile([7, 7, 8, 8, 7, 8, 8, 7], (2, 50)), rng)
    assert found.agree is True


def test_one_chain(rng):
    found = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 3.0), rng)
    assert (found.agree, found.converged, found.one_chain_topics) == (None, None, [])
    assert kinds(found) == ["one chain", "more chains"]
    assert found.table["r_hat"].isna().all()
    assert found.table["ess_bulk"].notna().all()


def test_one_chain_that_changes_says_so(rng):
    found = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 2.0), rng, changing(1))
    assert (found.settled, found.converged) == (False, None)
    assert asked(found) == [(250, 250)]


@pytest.mark.parametrize("n_chains", [1, 3])
@pytest.mark.parametrize("n_kept", [1, 2, 7])
def test_too_few_sweeps(rng, n_chains, n_kept):
    n_topics = autoregressive(rng, n_chains, 5 + n_kept, 0.5, 3.0)
    found = diagnosis_of(n_topics, rng, burn_in=5, n_draws=n_kept)
    assert (found.agree, found.converged, found.drifting) == (None, None, False)
    assert kinds(found) == ["too few sweeps", "resume"]
    assert numbers_of(found, "too few sweeps") == {"n_kept": n_kept}
    assert asked(found) == [(500, None)]
    assert found.table.loc["number of topics", "mean"] == pytest.approx(n_topics[:, 5:].mean())
    assert found.table[["r_hat", "ess_bulk", "ess_tail"]].isna().all(axis=None)


def test_no_sweep_after_the_burn_in(rng):
    found = diagnosis_of(autoregressive(rng, 2, 20, 0.5, 3.0), rng, burn_in=20, n_draws=1, sweeps=40)
    assert found.converged is None
    assert numbers_of(found, "too few sweeps") == {"n_kept": 0}
    assert asked(found) == [(0, None)]


def test_a_chain_that_is_still_in_its_burn_in(rng):
    # The posterior has the draws of the first chain alone.
    n_topics = [autoregressive(rng, 1, n, 0.5, 3.0)[0] for n in (100, 20)]
    found = diagnosis_of(n_topics, rng, posterior_of_sizes(rng, 1, 10), burn_in=50)
    assert (found.agree, found.converged, found.one_chain_topics) == (None, None, [])
    assert numbers_of(found, "too few sweeps") == {"n_kept": 0}


def test_an_unfinished_run_is_to_be_finished(rng):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    assert asked(diagnosis_of(n_topics, rng, sweeps=500)) == [(0, None)]
    assert asked(diagnosis_of(n_topics, rng, changing(2), sweeps=500)) == [(0, None)]


def test_the_burn_in_does_not_count(rng):
    late = autoregressive(rng, 2, 250, 0.5, 3.0)
    early = np.array([[1] * 100, [200] * 100])
    found = diagnosis_of(np.hstack([early, late]), rng, burn_in=100)
    assert found.converged is True
    assert found.table.loc["number of topics", "mean"] == pytest.approx(late.mean())


# ---------------------------------------------------------------- the same start


@pytest.mark.parametrize("shift", [0, 12])
def test_chains_that_agree_or_nearly_say_that_they_started_alike(rng, shift):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [shift]])
    found = diagnosis_of(n_topics, rng, starts=("fitted", "fitted"))
    assert found.verdict == ("agree on most" if shift else "agree")
    assert found.same_start
    assert kinds(found)[-2:] == ["same start", "start apart"]
    assert numbers_of(found, "same start") == {"topics": "fitted topics"}
    assert numbers_of(found, "holds")["same_start"]


@pytest.mark.parametrize("start", ["consensus", "counts"])
def test_topics_that_chains_found_together_are_the_same_start(rng, start):
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0)
    n_topics[:, 0] = n_topics[0, 0]
    found = diagnosis_of(n_topics, rng, starts=(start, start))
    assert found.same_start
    assert numbers_of(found, "same start") == {"topics": "topics"}


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
    assert kinds(found) == CONVERGED


def test_nothing_is_said_of_the_start_where_there_is_nothing_to_agree_on(rng):
    fitted = ("fitted", "fitted")
    apart = posterior_of_counts([[np.eye(8, dtype=int)[:4]] * 9, [np.eye(8, dtype=int)[4:]] * 9])
    found = diagnosis_of(np.full((2, 250), 4), rng, apart, starts=fitted)
    assert found.verdict == "do not agree"
    assert found.same_start
    short = diagnosis_of(autoregressive(rng, 2, 5, 0.5, 2.0), rng, starts=fitted)
    one = diagnosis_of(autoregressive(rng, 1, 250, 0.5, 2.0), rng, starts=fitted[:1])
    for said in (found, short, one):
        assert "same start" not in kinds(said)


# ---------------------------------------------------------------- for people


def test_printed(rng):
    text = str(diagnosis_of(autoregressive(rng, 2, 250, 0.5, 3.0), rng))
    holds, message, empty, header, *rows, empty_again, legend = text.split("\n")
    assert holds.startswith("All 3 topics were found by every chain")
    assert message.startswith("Converged")
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
    said = numbers_of(found, "eta")
    assert said["eta"] == pytest.approx(0.005, rel=0.1)
    assert np.expm1(said["drift"]) == pytest.approx(-0.65, abs=0.05)
    assert kinds(found)[:3] == ["holds", "eta", "fix eta"]
    assert not found.converged
    rising = diagnosis_of(n_topics, rng, eta=falling[::-1])
    assert numbers_of(rising, "eta")["drift"] > 0


def test_an_eta_that_has_settled_far_away_is_named(rng):
    n_topics, noise = autoregressive(rng, 2, 120, 0.5, 3.0), rng.normal(0.0, 0.02, 120)
    far = diagnosis_of(n_topics, rng, eta=0.003 * np.exp(noise))
    assert numbers_of(far, "eta") == {"eta": pytest.approx(0.003, rel=0.1), "drift": 0.0}
    usual = diagnosis_of(n_topics, rng, eta=0.05 * np.exp(noise))
    assert kinds(usual) == CONVERGED


def test_a_longer_run_is_not_advised_where_eta_runs_away(rng):
    n_topics = autoregressive(rng, 2, 120, 0.5, 2.0)
    assert asked(diagnosis_of(n_topics, rng, changing(2))) == [(380, 250)]
    falling = np.geomspace(0.02, 0.005, 120)
    for some in (n_topics, n_topics[:1]):
        found = diagnosis_of(some, rng, changing(len(some)), eta=falling)
        assert (found.settled, asked(found)) == (False, [])
        assert numbers_of(found, "eta")["drift"] < 0
