"""Workers that are Ray actors: each is a process with a range of the documents, on some machine."""

import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from franchise._text import counted
from franchise.corpus import Corpus
from franchise.engines.partitions.cuda.availability import cupy_module, gpu_facts
from franchise.engines.pools.ray import (
    check_memory,
    check_nodes,
    connected,
    in_words,
    lost,
    places,
    ray_module,
    same_gpus,
    same_versions,
    versions,
)
from franchise.engines.pools.worker import Worker, WorkersLostError
from franchise.engines.pools.workers import Workers
from franchise.errors import ClusterError, GpuError

_SECONDS_FOR_A_PLACE = 300.0  # to wait until a machine returns or is added
_SECONDS_TO_ANSWER = 30.0
# Bytes: documents, once; per chain the seating, rows and counts of words.
_BYTES_A_WORD, _BYTES_A_WORD_AND_CHAIN = 4, 28


class RayWorker(Worker):
    """A worker that is a Ray actor."""

    def node(self) -> str:
        """Return the machine that it runs on."""
        return str(ray_module().get_runtime_context().get_node_id())

    def versions(self) -> tuple[str, dict[str, str]]:
        """Return the name of the machine, and its versions."""
        return platform.node(), versions()

    def gpu(self) -> tuple[str, str]:
        """Return the name of the machine, and its GPU, with everything that results may depend on."""
        try:
            facts = gpu_facts()
        except GpuError as error:
            raise ClusterError(
                f"the machine {platform.node()} has no usable GPU: {error}", code=error.code
            ) from None
        capability = ".".join(map(str, facts.capability))
        return platform.node(), f"{facts.name} ({capability}) with CuPy {cupy_module().__version__}"

    def all(self, chain: int, method: str, *arguments: Any) -> list[Any]:
        """Call a method of all partitions of a chain; GPU errors name the machine."""
        with _naming_the_machine():
            return super().all(chain, method, *arguments)

    def each(self, chain: int, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every partition of a chain with its own arguments; GPU errors name the machine."""
        with _naming_the_machine():
            return super().each(chain, method, arguments)


@contextmanager
def _naming_the_machine() -> Iterator[None]:
    try:
        yield
    except GpuError as error:
        raise GpuError(f"the machine {platform.node()}: {error}", code=error.code) from error
    except MemoryError as error:
        if not type(error).__module__.startswith("cupy"):
            raise
        raise GpuError(
            f"the machine {platform.node()}: the memory of the GPU is not enough ({error}); use more "
            "workers, if there are more GPUs, or fewer chains",
            code="gpu-memory",
        ) from None


class RayWorkers(Workers):
    """Workers on a Ray cluster, for as long as it is open (a context manager).

    Parameters
    ----------
    corpus
        The documents; workers read the shards of a corpus on disk themselves.
    address
        The cluster (`franchise.engines.pools.ray.connected`).
    workers
        Number of workers; by default one on each machine.
    chains
        Number of chains whose seating they will hold.
    threads
        Threads of each worker; by default as many as possible.
    gpus
        Whether each worker has a GPU with its documents on it; then there is one worker per GPU by default.
    """

    def __init__(
        self,
        corpus: Corpus,
        address: str | None = None,
        workers: int | None = None,
        chains: int = 1,
        threads: int | None = None,
        gpus: bool = False,
    ) -> None:
        self._corpus, self._address, self._asked_for, self._chains = corpus, address, workers, chains
        self._threads, self._gpus = threads, gpus
        self._gpu: tuple[str, str] | None = None  # of the first worker; all others must have the same
        self._actors: list[Any] = []
        self.machines = 0  # number of machines with workers
        self._looks: dict[int, tuple[list[Any], float]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            opening.enter_context(connected(self._address))
            self._ray = ray_module()
            check_nodes()
            self._places = places(self._asked_for, self._gpus)
            if self._threads is not None:
                self._places = self._places._replace(threads=self._threads)
            super().__init__(self._corpus, self._places.workers)
            words = max(job.n_words for job in self.jobs)
            check_memory(words * (_BYTES_A_WORD + self._chains * _BYTES_A_WORD_AND_CHAIN), self._places)
            opening.callback(self._dismiss)
            # Two calls at a time: progress is asked for while a worker is busy.
            self._actor = self._ray.remote(concurrency_groups={"look": 1})(RayWorker)
            self._actors = [None] * self.size
            self.repair(self.generation)
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @property
    def threads(self) -> int:
        """Number of threads of each worker."""
        return self._places.threads

    def call(self, generation: int, what: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of the first workers, one for each tuple of arguments."""
        actors = self._actors_of(generation)
        asked = [getattr(actor, what).remote(*own) for actor, own in zip(actors, arguments, strict=False)]
        answers = self._result(asked)
        with self.lock:
            self.sent += _n_bytes(arguments)
            self.received += _n_bytes(answers)
        return answers

    def _actors_of(self, generation: int) -> list[Any]:
        with self.lock:
            if generation != self.generation:
                raise WorkersLostError
            return list(self._actors)

    def share(self, value: Any) -> Any:
        """Return a reference to a value in Ray's store, from which each machine gets it once."""
        with self.lock:
            self.sent += _n_bytes(value) * self.machines
        return self._ray.put(value)

    def progress(self, chain: int) -> float:
        """Return the completed share of the present pass, as of a moment ago."""
        asked, known = self._looks.get(chain, ([], 0.0))
        ready, waiting = self._ray.wait(asked, num_returns=len(asked), timeout=0) if asked else ([], [])
        if waiting:
            return known
        try:
            found = self._ray.get(ready)
            words = [job.n_words for job in self.jobs]
            known = float(np.average(found, weights=words)) if found else 0.0
            again = [actor.progress.options(concurrency_group="look").remote(chain) for actor in self._actors]
        except Exception:  # the call that makes the sweep handles it
            again = []
        self._looks[chain] = again, known
        return known

    # ------------------------------------------------------------ actors

    def replace_lost(self) -> list[Any]:
        """Start new workers, with documents, in place of lost ones."""
        alive = self._alive()
        options = {**self._places.options(), "max_restarts": 0, "max_task_retries": 0}
        actors, new = list(self._actors), [i for i in range(self.size) if i not in alive]
        try:
            for i in new:
                if actors[i] is not None:
                    self._ray.kill(actors[i])
                actors[i] = self._actor.options(**options).remote(
                    self._places.threads, "cuda" if self._gpus else "host"
                )
            self._wait_for_places([actors[i] for i in new])
            self._check_versions([actors[i] for i in new])
            self._result([actors[i].load.remote(self.jobs[i], self.size == 1) for i in new])
            asked = [actor.node.options(concurrency_group="look").remote() for actor in actors]
            self.machines = len(set(self._result(asked)))
            return actors
        except BaseException:
            for i in new:
                self._ray.kill(actors[i])
            raise

    def use(self, workers: list[Any]) -> None:
        """Use these workers from now on."""
        self._actors = workers
        self._looks.clear()

    def _alive(self) -> set[int]:
        """Return the places of workers that answer."""
        asked = {
            actor.progress.options(concurrency_group="look").remote(-1): i
            for i, actor in enumerate(self._actors)
            if actor is not None
        }
        if not asked:
            return set()
        ready, _ = self._ray.wait(list(asked), num_returns=len(asked), timeout=_SECONDS_TO_ANSWER)
        return {asked[one] for one in ready if self._has_come(one)}

    def _has_come(self, answer: Any) -> bool:
        try:
            self._ray.get(answer)
        except Exception:
            return False
        return True

    def _check_versions(self, actors: list[Any]) -> None:
        """Refuse new machines whose versions or GPUs differ."""
        same_versions(dict(self._result([actor.versions.remote() for actor in actors])))
        if self._gpus and actors:
            found = self._result([actor.gpu.remote() for actor in actors])
            self._gpu = self._gpu or found[0]
            same_gpus([self._gpu, *found])

    def _result(self, asked: list[Any]) -> list[Any]:
        try:
            return list(self._ray.get(asked))
        except Exception as error:
            if lost(error) or isinstance(getattr(error, "cause", None), WorkersLostError):
                raise WorkersLostError from error
            raise in_words(error) from error

    def _wait_for_places(self, actors: list[Any]) -> None:
        """Wait until Ray has placed the new workers."""
        waiting = [actor.progress.remote(-1) for actor in actors]
        end = time.monotonic() + _SECONDS_FOR_A_PLACE
        while waiting and time.monotonic() < end:
            _, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=1.0)
        if waiting:
            raise ClusterError(
                f"no place for {counted(len(waiting), 'worker')} of {self._places.text} within "
                f"{_SECONDS_FOR_A_PLACE:.0f} seconds: the cluster is too small now, or busy (`ray status`). "
                "Use fewer workers or add machines; what was saved is complete, and `resume` continues it",
                code="no-place-for-workers",
            )

    def _dismiss(self) -> None:
        for actor in self._actors:
            if actor is not None:
                self._ray.kill(actor)
        self._actors = []


def _n_bytes(value: Any) -> int:
    """Return the bytes of all arrays in it."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, dict):
        return sum(_n_bytes(one) for one in value.values())
    if isinstance(value, list | tuple):
        return sum(_n_bytes(one) for one in value)
    if hasattr(value, "indptr"):
        return sum(_n_bytes(getattr(value, part)) for part in ("data", "indices", "indptr"))
    return 0
