"""What a chain asks of an engine.

An engine makes the sweeps of one chain and owns the arrays that they change. The chain knows no move by name:
it asks for a sweep, for the numbers of the trace, for counts to keep as a draw, and for the arrays that a
checkpoint stores. Every random number is named by the key that the chain hands over, so an engine of the
same name that is given the same key makes the same sweep, wherever it runs.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import PartsOfDraw
from franchise.engines.starts.given_topics import GivenTopics
from franchise.engines.starts.starting_topics import StartingTopics
from franchise.model import Joint, Priors, State
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS
from franchise.random import Key

Start = str | int | GivenTopics


class EngineSettings(NamedTuple):
    """What a sweep is made with."""

    priors: Priors
    concentrations: str = "slice"  # how they are drawn: see `sampling.schedule`
    capacity: int = 64  # room for topics to begin with
    threads: int = 1  # results do not depend on it


class Trials(NamedTuple):
    """Split-merge trials of a sweep."""

    number: int
    proposals: Array  # as `moves.split_merge` takes them


class Swept(NamedTuple):
    """What a sweep did."""

    infos: dict[str, Any]  # of every move that was made, its Info
    records: Array | None = None  # one row per split-merge trial (`moves.split_merge`)
    merged: Sequence[tuple[int, int]] = ()  # names of copies, each with the topic that it was merged into


class Counts(NamedTuple):
    """All that topics, weights and mixtures are computed from; largest topic first."""

    names: Array  # serial number of each topic's birth in its chain
    topic_terms: sp.csr_array  # n_..k^v
    document_topics: sp.csr_array | PartsOfDraw  # n_j.k
    m_k: Array
    concentrations: Array  # alpha, gamma, eta


class Engine(Protocol):
    """Makes the sweeps of one chain.

    A sweep is whole or has not happened: after an exception in `start` or `sweep` nothing that the engine
    holds can be trusted, and it is not used again.
    """

    name: str
    at_once: int | None  # the most chains that make sweeps at a time; None: as cores allow

    @property
    def progress(self) -> float:
        """The share of the sweep under way that is done, for people who wait."""

    @property
    def state(self) -> State:
        """The present franchise, gathered where it lives elsewhere."""

    @property
    def n_bytes(self) -> int:
        """Memory that it holds, about; the corpus not counted."""

    def use_threads(self, number: int) -> None:
        """Use this number of threads for sweeps, if it can; results stay the same."""

    def use_workers(self, workers: Any, chain: int) -> None:
        """Let these workers hold the documents, if it can; they know the chain by this number."""

    def rest(self) -> None:
        """Free memory that other chains may need: no sweep follows for a while. Results stay the same."""

    def keep_in(self, folder: Path | None) -> None:
        """Write what lives elsewhere, and is to be kept, somewhere in this folder of the chain's own."""

    def seat(self, state: State) -> None:
        """Continue from a state in which every word is seated."""

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word for the first time: by topics, by a number of random ones, or in turn."""

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep; `key.move` is the engine's to set.

        Given an `eta`, the state takes it up for this sweep and those after, and it is not sampled in this
        one. With `merge`, topics that are copies of each other are merged after it (`engines.copies`).
        """

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the current state that a trace has."""

    def names(self) -> Array:
        """Return the names of the living topics."""

    def counts(self) -> Counts:
        """Return the counts of the current state, in arrays of their own."""

    def arrays(self) -> dict[str, Array]:
        """Return what a checkpoint stores, in arrays of their own: it is written while the engine goes on."""

    def write_seating(self, folder: Path) -> bool:
        """Write what `arrays` leaves out because it lives elsewhere; return whether there is any."""

    def restore(self, arrays: dict[str, Array], seating: Path | None = None) -> None:
        """Restore the state from what `arrays` returned and `write_seating` wrote.

        ValueError, KeyError or TypeError say what is unsound in it.
        """

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives another engine of this kind the present state of this one."""


def numbers_of(state: State, parts: Joint) -> dict[str, float]:
    """Return numbers of topics and tables, the log joint and its parts, and the concentrations."""
    return {
        "n_topics": int(state.totals[TOPICS]),
        "n_tables": int(state.totals[TABLES]),
        **parts._asdict(),
        "log_joint": parts.log_joint,
        "alpha": float(state.concentrations[ALPHA]),
        "gamma": float(state.concentrations[GAMMA]),
        "eta": float(state.concentrations[ETA]),
    }


def names_of(state: State) -> Array:
    """Return the names of the living topics."""
    return state.name_k[state.live[: state.totals[TOPICS]]]
