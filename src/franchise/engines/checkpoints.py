"""Checkpoints of a partially collapsed engine: arrays of the coordinator, and the seating of each shard."""

from collections.abc import Sequence

import numpy as np

from franchise._arrays import Array, narrow, offsets_of
from franchise.corpus import Corpus
from franchise.corpus.shards import Shard
from franchise.engines.coordinator import SEATING, Coordinator, Facts, no_documents, state_without_seating
from franchise.model import State, broken_invariants
from franchise.model.cell_tables import broken_cells
from franchise.model.packing import filled, packed, room_for, unpacked
from franchise.model.rows import rows_of
from franchise.model.state import DEAD, TABLES, TOPICS

# The stored arrays of count tables (`model.cell_tables`).
_COUNTS = ("m_j", "n_jt", "k_jt", "n_pairs", "term", "count")


def packed_coordinator(coordinator: Coordinator, sizes: Array, sweep: int) -> dict[str, Array]:
    """Return the arrays of a coordinator: those of `model.packing` without the seating.

    `sizes` are the sizes of tables and the number of tables of each size; `sweep` is the last sweep.
    """
    arrays = packed(coordinator.sampler.corpus, coordinator.state)
    kept = {name: array for name, array in arrays.items() if name not in SEATING}
    return {
        **kept,
        "table_sizes": sizes[0].copy(),
        "tables_of_size": sizes[1].copy(),
        "at": np.array([sweep]),
    }


def with_table_sizes(arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the arrays of a state before its first sweep, with the sizes of its tables."""
    sizes, times = np.unique(arrays["n_jt"], return_counts=True)
    return {
        **arrays,
        "table_sizes": sizes.astype(np.int64),
        "tables_of_size": times,
        "at": np.zeros(1, np.int64),
    }


def unpacked_coordinator(facts: Facts, arrays: dict[str, Array]) -> State:
    """Return the state from its arrays; ValueError and KeyError say what is wrong with them."""
    empty = state_without_seating(facts, room_for(arrays))
    no_seating = {name: getattr(empty, name) for name in SEATING}
    state = filled(no_documents(facts.n_terms, facts.n_words), empty, {**arrays, **no_seating})
    rows, n_topics = rows_of(state), arrays["n_k"].size
    terms = np.repeat(np.arange(facts.n_terms), rows.lengths)
    if state.totals[TOPICS] != n_topics or state.totals[DEAD] or np.any(rows.topics >= n_topics):
        raise ValueError("the topics are not numbered without gaps")
    in_order, live = np.arange(n_topics), arrays["live"]
    if not (np.array_equal(np.sort(live), in_order) and np.array_equal(arrays["place"][live], in_order)):
        raise ValueError("the topics are not listed once each")
    by_topic = np.bincount(rows.topics, weights=rows.counts, minlength=n_topics)
    by_term = np.bincount(terms, weights=rows.counts, minlength=facts.n_terms)
    if not (np.array_equal(by_topic, arrays["n_k"]) and np.array_equal(by_term, facts.term_counts)):
        raise ValueError("the counts of topics and terms do not add up")
    sizes, times = arrays["table_sizes"], arrays["tables_of_size"]
    if not state.totals[TABLES] == arrays["m_k"].sum() == times.sum() or np.any(arrays["m_k"] < 1):
        raise ValueError("the tables do not add up")
    if sizes.shape != times.shape or (sizes * times).sum() != facts.n_words:
        raise ValueError("the sizes of tables do not add up")
    return state


def check_whole(corpus: Corpus, has_counts: bool, arrays: dict[str, Array]) -> None:
    """Refuse inconsistent arrays of a chain with the seating of all documents: ValueError or KeyError."""
    if has_counts:
        broken = [said] if (said := broken_cells(corpus.cells, arrays)) else []
    else:
        broken = broken_invariants(corpus.arrays, unpacked(corpus.arrays, arrays))
    if broken:
        raise ValueError(broken[0])


def joined_seating(parts: Sequence[dict[str, Array]], has_counts: bool) -> dict[str, Array]:
    """Join the seating of the shards to that of all documents."""
    if has_counts:
        return {name: np.concatenate([part[name] for part in parts]) for name in _COUNTS}
    return {name: narrow(np.concatenate([part[name] for part in parts])) for name in SEATING}


def divided_seating(arrays: dict[str, Array], shards: Sequence[Shard]) -> list[dict[str, Array]]:
    """Divide the seating of all documents among the shards."""
    tables = offsets_of(arrays["m_j"])
    pairs = offsets_of(arrays["n_pairs"]) if "n_pairs" in arrays else tables
    found = []
    for one in shards:
        documents = slice(one.first_document, one.first_document + one.n_documents)
        words = slice(one.first_word, one.first_word + one.n_words)
        own_tables = slice(tables[documents.start], tables[documents.stop])
        own_pairs = slice(pairs[own_tables.start], pairs[own_tables.stop]) if "n_pairs" in arrays else words
        axes = {"m_j": documents, "t_ji": words, "term": own_pairs, "count": own_pairs}
        names = _COUNTS if "n_pairs" in arrays else SEATING
        found.append({name: arrays[name][axes.get(name, own_tables)] for name in names})
    return found
