"""Long runs visit every state as often as the enumerated posterior says.

Tested are the probabilities of each number of topics and of tables, of two words having one topic or one
table, and the mean log joint, for two corpora with fixed concentrations.
"""

import dataclasses
import itertools
from functools import cache

import numpy as np
import pytest

from tests.reference.enumeration import Concentrations, Posterior, seating_of
from tests.reference.kernels import Kernels
from tests.reference.trials import KINDS, name_of
from tests.statistical.means import assert_means

CORPORA = {
    "overlap": Posterior([[0, 0, 1], [1, 1, 2]], 3, Concentrations(alpha=1.3, gamma=0.9, eta=0.4)),
    # An empty document, one of one word, a term without words, few tables, topics apart.
    "edges": Posterior([[0, 1, 0, 3], [], [1, 1], [3]], 4, Concentrations(alpha=0.6, gamma=2.0, eta=0.15)),
}
BURN_IN = 200
RAREST = 0.01  # rarer events come too seldom for the means of batches to be normal


@pytest.fixture(params=CORPORA)
def name(request):
    return request.param


@cache
def visited(name, seed, sweeps, kinds=(), table_move=True, error=1.0):
    """Run the moves of a sweep; return the number in `Posterior.seatings` of each state visited.

    `kinds` are those of three split-merge trials per sweep; with `error`, these multiply gamma by it.
    """
    posterior = CORPORA[name]
    kernels = Kernels(posterior.documents, posterior.n_terms, posterior.at)
    kernels.start_sequential(seed)
    seats = kernels.sweep_often(
        BURN_IN + sweeps, seed, table_move=table_move, kinds=kinds, trials=3, error=error
    )
    kinds_of_seats, which = np.unique(seats[BURN_IN:], axis=0, return_inverse=True)
    numbers = [posterior.number[seating(kernels.corpus, *np.split(row, 2))] for row in kinds_of_seats]
    return np.array(numbers)[which]


def seating(corpus, t_ji, z):
    """Forget the labels of tables and topics."""
    ends = list(itertools.pairwise(corpus.doc_ptr))
    tables = [t_ji[first:end].tolist() for first, end in ends]
    topics = [dict(zip(own, z[first:end].tolist())) for own, (first, end) in zip(tables, ends)]
    return seating_of(tables, topics)


def statistics(posterior):
    """Return the names of the statistics, and their values in every state."""
    columns = {"log joint": posterior.log_joints}
    for name in ("n_topics", "n_tables"):
        values = np.array([getattr(seating, name) for seating in posterior.seatings])
        columns |= {f"{name} = {value}": values == value for value in np.unique(values)}
    z = np.array([seating.word_topics() for seating in posterior.seatings])
    # Tables of different documents are distinguished by their document.
    t = np.array([[100 * j + t for j, own in enumerate(s.t) for t in own] for s in posterior.seatings])
    for a, b in itertools.combinations(range(z.shape[1]), 2):
        columns[f"one topic: {a}, {b}"] = z[:, a] == z[:, b]
        columns[f"one table: {a}, {b}"] = t[:, a] == t[:, b]
    shares = {name: posterior.probabilities @ values for name, values in columns.items()}
    kept = [name for name in columns if name == "log joint" or RAREST < shares[name] < 1 - RAREST]
    return kept, np.column_stack([columns[name] for name in kept]).astype(float)


def compare(posterior, numbers, other):
    """Compare a run on one posterior with another over the same states."""
    names, values = statistics(posterior)
    assert_means(names, values[numbers], other.probabilities @ values)


def test_short_run(name, seed):
    """20,000 sweeps see a probability off by about 0.03."""
    compare(CORPORA[name], visited(name, seed, 20_000), CORPORA[name])


@pytest.mark.statistical
def test_long_run(name, seed):
    """400,000 sweeps see a probability off by about 0.007."""
    compare(CORPORA[name], visited(name, seed, 400_000), CORPORA[name])


@pytest.mark.parametrize("table_move", [False, True])
def test_short_run_with_split_merge(name, seed, table_move):
    """A mixture of all kinds, in the place of the table move or after it."""
    compare(CORPORA[name], visited(name, seed, 10_000, KINDS, table_move), CORPORA[name])


@pytest.mark.statistical
@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_long_run_with_split_merge_in_the_place_of_the_table_move(name, seed, kind):
    """100,000 sweeps see a probability off by about 0.015."""
    compare(CORPORA[name], visited(name, seed, 100_000, (kind,), table_move=False), CORPORA[name])


@pytest.mark.statistical
def test_long_run_with_all_moves(name, seed):
    """400,000 sweeps see a probability off by about 0.007."""
    compare(CORPORA[name], visited(name, seed, 400_000, KINDS), CORPORA[name])


@pytest.mark.statistical
def test_it_sees_split_merge_whose_gamma_is_three_tenths_too_large(name, seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(CORPORA[name], visited(name, seed, 100_000, KINDS, False, error=1.3), CORPORA[name])


@pytest.mark.statistical
@pytest.mark.parametrize("concentration", Concentrations._fields)
def test_a_long_run_tells_a_concentration_from_one_a_tenth_larger(name, seed, concentration):
    posterior = CORPORA[name]
    at = posterior.at._replace(**{concentration: 1.1 * getattr(posterior.at, concentration)})
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(posterior, visited(name, seed, 400_000), dataclasses.replace(posterior, at=at))
