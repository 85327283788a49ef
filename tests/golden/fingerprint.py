"""A fixed run, and everything about it that must not change.

Run as a program, with the JIT off so that no cached kernel takes part, it renews the pinned run::

    NUMBA_DISABLE_JIT=1 python -m tests.golden.fingerprint > tests/golden/pinned.json
"""

import hashlib
import json

import numpy as np

from franchise import Chain, Corpus, Priors
from franchise.sampling import Timetable

SWEEPS = 12
PRIORS = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=(2.0, 10.0))
METHODS = ("slice", "auxiliary")


def arithmetic_corpus() -> Corpus:
    """Return 24 documents, some empty, of 0 to 30 words; made by arithmetic, which no version changes."""
    lengths = [(7 * j) % 31 if j % 8 else 0 for j in range(24)]
    words = [6 * ((j + i % 2) % 3) + (i * i + j) % 7 for j, n_j in enumerate(lengths) for i in range(n_j)]
    return Corpus(words, np.cumsum([0, *lengths]), [f"w{v}" for v in range(19)])


def fixed_chain(method: str = "slice", **options) -> Chain:
    """Return a chain over that corpus with all concentrations sampled."""
    schedule = Timetable(sweeps=SWEEPS, burn_in=0, thin=SWEEPS, concentrations=method)
    return Chain(arithmetic_corpus(), PRIORS, schedule, **{"random_state": 2012, **options})


def seats(chain: Chain) -> list[np.ndarray]:
    """Return t_ji, k_jt of the slots in use, and the names of the living topics."""
    state, first = chain.state, chain.corpus.doc_ptr[:-1]
    in_use = np.concatenate([np.arange(a, a + m) for a, m in zip(first, state.m_j, strict=True)])
    return [state.t_ji, state.k_jt[in_use], state.name_k[state.live[: state.totals[0]]]]


def fingerprint(chain: Chain) -> dict:
    """Return where the chain is and how it came there, but for the time that it took."""
    digest = hashlib.sha256(b"".join(array.astype("<i8").tobytes() for array in seats(chain)))
    trace = {name: chain.trace[name].tolist() for name in chain.trace.columns if name != "seconds"}
    return {"seats": digest.hexdigest(), "trace": trace}


def in_bits(chain: Chain) -> str:
    """Return the fingerprint as text that differs when any bit of it does."""
    return json.dumps(fingerprint(chain))


def fixed_runs() -> dict[str, dict]:
    """Return the fingerprint of the fixed run with each way of drawing the concentrations."""
    fingerprints = {}
    for method in METHODS:
        chain = fixed_chain(method)
        chain.run()
        fingerprints[method] = fingerprint(chain)
    return fingerprints


if __name__ == "__main__":
    print(json.dumps(fixed_runs(), indent=1))
