"""Trials made at once, from the tables of their topics, are to the bit those made one after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.engines.engine import Trials
from franchise.engines.table_source import HeldTables
from franchise.engines.threads import Threads
from franchise.engines.trials import TrialMaker
from franchise.model import broken_invariants, copy_state
from franchise.model.capacity import grown
from franchise.model.state import DEAD, NUMBERED, TOPICS, pairs_in_use
from franchise.moves.split_merge import RECORD, info_of
from franchise.random import SPLIT_MERGE, Key
from franchise.sampling.trials import Proposal, SplitMerge
from tests.reference.enumeration import Concentrations
from tests.reference.kernels import Kernels
from tests.reference.one_after_another import new_one_by_one, one_after_another
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora
from tests.unit.engines.test_table_source import in_partitions

AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)
KINDS = [
    Proposal(anchors="uniform", scans=1),
    Proposal(anchors="balanced"),
    Proposal(anchors="similar", scans=2),
]
BY_WORD = ("t_ji", "n_jt", "k_jt", "m_j")


def longer(seed, n_documents=20, n_terms=8):
    """Return documents with one or two topics out of three, and random words among them."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 3, size=(n_documents, 2))
    lengths = rng.integers(0, 14, n_documents)
    return [
        [int((2 * own[i % 2] + rng.integers(0, 4)) % n_terms) for i in range(n)]
        for own, n in zip(topics, lengths, strict=True)
    ]


def started(documents, n_terms, at, seed, topics=1, capacity=64):
    kernels = Kernels(documents, n_terms, at, capacity)
    kernels.start_random(seed, topics)
    return kernels


def franchise(state, k_jt):
    """Return all that a state holds, the order of rows included, in bytes."""
    n_topics, n_numbers, n_dead = (state.totals[which] for which in (TOPICS, NUMBERED, DEAD))
    in_use = pairs_in_use(state)
    of_topics = [state.n_k, state.m_k, state.name_k]
    arrays = [state.row_len, state.row_k[in_use], state.row_n[in_use], state.totals, k_jt]
    arrays += [array[:n_numbers] for array in of_topics]
    arrays += [state.live[:n_topics], state.place[state.live[:n_topics]], state.dead[:n_dead]]
    return [array.tobytes() for array in arrays]


def made_one_by_one(kernels, kinds, trials, seed, most_words=10**9):
    """Return records, Info and state of trials made one after another."""
    state, tables, capacity = kernels.state, kernels.scratch.tables, kernels.state.n_k.size
    for _ in range(trials):
        state = grown(state) if state.n_k.size < capacity + trials else state
    one = new_one_by_one(kernels.corpus, state, tables.lg, tables.lgv, most_words)
    records = np.zeros((trials, len(RECORD)))
    proposals = SplitMerge(proposals=tuple(kinds)).as_array()
    one_after_another(Key(seed, 0, 1, SPLIT_MERGE), kernels.corpus, state, one, proposals, records)
    kernels.state = state
    return records.tobytes(), info_of(records), franchise(state, state.k_jt)


def made_at_once(kernels, kinds, trials, seed, *, threads=1, source=None, has_words=True, **settings):
    """Return the same for trials made at once from the counts alone."""
    state, tables = copy_state(kernels.state), kernels.scratch.tables
    held = HeldTables(kernels.corpus, state, Threads(threads))
    # Whoever looks at one of these finds nothing, or nonsense.
    counts = state._replace(**{name: np.full_like(getattr(state, name), -1) for name in BY_WORD})
    if not has_words:
        counts = state._replace(**{name: np.zeros(0, np.int32) for name in BY_WORD})
    maker = TrialMaker(kernels.corpus.n_terms, tables.lg, tables.lgv, Threads(threads), **settings)
    proposals = SplitMerge(proposals=tuple(kinds)).as_array()
    counts, info, records = maker.make(
        counts, held if source is None else source, Key(seed, 0, 1, 0), Trials(trials, proposals)
    )
    whole = counts._replace(**{name: getattr(state, name) for name in BY_WORD})
    if source is None:
        assert broken_invariants(kernels.corpus, whole) == []
    return records.tobytes(), info, franchise(counts, state.k_jt)


def accepted(records):
    return np.frombuffer(records).reshape(-1, 9)[:, 2].sum()


@pytest.mark.parametrize("anchors", ["uniform", "balanced", "similar"])
@pytest.mark.parametrize("scans", [0, 1, 2])
def test_every_kind_is_the_same(seed, anchors, scans):
    """Room for one topic to begin with; many are accepted, in the middle of those made at once."""
    kinds = [Proposal(anchors=anchors, scans=scans)]
    kernels = started(longer(seed), 8, AT, seed, capacity=1)
    found = made_at_once(kernels, kinds, 60, seed, threads=2, at_once=7)
    assert found == made_one_by_one(kernels, kinds, 60, seed)
    assert accepted(found[0]) > 2


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.nojit), 2, 3])
@pytest.mark.parametrize("at_once", [1, 2, 7, 100])
def test_threads_and_numbers_at_once_change_no_bit(seed, threads, at_once):
    kernels = started(longer(seed), 8, AT, seed, topics=4)
    found = made_at_once(kernels, KINDS, 100, seed, threads=threads, at_once=at_once)
    assert found == made_one_by_one(kernels, KINDS, 100, seed)
    assert accepted(found[0]) > 2


@given(corpora(max_documents=6), CONCENTRATIONS, SEEDS, st.integers(1, 4), st.integers(1, 9))
def test_small_corpora(corpus, at, seed, topics, at_once):
    kernels = started(*corpus, at, seed, topics)
    found = made_at_once(kernels, KINDS, 12, seed, threads=2, at_once=at_once)
    assert found == made_one_by_one(kernels, KINDS, 12, seed)


@pytest.mark.parametrize("most_kept", [0, 30, 60])
def test_little_memory_changes_no_bit(seed, most_kept):
    kernels = started(longer(seed), 8, AT, seed, topics=4)
    found = made_at_once(kernels, KINDS, 60, seed, threads=2, most_kept=most_kept)
    assert found == made_one_by_one(kernels, KINDS, 60, seed)


@pytest.mark.nojit
def test_a_coordinator_without_words(seed):
    """As on a cluster, where no array by word or document is where the counts are; the topics need room."""
    kernels = started(longer(seed), 8, AT._replace(gamma=20.0), seed, topics=1, capacity=1)
    found = made_at_once(kernels, KINDS, 60, seed, has_words=False)
    assert found == made_one_by_one(kernels, KINDS, 60, seed)
    assert accepted(found[0]) > 2


def test_tables_in_three_partitions(seed):
    kernels = started(longer(seed), 8, AT, seed, topics=4)
    several = in_partitions(kernels.corpus, copy_state(kernels.state), [3, 11])
    found = made_at_once(kernels, KINDS, 60, seed, threads=2, at_once=7, source=several)
    expected = made_one_by_one(kernels, KINDS, 60, seed)
    assert found[:2] == expected[:2]
    listed = several.tables_of(kernels.state.live[: kernels.state.totals[TOPICS]])
    whole = HeldTables(kernels.corpus, kernels.state).tables_of(
        kernels.state.live[: kernels.state.totals[TOPICS]]
    )
    assert [one.slot.tolist() for one in listed] == [one.slot.tolist() for one in whole]


def test_trials_that_are_too_large_are_not_made(seed):
    kernels = started(longer(seed), 8, AT, seed, topics=4)
    live = kernels.state.live[: kernels.state.totals[TOPICS]]
    most_words = int(np.sort(kernels.state.n_k[live])[-2])
    found = made_at_once(kernels, KINDS, 60, seed, threads=2, most_words=most_words)
    assert found == made_one_by_one(kernels, KINDS, 60, seed, most_words)
    records = np.frombuffer(found[0]).reshape(-1, 9)
    assert {-1, 1} <= set(records[:, 1])
    assert records[:, 7].max() <= most_words
    before = franchise(kernels.state, kernels.state.k_jt)
    assert made_at_once(kernels, KINDS, 20, seed, most_words=0)[2] == before


class Asked:
    """Counts what is asked for, of tables that are held."""

    def __init__(self, held):
        self.held, self.topics, self.words = held, [], []

    def tables_of_words(self, words):
        self.words += words.tolist()
        return self.held.tables_of_words(words)

    def tables_of(self, topics):
        self.topics += topics.tolist()
        return self.held.tables_of(topics)

    def relabel(self, slots, topic):
        assert np.all(np.diff(slots) > 0)
        self.held.relabel(slots, topic)


@pytest.mark.nojit
def test_nothing_is_asked_for_twice(seed):
    """Tables of topics that have changed are known too."""
    kernels = started(longer(seed), 8, AT, seed, topics=4)
    state = copy_state(kernels.state)
    asked = Asked(HeldTables(kernels.corpus, state))
    found = made_at_once(kernels, KINDS, 60, seed, at_once=7, source=asked)
    assert accepted(found[0]) > 2
    assert len(set(asked.words)) == len(asked.words)
    assert len(asked.topics) <= 4


@pytest.mark.nojit
def test_tables_that_do_not_add_up_are_refused(seed):
    kernels = started(longer(seed), 8, AT, seed, topics=2)
    state = copy_state(kernels.state)
    state.k_jt[:] = 1 - state.k_jt  # those of the one for those of the other
    with pytest.raises(RuntimeError, match="are not those that were counted"):
        made_at_once(kernels, KINDS, 10, seed, source=HeldTables(kernels.corpus, state))
