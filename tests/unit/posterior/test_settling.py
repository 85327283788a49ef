"""Whether a longer run would change the topics, and advice that ends."""

import numpy as np
import pytest

from franchise.posterior.settling import settling
from tests.unit.posterior.made import posterior_of_counts
from tests.unit.posterior.made_diagnoses import AGREED, asked, autoregressive, changing, diagnosis_of


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("sweeps", "burn_in", "request_"),
    [(500, 250, (500, 500)), (1000, 500, (1000, 1000)), (2000, 1000, None)],
)
def test_requests_end(rng, sweeps, burn_in, request_):
    """The topics change in the same way however long the run is: after two doublings nothing is asked for."""
    found = diagnosis_of(autoregressive(rng, 2, sweeps, 0.0, 2.0), rng, changing(2), burn_in=burn_in)
    assert (found.settled, found.converged) == (False, False)
    assert found.changing_topics == [0, 1]
    assert asked(found) == ([request_] if request_ else [])


def followed(rng, sweeps, differ, posterior):
    """Return how many times a fit is made longer by the advice, as `resume` would make it."""
    burn_in, steps = None, 0
    while True:
        first = sweeps // 2 if burn_in is None else burn_in
        n_topics = autoregressive(rng, 2, sweeps, 0.0, 2.0) + np.array([[0], [differ]])
        calls = asked(diagnosis_of(n_topics, rng, posterior, burn_in=first, sweeps=sweeps))
        if not calls:
            return steps
        more, first = calls[0]
        sweeps, burn_in, steps = sweeps + more, burn_in if first is None else first, steps + 1


@pytest.mark.parametrize("sweeps", [3, 30, 200, 400, 500])
def test_advice_ends_after_few_steps(rng, sweeps):
    """Chains that differ and keep still need one step to the default length; others at most two more."""
    assert followed(rng, sweeps, 12, None) == (sweeps < 500)
    assert followed(rng, sweeps, 12, changing(2)) <= 3 - (sweeps == 500)


@pytest.mark.parametrize(("burn_in", "request_"), [(190, (300, None)), (400, (200, None))])
def test_a_burn_in_that_was_given_stays_in_the_advice(rng, burn_in, request_):
    """Of a fit with 400 sweeps burnt in of 500, more must be counted than of one with 190 of 200."""
    sweeps = {190: 200, 400: 500}[burn_in]
    n_topics = autoregressive(rng, 2, sweeps, 0.5, 2.0) + np.array([[0], [12]])
    assert asked(diagnosis_of(n_topics, rng, burn_in=burn_in)) == [request_]


def test_short_runs_are_not_said_to_be_settled(rng):
    """Chains differ in the number of topics; halves of 200 sweeps are the same, and too near in time."""
    n_topics = autoregressive(rng, 2, 250, 0.5, 2.0) + np.array([[0], [12]])
    short, long = (diagnosis_of(n_topics[:, :n], rng) for n in (200, 250))
    assert (short.verdict, short.settled, asked(short)) == ("agree on most", None, [(300, None)])
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
