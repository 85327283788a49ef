"""One chain, measured: numbers per sweep, CPU time, the mode so far, every trial."""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from experiments.runs import Array, Pause
from franchise import Chain, Proposal, SplitMerge
from franchise._draws import Draw
from franchise.engines.collapsed import counts_of
from franchise.model import State, copy_state

METHODS = ("gibbs", "paper", "default")
TITLES = {"gibbs": "Gibbs", "paper": "Gibbs+SM (the paper's)", "default": "default (this library's)"}
TRIALS = ("sweep", "is_split", "accepted", "topic", "other")
# Written out, so that results stay what they are when the library's default changes: since they were made
# it has got trials without scans, for large topics that are alike.
SCANNED = (
    Proposal(anchors="balanced", scans=3, weight=2.0),
    Proposal(anchors="similar", scans=3, weight=1.0),
)
_LOGS = ("log_joint", "log_p_words", "log_p_tables")


def split_merge_of(method: str, until: int | None) -> SplitMerge | None:
    """Return the split-merge of a method: none, the paper's, or this library's, which has no end."""
    if method == "gibbs":
        return None
    if method == "paper":
        return SplitMerge.paper(until=until, keep_trials=True)
    return SplitMerge(proposals=SCANNED, keep_trials=True)


class Mode(NamedTuple):
    """The state of the highest log joint so far: the paper's mode."""

    sweep: int
    log_joint: float
    state: State

    def draw(self, chain: Chain) -> Draw:
        """Return the topics and mixtures of the mode."""
        return Draw(self.sweep, *counts_of(chain.corpus.arrays, self.state))


def follow(chain: Chain, visit: Callable[[Mode], None], pause: Pause) -> dict[str, Array]:
    """Make all sweeps of a chain, which may have started, and return its numbers; logarithms are per word.

    `visit` is called with the mode so far after the start and after each sweep; neither it nor the copy of
    the mode counts in the CPU time, which is the thread's own.
    """
    spent = [0.0 if len(chain.trace) else _timed(chain.start)]
    mode = None
    for sweep in range(chain.schedule.sweeps + 1):
        if sweep:
            spent.append(_timed(chain.sweep))
        log_joint = chain.trace.last["log_joint"]
        if mode is None or log_joint > mode.log_joint:
            mode = Mode(sweep, log_joint, copy_state(chain.state))
        visit(mode)
        pause()
    numbers = {name: chain.trace[name] for name in ("n_topics", "n_tables", "alpha", "gamma")}
    a_word = {name: chain.trace[name] / chain.corpus.n_words for name in _LOGS}
    return numbers | a_word | {"cpu": np.cumsum(spent), "trials": _trials(chain)}


def _timed(step: Callable[[], None]) -> float:
    began = time.thread_time()
    step()
    return time.thread_time() - began


def _trials(chain: Chain) -> Array:
    """Return a row of `TRIALS` for every trial that was made."""
    made = [
        trial._asdict() | {"is_split": trial.kind == "split"}
        for trial in chain.trials
        if trial.kind != "none"
    ]
    rows = [[int(trial[name]) for name in TRIALS] for trial in made]
    return np.array(rows, np.int64).reshape(-1, len(TRIALS))
