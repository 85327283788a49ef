"""How one sweep of a chain is made, and where its documents live."""

from typing import Any

from franchise._settings import is_one_of
from franchise.corpus import Corpus, ShardedCorpus
from franchise.engines.cells import CellsEngine
from franchise.engines.cluster import ClusterEngine
from franchise.engines.collapsed import CollapsedEngine
from franchise.engines.cuda.availability import problem
from franchise.engines.cuda.cluster import GpuClusterEngine
from franchise.engines.cuda.engine import CudaEngine
from franchise.engines.engine import Counts, Engine, EngineSettings, Start, Swept, Trials
from franchise.engines.given_topics import SEED_WORDS, TOPICS, GivenTopics
from franchise.engines.parallel import ParallelEngine
from franchise.errors import SettingsError

ENGINES: dict[str, type[Engine]] = {
    one.name: one
    for one in (
        CollapsedEngine,
        ParallelEngine,
        CudaEngine,
        CellsEngine,
        ClusterEngine,
        GpuClusterEngine,
    )
}
# Those whose documents live with the workers of a cluster; of the second, each worker has a GPU.
RAY_GPU = GpuClusterEngine.name
ON_RAY = (ClusterEngine.name, RAY_GPU)

__all__ = [
    "ENGINES",
    "GPU",
    "ON_RAY",
    "RAY_GPU",
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
    "engine_for",
    "engine_named",
]


# Words from which on the other engines reach the same quality sooner, on one core (see the page on engines).
_MANY_WORDS = 1_000_000
# Words from which on a GPU does, where there is one: of fewer, most of a sweep is work of the CPU beside it
# (see the benchmarks).
GPU_WORDS = 10_000_000
GPU = "gpu"  # the name of the engine that needs one


def engine_for(name: str, corpus: Corpus) -> str:
    """Return the name of the engine for a corpus; ``"auto"`` goes by its size, and by whether there is a GPU.

    Not by the number of cores, nor by memory: the same seed gives the same chain on all machines without a
    GPU, and another, the same one, on all machines with a GPU of one kind. Who needs the same chain on
    machines of both sorts names the engine. A model is kept with the name of the engine that was taken.
    """
    if name != "auto":
        engine_named(name)
        return name
    if _is_for_gpu(corpus) and problem() is None:
        return GPU
    if corpus.n_words < _MANY_WORDS:
        return CollapsedEngine.name
    return CellsEngine.name if corpus.keeps_cells else ParallelEngine.name


def _is_for_gpu(corpus: Corpus) -> bool:
    """Return whether a GPU would be the best place: large, and laid out as words in one piece."""
    is_apart = corpus.keeps_cells or isinstance(corpus, ShardedCorpus)
    return corpus.n_words >= GPU_WORDS and not is_apart


def arrays_for(engine: type[Engine], corpus: Corpus) -> Any:
    """Return the corpus as an engine takes it: words, cells, or whole."""
    if engine.takes_corpus:
        return corpus
    return corpus.cells if engine.takes_cells else corpus.arrays


def engine_named(name: str) -> type[Engine]:
    """Return the engine with this name."""
    if not is_one_of(name, ENGINES):
        known = ", ".join(repr(one) for one in ENGINES)
        raise SettingsError(
            f"engine={name!r}: there is no such engine; give 'auto' or one of {known}", code="unknown-choice"
        )
    return ENGINES[name]
