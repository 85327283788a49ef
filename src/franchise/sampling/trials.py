"""The settings of split-merge, and the records of its trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._settings import flag, is_one_of, positive_number, whole_number
from franchise.engines.trials import ANCHOR_KINDS, RECORD
from franchise.errors import SettingsError
from franchise.sampling.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """How a split-merge trial chooses its tables and divides a topic.

    Parameters
    ----------
    anchors
        How to choose the two tables that decide whether to split or merge: ``"uniform"`` (the paper),
        ``"balanced"`` (as many splits as merges), or ``"similar"`` (balanced, with topics to merge chosen by
        similarity).
    scans
        Restricted Gibbs scans after the sequential allocation (Jain & Neal); the paper has 0.
    weight
        The frequency of this proposal relative to the others.
    """

    anchors: str = "uniform"
    scans: int = 0
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse invalid settings."""
        if not is_one_of(self.anchors, ANCHOR_KINDS):
            choices = ", ".join(repr(choice) for choice in ANCHOR_KINDS)
            raise SettingsError(f"anchors={self.anchors!r}: give one of {choices}", code="unknown-choice")
        object.__setattr__(self, "scans", whole_number("scans", self.scans, 0))
        object.__setattr__(self, "weight", positive_number("weight", self.weight))


# Splits of large topics succeed thanks to restricted scans, and half of the trials are splits thanks to
# balanced anchors. Large similar topics merge only without scans, because scans lead to a division that
# differs from the current one (measurements: docs/explanation/split-merge.md).
_MIXTURE = (
    Proposal(anchors="balanced", scans=3, weight=2.0),
    Proposal(anchors="similar", scans=3, weight=1.0),
    Proposal(anchors="similar", scans=0, weight=1.0),
)


# In a bad state, trials move one in a hundred of the words that they visit; in a good state, one in a hundred
# thousand.
_WORTH = 1e-4
_BLOCK = 10  # sweeps between two decisions about the number of trials


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitMerge:
    """When to make split-merge trials, how many, and of which kinds.

    Parameters
    ----------
    trials
        Trials per sweep; the largest number if it adapts.
    adapt
        Number of first sweeps during which the number of trials adapts; they must be part of the burn-in.
        After every ten sweeps the number is halved if trials moved few of the words that they visited, and
        doubled otherwise. After that, it is fixed.
    until
        The last sweep with trials (the paper: 50 of 500 on text); None for all.
    proposals
        The kinds of trials. Each trial takes one at random.
    keep_trials
        Keep a record of every trial (`Chain.trials`), not only totals in the trace.

    Examples
    --------
    >>> SplitMerge.paper(until=50).proposals[0].anchors
    'uniform'
    """

    trials: int = 10
    until: int | None = None
    proposals: tuple[Proposal, ...] = _MIXTURE
    keep_trials: bool = False
    adapt: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid settings."""
        object.__setattr__(self, "trials", whole_number("trials", self.trials, 1))
        if self.until is not None:
            object.__setattr__(self, "until", whole_number("until", self.until, 0))
        object.__setattr__(self, "adapt", whole_number("adapt", self.adapt, 0))
        given: object = self.proposals
        if not (isinstance(given, list | tuple) and given and all(isinstance(x, Proposal) for x in given)):
            raise SettingsError(f"proposals={given!r}: give one or more Proposal(...)", code="wrong-type")
        object.__setattr__(self, "proposals", tuple(given))
        object.__setattr__(self, "keep_trials", flag("keep_trials", self.keep_trials))

    @classmethod
    def paper(cls, *, trials: int = 1, until: int | None = None, keep_trials: bool = False) -> "SplitMerge":
        """Return the paper's move: uniform anchors, sequential allocation, one trial per sweep."""
        return cls(trials=trials, until=until, proposals=(Proposal(),), keep_trials=keep_trials)

    @classmethod
    def from_json(cls, facts: Any) -> Any:
        """Return the setting from the facts of `dataclasses.asdict`; return any other value unchanged."""
        if not isinstance(facts, dict):
            return facts
        return cls(**{**facts, "proposals": tuple(Proposal(**one) for one in facts["proposals"])})

    def trials_in(self, sweep: int, trace: Trace | None = None) -> int:
        """Return the number of trials in this sweep (the first is 1), given the trace of earlier sweeps."""
        if self.until is not None and sweep > self.until:
            return 0
        number = self.trials
        for begin in range(1, min(sweep - 1, self.adapt) - _BLOCK + 2, _BLOCK):
            number = min(2 * number, self.trials) if _is_worth_it(trace, begin) else max(1, number // 2)
        return number

    def as_array(self) -> Array:
        """Return the proposals as the kernel takes them (`moves.split_merge`)."""
        weights = np.array([proposal.weight for proposal in self.proposals])
        return np.array(
            [
                (up_to, ANCHOR_KINDS[one.anchors], one.scans)
                for one, up_to in zip(self.proposals, np.cumsum(weights / weights.sum()), strict=True)
            ]
        )


def _is_worth_it(trace: Trace | None, begin: int) -> bool:
    """Return whether the trials in the block of sweeps that starts at `begin` moved enough words."""
    if trace is None or "split_merge.words_moved" not in trace.columns:
        return True
    # A view, because copying whole columns in every sweep of a long chain would be slow.
    block = trace.as_array()[begin : begin + _BLOCK]
    moved, visited = (
        np.nansum(block[:, trace.columns.index(f"split_merge.{name}")])
        for name in ("words_moved", "words_visited")
    )
    return bool(moved >= _WORTH * visited)


class Trial(NamedTuple):
    """One split-merge trial. If it was rejected, `topic` and `other` are the topics of the two anchors."""

    sweep: int
    proposal: int  # which of the proposals
    kind: str  # "split", "merge", or "none" if the state allowed no trial of this proposal
    accepted: bool
    log_acceptance: float
    topic: int  # the name of the topic that was split, or that remains after a merge
    other: int  # the name of the new topic, or of the topic merged into `topic`
    tables: int  # of the topics concerned
    words: int  # of the topics concerned
    words_moved: int


class Event(NamedTuple):
    """A change in the family tree of topics."""

    sweep: int
    kind: str  # "born", "died" (by Gibbs moves), "split" (topic is new, from other), "merged" (into other)
    topic: int
    other: int  # -1 for none


def trials_of(records: Array, sweep: int) -> list[Trial]:
    """Read the rows that the kernel wrote."""
    kinds = {1: "split", 0: "merge", -1: "none"}
    trials = []
    for row in records:
        field = dict(zip(RECORD, row.tolist(), strict=True))
        trials.append(
            Trial(
                sweep=sweep,
                proposal=int(field["proposal"]),
                kind=kinds[int(field["split"])],
                accepted=bool(field["accepted"]),
                log_acceptance=field["log_acceptance"],
                topic=int(field["topic"]),
                other=int(field["other"]),
                tables=int(field["tables"]),
                words=int(field["words"]),
                words_moved=int(field["words_moved"]),
            )
        )
    return trials


def events_of(
    sweep: int,
    before: set[int],
    after: set[int],
    trials: list[Trial],
    copies: Sequence[tuple[int, int]] = (),
) -> list[Event]:
    """Return the events of a sweep, from the names of the topics before and after it.

    `trials` are the accepted trials in order. `copies` are the merges of copies of topics that followed
    (`Schedule.merges`). A topic that Gibbs moves create and remove within the sweep leaves no event.
    """
    events = []
    for trial in trials:
        if trial.kind == "split":
            events.append(Event(sweep, "split", trial.other, trial.topic))
        else:
            events.append(Event(sweep, "merged", trial.other, trial.topic))
    events += [Event(sweep, "merged", *names) for names in copies]
    concerned = {name for trial in trials for name in (trial.topic, trial.other)}
    concerned |= {name for names in copies for name in names}
    split_off = {event.topic for event in events if event.kind == "split"}
    merged = {event.topic for event in events if event.kind == "merged"}
    born = [Event(sweep, "born", name, -1) for name in sorted((after | concerned) - before - split_off)]
    died = [Event(sweep, "died", name, -1) for name in sorted(before - after - merged)]
    return [*born, *died, *events]
