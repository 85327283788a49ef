"""How one sweep of a chain is made, and where its documents live."""

from typing import Any

from franchise.corpus import Corpus
from franchise.engines.cells import CellsEngine
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import Counts, Engine, EngineSettings, Start, Swept, Trials
from franchise.engines.given_topics import SEED_WORDS, TOPICS, GivenTopics
from franchise.engines.parallel import ParallelEngine
from franchise.errors import SettingsError

ENGINES: dict[str, type[Engine]] = {one.name: one for one in (CollapsedEngine, ParallelEngine, CellsEngine)}

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
    "engine_named",
]


def arrays_for(engine: type[Engine], corpus: Corpus) -> Any:
    """Return the corpus as an engine takes it: words, or cells."""
    return corpus.cells if engine.takes_cells else corpus.arrays


def engine_named(name: str) -> type[Engine]:
    """Return the engine with this name."""
    if name not in ENGINES:
        known = ", ".join(repr(one) for one in ENGINES)
        raise SettingsError(f"engine={name!r}: there is no such engine; give one of {known}")
    return ENGINES[name]
