"""How one sweep of a chain is made, and where its documents live."""

from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.engine import Counts, Engine, EngineSettings, Start, Swept, Trials
from franchise.engines.given_topics import SEED_WORDS, TOPICS, GivenTopics
from franchise.engines.parallel import ParallelEngine
from franchise.errors import SettingsError

ENGINES: dict[str, type[Engine]] = {one.name: one for one in (CollapsedEngine, ParallelEngine)}

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
    "engine_named",
]


def engine_named(name: str) -> type[Engine]:
    """Return the engine with this name."""
    if name not in ENGINES:
        known = ", ".join(repr(one) for one in ENGINES)
        raise SettingsError(f"engine={name!r}: there is no such engine; give one of {known}")
    return ENGINES[name]
