"""What the benchmark asks of a peer, and how its CPU seconds are counted.

A peer is a package or a program that finds topics. It is given training documents and moments, in CPU seconds
of its own work, and yields a `Checkpoint` at each of them. Nothing of this library is imported here: a peer
runs in a process of its own, whose memory and import time are to be those of the peer.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

Array = np.ndarray[Any, Any]


class Training(NamedTuple):
    """Documents to fit to."""

    words: Array  # term of every word, documents laid end to end
    doc_ptr: Array  # where each document begins, and the end of the last
    n_terms: int

    def documents(self) -> list[Array]:
        """Return the words of each document that has any."""
        return [one for one in np.split(self.words, self.doc_ptr[1:-1]) if one.size]

    def bags(self) -> list[list[tuple[int, int]]]:
        """Return terms and counts of each document."""
        counted = [np.unique(one, return_counts=True) for one in self.documents()]
        return [list(zip(terms.tolist(), counts.tolist(), strict=True)) for terms, counts in counted]


class Settings(NamedTuple):
    """What all peers are asked to do alike."""

    eta: float
    seed: int
    moments: tuple[float, ...]  # CPU seconds of the peer's own work, increasing; the last one is the budget


class Checkpoint(NamedTuple):
    """Where a peer is after some of its own work."""

    seconds: float  # CPU time of the peer's own work so far; that of taking the checkpoint is not in it
    passes: float  # how often the peer has gone through the training words
    topics: Array  # topics by terms, rows sum to 1
    prior: Array  # pseudo-counts of the topics in a new document
    prior_new: float  # that of a topic not seen yet, with all terms alike
    words: Array  # of the training words, how many each topic has, or is expected to have


@runtime_checkable
class Peer(Protocol):
    """A package or program that finds topics."""

    name: str
    compiles: bool  # whether the first fit after an installation takes longer than the next ones

    def available(self) -> str | None:
        """Return why the peer cannot be run here, None if it can."""

    def version(self) -> str:
        """Return what was measured."""

    def load(self) -> None:
        """Import what the peer needs."""

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Fit topics, and say at each moment which they are."""


def counted(topics: Array, eta: float) -> Array:
    """Return topics from the words of each term in each topic."""
    return (topics + eta) / (topics.sum(axis=1, keepdims=True) + topics.shape[1] * eta)


def paced(
    step: Callable[[int], None], moments: tuple[float, ...], least: float = 0.02
) -> Iterator[tuple[float, int, bool]]:
    """Make passes until each of the moments; yield CPU seconds and passes so far, and whether it is the last.

    `step(n)` makes n passes; n grows until a call takes `least` seconds, to keep overhead small. A step
    that would end further behind a moment than before it is left for the next one; there is at least one. A
    moment before the last one that brought no further pass is passed over.
    """
    spent, done, at_once, last, yielded = 0.0, 0, 1, 0.0, 0
    for moment in moments:
        while not done or spent + last / 2 < moment:
            began = time.process_time()
            step(at_once)
            last = time.process_time() - began
            spent, done = spent + last, done + at_once
            if last < least:
                at_once *= 2
            elif at_once > 1 and spent + last > moment:
                at_once = max(1, at_once // 2)
        is_last = moment == moments[-1]
        if done > yielded or is_last:
            yielded = done
            yield spent, done, is_last
