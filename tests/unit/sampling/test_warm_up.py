"""The first sweeps, in which eta is held low."""

import numpy as np
import pytest

from franchise import Chain, Priors
from franchise.moves.shared.scratch import new_scratch
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain, save_chain
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, in_bits, seats

pytestmark = pytest.mark.nojit

FIXED = Priors(eta=0.3)
SCHEDULE = Timetable(sweeps=12, burn_in=9, thin=1, warm_up=8)


def warmed_up(priors=FIXED, schedule=SCHEDULE, start="fitted"):
    return Chain(arithmetic_corpus(), priors, schedule, random_state=4, init=start)


def rising(eta, warm_up):
    """Return eta in the sweeps of a warm-up, from 0.3 of its value, growing by a constant factor."""
    return [0.3 ** (1 - sweep / warm_up) * eta for sweep in range(1, warm_up + 1)]


@pytest.mark.parametrize("start", ["fitted", "one"])
def test_a_fixed_eta_rises_to_its_value(start):
    chain = warmed_up(start=start)
    chain.run()
    eta = chain.trace["eta"]
    assert eta[0] == 0.3
    assert eta[1:9] == pytest.approx(rising(0.3, 8), rel=1e-12)
    assert set(eta[8:]) == {0.3}  # to the bit, from the last sweep of the warm-up on
    assert [draw.sweep for draw in chain.draws] == [10, 11, 12]


def test_a_sampled_eta_is_held_and_then_drawn():
    chain = warmed_up(PRIORS)
    chain.run()
    eta = chain.trace["eta"]
    assert eta[1:9] == pytest.approx(rising(0.2, 8), rel=1e-12)
    assert eta[8] == 0.2  # the mean of the prior, where chains start
    assert len(set(eta[8:])) == 5
    for name in ("alpha", "gamma"):  # these are drawn all the time
        assert len(set(chain.trace[name])) == 13


@pytest.mark.parametrize("method", ["slice", "auxiliary"])
def test_a_sweep_of_the_warm_up_is_that_of_a_chain_with_this_eta(method):
    """From one topic, where the start does not depend on eta."""
    schedule = Timetable(sweeps=2, burn_in=2, warm_up=2, concentrations=method)
    chain = warmed_up(PRIORS, schedule, start="one")
    chain.sweep()
    (eta,) = set(chain.trace["eta"][1:])
    other = Chain(
        arithmetic_corpus(),
        Priors(alpha=PRIORS.alpha, gamma=PRIORS.gamma, eta=eta),
        Timetable(concentrations=method),
        random_state=4,
        init="one",
    )
    other.sweep()
    assert eta == pytest.approx(0.2 * 0.3**0.5)
    for one, same in zip(seats(chain), seats(other), strict=True):
        assert one.tolist() == same.tolist()
    for name in ("alpha", "gamma", "eta", "log_joint"):
        assert chain.trace.last[name] == other.trace.last[name]


def test_a_warm_up_of_one_sweep_is_made_with_eta_itself():
    chains = [warmed_up(schedule=Timetable(sweeps=5, burn_in=5, warm_up=warm_up)) for warm_up in (0, 1)]
    for chain in chains:
        chain.run()
    assert in_bits(chains[0]) == in_bits(chains[1])


@pytest.mark.parametrize("priors", [FIXED, PRIORS], ids=["fixed", "sampled"])
def test_what_is_looked_up_follows_eta(priors):
    chain = warmed_up(priors)
    for _ in range(SCHEDULE.sweeps):
        chain.sweep()
        own, fresh = chain.engine.sampler.scratch, new_scratch(chain.corpus.arrays, chain.state)
        for name in ("lg", "lgv", "ratio"):
            assert getattr(own.tables, name).tolist() == getattr(fresh.tables, name).tolist()


@pytest.mark.parametrize("priors", [FIXED, PRIORS], ids=["fixed", "sampled"])
def test_resumed_at_every_sweep(priors, tmp_path):
    whole = warmed_up(priors)
    whole.run()
    for sweeps in range(SCHEDULE.sweeps):
        first = warmed_up(priors)
        first.run(sweeps)
        save_chain(first, tmp_path / str(sweeps))
        chain = load_chain(tmp_path / str(sweeps), arithmetic_corpus())
        assert chain.schedule == SCHEDULE
        assert chain.init == "fitted"
        chain.run()
        assert in_bits(chain) == in_bits(whole)
        assert [draw.sweep for draw in chain.draws] == [10, 11, 12]
        assert np.array_equal(chain.draws[-1].m_k, whole.draws[-1].m_k)
