"""The joint probability of a state, in the paper's parts (equations 1 to 4).

``log_p_tables`` + ``log_p_topics`` + ``log_p_words`` is the log joint of words and seating. The log
densities of sampled concentrations are separate (``log_prior``). The joint of the state traces a run, but it
does not rank models, because it favours states with few tables.
"""

import math
from typing import NamedTuple

from franchise._arrays import CorpusArrays
from franchise._jit import kernel
from franchise.model.likelihood import log_p_words
from franchise.model.priors import Priors
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS, State


class Joint(NamedTuple):
    """The parts of the log joint of a state."""

    log_p_tables: float
    log_p_topics: float
    log_p_words: float
    log_prior: float

    @property
    def log_joint(self) -> float:
        """The log joint: log p(t) + log p(k) + log p(x | c)."""
        return self.log_p_tables + self.log_p_topics + self.log_p_words


@kernel
def log_p_tables(corpus, state, alpha):
    """Return log p(t): the division of every document's words among tables (equation 1)."""
    total, at_alpha = state.totals[TABLES] * math.log(alpha), math.lgamma(alpha)
    for j in range(state.m_j.size):
        first = corpus.doc_ptr[j]
        n_j = corpus.doc_ptr[j + 1] - first
        if n_j == 0:
            continue
        total += at_alpha - math.lgamma(alpha + n_j)
        for slot in range(first, first + state.m_j[j]):
            total += math.lgamma(state.n_jt[slot])
    return total


@kernel
def count_table_sizes(corpus, state, tables_of_size, begin, end):
    """Add the number of tables of each size in documents `begin` to `end` to `tables_of_size`."""
    for j in range(begin, end):
        first = corpus.doc_ptr[j]
        for slot in range(first, first + state.m_j[j]):
            tables_of_size[state.n_jt[slot]] += 1


@kernel
def log_p_tables_by_size(sizes, tables_of_size, lengths, documents_of_length, alpha):
    """Return log p(t) from the numbers of tables and documents of each size, with few log gammas."""
    total, at_alpha, log_alpha = 0.0, math.lgamma(alpha), math.log(alpha)
    for i in range(sizes.size):
        total += tables_of_size[i] * (log_alpha + math.lgamma(sizes[i]))
    for i in range(lengths.size):
        total += documents_of_length[i] * (at_alpha - math.lgamma(alpha + lengths[i]))
    return total


@kernel
def log_p_topics(state, gamma):
    """Return log p(k): the division of all tables among topics (equation 3)."""
    total = state.totals[TOPICS] * math.log(gamma)
    total += math.lgamma(gamma) - math.lgamma(gamma + state.totals[TABLES])
    for i in range(state.totals[TOPICS]):
        total += math.lgamma(state.m_k[state.live[i]])
    return total


def joint(corpus: CorpusArrays, state: State, priors: Priors) -> Joint:
    """Compute the parts of the log joint of a state."""
    alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
    return Joint(
        log_p_tables=float(log_p_tables(corpus, state, alpha)),
        log_p_topics=float(log_p_topics(state, gamma)),
        log_p_words=float(log_p_words(state, eta)),
        log_prior=priors.log_density(state.concentrations),
    )
