"""Where should chains on large corpora start? One chain from each start, compared after the same sweeps.

    python -m benchmarks.large_starts --planted text-1e6 text-2e6 --seeds 101 102
    python -m benchmarks.large_starts --corpora FOLDER --only nips_uci
    python -m benchmarks.large_starts --planted text-1e7 --marks 70 100 --seeds 101

Planted corpora are those of `benchmarks.defaults`, and one of two million words; `benchmarks.cases` has the
others. The chains have the default settings of 500 sweeps and the engine "parallel" on one core. They stop
after the last of `--marks`; a mark in the first 60 sweeps would lie in the warm-up, with its smaller eta.
The planted topics are a start too. Each row is one state:

* *start s*, *s*: CPU seconds until every word has a topic, and in all; scoring is not counted.
* *K*: topics. *large*: those with at least 0.1% of the words; planted topics of that size are *planted*.
* *matched*, *missing*, *doubled*: as in `benchmarks.defaults`.
* *log p*, *joint*: nats per word. *held-out*: of words of documents left out (`benchmarks.completion`).
"""

import argparse
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks import cases
from benchmarks.completion import completion, topics_of
from benchmarks.defaults import CASES, LARGE, MOST_HELD_OUT, Case, Truth, compared, text
from benchmarks.tables import console, show
from benchmarks.trajectories import default_chain
from franchise import Chain, Corpus
from franchise.corpus.synthetic import planted
from franchise.engines import TOPICS, GivenTopics, Start

Array = np.ndarray
SWEEPS = 500  # of the schedule
STARTS = ("truth", "fitted", "documents")
PLANTED = {case.name: case for case in CASES if case.name.startswith("text") and not case.needs_gpu}
PLANTED |= {"text-2e6": Case("text-2e6", text(2_000_000, 15_000, 100))}
COLUMNS = ["corpus", "seed", "start", "sweeps", "start s", "s", "K", "large", "planted", "matched", "missing"]
COLUMNS += ["doubled", "log p", "joint", "held-out"]


class Documents(NamedTuple):
    """A corpus, documents left out, and what it was drawn from if that is known."""

    name: str
    corpus: Corpus
    test: list[Array]
    truth: Truth | None = None


def rows(documents: Documents, starts: list[str], seed: int, marks: list[int]) -> Iterator[list[str]]:
    """Yield a row for each start and mark."""
    for name in starts:
        start: Start = name
        if name == "truth":
            if documents.truth is None:
                continue
            start = GivenTopics(TOPICS, documents.truth.topics)
        chain = default_chain(documents.corpus, "parallel", 1, SWEEPS, start, seed=seed)
        began = time.process_time()
        chain.start()
        to_start = seconds = time.process_time() - began
        for mark in sorted(marks):
            began = time.process_time()
            chain.run(mark - chain.sweeps_done)
            seconds += time.process_time() - began
            times = [f"{mark}", f"{to_start:.1f}", f"{seconds:.0f}"]
            yield [documents.name, f"{seed}", name, *times, *state_of(chain, documents)]


def state_of(chain: Chain, documents: Documents) -> list[str]:
    """Describe the state of a chain."""
    draw, truth, last = chain.draw(), documents.truth, chain.trace.last
    sizes = np.asarray(draw.topic_terms.sum(axis=1)).ravel()
    order = np.argsort(-sizes, kind="stable")
    found = compared(truth, topics_of(draw)[order], sizes[order])
    against_truth = ["-"] * 3
    if truth is not None:
        against_truth = [f"{(truth.weights >= LARGE).sum()}", f"{found.matched}", f"{found.missing:.1%}"]
    return [
        f"{sizes.size}",
        f"{found.large}",
        *against_truth,
        f"{found.doubled}",
        *(f"{last[name] / chain.corpus.n_words:.4f}" for name in ("log_p_words", "log_joint")),
        f"{completion(draw, documents.test):.4f}",
    ]


def compile_all() -> None:
    """Make sweeps on a few words, up to the first merges, so that no row has the time of the compiler."""
    few = planted(n_topics=3, n_terms=50, n_documents=30, document_length=30, seed=1).corpus
    default_chain(few, "parallel", 1, SWEEPS).run(50)


def corpora(parser: argparse.ArgumentParser, options: argparse.Namespace, seed: int) -> Iterator[Documents]:
    """Yield the corpora; planted ones are drawn from the seed."""
    for name in options.planted:
        truth = PLANTED[name].draw(seed)
        yield Documents(name, truth.corpus, truth.test, truth)
    if options.only:
        for case in cases.chosen(parser, options):
            few = case.test[:: -(-len(case.test) // MOST_HELD_OUT)]
            yield Documents(case.name, case.corpus, few)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cases.add_options(parser)
    parser.add_argument("--planted", nargs="*", choices=PLANTED, default=[], metavar="NAME")
    parser.add_argument("--starts", nargs="*", choices=STARTS, default=STARTS)
    parser.add_argument("--seeds", nargs="*", type=int, default=[1])
    parser.add_argument("--marks", nargs="*", type=int, default=[100, 200, 500], help="sweeps")
    options = parser.parse_args()
    compile_all()
    table = []
    for seed in options.seeds:
        for documents in corpora(parser, options, seed):
            for row in rows(documents, options.starts, seed, options.marks):
                table.append(row)
                console.print("  ".join(row))
    show("Starts of large corpora", COLUMNS, table)


if __name__ == "__main__":
    main()
