"""Split-merge against Gibbs alone at equal CPU time, both from the default start.

    python -m benchmarks.equal_time --corpora FOLDER --data FOLDER [--sweeps 60] [--seeds 3]

The folders are those of `benchmarks.cases`: the paper-like corpora with three values of eta each are the
nine settings of the paper's figures; Reuters and AP come with `--data`. Gibbs makes its sweeps; the default
(the number of trials adapts) makes as many as fit in the same CPU time. The columns are the means over the
seeds of log p(x | c) and of the held-out completion score per word, and how far the default is ahead.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.progress import Progress

from benchmarks.agreement import METHODS
from benchmarks.cases import Case, cases
from benchmarks.completion import completion
from benchmarks.tables import console, show
from franchise import Chain, Corpus, Priors


def score(case: Case, eta: float, method: str, seed: int, sweeps: int, seconds: float) -> tuple[float, ...]:
    """Make sweeps until there are `sweeps`, or the CPU time is over; return where the chain is."""
    setting = METHODS[method]
    chain = Chain(
        case.corpus,
        Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=eta),
        setting.schedule(sweeps, sweeps),
        random_state=seed,
        init=setting.start,
    )
    began = time.thread_time()
    chain.start()
    while chain.sweeps_done < sweeps and time.thread_time() - began < seconds:
        chain.sweep()
    spent = time.thread_time() - began
    log_p = chain.trace["log_p_words"][-1] / case.corpus.n_words
    return spent, log_p, completion(chain.draw(), case.test), chain.sweeps_done


def row(case: Case, eta: float, sweeps: int, seeds: int) -> list[str]:
    """Compare the two in one setting."""
    both = []
    for seed in range(seeds):
        gibbs = score(case, eta, "gibbs", seed, sweeps, np.inf)
        both.append((gibbs, score(case, eta, "default", seed, 100 * sweeps, gibbs[0])))
    gibbs, default = np.mean(both, axis=0)
    ahead = default - gibbs
    return [
        case.name,
        f"{eta:g}",
        f"{gibbs[0]:.1f}",
        f"{gibbs[3]:.0f} / {default[3]:.0f}",
        f"{gibbs[1]:.3f}",
        f"{ahead[1]:+.3f}",
        f"{gibbs[2]:.3f}",
        f"{ahead[2]:+.3f}",
    ]


def settings(options: argparse.Namespace) -> Iterator[tuple[Case, float]]:
    """Yield corpora and values of eta."""
    for case in cases(options.data, options.corpora):
        if case.truth is None and not case.name.startswith("abstracts"):
            yield from ((case, eta) for eta in case.etas)


COLUMNS = ["corpus", "eta", "CPU s", "sweeps", "log p, Gibbs", "default ahead", "completion, Gibbs", "ahead"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--sweeps", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for method in ("gibbs", "default"):  # compiles, if need be
        Chain(
            Corpus([0, 1], [0, 2], ["a", "b"]),
            schedule=METHODS[method].schedule(3, 1),
            init="fitted",
            random_state=0,
        ).run()
    with Progress(console=console, transient=True) as progress:
        rows = [
            row(*setting, options.sweeps, options.seeds) for setting in progress.track([*settings(options)])
        ]
    show(f"Equal CPU time, {options.sweeps} sweeps of Gibbs, means of {options.seeds} seeds", COLUMNS, rows)


if __name__ == "__main__":
    main()
