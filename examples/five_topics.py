"""Fit the paper's five-topic corpus and show what was found.

python examples/five_topics.py [--seed 1] [--sweeps 1000] [--twin 0.11]
"""

import argparse

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from scipy.optimize import linear_sum_assignment

from franchise import Chain, FranchiseError, Priors, Schedule
from franchise.corpus.synthetic import Planted, five_topics
from franchise.sampling import Draw

console = Console()


def main() -> None:
    """Draw the corpus, run one chain, print the topics."""
    parser = argparse.ArgumentParser(description="Fit the paper's five-topic corpus (section 4.1).")
    parser.add_argument("--seed", type=int, default=1, help="of the corpus and of the chain")
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--twin", type=float, default=0.11, help="0.10 is hard, 0.12 easy")
    arguments = parser.parse_args()

    try:
        truth = five_topics(arguments.seed, twin=arguments.twin)
        chain = Chain(
            truth.corpus,
            Priors(alpha=(0.1, 1.0), gamma=(0.1, 1.0), eta=0.5),
            Schedule(thin=5),
            sweeps=arguments.sweeps,
            random_state=arguments.seed,
        )
    except FranchiseError as error:
        parser.error(str(error))
    console.print(f"{truth.corpus}: five topics, two of them nearly alike")
    try:
        run(chain)
    except KeyboardInterrupt:
        console.print(f"stopped after {chain.sweeps_done} sweeps")
        if not len(chain.trace):
            raise SystemExit(130) from None
    show_number_of_topics(chain)
    show_topics(truth, chain.draw())


def run(chain: Chain) -> None:
    """Run the chain to the end of its schedule, with progress."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.fields[status]}"), console=console) as progress:
        task = progress.add_task(
            "compiling, first run only", total=chain.schedule.sweeps, status="", start=False
        )

        def show(chain: Chain) -> None:
            row = chain.trace.last
            status = f"{row['n_topics']:.0f} topics, {row['log_joint'] / chain.corpus.n_words:.4f} per word"
            progress.start_task(task)
            progress.update(task, completed=chain.sweeps_done, description="sweeps", status=status)

        chain.run(callback=show)


def show_number_of_topics(chain: Chain) -> None:
    """Print how many topics the kept draws have, leaving out those of a few words."""
    enough = 0.01 * chain.corpus.n_words
    draws = chain.draws or [chain.draw()]
    n_topics = [int((draw.topic_terms.sum(axis=1) >= enough).sum()) for draw in draws]
    values, times = np.unique(n_topics, return_counts=True)
    shares = ", ".join(f"{k}: {n / len(n_topics):.0%}" for k, n in zip(values, times, strict=True))
    console.print(f"topics with at least 1% of the words, over {len(n_topics)} draws: {shares}")


def show_topics(truth: Planted, draw: Draw) -> None:
    """Print the topics of one draw, each beside the planted topic that it is nearest to."""
    counts = draw.topic_terms.toarray()
    eta = draw.concentrations[2]
    phi = (counts + eta) / (counts.sum(axis=1, keepdims=True) + counts.shape[1] * eta)
    distance = 0.5 * np.abs(phi[:, None] - truth.topics[None]).sum(axis=2)
    planted = dict(zip(*linear_sum_assignment(distance), strict=True))

    table = Table(
        title=f"Topics after sweep {draw.sweep} (probabilities in %)", box=box.SIMPLE, padding=(0, 1, 0, 0)
    )
    for name in ("topic", "words", "true", "off by"):
        table.add_column(name, justify="right")
    for term in truth.corpus.vocabulary:
        table.add_column(term, justify="right")
    for k, row in enumerate(phi):
        match = planted.get(k)
        beside = ("-", "-") if match is None else (str(match + 1), f"{distance[k, match]:.2f}")
        share = counts[k].sum() / counts.sum()
        terms = [f"{100 * p:.0f}" if p >= 0.02 else "" for p in row]
        table.add_row(str(k + 1), f"{share:.0%}", *beside, *terms)
    console.print(table)


if __name__ == "__main__":
    main()
