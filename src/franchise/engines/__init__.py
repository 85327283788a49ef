"""How one sweep of a chain is made, and where its documents live."""

from typing import Any

from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.engines.cells import CellsEngine
from franchise.engines.cluster import ClusterEngine
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import Counts, Engine, EngineSettings, Start, Swept, Trials
from franchise.engines.given_topics import SEED_WORDS, TOPICS, GivenTopics
from franchise.engines.parallel import ParallelEngine
from franchise.errors import SettingsError

ENGINES: dict[str, type[Engine]] = {
    one.name: one for one in (CollapsedEngine, ParallelEngine, CellsEngine, ClusterEngine)
}

__all__ = [
    "ENGINES",
    "SEED_WORDS",
    "TOPICS",
    "Counts",
    "Engine",
    "EngineSettings",
    "GivenTopics",
    "Start",
    "Swept",
    "Trials",
    "arrays_for",
    "check_engine",
    "engine_for",
    "engine_named",
]


# Words from which on the other engines reach the same quality sooner, on one core (docs/engines.md).
_MANY_WORDS = 1_000_000


def engine_for(name: str, corpus: Corpus) -> str:
    """Return the name of the engine for a corpus; ``"auto"`` goes by its size, and by nothing else.

    Not by the number of cores, for one: the same seed gives the same chain on every machine.
    """
    if name != "auto":
        engine_named(name)
        return name
    if corpus.n_words < _MANY_WORDS:
        return CollapsedEngine.name
    return CellsEngine.name if corpus.keeps_cells else ParallelEngine.name


def arrays_for(engine: type[Engine], corpus: Corpus) -> Any:
    """Return the corpus as an engine takes it: words, cells, or whole."""
    if engine.takes_corpus:
        return corpus
    return corpus.cells if engine.takes_cells else corpus.arrays


def check_engine(name: str) -> None:
    """Refuse what is neither ``"auto"`` nor the name of an engine."""
    if name != "auto":
        engine_named(name)


def engine_named(name: str) -> type[Engine]:
    """Return the engine with this name."""
    if not is_one_of(name, ENGINES):
        known = ", ".join(repr(one) for one in ENGINES)
        raise SettingsError(f"engine={name!r}: there is no such engine; give 'auto' or one of {known}")
    return ENGINES[name]
