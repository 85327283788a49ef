"""What is said of chains: whether they agree, what to do, and where they started."""

import re

import numpy as np
import pytest
from arviz_stats.base import array_stats

from franchise.posterior.advice import CONVERGED, TOO_FEW_DRAWS
from franchise.posterior.diagnostics import diagnose
from franchise.sampling import Timetable
from tests.unit.posterior.made import posterior_of_counts, trace_of
from tests.unit.posterior.made_diagnoses import (
    ALL_THREE,
    KEEP_APART,
    SAME_START,
    THREE_EACH,
    asked,
    autoregressive,
    changing,
    diagnosis_of,
    posterior_of_sizes,
)


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
    found = diagnose(posterior_of_sizes(rng, 2, 25), traces, Timetable(sweeps=250, burn_in=0))
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
    assert asked(found) == (["sweeps=500"] if length == 30 else [])
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
        "Run longer: resume(sweeps=500)."
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


# ---------------------------------------------------------------- the same start


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
    assert asked(diagnosis_of(n_topics, rng, changing(2))) == ["sweeps=380, burn_in=250"]
    falling = np.geomspace(0.02, 0.005, 120)
    for some in (n_topics, n_topics[:1]):
        found = diagnosis_of(some, rng, changing(len(some)), eta=falling)
        assert (found.settled, asked(found)) == (False, [])
        assert any("eta is still falling" in message for message in found.messages)
