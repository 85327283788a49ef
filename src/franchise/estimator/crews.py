"""The workers of a cluster, for as long as the chains of a model run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from franchise._files import Facts
from franchise.corpus import Corpus


@contextmanager
def crew_for(settings: Facts, corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Give what `run_chains` takes for these settings: the workers of a cluster, if the engine needs them."""
    if settings["engine"] != "ray":
        yield {}
        return
    crew_of: Any = import_module("franchise.engines.crew").Crew
    with crew_of(corpus, settings["ray_address"], settings["ray_workers"]) as crew:
        yield {"crew": crew}
