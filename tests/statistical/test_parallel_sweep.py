"""Whole sweeps of the parallel engine visit every state as often as the enumerated posterior says.

The pass over all documents, collapsed moves of one document now and then, split-merge trials now and then:
seldom enough that the exact moves do not put right what the pass would get wrong. The pass alone is tested
in `test_parallel_engine`; here are errors in it as well, each of which the comparison must see.
"""

import numpy as np
import pytest

from tests.reference.parallel import EpsilonByState, FewestTables, OneByOne, Parallel, engine_at, visited
from tests.reference.passes import ERRORS, MeanWeights, NoneStays, Pass, SeatedByAlpha
from tests.reference.trials import KINDS
from tests.statistical.test_enumerated_posterior import BURN_IN, CORPORA, compare, name

pytestmark = pytest.mark.slow  # the short runs too

__all__ = ["name"]


def run(name, seed, sweeps, epsilon=0.02, engine_class=OneByOne, kinds=KINDS):
    posterior = CORPORA[name]
    engine = engine_at(posterior, engine_class, epsilon)
    return visited(posterior, engine, seed, sweeps, BURN_IN, kinds)


def test_short_run(name, seed):
    """8,000 sweeps see a probability off by about 0.05."""
    compare(CORPORA[name], run(name, seed, 8_000), CORPORA[name])


@pytest.mark.parametrize("name", ["overlap"])
def test_it_sees_an_epsilon_that_depends_on_the_state(name, seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(CORPORA[name], run(name, seed, 8_000, engine_class=EpsilonByState), CORPORA[name])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.1, 0.005])
def test_long_run(name, seed, epsilon):
    """25,000 sweeps see a probability off by about 0.03."""
    compare(CORPORA[name], run(name, seed, 25_000, epsilon), CORPORA[name])


@pytest.mark.statistical
def test_long_run_as_it_is(name, seed):
    """Collapsed moves of all documents in every sweep, as there are for a corpus this small."""
    numbers = run(name, seed, 10_000, engine_class=Parallel)
    compare(CORPORA[name], numbers, CORPORA[name])


@pytest.mark.statistical
def test_it_sees_weights_drawn_with_too_few_tables(seed):
    numbers = run("overlap", seed, 20_000, engine_class=FewestTables)
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(CORPORA["overlap"], numbers, CORPORA["overlap"])


# ---------------------------------------------------------------- the plain pass, right and wrong


# Events that a wrong pass never produces have no variance.
without_warning = pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")


def compare_plain_pass(name, seed, passes, kind):
    """Run a pass in which topics rest often."""
    posterior = CORPORA[name]
    plain = kind(posterior.documents, posterior.n_terms, posterior.at, 0.1, seed)
    states = list(plain.states(posterior.seatings[0], BURN_IN + passes))
    compare(posterior, np.array([posterior.number[state] for state in states[BURN_IN:]]), posterior)


@without_warning
@pytest.mark.parametrize("kind", [SeatedByAlpha, NoneStays, MeanWeights])
def test_it_sees_gross_errors_at_once(seed, kind):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare_plain_pass("overlap", seed, 1_500, kind)


@pytest.mark.statistical
def test_the_plain_pass_is_right(name, seed):
    compare_plain_pass(name, seed, 20_000, Pass)


@without_warning
@pytest.mark.statistical
@pytest.mark.parametrize("kind", ERRORS)
def test_it_sees_every_error(seed, kind):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare_plain_pass("overlap", seed, 8_000, kind)
