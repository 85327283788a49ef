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

from benchmarks.completion import completion
from benchmarks.mixing import read_split
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors, Schedule, from_tokens
from franchise.posterior.heldout import document_completion
from franchise.sampling import Draw

ETA = 0.1
MOMENTS = {"reuters": (1, 2, 4, 6, 10, 20, 30), "ap": (5, 10, 16, 20, 40, 80)}
# Final scores of the best other program (hca), and when, on the machine where all were measured.
BEST_PEER = {"reuters": (-7.072, 30), "ap": (-7.768, 80)}
LAST_DRAWS = 20

Score = Callable[[Draw, list[Any]], float]


def scoring_of(path: Path) -> Score:
    """Return the score of a draw by the function of a file."""
    of_file = runpy.run_path(str(path))["completion"]

    def score(draw: Draw, test: list[Any]) -> float:
        alpha, gamma, eta = draw.concentrations
        counts = draw.topic_terms.toarray() + eta
        prior = alpha * np.append(draw.m_k, gamma) / (draw.m_k.sum() + gamma)
        phi = counts / counts.sum(axis=1, keepdims=True)
        return float(of_file(phi, prior[:-1], test, prior_new=prior[-1]))

    return score


def run(corpus: Corpus, test: list[Any], moments: tuple[int, ...], seed: int, score: Score) -> dict[str, Any]:
    """Sample for the CPU seconds of the last moment; return the scores at all of them."""
    schedule = Schedule(sweeps=10**6, burn_in=10**6)
    chain = Chain(corpus, Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=ETA), schedule, seed=seed)
    spent, scores, draws = 0.0, [], []
    for moment in moments:
        while spent < moment:
            began = time.thread_time()
            chain.sweep()
            spent += time.thread_time() - began
            draws.append(chain.draw())
            del draws[:-LAST_DRAWS]
        scores.append(score(chain.draw(), test))
    average = document_completion(draws, from_tokens(test, vocabulary=corpus.vocabulary))
    return {
        "scores": scores,
        "sweeps": chain.sweeps_done,
        "topics": chain.trace.last["n_topics"],
        "speed": corpus.n_words * chain.sweeps_done / spent / 1e6,
        "average": average.per_word,
        "error": average.standard_error,
    }


def yardstick(corpus: Corpus) -> str:
    """Return how many million words a second tomotopy's HDP does here."""
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
    return f"tomotopy does {speed:.1f} million words a second here"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scoring", type=Path)
    options = parser.parse_args()
    score = scoring_of(options.scoring) if options.scoring else completion
    warm_up = Chain(Corpus([0, 1, 0], [0, 2, 3], ["a", "b"]))
    warm_up.run(2)
    for name, moments in MOMENTS.items():
        corpus, test = read_split(options.data / f"{name}.npz")
        runs = [run(corpus, test, moments, seed, score) for seed in range(options.seeds)]
        goal, when = BEST_PEER[name]
        rows = [
            [
                str(seed),
                f"{one['topics']:.0f}",
                str(one["sweeps"]),
                f"{one['speed']:.2f}",
                *(f"{s:.3f}" for s in one["scores"]),
                f"{one['average']:.3f} ± {one['error']:.3f}",
            ]
            for seed, one in enumerate(runs)
        ]
        mean = np.mean([one["scores"] for one in runs], axis=0)
        rows.append(
            [
                "mean",
                "",
                "",
                "",
                *(f"{s:.3f}" for s in mean),
                f"{np.mean([one['average'] for one in runs]):.3f}",
            ]
        )
        show(
            f"{name}, eta {ETA}, one core: completion (nats a word) of one state after CPU seconds; the "
            f"best other program has {goal} after {when} s. Last column: an average of {LAST_DRAWS} draws, "
            "with this library's fold-in and halves",
            ["seed", "topics", "sweeps", "M words/s", *(f"{m} s" for m in moments), "average"],
            rows,
        )
        console.print(yardstick(corpus))


if __name__ == "__main__":
    main()
