"""All that a chain has gathered, to compare it with another to the bit."""

from franchise.engines import ENGINES, GPU, ON_RAY
from franchise.model.packing import packed

# Engines that need neither workers nor a GPU.
ALONE = [name for name in ENGINES if name not in (GPU, *ON_RAY)]


def everything(chain):
    """Return all that a chain has gathered but the time that it took, in bytes, by name."""
    found = {name: array.tobytes() for name, array in packed(chain.corpus.arrays, chain.state).items()}
    found |= {name: chain.trace[name].tobytes() for name in chain.trace.columns if name != "seconds"}
    for draw in (*chain.draws, chain.mode):
        for table in (draw.topic_terms, draw.document_topics):
            name = f"draw {draw.sweep}, {table.shape}"
            found[name] = table.data.tobytes() + table.indices.tobytes() + table.indptr.tobytes()
        rest = (draw.names, draw.m_k, draw.concentrations)
        found[f"draw {draw.sweep}"] = b"".join(array.tobytes() for array in rest)
    return found | {"events": chain.events, "trials": chain.trials, "mode": chain.mode_log_joint}


def differences(a, b):
    """Return the names of what is not the same."""
    a, b = everything(a), everything(b)
    return [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
