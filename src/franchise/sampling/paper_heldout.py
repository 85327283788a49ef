"""The held-out number of the paper's program (its test mode), for comparison with published numbers.

The test documents join the training documents. Gibbs sampling seats their words, which changes the counts of
the topics; the seats of the training words and the concentrations stay. Each sweep records::

    log p(x, t, k of training and test) - log p(x, t, k of training)

That is the probability of the test words **and one seating of them**, not of the words alone. It rises as
the sweeps find better seatings, and it is not a perplexity. To compare models, use `predict.heldout`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from franchise._arrays import Array, places_of
from franchise._progress import advance
from franchise._settings import RandomState, moved, seed_of, whole_number
from franchise._threads import interrupts_deferred
from franchise.corpus import Corpus, Encoded
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.errors import CorpusError, FranchiseError
from franchise.model import Priors, State, empty_state, joint
from franchise.model.state import TABLES, TOPICS
from franchise.random import INITIALIZE, WORD_TABLES, Key
from franchise.sampling.chain import Chain

_SWEEPS = 50
_ON_TOPIC_AXIS = ("n_k", "m_k", "name_k", "live", "place", "dead", "totals", "concentrations")


@dataclass(frozen=True, slots=True, eq=False)
class PaperHeldOut:
    """The results of the test mode of the paper's program.

    Attributes
    ----------
    log_p
        Per sweep, the log joint of training and test documents minus that of the training documents.
    n_topics, n_tables
        Per sweep, the numbers of topics and tables of training and test documents together.
    n_words
        Number of test words.
    corpus, state
        Training documents, then test documents, and their state after the last sweep.
    """

    log_p: Array
    n_topics: Array
    n_tables: Array
    n_words: int
    corpus: Corpus
    state: State

    @property
    def best(self) -> float:
        """The highest of `log_p`."""
        return float(self.log_p.max())

    @property
    def per_word(self) -> float:
        """`best` per test word."""
        return self.best / self.n_words

    def __str__(self) -> str:
        return (
            f"the paper's held-out number: {self.per_word:.4f} nats per word, words and seats together, "
            f"the best of {self.log_p.size:,} sweeps; {self.n_words:,} words"
        )


def held_out_of_chain(chain: Chain, new: Encoded, sweeps: int = _SWEEPS, **options: Any) -> PaperHeldOut:
    """Compute the number for new documents from the current state of a chain."""
    test = Corpus(new.arrays.x, new.arrays.doc_ptr, chain.corpus.vocabulary, new.document_names)
    return paper_held_out(chain.corpus, chain.state, chain.priors, test, sweeps=sweeps, **options)


@moved(seed="random_state")
def paper_held_out(
    corpus: Corpus, state: State, priors: Priors, test: Corpus, *, sweeps: int, random_state: RandomState = 0
) -> PaperHeldOut:
    """Compute the held-out number of the paper's program.

    Parameters
    ----------
    corpus
        The training documents.
    state
        The state of a chain on the training documents, with every word seated. It is not changed.
    priors
        The priors of that chain.
    test
        The test documents, over the same vocabulary.
    sweeps
        Number of sweeps over the test documents.
    random_state
        The seed of the sweeps: a number, a NumPy Generator or RandomState, or None.

    Returns
    -------
    PaperHeldOut
        The number after each sweep, and the best.
    """
    seed = seed_of(random_state)
    whole_number("sweeps", sweeps, 1)
    together = _together(corpus, state, test)
    arrays = together.arrays
    new = np.arange(corpus.n_documents, together.n_documents)
    bench = CollapsedSampler(arrays, _with_room(together, state), new)
    before = joint(corpus.arrays, state, priors).log_joint
    rows = []
    with interrupts_deferred():
        bench.draw_words(Key(seed, 0, 0, INITIALIZE))
    for sweep in range(1, sweeps + 1):
        with interrupts_deferred():
            bench.gibbs(Key(seed, 0, sweep, WORD_TABLES))
            log_p = joint(arrays, bench.state, priors).log_joint - before
        advance()
        rows.append((log_p, int(bench.state.totals[TOPICS]), int(bench.state.totals[TABLES])))
    log_ps, n_topics, n_tables = (np.array(column) for column in zip(*rows, strict=True))
    return PaperHeldOut(log_ps, n_topics, n_tables, test.n_words, together, bench.state)


def _together(corpus: Corpus, state: State, test: Corpus) -> Corpus:
    """Return the training documents followed by the test documents."""
    if test.vocabulary != corpus.vocabulary:
        raise CorpusError(
            f"the test documents have a different vocabulary ({test.n_terms:,} terms) from the training "
            f"documents ({corpus.n_terms:,}); make both with the same",
            code="vocabulary-mismatch",
        )
    if state.t_ji.size != corpus.n_words or state.m_j.size != corpus.n_documents:
        raise FranchiseError(
            f"the state has {state.m_j.size:,} documents and {state.t_ji.size:,} words, the corpus has "
            f"{corpus.n_documents:,} and {corpus.n_words:,}; give the corpus that the state belongs to",
            code="corpus-mismatch",
        )
    if state.t_ji.min() < 0:
        raise FranchiseError("the state has words without a table: run the chain first", code="not-fitted")
    return Corpus(
        np.concatenate([corpus.x, test.x]),
        np.concatenate([corpus.doc_ptr, corpus.n_words + test.doc_ptr[1:]]),
        corpus.vocabulary,
        [*corpus.document_names, *test.document_names],
    )


def _with_room(together: Corpus, state: State) -> State:
    """Return the state with room for the test documents, whose words have no seats yet."""
    wider = empty_state(together.arrays)
    for name in ("t_ji", "n_jt", "k_jt", "m_j", "row_len"):
        getattr(wider, name)[: getattr(state, name).size] = getattr(state, name)
    wider = wider._replace(**{name: getattr(state, name).copy() for name in _ON_TOPIC_AXIS})
    # A term's pairs are at the beginning of its places. There are more places now.
    old, new = (places_of(ptr[:-1], state.row_len) for ptr in (state.row_ptr, wider.row_ptr))
    wider.row_k[new], wider.row_n[new] = state.row_k[old], state.row_n[old]
    return wider
