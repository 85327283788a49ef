"""The workers of a cluster, for as long as the chains of a model run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from franchise._files import Facts
from franchise.corpus import Corpus
from franchise.engines import ON_RAY, RAY_GPU
from franchise.errors import ClusterError
from franchise.sampling.chain import Chain


@contextmanager
def crew_for(settings: Facts, corpus: Corpus, chains: Sequence[Chain]) -> Iterator[dict[str, Any]]:
    """Give what `run_chains` takes for these settings: the workers of a cluster, if the engine needs them."""
    if settings["engine"] not in ON_RAY:
        yield {}
        return
    from franchise.engines.ray_crew import RayCrew

    where, gpus = (settings["ray_address"], settings["ray_workers"]), settings["engine"] == RAY_GPU
    with RayCrew(corpus, *where, len(chains), gpus=gpus) as crew:
        try:
            yield {"crew": crew}
        finally:
            for chain in chains:
                with suppress(ClusterError):  # then it is made again by the next crew
                    chain.use_crew(None)  # which takes along what has not been saved
