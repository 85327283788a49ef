"""The state of a chain on a larger corpus: old documents keep their seating, new ones are seated.

New documents come after the old ones, and new terms after the old terms. The words of the new documents are
seated one by one, documents in random order, given all words seated before: the paper's sequential start
(section 4), continued. This needs only the counts of topics and terms of the old documents, so only the new
documents are laid out as words.
"""

import numpy as np

from franchise._arrays import Array, offsets_of
from franchise.corpus import Corpus
from franchise.engines.checkpoints import with_table_sizes
from franchise.engines.coordinator import (
    SEATING,
    Coordinator,
    facts_of,
    no_documents,
    state_without_seating,
)
from franchise.engines.partitions.partition import SeatedDocuments
from franchise.engines.starts.starting_topics import shuffle_documents
from franchise.model import Priors, State
from franchise.model.packing import filled, gathered, packed, room_for, unpacked
from franchise.moves.shared.scratch import MOST_WORDS_OF_A_TRIAL
from franchise.random import Key


def enlarged_state(key: Key, before: Corpus, state: State, after: Corpus, priors: Priors) -> State:
    """Return a state of the larger corpus that continues a state of words.

    Parameters
    ----------
    key
        Names the random numbers.
    before
        The corpus of the state.
    state
        The state of the chain; it is not changed.
    after
        The larger corpus.
    priors
        Priors; fixed concentrations have these values from now on.
    """
    arrays = packed(before.arrays, state)
    seated, others = _seated(key, before, arrays, after, priors)
    doc_ptr, m_j = offsets_of(seated.lengths)[:-1], seated.m_j
    more = {
        "t_ji": seated.t_ji,
        "m_j": m_j,
        "n_jt": gathered(doc_ptr, m_j, seated.n_jt),
        "k_jt": gathered(doc_ptr, m_j, seated.k_jt),
    }
    return unpacked(
        after.arrays, others | {name: np.concatenate([arrays[name], more[name]]) for name in SEATING}
    )


def enlarged_counts(
    key: Key, before: Corpus, arrays: dict[str, Array], after: Corpus, priors: Priors
) -> dict[str, Array]:
    """Return the arrays of an engine of counts on a larger corpus; parameters as above."""
    seated, others = _seated(key, before, arrays, after, priors)
    doc_ptr, n_terms = offsets_of(seated.lengths), np.int64(after.n_terms)
    slots = np.repeat(doc_ptr[:-1], seated.lengths) + seated.t_ji
    pairs, count = np.unique(slots * n_terms + seated.x, return_counts=True)
    slot, term = np.divmod(pairs, n_terms)
    used, n_pairs = np.unique(slot, return_counts=True)
    more = {
        "m_j": seated.m_j,
        "n_jt": seated.n_jt[used],
        "k_jt": seated.k_jt[used],
        "n_pairs": n_pairs,
        "term": term,
        "count": count,
    }
    seating = {name: np.concatenate([arrays[name], new]).astype(np.int32) for name, new in more.items()}
    return with_table_sizes(others | seating)


def _seated(
    key: Key, before: Corpus, arrays: dict[str, Array], after: Corpus, priors: Priors
) -> tuple[SeatedDocuments, dict[str, Array]]:
    """Return the new documents, seated, and all arrays of the state except the seating."""
    numbers = np.arange(before.n_documents, after.n_documents)
    coordinator = _coordinator(before, arrays, after, priors)
    coordinator.bring(_unseated(after, numbers))
    in_order = np.arange(after.n_documents, dtype=np.int64)
    shuffle_documents(key, np.zeros(4, np.uint64), in_order)
    order = in_order[in_order >= before.n_documents]
    sampler = coordinator.sampler
    sampler.visit(order - before.n_documents, order)
    sampler.draw_words(key)
    seated = coordinator.take_away(_unseated(after, numbers))
    everything = packed(sampler.corpus, coordinator.state)
    return seated, {name: array for name, array in everything.items() if name not in SEATING}


def _coordinator(before: Corpus, arrays: dict[str, Array], after: Corpus, priors: Priors) -> Coordinator:
    """Return a coordinator of the larger corpus with the counts of the old documents."""
    facts = facts_of(after)
    none, empty = no_documents(facts.n_terms, facts.n_words), state_without_seating(facts, room_for(arrays))
    more_terms = np.zeros(after.n_terms - before.n_terms, arrays["row_len"].dtype)
    counts = {
        **arrays,
        "row_len": np.concatenate([arrays["row_len"], more_terms]),
        **{name: getattr(empty, name) for name in SEATING},
    }
    state = filled(none, empty, counts)
    # In the warm-up, eta differs.
    fixed = priors.as_array()[:, 0] == 0.0
    state.concentrations[fixed] = priors.initial()[fixed]
    return Coordinator(facts, state, MOST_WORDS_OF_A_TRIAL)


def _unseated(corpus: Corpus, numbers: Array) -> SeatedDocuments:
    """Return documents without any seated word."""
    x = np.concatenate([np.zeros(0, np.int32), *(corpus.document(j) for j in numbers.tolist())])
    nothing = np.zeros((2, x.size), np.int32)
    return SeatedDocuments(
        numbers,
        corpus.document_lengths[numbers],
        np.zeros(numbers.size, np.int32),
        x,
        np.full(x.size, -1, np.int32),
        *nothing,
    )
