"""Drawing state and words in turn gives the same moments as drawing them from the prior (Geweke 2004).

Forward: concentrations from their priors, then seating and words from the HDP. In turn: a sweep of all
moves given the words, then new words given the seating. Both have the joint distribution of everything,
if and only if every move leaves the posterior invariant.
"""

import itertools
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from franchise import Priors
from franchise._arrays import CorpusArrays
from franchise.corpus import draw_hdp
from franchise.model import empty_state, joint, topic_term_counts, word_topics
from franchise.model.capacity import grown
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS
from franchise.moves import complete_move
from franchise.moves.concentrations import auxiliary_concentrations, slice_concentrations
from franchise.moves.shared.scratch import new_scratch
from franchise.moves.split_merge import RECORD
from franchise.moves.table_topics import table_topics
from franchise.moves.word_tables import word_tables
from franchise.random import CONCENTRATIONS, SPLIT_MERGE, TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling.trials import Proposal, SplitMerge
from tests.reference.one_after_another import new_one_by_one, one_after_another
from tests.reference.trials import KINDS
from tests.statistical.means import assert_means

FORWARD, IN_TURN = 20_000, 60_000
# Light tails on both sides, so that all moments tested are finite and their errors normal.
PRIOR = (3.0, 3.0)
ALL_SAMPLED = Priors(alpha=PRIOR, gamma=PRIOR, eta=PRIOR)


class Case(NamedTuple):
    """A model to draw from, the move that draws its concentrations, the kinds of split-merge trials."""

    lengths: tuple[int, ...]
    n_terms: int
    priors: Priors
    concentrations: Callable
    kinds: tuple[Proposal, ...] = ()


CASES = {
    "slice": Case((0, 2, 4, 5), 4, ALL_SAMPLED, slice_concentrations),
    "auxiliary": Case((0, 2, 4, 5), 4, ALL_SAMPLED, auxiliary_concentrations),
    # Tables of dozens of words, which the table move weighs in another way than small ones.
    "large tables": Case((30, 0, 40, 1), 3, ALL_SAMPLED, slice_concentrations),
    "split-merge": Case((0, 2, 4, 5), 4, ALL_SAMPLED, slice_concentrations, KINDS),
}


def seated(corpus, t_ji, k_jt, concentrations):
    """Return the state with these tables and topics, topics numbered without gaps."""
    n_topics = int(k_jt.max()) + 1
    state = empty_state(corpus, capacity=max(16, n_topics))
    state.t_ji[:], state.k_jt[:] = t_ji, k_jt
    state.concentrations[:] = concentrations
    seat_all(corpus, state, n_topics)
    return state


def statistics(corpus, state, priors):
    """Return moments of all that is random, by name."""
    n_kv = topic_term_counts(state).astype(float)
    n_k, n_v = n_kv.sum(axis=1), n_kv.sum(axis=0)
    alpha, gamma, eta = state.concentrations
    topics, tables = float(state.totals[TOPICS]), float(state.totals[TABLES])
    return {
        "topics": topics,
        "topics squared": topics**2,
        "tables": tables,
        "tables squared": tables**2,
        "squared sizes of topics": n_k @ n_k,
        "squared counts of terms": n_v @ n_v,
        "squared counts in topics": np.sum(n_kv**2),
        "alpha": alpha,
        "alpha squared": alpha**2,
        "alpha by tables": alpha * tables,
        "gamma": gamma,
        "gamma squared": gamma**2,
        "gamma by topics": gamma * topics,
        "log joint": joint(corpus, state, priors).log_joint,
        "eta": eta,
        "eta squared": eta**2,
        "eta by counts": eta * np.sum(n_kv**2),
    }


def draw_prior(rng, lengths, n_terms, priors):
    """Return concentrations, corpus and state, all from the prior."""
    drawn = [rng.gamma(shape, 1 / rate) for shape, rate in priors.settings]
    draw = draw_hdp(
        document_lengths=lengths,
        n_terms=n_terms,
        **dict(zip(("alpha", "gamma", "eta"), drawn, strict=True)),
        seed=rng.integers(2**62),
    )
    corpus = draw.corpus.arrays
    k_jt, first = np.zeros_like(corpus.x), 0
    for begin, end in itertools.pairwise(corpus.doc_ptr):
        m_j = int(draw.t_ji[begin:end].max(initial=-1)) + 1
        k_jt[begin : begin + m_j] = draw.k_jt[first : first + m_j]
        first += m_j
    return corpus, seated(corpus, draw.t_ji, k_jt, drawn)


def draw_words(rng, corpus, state):
    """Return a corpus with new words given the seating, and the state with its counts."""
    slots = np.repeat(corpus.doc_ptr[:-1], np.diff(corpus.doc_ptr)) + state.t_ji
    _, z = np.unique(word_topics(corpus, state), return_inverse=True)
    topics = rng.dirichlet(np.full(corpus.n_terms, state.concentrations[ETA]), size=z.max() + 1)
    ends = np.cumsum(topics, axis=1)
    ends[:, -1] = 1.0  # whatever the sum was rounded to
    x = (rng.random(z.size)[:, None] >= ends[z]).sum(axis=1, dtype=np.int32)
    x.flags.writeable = False  # as in every corpus: kernels are compiled for that
    k_jt = np.zeros_like(state.k_jt)
    k_jt[slots] = z
    corpus = CorpusArrays(x, corpus.doc_ptr, corpus.n_terms)
    return corpus, seated(corpus, state.t_ji, k_jt, state.concentrations)


def sweep(key, corpus, state, case, error=1.0, error_of_trials=1.0):
    """Make the moves of a chain's sweep; with errors, the word move's alpha or the trials' gamma is wrong."""
    while state.n_k.size < corpus.x.size:  # there may be as many topics as words
        state = grown(state)
    scratch = new_scratch(corpus, state)
    state.concentrations[ALPHA] *= error
    state, scratch, _ = complete_move(
        word_tables, key._replace(move=WORD_TABLES), corpus, state, scratch, "words"
    )
    state.concentrations[ALPHA] /= error
    state, scratch, _ = complete_move(
        table_topics, key._replace(move=TABLE_TOPICS), corpus, state, scratch, "tables"
    )
    if case.kinds:
        state.concentrations[GAMMA] *= error_of_trials
        one = new_one_by_one(corpus, state, scratch.tables.lg, scratch.tables.lgv)
        proposals, records = SplitMerge(proposals=case.kinds).as_array(), np.zeros((5, len(RECORD)))
        one_after_another(key._replace(move=SPLIT_MERGE), corpus, state, one, proposals, records)
        state.concentrations[GAMMA] /= error_of_trials
    case.concentrations(
        key._replace(move=CONCENTRATIONS), corpus, state, scratch.concentrations, case.priors.as_array()
    )
    return state


@cache
def forward(seed, lengths, n_terms, priors):
    """Return statistics of independent draws from the prior, a row a draw."""
    rng = np.random.default_rng([seed, 0])
    return rows_of(statistics(*draw_prior(rng, lengths, n_terms, priors), priors) for _ in range(FORWARD))


def in_turn(seed, name, **errors):
    """Return the names of the statistics, and their values along a chain of sweeps and new words."""
    case, rng = CASES[name], np.random.default_rng([seed, 1])
    corpus, state = draw_prior(rng, case.lengths, case.n_terms, case.priors)
    rows = []
    for i in range(IN_TURN):
        state = sweep(Key(seed, 0, i, 0), corpus, state, case, **errors)
        corpus, state = draw_words(rng, corpus, state)
        rows.append(statistics(corpus, state, case.priors))
    return list(rows[0]), rows_of(rows)


def rows_of(statistics):
    return np.array([list(row.values()) for row in statistics])


def compare(seed, name, **errors):
    """Draw both ways and compare all means."""
    names, chain = in_turn(seed, name, **errors)
    case = CASES[name]
    draws = forward(seed, case.lengths, case.n_terms, case.priors)
    assert_means(names, chain, draws.mean(axis=0), draws.var(axis=0, ddof=1) / FORWARD)


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_all_moves_together(seed, name):
    """Sees a mean off by about 0.1 of the standard deviation of what it is the mean of."""
    compare(seed, name)


@pytest.mark.statistical
def test_it_sees_a_word_move_whose_alpha_is_three_tenths_too_large(seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(seed, "slice", error=1.3)


@pytest.mark.statistical
def test_it_sees_trials_whose_gamma_is_too_large_by_half(seed):
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(seed, "split-merge", error_of_trials=1.5)
