"""Kernel and slow twin draw the same numbers from the same streams and reach the same state.

Labels, the order of the living topics, and the order of each term's topics are compared as well: they
decide what later draws mean. A kernel adds weights up in another order than its twin, so a uniform number
within some 1e-15 of a border may fall on either side: once in about 1e13 draws.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from franchise.model import broken_invariants, word_topics
from franchise.model.state import BORN
from franchise.random import INITIALIZE, TABLE_TOPICS, WORD_TABLES
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import Franchise
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit

STARTS = st.sampled_from(["sequential", 1, 3])
AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)


def started(documents, n_terms, at, seed, start, capacity=64):
    """Return the kernels' state and the twin after the same start."""
    kernels = Kernels(documents, n_terms, at, capacity)
    twin = Franchise(documents, n_terms, at)
    choose = Drawn((seed, 0, 0, INITIALIZE))
    if start == "sequential":
        kernels.start_sequential(seed)
        twin.start_sequential(choose)
    else:
        kernels.start_random(seed, start)
        twin.start_random(choose, start)
    return kernels, twin


def make_both(kernels, twin, move, seed, sweep):
    """Make one move with both, and compare."""
    kernels.make(move, seed, sweep)
    choose = Drawn((seed, 0, sweep, move))
    if move == WORD_TABLES:
        twin.word_tables(choose)
    else:
        twin.table_topics(choose)
    assert kernels.plain() == twin.plain()
    assert broken_invariants(kernels.corpus, kernels.state) == []


@given(corpora(), CONCENTRATIONS, SEEDS, STARTS, st.sampled_from([1, 2, 64]))
@example(([[0]], 1), AT, 0, "sequential", 1)
@example(([[], [0, 0, 0], []], 1), AT, 1, "sequential", 1)
@example(([[0], [1], [0], [1]], 2), AT, 2, 3, 1)
def test_starts_agree(corpus, at, seed, start, capacity):
    kernels, twin = started(*corpus, at, seed, start, capacity)
    assert kernels.plain() == twin.plain()
    assert broken_invariants(kernels.corpus, kernels.state) == []


@given(
    corpora(),
    st.lists(CONCENTRATIONS, min_size=1, max_size=4),
    SEEDS,
    STARTS,
    st.sampled_from([1, 2, 64]),
)
@example(([[0]], 1), [AT] * 3, 0, "sequential", 1)
@example(([[0, 0, 0, 0, 0]], 1), [AT._replace(alpha=9.0, gamma=9.0)] * 4, 0, "sequential", 1)
@example(([[], [0, 1, 2, 3], [], [3, 2, 1, 0]], 5), [AT._replace(eta=9.0, gamma=9.0)] * 4, 0, 1, 1)
def test_sweeps_agree(corpus, concentrations, seed, start, capacity):
    """After every move of several sweeps, the concentrations being changed in between."""
    kernels, twin = started(*corpus, concentrations[0], seed, start, capacity)
    for sweep, at in enumerate(concentrations, start=1):
        kernels.set(at)
        twin.at = at
        for move in (WORD_TABLES, TABLE_TOPICS):
            make_both(kernels, twin, move, seed, sweep)


def test_sweeps_agree_on_longer_documents(seed):
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, 8, size=n).tolist() for n in (30, 1, 25, 0, 12)]
    kernels, twin = started(documents, 8, AT, seed, "sequential", capacity=1)
    for sweep in range(1, 6):
        for move in (WORD_TABLES, TABLE_TOPICS):
            make_both(kernels, twin, move, seed, sweep)


def test_sweeps_agree_beyond_the_documents_of_one_fresh_sum(seed):
    """The word move adds its corpus sum up afresh every 256 documents; here are more."""
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, 3, size=rng.integers(0, 3)).tolist() for _ in range(300)]
    kernels, twin = started(documents, 3, AT, seed, 5, capacity=1)
    make_both(kernels, twin, WORD_TABLES, seed, sweep=1)


def test_sweeps_agree_on_tables_too_large_for_products(seed):
    """The table move weighs them in logarithms."""
    documents = [[0, 1] * 40, [1, 0, 0] * 20, [2] * 30, [0, 2] * 5, [3, 1]]
    at = Concentrations(alpha=0.01, gamma=2.0, eta=3.0)
    kernels, twin = started(documents, 4, at, seed, "sequential", capacity=1)
    for sweep in range(1, 6):
        for move in (WORD_TABLES, TABLE_TOPICS):
            make_both(kernels, twin, move, seed, sweep)
    assert kernels.state.n_jt.max() > 24


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_info_tells_what_changed(corpus, at, seed):
    kernels, _ = started(*corpus, at, seed, "sequential")
    for sweep in (1, 2):
        z, born = word_topics(kernels.corpus, kernels.state), kernels.state.totals[BORN]
        info = kernels.make(WORD_TABLES, seed, sweep)
        assert info.moved == np.count_nonzero(word_topics(kernels.corpus, kernels.state) != z)
        assert info.born == kernels.state.totals[BORN] - born
        assert info.opened >= info.born

        topics, born = kernels.plain().k_jt, kernels.state.totals[BORN]
        info = kernels.make(TABLE_TOPICS, seed, sweep)
        changed = [a != b for old, new in zip(topics, kernels.plain().k_jt) for a, b in zip(old, new)]
        assert info.moved == sum(changed)
        assert info.born == kernels.state.totals[BORN] - born
        tables = [own.count(t) for own in kernels.plain().t_ji for t in set(own)]
        assert info.tables == sum(n > 1 for n in tables)


def test_table_move_is_the_same_without_a_table_of_log_gamma(seed):
    """Topics beyond the end of the table are computed, to the same bits."""
    documents = [[0, 1] * 40, [1, 0, 0] * 20, [2] * 30]
    at = Concentrations(alpha=0.01, gamma=2.0, eta=3.0)
    tabulated, _ = started(documents, 3, at, seed, "sequential")
    computed, _ = started(documents, 3, at, seed, "sequential")
    tables = computed.scratch.tables
    computed.scratch = computed.scratch._replace(tables=tables._replace(lgv=tables.lgv[:1].copy()))
    for sweep in range(1, 20):
        for kernels in (tabulated, computed):
            kernels.make(TABLE_TOPICS, seed, sweep)
        assert tabulated.plain() == computed.plain()
