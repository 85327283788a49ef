"""The compiled moves keep, and find, the exact posterior of tiny corpora.

Draws are independent, so chi-square holds as it stands. A run that begins with an exact draw must end with
one, however short it is; a run that begins at one state far out must get there.
"""

import numpy as np
import pytest

from tests.reference.enumeration import Concentrations, Posterior
from tests.reference.kernels import Kernels
from tests.reference.statistics import assert_frequencies

SMALL = Posterior([[0, 1], [1, 2], [2]], 3, Concentrations(alpha=1.3, gamma=0.9, eta=0.4))  # 87 states
LARGER = Posterior([[0, 0, 1], [1, 1, 2]], 3, Concentrations(alpha=1.3, gamma=0.9, eta=0.4))  # 712 states


def ends_of_runs(posterior, starts, sweeps, seed):
    """Run the moves from each start by streams of its own; return where the runs end."""
    documents, n_terms, at = posterior.documents, posterior.n_terms, posterior.at
    seated = {start: Kernels.seated(documents, n_terms, at, start).state for start in set(starts)}
    kernels, ends = Kernels(documents, n_terms, at), []
    for chain, start in enumerate(starts):
        for array, at_start in zip(kernels.state, seated[start], strict=True):
            array[...] = at_start
        kernels.sweep_often(sweeps, seed, chain=chain)
        ends.append(kernels.plain().seating)
    return ends


def exact_draws(posterior, n, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.choice(len(posterior.seatings), size=n, p=posterior.probabilities)
    return [posterior.seatings[i] for i in numbers]


def assert_exact(posterior, seatings):
    """Test the states, and the numbers of topics and tables, where small errors of many states add up.

    Three tests: a right program passes but once in 300,000 seeds.
    """
    assert_frequencies(seatings, dict(zip(posterior.seatings, posterior.probabilities)))
    assert_frequencies([seating.n_topics for seating in seatings], posterior.p_topics())
    assert_frequencies([seating.n_tables for seating in seatings], posterior.p_tables())


def test_a_sweep_keeps_the_posterior(seed):
    """4,000 runs see a mean number of topics that is off by 0.11, nine times in ten."""
    assert_exact(SMALL, ends_of_runs(SMALL, exact_draws(SMALL, 4_000, seed), 1, seed))


@pytest.mark.statistical
@pytest.mark.parametrize("posterior", [SMALL, LARGER], ids=["small", "larger"])
def test_sweeps_keep_the_posterior(posterior, seed):
    """50,000 runs see a mean number of topics that is off by 0.03."""
    assert_exact(posterior, ends_of_runs(posterior, exact_draws(posterior, 50_000, seed), 2, seed))


@pytest.mark.statistical
@pytest.mark.parametrize("posterior", [SMALL, LARGER], ids=["small", "larger"])
@pytest.mark.parametrize("start", [0, -1], ids=["one table each", "a topic a word"])
def test_sweeps_find_the_posterior(posterior, start, seed):
    """10,000 runs of 40 sweeps see a mean number of topics that is off by 0.06."""
    starts = [posterior.seatings[start]] * 10_000
    assert_exact(posterior, ends_of_runs(posterior, starts, 40, seed))
