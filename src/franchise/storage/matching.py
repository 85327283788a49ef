"""The matching of topics between draws (`posterior.align`), in a file next to the chains.

Matching is the slowest step of most questions about a model, and depends only on the draws. It is therefore
stored, with a key of those draws. A matching that has another key or cannot be read counts as missing, and is
computed again when needed.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from franchise._files import checksum_of, read_arrays, write_arrays
from franchise.errors import ModelError
from franchise.posterior.align import VERSION, Alignment
from franchise.sampling.chain import Chain
from franchise.storage.rows import checksum

_FILE, _KIND = "matching.safetensors", "topic matching"


def write_matching(folder: Path, chains: Sequence[Chain], matching: Alignment) -> None:
    """Write the matching of the draws of these chains into the folder of their model."""
    arrays = {
        "clusters": np.concatenate(matching.clusters).astype(np.int32),
        "n_topics": np.array([one.size for one in matching.clusters], np.int32),
        "support": matching.support,
        "chain_support": matching.chain_support,
        "stability": matching.stability,
    }
    write_arrays(folder / _FILE, _KIND, arrays, {"key": _key(chains)})


def read_matching(folder: Path, chains: Sequence[Chain]) -> Alignment | None:
    """Read the matching of the draws of these chains; return None if it is missing, outdated or damaged."""
    try:
        arrays, facts = read_arrays(folder / _FILE, _KIND)
        if facts["key"] != _key(chains):
            return None
        ends = np.cumsum(arrays.pop("n_topics"))[:-1]
        return Alignment(clusters=np.split(arrays.pop("clusters").astype(np.int64), ends), **arrays)
    except (ModelError, KeyError, TypeError):
        return None


def _key(chains: Sequence[Chain]) -> str:
    """Return a key of everything that a matching depends on: its method, the chains, and their kept draws.

    The traces identify the chains: they record the seconds of every sweep, so no two are equal.
    """
    about = {
        str(chain.number): [checksum(chain.trace.as_array()), [draw.sweep for draw in chain.draws]]
        for chain in chains
        if len(chain.trace)
    }
    return checksum_of({"version": VERSION, "chains": about})
