"""The workers of a cluster, for as long as the chains of a model run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from franchise.corpus import Corpus
from franchise.engines import ON_RAY, RAY_GPU
from franchise.engines.pools.ray import Ray
from franchise.errors import ClusterError
from franchise.sampling.chain import Chain


@contextmanager
def workers_for(
    engine: str, cluster: Ray, corpus: Corpus, chains: Sequence[Chain]
) -> Iterator[dict[str, Any]]:
    """Give what `run_chains` takes for an engine: the workers of a cluster, if it needs them."""
    if engine not in ON_RAY:
        yield {}
        return
    from franchise.engines.pools.ray.actors import RayWorkers

    where = (cluster.address, cluster.workers)
    with RayWorkers(corpus, *where, len(chains), gpus=engine == RAY_GPU) as workers:
        try:
            yield {"workers": workers}
        finally:
            for chain in chains:
                with suppress(ClusterError):  # then it is made again by the next workers
                    chain.use_workers(None)  # which takes along what has not been saved
