"""The workers of a cluster, for as long as the chains of a model run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from franchise._files import Facts
from franchise.corpus import Corpus
from franchise.errors import ClusterError
from franchise.sampling.chain import Chain


@contextmanager
def crew_for(settings: Facts, corpus: Corpus, chains: Sequence[Chain]) -> Iterator[dict[str, Any]]:
    """Give what `run_chains` takes for these settings: the workers of a cluster, if the engine needs them."""
    if settings["engine"] != "ray":
        yield {}
        return
    from franchise.engines.ray_crew import RayCrew

    with RayCrew(corpus, settings["ray_address"], settings["ray_workers"], len(chains)) as crew:
        try:
            yield {"crew": crew}
        finally:
            for chain in chains:
                with suppress(ClusterError):  # then it is made again by the next crew
                    chain.use_crew(None)  # which takes along what has not been saved
