"""The number of trials, which adapts to what they change."""

from collections import Counter

import numpy as np
import pytest

from franchise import Chain, Priors
from franchise.sampling import Timetable, trials
from franchise.sampling.trace import Trace
from franchise.sampling.trials import SplitMerge
from franchise.storage.chain import load_chain, save_chain
from tests.golden.fingerprint import arithmetic_corpus, in_bits

IDLE, WORTH = (0, 1000), (50, 1000)  # words moved and visited, in each of ten sweeps
NO_TRIALS = (np.nan, np.nan)


def made_up(blocks):
    """Return a trace in which trials moved and visited these words; row 0 is the start."""
    rows = [NO_TRIALS] + [block for block in blocks for _ in range(10)]
    return Trace.from_array(np.array(rows, float), ["split_merge.words_moved", "split_merge.words_visited"])


@pytest.mark.parametrize(
    ("settings", "blocks", "numbers"),
    [
        ({"trials": 10, "adapt": 100}, [IDLE] * 5, [10, 5, 2, 1, 1, 1]),
        ({"trials": 10, "adapt": 100}, [WORTH] * 3, [10] * 4),
        ({"trials": 10, "adapt": 100}, [IDLE] * 3 + [WORTH] * 5, [10, 5, 2, 1, 2, 4, 8, 10, 10]),
        ({"trials": 10, "adapt": 100}, [IDLE, WORTH, IDLE, WORTH], [10, 5, 10, 5, 10]),
        ({"trials": 1, "adapt": 100}, [IDLE, WORTH, IDLE], [1] * 4),
        # It adapts after whole blocks within the first sweeps, and never again.
        ({"trials": 10, "adapt": 30}, [IDLE] * 6, [10, 5, 2, 1, 1, 1, 1]),
        ({"trials": 10, "adapt": 29}, [IDLE] * 6, [10, 5, 2, 2, 2, 2, 2]),
        ({"trials": 10, "adapt": 20}, [IDLE] * 2 + [WORTH] * 4, [10, 5, 2, 2, 2, 2, 2]),
        ({"trials": 10, "adapt": 9}, [IDLE] * 2, [10] * 3),
        ({"trials": 10}, [IDLE] * 2, [10] * 3),
        # A word in ten thousand is enough; a little less is not.
        ({"trials": 10, "adapt": 100}, [(1, 10_000)], [10, 10]),
        ({"trials": 10, "adapt": 100}, [(1, 10_001)], [10, 5]),
        # None of no words is not too few.
        ({"trials": 10, "adapt": 100}, [IDLE, (0, 0), (0, 0)], [10, 5, 10, 10]),
        ({"trials": 10, "adapt": 100, "until": 20}, [IDLE, IDLE, NO_TRIALS], [10, 5, 0, 0]),
    ],
)
def test_the_number_of_trials_follows_what_they_move(settings, blocks, numbers):
    split_merge, trace = SplitMerge(**settings), made_up(blocks)
    found = [split_merge.trials_in(sweep, trace) for sweep in range(1, len(trace) + 1)]
    assert found == [n for n in numbers[:-1] for _ in range(10)] + numbers[-1:]


def test_a_block_counts_as_a_whole():
    rows = [NO_TRIALS, *[IDLE] * 9, (5, 1000)]
    names = ["split_merge.words_moved", "split_merge.words_visited"]
    trace = Trace.from_array(np.array(rows, float), names)
    assert SplitMerge(adapt=10).trials_in(11, trace) == 10


def test_only_what_came_before_a_sweep_counts():
    """A chain resumed from a checkpoint has less of the trace, or as much as one that never stopped."""
    split_merge = SplitMerge(adapt=50)
    trace = made_up([IDLE, WORTH, IDLE, IDLE, WORTH, IDLE])
    for sweep in range(1, 61):
        before = Trace.from_array(trace.as_array()[:sweep], trace.columns)
        assert split_merge.trials_in(sweep, before) == split_merge.trials_in(sweep, trace)


# ---------------------------------------------------------------- in a chain

ADAPT = 40


def adapting(monkeypatch, start="fitted"):
    """Return a chain for which trials are worth it or not, in turn."""
    monkeypatch.setattr(trials, "_WORTH", 0.04)
    split_merge = SplitMerge(trials=6, adapt=ADAPT, keep_trials=True)
    schedule = Timetable(sweeps=60, burn_in=ADAPT, thin=4, split_merge=split_merge, warm_up=15)
    return Chain(arithmetic_corpus(), Priors(eta=0.3), schedule, random_state=4, init=start)


def test_a_chain_makes_as_many_trials_as_the_rule_says(monkeypatch):
    chain = adapting(monkeypatch, start="one")
    chain.run()
    moved, visited = (chain.trace[f"split_merge.words_{name}"] for name in ("moved", "visited"))
    expected, number = [], 6
    for first in range(1, 61, 10):
        expected += [number] * 10
        rows = slice(first, first + 10)
        if first + 9 <= ADAPT:
            worth = moved[rows].sum() >= 0.04 * visited[rows].sum()
            number = min(6, 2 * number) if worth else max(1, number // 2)
    made = Counter(trial.sweep for trial in chain.trials)
    assert [made[sweep] for sweep in range(1, 61)] == expected
    assert len(set(expected)) > 1
    assert len(set(expected[ADAPT:])) == 1


@pytest.mark.parametrize("sweeps", [0, 3, 9, 10, 11, 25, 39, 40, 41, 55])
def test_resumed_in_the_middle_of_a_block(monkeypatch, tmp_path, sweeps):
    whole, first = adapting(monkeypatch), adapting(monkeypatch)
    whole.run()
    first.run(sweeps)
    save_chain(first, tmp_path)
    chain = load_chain(tmp_path, arithmetic_corpus())
    assert chain.schedule == whole.schedule
    chain.run()
    assert in_bits(chain) == in_bits(whole)
    assert chain.trials == whole.trials
