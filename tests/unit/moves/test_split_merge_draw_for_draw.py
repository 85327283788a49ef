"""Kernel and slow twin make the same split-merge trials from the same streams.

The same anchors, decisions and states, labels and orders included; and the same acceptance ratios to 1e-9.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from franchise.engines.trials import TrialMaker
from franchise.model import broken_invariants
from franchise.model.state import BORN, TOPICS
from franchise.moves.split_merge import RECORD
from franchise.random import SPLIT_MERGE, TABLE_TOPICS, WORD_TABLES
from franchise.sampling.trials import Proposal
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations, Seating
from tests.reference.franchise import Franchise
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora
from tests.reference.trials import Record, split_merge

pytestmark = pytest.mark.nojit

TOLERANCE = 1e-9  # of log acceptance ratios
AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)
KINDS = st.builds(
    Proposal,
    anchors=st.sampled_from(["uniform", "balanced", "similar"]),
    scans=st.integers(0, 2),
    weight=st.floats(0.1, 10.0),
)


def named(records, names, n_born):
    """Return the twin's records with the names of the topics in place of their numbers."""
    rows = []
    for record in records:
        if record.accepted and record.split:
            names[record.other] = n_born
            n_born += 1
        if record.split < 0:
            rows.append(record._replace(topic=0, other=0))
        else:
            rows.append(record._replace(topic=names[record.topic], other=names[record.other]))
    return np.array(rows, float)


def make_both(kernels, twin, kinds, trials, seed, sweep, most_words=10**9):
    """Make trials with both, compare, and return the kernel's records."""
    state = kernels.state
    names = {int(k): int(state.name_k[k]) for k in state.live[: state.totals[TOPICS]]}
    n_born = int(state.totals[BORN])
    kernels.trials.most_words = most_words
    records, info = kernels.split_merge(kinds, trials, seed, sweep)
    made = split_merge(twin, Drawn((seed, 0, sweep, SPLIT_MERGE)), kinds, trials, most_words)
    np.testing.assert_allclose(records, named(made, names, n_born), rtol=0, atol=TOLERANCE)
    assert kernels.plain() == twin.plain()
    assert broken_invariants(kernels.corpus, kernels.state) == []
    tried, split, accepted = (records[:, 1] >= 0), records[:, 1] == 1, records[:, 2] == 1
    assert (info.splits_tried, info.splits) == (np.sum(split), np.sum(split & accepted))
    assert (info.merges_tried, info.merges) == (np.sum(tried & ~split), np.sum(tried & ~split & accepted))
    assert (info.words_moved, info.words_visited) == (records[:, 8].sum(), records[:, 7].sum())
    return records


def moved(documents, n_terms, at, seed, start, sweeps, capacity=64):
    """Return the kernels' state after some sweeps of Gibbs moves, and the twin in the same state."""
    kernels = Kernels(documents, n_terms, at, capacity)
    if start == "sequential":
        kernels.start_sequential(seed)
    else:
        kernels.start_random(seed, start)
    for sweep in range(1, sweeps + 1):
        for move in (WORD_TABLES, TABLE_TOPICS):
            kernels.make(move, seed, sweep)
    return kernels, Franchise.like(documents, n_terms, at, kernels.plain())


def test_the_columns_are_the_twins():
    assert Record._fields == RECORD


@given(
    corpora(max_documents=6),
    CONCENTRATIONS,
    SEEDS,
    st.sampled_from(["sequential", 1, 3]),
    st.integers(0, 2),
    st.lists(KINDS, min_size=1, max_size=3),
    st.sampled_from([1, 64]),
)
@example(([[0]], 1), AT, 0, "sequential", 1, [Proposal()], 1)
@example(([[0, 0, 0, 0]], 1), AT._replace(alpha=9.0), 0, 1, 2, [Proposal(anchors="similar")], 1)
def test_trials_agree(corpus, at, seed, start, sweeps, kinds, capacity):
    kernels, twin = moved(*corpus, at, seed, start, sweeps, capacity)
    for sweep in (1, 2):
        make_both(kernels, twin, kinds, 5, seed, sweep)


def longer(seed, n_documents=12, n_terms=8):
    """Return documents with one or two topics out of three, and random words among them."""
    rng = np.random.default_rng(seed)
    documents = []
    for _ in range(n_documents):
        topics = rng.integers(0, 3, size=2)
        n = int(rng.integers(1, 14))
        documents.append([int((2 * topics[i % 2] + rng.integers(0, 4)) % n_terms) for i in range(n)])
    return documents


@pytest.mark.parametrize("anchors", ["uniform", "balanced", "similar"])
@pytest.mark.parametrize("scans", [0, 1, 2])
def test_trials_agree_on_longer_documents(seed, anchors, scans):
    """Room for one topic to begin with: growth comes in the middle of the trials."""
    kind = Proposal(anchors=anchors, scans=scans)
    kernels, twin = moved(longer(seed), 8, AT, seed, 1, 1, capacity=1)
    done = np.concatenate([make_both(kernels, twin, [kind], 40, seed, sweep) for sweep in (1, 2)])
    assert {(1, 1), (1, 0), (0, 0)} <= {(int(row[1]), int(row[2])) for row in done}


LARGE = [[0, 1] * 40, [1, 0, 0] * 20, [2] * 30, [0, 2] * 5, [3, 1], [1, 2, 2, 3] * 15]
FEW_TABLES = Concentrations(alpha=0.3, gamma=2.0, eta=0.5)


def test_trials_agree_on_large_tables(seed):
    """Tables of dozens of words, whose odds leave the range of doubles."""
    kinds = [Proposal(anchors="balanced", scans=1), Proposal(anchors="similar"), Proposal()]
    kernels, twin = moved(LARGE, 4, FEW_TABLES, seed, 2, 1, capacity=1)
    for sweep in range(1, 6):
        make_both(kernels, twin, kinds, 20, seed, sweep)
    assert kernels.state.n_jt.max() > 24


def test_trials_agree_on_very_unlikely_divisions(seed):
    """Each topic has tables that belong to the other."""
    documents = [[0] * 30, [1] * 30, [0] * 40, [1] * 40]
    seating = Seating(tuple((0,) * len(words) for words in documents), (0, 0, 1, 1))
    seen = set()
    for sweep in range(20):
        kernels = Kernels.seated(documents, 2, AT, seating)
        twin = Franchise.like(documents, 2, AT, kernels.plain())
        (record,) = make_both(kernels, twin, [Proposal()], 1, seed, sweep)
        seen.add(record[1])
    assert seen == {0, 1}


def test_trials_are_the_same_without_a_table_of_log_gamma(seed):
    """Sides beyond the end of the table are computed, to the same bits."""
    tabulated, computed = (moved(LARGE, 4, FEW_TABLES, seed, 2, 1)[0] for _ in range(2))
    tables = computed.scratch.tables
    computed.trials = TrialMaker(4, tables.lg, tables.lgv[:1].copy())
    records = [
        kernels.split_merge([Proposal(anchors="balanced")], 40, seed)[0] for kernels in (tabulated, computed)
    ]
    assert np.array_equal(*records)
    assert records[0][:, 2].sum() > 0


def test_room_for_topics_changes_no_trial(seed):
    """With room for one topic, the trials are interrupted and continued several times."""
    kinds = [Proposal(anchors="balanced"), Proposal(anchors="similar", scans=1)]
    at = AT._replace(gamma=50.0, eta=0.1)
    runs = []
    for capacity in (1, 1000):
        kernels, _ = moved(longer(seed), 8, at, seed, 1, 0, capacity)
        records, info = kernels.split_merge(kinds, 100, seed)
        runs.append((kernels.plain(), info, records.tobytes()))
        largest = kernels.state.totals[TOPICS]
    assert runs[0] == runs[1]
    assert largest > 4


@pytest.mark.parametrize("anchors", ["uniform", "balanced", "similar"])
def test_trials_agree_where_some_are_too_large(seed, anchors):
    kernels, twin = moved(longer(seed), 8, AT, seed, 3, 1)
    most_words = int(np.sort(kernels.state.n_k[kernels.state.live[: kernels.state.totals[TOPICS]]])[-2])
    records = make_both(kernels, twin, [Proposal(anchors=anchors)], 60, seed, 1, most_words)
    assert {-1, 1} <= set(records[:, 1])
    assert records[:, 7].max() <= most_words


@pytest.mark.parametrize("corpus", [([[0]], 1), ([[0], []], 2), ([[0, 0]], 1)])
@pytest.mark.parametrize("anchors", ["uniform", "balanced", "similar"])
def test_a_single_table_allows_no_trial(corpus, anchors, seed):
    kernels = Kernels(*corpus, AT._replace(alpha=1e-9), capacity=1)
    kernels.start_random(seed, 1)
    before = kernels.plain()
    records, info = kernels.split_merge([Proposal(anchors=anchors)], 10, seed)
    assert set(records[:, 1]) == {-1}
    assert tuple(info) == (True, 0, 0, 0, 0, 0, 0)
    assert kernels.plain() == before
