"""The contract between a chain and its engine.

An engine makes the sweeps of one chain and owns the arrays that they change. The chain knows no move by name:
it asks for a sweep, for the numbers of the trace, for counts to keep as a draw, and for the arrays of a
checkpoint. Every random number is named by the key that the chain passes, so an engine makes the
same sweep for the same key, wherever it runs.
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
    """Settings of an engine."""

    priors: Priors
    concentrations: str = "slice"  # the method that samples them: see `sampling.schedule`
    capacity: int = 64  # number of topics to allocate at first
    threads: int = 1  # results do not depend on it


class Trials(NamedTuple):
    """The split-merge trials of a sweep."""

    number: int
    proposals: Array  # as for `moves.split_merge`


class Swept(NamedTuple):
    """What a sweep did."""

    infos: dict[str, Any]  # the Info of every move made
    records: Array | None = None  # one row per split-merge trial (`moves.split_merge`)
    merged: Sequence[tuple[int, int]] = ()  # names of copies, each with the topic that it was merged into


class Counts(NamedTuple):
    """The counts from which topics, weights and mixtures are computed; largest topic first."""

    names: Array  # serial number of each topic's birth in its chain
    topic_terms: sp.csr_array  # n_..k^v
    document_topics: sp.csr_array | PartsOfDraw  # n_j.k
    m_k: Array
    concentrations: Array  # alpha, gamma, eta


class Engine(Protocol):
    """Makes the sweeps of one chain.

    A sweep either completes or has not happened. After an exception in `start` or `sweep` the engine's arrays
    are undefined, and the engine is not used again.
    """

    name: str
    at_once: int | None  # how many chains can sweep at the same time; None: as cores allow

    @property
    def progress(self) -> float:
        """The completed share of the present sweep, for progress bars."""

    @property
    def state(self) -> State:
        """The present state; if it lives elsewhere, it is gathered."""

    @property
    def n_bytes(self) -> int:
        """Approximate memory of the engine, without the corpus."""

    def use_threads(self, number: int) -> None:
        """Use this number of threads for sweeps, if possible; results stay the same."""

    def use_workers(self, workers: Any, chain: int) -> None:
        """Let these workers hold the documents, if possible; `chain` is the chain's number for them."""

    def rest(self) -> None:
        """Free memory that other chains may need, as no sweep follows for a while. Results stay the same."""

    def keep_in(self, folder: Path | None) -> None:
        """Write arrays that live elsewhere and must be kept into this folder, which is the chain's own."""

    def seat(self, state: State) -> None:
        """Continue from a state in which every word is seated."""

    def start(self, key: Key, start: str | int | StartingTopics) -> None:
        """Seat every word for the first time: from topics, in a number of random topics, or one by one."""

    def sweep(self, key: Key, trials: Trials | None, eta: float | None = None, merge: bool = False) -> Swept:
        """Make one sweep; the engine sets `key.move`.

        If `eta` is given, it becomes the state's eta, and is not sampled in this sweep. With `merge`, topics
        that are copies of each other are merged after the sweep (`engines.copies`).
        """

    def numbers(self) -> dict[str, float]:
        """Return the numbers of the current state for the trace."""

    def names(self) -> Array:
        """Return the names of the living topics."""

    def counts(self) -> Counts:
        """Return the counts of the current state, as copies."""

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of a checkpoint, as copies: the engine continues while they are written."""

    def write_seating(self, folder: Path) -> bool:
        """Write what `arrays` omits because it lives elsewhere; return whether there is any."""

    def restore(self, arrays: dict[str, Array], seating: Path | None = None) -> None:
        """Restore the state from the result of `arrays` and the files of `write_seating`.

        ValueError, KeyError or TypeError say what is wrong with them.
        """

    def remembered(self) -> Callable[[Any], None]:
        """Return a function that gives the present state to another engine of this kind."""


def numbers_of(state: State, parts: Joint) -> dict[str, float]:
    """Return the numbers of topics and tables, the log joint and its parts, and the concentrations."""
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
