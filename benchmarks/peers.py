"""Held-out score against CPU time on one core, as other programs were measured.

    python -m benchmarks.peers --data FOLDER [--seeds 3] [--scoring FILE.py]

FOLDER holds reuters.npz and ap.npz (`benchmarks.mixing` says what is in them). `--scoring` takes a Python
file with a function `completion(phi, prior, test, prior_new=...)` to score with, not `benchmarks.completion`.
Where tomotopy is installed, its speed is measured in the same run: the yardstick between machines.
"""

import argparse
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.agreement import METHODS
from benchmarks.completion import completion_of
from benchmarks.mixing import read_split
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw

ETA = 0.1
MOMENTS = {"reuters": (1, 1.5, 2, 4, 10, 20, 30), "ap": (4, 10, 16, 20, 40, 80)}
# Final scores of the best other program (hca), and when, on the machine where all were measured.
BEST_PEER = {"reuters": (-7.072, 30), "ap": (-7.768, 80)}
SECONDS_A_DRAW, MOST_DRAWS = 0.1, 20

Score = Callable[[Any, Any, list[Any], float], float]


def own_score(phi: Any, prior: Any, test: list[Any], prior_new: float) -> float:
    """Score topics as `benchmarks.completion` does."""
    terms = np.vstack([phi, np.full(phi.shape[1], 1.0 / phi.shape[1])]).T.copy()
    return completion_of(terms, np.append(prior, prior_new), test)


def scoring_of(path: Path) -> Score:
    """Return the score of topics by the function of a file."""
    of_file = runpy.run_path(str(path))["completion"]
    return lambda phi, prior, test, prior_new: float(of_file(phi, prior, test, prior_new=prior_new))


def of_draws(corpus: Corpus, draws: list[Draw], test: list[Any], score: Score) -> float:
    """Score the average of the topics of draws, matched; of one draw, its own topics."""
    return of_posterior(Posterior(corpus, [draws], []), test, score)


def of_posterior(posterior: Posterior, test: list[Any], score: Score) -> float:
    """Score the listed topics; the others' share of the prior goes to a topic with all terms alike."""
    draws = posterior.flat_draws
    prior = np.zeros(posterior.n_topics + 1)
    for draw, columns in zip(draws, posterior.columns, strict=True):
        alpha, gamma, _ = draw.concentrations
        scale = alpha / (draw.m_k.sum() + gamma) / len(draws)
        np.add.at(prior, columns, scale * draw.m_k)
        prior[-1] += scale * gamma
    return score(posterior.phi, prior[:-1], test, prior[-1])


def run(
    corpus: Corpus, test: list[Any], moments: tuple[float, ...], seed: int, score: Score
) -> dict[str, Any]:
    """Sample for the CPU seconds of the last moment; return the scores at all of them."""
    default = METHODS["default"]
    priors, schedule = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=ETA), default.schedule(10**6, 10**6)
    chain = Chain(corpus, priors, schedule, seed=seed, start=default.start)
    draws: list[Draw] = []
    spent, kept, one, average = 0.0, 0.0, [], []
    for moment in moments:
        while spent < moment:
            began = time.thread_time()
            chain.sweep()
            if spent - kept >= SECONDS_A_DRAW:
                draws.append(chain.draw())
                kept = spent
            spent += time.thread_time() - began
        later = draws[len(draws) // 2 :]
        chosen = np.unique(np.linspace(0, len(later) - 1, MOST_DRAWS).astype(int))
        one.append(of_draws(corpus, [chain.draw()], test, score))
        average.append(of_draws(corpus, [later[i] for i in chosen], test, score))
    return {
        "one state": one,
        "average": average,
        "sweeps": chain.sweeps_done,
        "topics": chain.trace.last["n_topics"],
        "speed": corpus.n_words * chain.sweeps_done / spent / 1e6,
    }


def yardstick(corpus: Corpus) -> str:
    """Return how many million words per second tomotopy's HDP does here."""
    try:
        import tomotopy
    except ImportError:
        return "tomotopy is not installed"
    model = tomotopy.HDPModel(eta=ETA, seed=0)
    for j in range(corpus.n_documents):
        model.add_doc([str(v) for v in corpus.document(j)])
    model.train(1, workers=1)
    began = time.process_time()
    model.train(20, workers=1)
    speed = 20 * corpus.n_words / (time.process_time() - began) / 1e6
    return f"tomotopy does {speed:.1f} million words per second here"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=list(MOMENTS), help="reuters, ap")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scoring", type=Path)
    options = parser.parse_args()
    score = scoring_of(options.scoring) if options.scoring else own_score
    Chain(Corpus([0, 1, 0], [0, 2, 3], ["a", "b"]), start="fitted").run(2)  # compiles, if need be
    for name in options.corpora:
        corpus, test = read_split(options.data / f"{name}.npz")
        moments = MOMENTS[name]
        runs = [run(corpus, test, moments, seed, score) for seed in range(options.seeds)]
        goal, when = BEST_PEER[name]
        rows = [
            [str(seed), kind, f"{own['topics']:.0f}", str(own["sweeps"]), f"{own['speed']:.2f}"]
            + [f"{s:.3f}" for s in own[kind]]
            for kind in ("one state", "average")
            for seed, own in enumerate(runs)
        ]
        show(
            f"{name}, eta {ETA}, one core: completion (nats per word) after CPU seconds, of one state and of "
            f"the average over the later draws. The best other program has {goal} after {when} s",
            ["seed", "of", "topics", "sweeps", "M words/s", *(f"{m} s" for m in moments)],
            rows,
        )
        console.print(yardstick(corpus))


if __name__ == "__main__":
    main()
