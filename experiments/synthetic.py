"""The paper's section 4.1: five topics, two of them nearly alike, in three difficulties."""

from dataclasses import dataclass

import numpy as np

from benchmarks.planted_start import started
from experiments.measure import METHODS, Mode, follow, split_merge_of
from experiments.runs import Array, Pause, Run
from franchise import Chain, Corpus, Priors
from franchise.corpus import Planted, five_topics
from franchise.model.state import TOPICS, State
from franchise.predict.heldout import completion_densities
from franchise.sampling import Draw, Timetable

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
    priors = Priors(alpha=_GAMMA, gamma=_GAMMA, eta=ETA)
    schedule = Timetable(sweeps=size.sweeps, burn_in=size.sweeps, split_merge=split_merge_of(method, None))
    settings = {"mixed": mixed, "twin": twin, "start": start, "method": method, "seed": seed}
    settings |= {"schedule": repr(schedule), "priors": repr(priors), "large": _LARGE}
    name = f"mixed-{mixed}_twin-{twin:.2f}_{start}_{method}_seed-{seed:02}"

    def work(pause: Pause) -> dict[str, Array]:
        truth, test = (five_topics(data, twin=twin, mixed=mixed) for data in (seed, seed + _OTHER_DATA))
        return _measured(started(truth, priors, schedule, seed, start), truth, test.corpus, pause)

    return Run(name, seed, settings, work)


def _measured(chain: Chain, truth: Planted, test: Corpus, pause: Pause) -> dict[str, Array]:
    """Run a chain, looking for the planted topics at every sweep of the first, and at some later ones."""
    sizes, looks, found = [], [], []
    latest: list[Mode] = []

    def visit(mode: Mode) -> None:
        latest[:] = [mode]
        sweep = chain.sweeps_done
        if sweep <= _TRACED:
            sizes.append(_sizes(chain.state))
        if sweep <= _TRACED or sweep % _EVERY == 0:
            looks.append(sweep)
            found.append(topics_found(truth, chain.draw()))

    numbers = follow(chain, visit, pause)
    mode = latest[0].draw(chain)
    widest = max(map(len, sizes))
    return numbers | {
        "looks": np.array(looks),
        "found": np.array(found),
        "sizes": np.array([np.pad(row, (0, widest - len(row))) for row in sizes]),
        "mode_topics": mode.topic_terms.toarray(),
        "mode_found": np.array(topics_found(truth, mode)),
        "held_out": np.array(
            [completion_densities([[draw]], test).held_out([1.0]).per_word for draw in (chain.draw(), mode)]
        ),
    }


def _sizes(state: State) -> Array:
    """Return the words of each topic, largest first."""
    return np.sort(state.n_k[state.live[: state.totals[TOPICS]]])[::-1]


def topics_found(truth: Planted, draw: Draw) -> list[bool]:
    """Return, for each planted topic, whether it is the nearest to some topic with 5% of the words.

    What is nearer to the mean of the twins than to either is neither: it would be one of the two by chance.
    """
    counts = draw.topic_terms.toarray()
    counts = counts[counts.sum(axis=1) >= _LARGE * truth.corpus.n_words]
    found = counts / counts.sum(axis=1, keepdims=True)
    planted = np.vstack([truth.topics, truth.topics[:2].mean(axis=0)])
    nearest = np.abs(planted[:, None] - found[None]).sum(axis=2).argmin(axis=0)
    return np.isin(np.arange(len(truth.topics)), nearest).tolist()
