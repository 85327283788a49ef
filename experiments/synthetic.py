"""The paper's section 4.1: five topics, two of them nearly alike, in three difficulties."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.planted_start import started
from experiments.measure import METHODS, Mode, follow, split_merge_of
from experiments.runs import Array, Pause, Run
from franchise import Priors, Schedule
from franchise.corpus import Planted, five_topics
from franchise.model.state import TOPICS, State
from franchise.posterior.heldout import document_completion
from franchise.sampling import Draw

TWINS = (0.10, 0.11, 0.12)  # probability of the twins' own word
MIXED = (0, 20, 80)  # documents with two topics, of 100; the paper says "at most two" of all
STARTS = ("sequential", "truth")
ETA = 0.5
_GAMMA = (0.1, 1.0)
_OTHER_DATA = 10_000  # added to the seed, for documents to test on
_TRACED = 100  # sweeps whose topic sizes are kept, as in the paper's figure
_LARGE = 0.05  # of all words, for a topic to count as found
_EVERY = 10  # sweeps between two states that are looked at


@dataclass(frozen=True)
class Size:
    """How much of the experiment to run."""

    seeds: int
    sweeps: int


FULL = Size(seeds=20, sweeps=1000)
QUICK = Size(seeds=2, sweeps=300)


def runs_of(size: Size) -> list[Run]:
    """Return all runs, the first seed of each setting first."""
    return [
        _run(size, mixed, twin, start, method, seed)
        for seed in range(1, size.seeds + 1)
        for mixed in MIXED
        for twin in TWINS
        for start in STARTS
        for method in METHODS
    ]


def _run(size: Size, mixed: int, twin: float, start: str, method: str, seed: int) -> Run:
    settings = {
        "mixed": mixed,
        "twin": twin,
        "start": start,
        "method": method,
        "seed": seed,
        "sweeps": size.sweeps,
        "eta": ETA,
        "alpha_and_gamma_prior": list(_GAMMA),
    }
    name = f"mixed-{mixed}_twin-{twin:.2f}_{start}_{method}_seed-{seed:02}"
    return Run(name, settings, partial(_work, size, mixed, twin, start, method, seed))


def _work(
    size: Size, mixed: int, twin: float, start: str, method: str, seed: int, pause: Pause
) -> dict[str, Array]:
    truth = five_topics(seed, twin=twin, mixed=mixed)
    test = five_topics(seed + _OTHER_DATA, twin=twin, mixed=mixed).corpus
    priors = Priors(alpha=_GAMMA, gamma=_GAMMA, eta=ETA)
    schedule = Schedule(sweeps=size.sweeps, burn_in=size.sweeps, split_merge=split_merge_of(method, None))
    chain = started(truth, priors, schedule, seed, start)
    sizes, found, latest = [], [], []

    def visit(mode: Mode) -> None:
        latest[:] = [mode]
        sweep = chain.sweeps_done
        if sweep <= _TRACED:
            sizes.append(_sizes(chain.state))
        if sweep > size.sweeps // 2 and sweep % _EVERY == 0:
            found.append(finds_all(truth, chain.draw()))

    numbers = follow(chain, size.sweeps, visit, pause)
    mode = latest[0].draw(chain)
    widest = max(map(len, sizes))
    return numbers | {
        "all_five": np.array(found),
        "sizes": np.array([np.pad(row, (0, widest - len(row))) for row in sizes]),
        "mode_topics": mode.topic_terms.toarray(),
        "mode_found": np.array(finds_all(truth, mode)),
        "held_out": np.array([document_completion([draw], test).per_word for draw in (chain.draw(), mode)]),
    }


def _sizes(state: State) -> Array:
    """Return the words of each topic, largest first."""
    return np.sort(state.n_k[state.live[: state.totals[TOPICS]]])[::-1]


def finds_all(truth: Planted, draw: Draw) -> bool:
    """Say whether each planted topic is the nearest to some topic with a twentieth of the words."""
    counts = draw.topic_terms.toarray()
    counts = counts[counts.sum(axis=1) >= _LARGE * truth.corpus.n_words]
    found = counts / counts.sum(axis=1, keepdims=True)
    distance = np.abs(truth.topics[:, None] - found[None]).sum(axis=2)
    return len(set(distance.argmin(axis=0).tolist())) == len(truth.topics)
