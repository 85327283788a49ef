"""The joint probability of a state, in the paper's parts (equations 1 to 4).

``log_p_tables`` + ``log_p_topics`` + ``log_p_words`` is the log joint of words and seating. The log
densities of sampled concentrations are apart (``log_prior``), so that nothing is mixed up. The joint
of one state traces a run; it does not rank models: states with few tables are probable one by one.
"""

import math
from typing import NamedTuple

from franchise._jit import helper, kernel
from franchise.corpus import CorpusArrays
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
    """Return log p(t): every document's words divided into tables (equation 1)."""
    return _add_documents(state.totals[TABLES] * math.log(alpha), corpus, state, alpha, 0, state.m_j.size)


@kernel
def log_p_tables_of(corpus, state, alpha, begin, end):
    """Return what documents `begin` to `end` add to log p(t), but for the factor alpha of each table."""
    return _add_documents(0.0, corpus, state, alpha, begin, end)


@helper
def _add_documents(total, corpus, state, alpha, begin, end):
    at_alpha = math.lgamma(alpha)
    for j in range(begin, end):
        first = corpus.doc_ptr[j]
        n_j = corpus.doc_ptr[j + 1] - first
        if n_j == 0:
            continue
        total += at_alpha - math.lgamma(alpha + n_j)
        for slot in range(first, first + state.m_j[j]):
            total += math.lgamma(state.n_jt[slot])
    return total


@kernel
def log_p_tables_of_counts(doc_ptr, state, alpha):
    """Return log p(t) of a state whose slots have no gaps (`model.cell_tables`)."""
    at_alpha = math.lgamma(alpha)
    total = state.totals[TABLES] * math.log(alpha)
    for j in range(state.m_j.size):
        if doc_ptr[j + 1] > doc_ptr[j]:
            total += at_alpha - math.lgamma(alpha + (doc_ptr[j + 1] - doc_ptr[j]))
    for slot in range(state.n_jt.size):
        total += math.lgamma(state.n_jt[slot])
    return total


@kernel
def log_p_topics(state, gamma):
    """Return log p(k): all tables divided into topics (equation 3)."""
    total = state.totals[TOPICS] * math.log(gamma)
    total += math.lgamma(gamma) - math.lgamma(gamma + state.totals[TABLES])
    for i in range(state.totals[TOPICS]):
        total += math.lgamma(state.m_k[state.live[i]])
    return total


def joint(corpus: CorpusArrays, state: State, priors: Priors, log_p_t: float | None = None) -> Joint:
    """Compute the parts of the log joint of a state; log p(t) may be known already."""
    alpha, gamma, eta = (float(state.concentrations[i]) for i in (ALPHA, GAMMA, ETA))
    return Joint(
        log_p_tables=float(log_p_tables(corpus, state, alpha)) if log_p_t is None else log_p_t,
        log_p_topics=float(log_p_topics(state, gamma)),
        log_p_words=float(log_p_words(state, eta)),
        log_prior=priors.log_density(state.concentrations),
    )
