"""What a chain does beside its documents, wherever these are: on the GPU here, or on those of a cluster."""

import numpy as np

from franchise.engines import parallel
from franchise.engines.engine import Trials
from franchise.engines.head import Head
from franchise.engines.parallel import trials_due
from franchise.engines.revealing import number_of_turns
from franchise.model import Joint, Priors
from franchise.model.joint import log_p_tables_by_size, log_p_topics
from franchise.model.likelihood import log_p_sizes
from franchise.model.state import ALPHA, ETA, GAMMA, Array

# Of larger corpora the head makes its moves in every so many sweeps, when trials are made (`trials_due`).
MANY_WORDS, EVERY = 1_000_000, 10
# Up to a tenth of so many words they are as many as are asked for: sweeps are soon made, so there is time.
_MOST_AT_ONCE = 2_000_000_000


def head_moves(sweep: int, n_words: int) -> bool:
    """Return whether the head makes its moves in a sweep."""
    return n_words < MANY_WORDS or sweep % EVERY == 0


def trials_for(trials: Trials | None, sweep: int, n_words: int) -> Trials | None:
    """Return the trials to make in a sweep."""
    return trials_due(trials, sweep, n_words, _MOST_AT_ONCE) if head_moves(sweep, n_words) else None


def turn_of(sweep: int, n_words: int) -> tuple[int, int]:
    """Return which documents the head draws word by word in a sweep: whose turn it is, of how many."""
    n_turns = number_of_turns(n_words, parallel.COLLAPSED_WORDS)
    return sweep // (1 if n_words < MANY_WORDS else EVERY) % n_turns, n_turns


def name_first_topics(head: Head, words: Array, tables: Array) -> Array:
    """Let there be the topics that words have been given first; return the number of each."""
    live = np.flatnonzero(words)
    head.name_topics(words[live], tables[live])
    number = np.zeros(words.size, np.int64)
    number[live] = np.arange(live.size)
    return number


def joint_of(
    head: Head, priors: Priors, sizes: Array, lengths: tuple[Array, Array], log_p_terms: float
) -> Joint:
    """Return the parts of the log joint; `sizes` says how many tables have each number of words."""
    state = head.state
    alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
    return Joint(
        float(log_p_tables_by_size(sizes, *lengths, alpha)),
        float(log_p_topics(state, gamma)),
        float(log_p_sizes(state, eta)) + log_p_terms,
        priors.log_density(state.concentrations),
    )
