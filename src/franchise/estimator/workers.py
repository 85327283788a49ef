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
def workers_for(settings: Facts, corpus: Corpus, chains: Sequence[Chain]) -> Iterator[dict[str, Any]]:
    """Give what `run_chains` takes for these settings: the workers of a cluster, if the engine needs them."""
    if settings["engine"] not in ON_RAY:
        yield {}
        return
    from franchise.engines.pools.ray import RayWorkers

    where, gpus = (settings["ray_address"], settings["ray_workers"]), settings["engine"] == RAY_GPU
    with RayWorkers(corpus, *where, len(chains), gpus=gpus) as workers:
        try:
            yield {"workers": workers}
        finally:
            for chain in chains:
                with suppress(ClusterError):  # then it is made again by the next workers
                    chain.use_workers(None)  # which takes along what has not been saved
