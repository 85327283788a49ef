"""The short runs that found the start of a fit, in a file next to its chains."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._files import read_arrays, write_arrays
from franchise._version import VERSION, check_version
from franchise.engines.starts.consensus import Runs
from franchise.errors import ModelError
from franchise.sampling.chain import Chain

_FILE, _KIND = "runs.safetensors", "franchise short runs"


def save_runs(folder: Path, chain: Chain) -> None:
    """Write the short runs of a chain, which all chains of its fit share, unless the file exists."""
    path = folder / _FILE
    if chain.runs is None or path.exists():
        return
    topics = chain.runs.topics
    arrays = {
        "data": topics.data,
        "indices": topics.indices.astype(np.int32),
        "indptr": topics.indptr.astype(np.int64),
        "run": chain.runs.run.astype(np.int32),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_arrays(path, _KIND, arrays, {"version": VERSION})


def load_runs(folder: Path, chains: Sequence[Chain]) -> None:
    """Give chains the short runs that were saved with them, if there are any.

    Raises
    ------
    ModelError
        If the file is damaged, belongs to another corpus, or comes from another version.
    """
    path = folder / _FILE
    if not path.exists():
        return
    arrays, facts = read_arrays(path, _KIND)
    check_version(path, facts)
    try:
        runs = _runs_of(arrays, chains[0].corpus.n_terms)
    except (KeyError, ValueError) as error:
        raise ModelError(
            f"{path}: the file is damaged: it has no topics of short runs ({error}); restore it from a copy",
            code="damaged-file",
        ) from error
    for chain in chains:
        chain.runs = runs


def _runs_of(arrays: dict[str, Array], n_terms: int) -> Runs:
    shape = (arrays["run"].size, n_terms)
    topics = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    topics.check_format(full_check=True)
    return Runs(topics, arrays["run"])
