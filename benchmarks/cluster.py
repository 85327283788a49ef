"""The engine on Ray: what it costs against threads alone, what travels, and what that says of larger corpora.

    python -m benchmarks.cluster speed                    (20 million planted words; 4 GB, a few minutes)
    python -m benchmarks.cluster speed --words 5e6 --workers 1 2 --ray HOST:PORT
    python -m benchmarks.cluster grid --output grid.json           (several sizes, for the model of cost)
    python -m benchmarks.cluster forecast                 (from cluster_grid.json, measured on 16 cores)

Speed: chains start at the planted truth; all figures of a table are from one run. The grid measures sweeps of
several numbers of words, terms, topics and workers; the forecast fits `Cost` to it and predicts the
times of larger corpora.
"""

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from scipy.optimize import nnls

from benchmarks.parallel import PRIORS, SETTLE, TIMED, large_planted
from benchmarks.planted_start import planted_state
from benchmarks.tables import console, show
from franchise import Chain, SplitMerge
from franchise.corpus.synthetic import Planted
from franchise.engines.pools.ray.actors import RayWorkers
from franchise.model import State, copy_state
from franchise.sampling import Timetable

BYTES_A_WORD = 32  # with a worker: documents, and seats and counts of one chain
CALLS = ("update", "name", "take", "put", "tables_of", "finish")
# The sizes measured for the model of cost: words, terms, topics.
SIZES = ((2e6, 20_000, 50), (5e6, 20_000, 400), (20e6, 20_000, 100), (20e6, 60_000, 300))
# Corpora of which there is only a forecast: words, terms, topics; pairs of a term and a topic that has it.
FORECASTS = {
    "PubMed abstracts": (730e6, 141_000, 1_000, 0.12),
    "Wikipedia": (2e9, 200_000, 2_000, 0.12),
    "100 billion words": (100e9, 1_000_000, 5_000, 0.05),
}


class Measured(NamedTuple):
    """A few sweeps of one kind, per sweep."""

    words: int
    terms: int
    topics: float
    pairs: int  # of a term and a topic that has words of it
    workers: int
    machines: int
    threads: int  # of a worker
    seconds: float
    update: float  # of these, in the pass over all documents
    sent: float  # bytes
    received: float
    calls: float = 4.0


@contextmanager
def timed_calls(held: RayWorkers) -> Iterator[dict[str, float]]:
    """Add up the seconds that the coordinator waits for workers, by what it asks for."""
    seconds: dict[str, float] = dict.fromkeys((*CALLS, "number"), 0.0)
    call = held.call

    def timed(generation: int, what: str, arguments: Any) -> Any:
        began = time.perf_counter()
        answers = call(generation, what, arguments)
        name = arguments[0][1] if what in ("all", "each") else what
        seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - began
        seconds["number"] += 1
        return answers

    held.call = timed  # type: ignore[method-assign]
    yield seconds
    held.call = call  # type: ignore[method-assign]


def new_chain(truth: Planted, engine: str, trials: int, threads: int = 1) -> Chain:
    """Return a chain with this number of trials per sweep."""
    schedule = Timetable(sweeps=100, burn_in=50, split_merge=SplitMerge(trials=trials) if trials else None)
    return Chain(truth.corpus, PRIORS, schedule, random_state=1, engine=engine, n_jobs=threads)


def by_threads(truth: Planted, state: State, threads: int, trials: int, sweeps: int) -> float:
    """Return the seconds of a sweep without Ray."""
    chain = new_chain(truth, "parallel", trials, threads)
    chain.start_at(copy_state(state))
    chain.run(SETTLE)
    began = time.perf_counter()
    chain.run(sweeps)
    return (time.perf_counter() - began) / sweeps


def by_workers(
    truth: Planted, state: State, options: argparse.Namespace, workers: int, trials: int
) -> tuple[Measured, dict[str, float]]:
    """Time a few sweeps on this number of workers."""
    sweeps = options.sweeps
    with RayWorkers(truth.corpus, options.ray, workers, threads=options.each) as held:
        chain = new_chain(truth, "ray", trials, threads=joblib.cpu_count())
        chain.use_workers(held)
        chain.start_at(state)
        chain.run(SETTLE)
        with timed_calls(held) as seconds:
            sent, received, began = held.sent, held.received, time.perf_counter()
            chain.run(sweeps)
            took = (time.perf_counter() - began) / sweeps
        state = chain.engine._coordinator.state
        parts = {name: part / sweeps for name, part in seconds.items()}
        measured = Measured(
            words=truth.corpus.n_words,
            terms=truth.corpus.n_terms,
            topics=float(chain.trace.last["n_topics"] + chain.trace.last["documents.topics_revealed"]),
            pairs=int(state.row_len.sum(dtype=np.int64)),
            workers=workers,
            machines=held.machines,
            threads=held.threads,
            seconds=took,
            update=parts["update"],
            sent=(held.sent - sent) / sweeps,
            received=(held.received - received) / sweeps,
            calls=parts.pop("number"),
        )
    return measured, parts


def speed(options: argparse.Namespace) -> None:
    """Print what Ray costs, and what more workers bring."""
    console.print("drawing the corpus ...")
    few = large_planted(200_000, 1_000, 20)
    by_threads(few, planted_state(few, PRIORS), 1, max(1, options.trials), 2)  # compiles, if needed
    truth = large_planted(int(options.words), options.terms, options.topics)
    state = planted_state(truth, PRIORS)
    rows, one = [], 0.0
    for threads in options.threads:
        seconds = by_threads(truth, state, threads, options.trials, options.sweeps)
        one = one or seconds
        rows.append(["threads", "-", str(threads), f"{seconds:.3f}", f"{one / seconds:.2f}", *["-"] * 8])
        console.print("  ".join(rows[-1]))
    for workers in options.workers:
        found, parts = by_workers(truth, state, options, workers, options.trials)
        rest = found.seconds - sum(parts[name] for name in CALLS)
        rows.append(
            [
                "ray",
                str(workers),
                str(found.threads),
                f"{found.seconds:.3f}",
                f"{one / found.seconds:.2f}",
                *(f"{1e3 * parts[name]:.0f}" for name in CALLS),
                f"{1e3 * rest:.0f}",
                f"{found.sent / 1e6:.1f}",
                f"{found.received / 1e6:.1f}",
            ]
        )
        console.print("  ".join(rows[-1]))
    columns = ["", "workers", "threads each", "s/sweep", "ratio"]
    columns += [*(f"{name} ms" for name in CALLS), "coordinator ms", "MB out", "MB in"]
    title = f"{options.words:,.0f} words, {options.terms:,} terms, {options.topics:,} topics, from the truth"
    show(title, columns, rows)


# ---------------------------------------------------------------- a model of cost


class Cost(NamedTuple):
    """Seconds of one thread: what a sweep is made of."""

    word: float  # drawn in the pass
    gamma: float  # of a term of a topic; workers of one machine share these
    pair: float  # of a term and a topic: unpacked and packed by every worker
    head_pair: float  # packed, added up and looked at by the coordinator
    part_pair: float  # unpacked and added up by the coordinator, of the rows of every worker
    rest: float  # documents drawn word by word, concentrations, calls

    def seconds(self, of: Measured, bandwidth: float = np.inf, latency: float = 0.0) -> float:
        """Return the seconds of a sweep, given the coordinator's bandwidth in bytes per second."""
        working = np.dot(self, [*work_of_workers(of), *work_of_head(of)])
        return float(working) + (of.sent + of.received) / bandwidth + latency * of.calls


def work_of_workers(of: Measured) -> list[float]:
    """Return what every worker has to do; all but the last is shared by its threads."""
    neighbours = of.workers / of.machines
    gammas = of.terms * of.topics / (of.threads * neighbours)
    return [of.words / (of.workers * of.threads), gammas, float(of.pairs)]


def work_of_head(of: Measured) -> list[float]:
    """Return what the coordinator has to do."""
    return [float(of.pairs), of.workers * pairs_of_a_part(of.words, of.pairs, of.workers), 1.0]


def pairs_of_a_part(words: float, pairs: float, workers: int) -> float:
    """Return how many pairs have words with one worker, if words were spread evenly over pairs."""
    return pairs * -np.expm1(-words / (workers * pairs))


def bytes_of(words: float, terms: float, pairs: float, workers: int, machines: int) -> tuple[float, float]:
    """Return the bytes that the coordinator sends and receives in a sweep, without trials.

    Of a pair, topic and count; of a term, how many pairs it has; of each word that is drawn alone, term,
    table, and words and topic of a table. Counts go to each machine once.
    """
    alone = 50_000 * 4 * 4
    sent = machines * (pairs * (2 + 2) + 2 * terms) + alone
    return sent, workers * (pairs_of_a_part(words, pairs, workers) * (2 + 1) + 2 * terms) + alone


def grid(options: argparse.Namespace) -> None:
    """Measure sweeps of several sizes."""
    found = []
    for words, terms, topics in SIZES:
        console.print(f"drawing {words:,.0f} words ...")
        truth = large_planted(int(words), terms, topics)
        state = planted_state(truth, PRIORS)
        for shape in options.shapes:
            workers, options.each = (int(part) for part in shape.split("x"))
            measured, _ = by_workers(truth, state, options, workers, 0)
            found.append(measured._asdict())
            console.print(measured)
            Path(options.output).write_text(json.dumps(found, indent=1))


def fitted(found: list[Measured]) -> Cost:
    """Fit the cost to what was measured, so that relative errors are small.

    Many workers on one machine are in each other's way, and are left out: the forecast has one on each.
    """
    found, parts = [one for one in found if one.workers <= 4 * one.machines], []
    for work, seconds in (
        (work_of_workers, [one.update for one in found]),
        (work_of_head, [one.seconds - one.update for one in found]),
    ):
        design = np.array([work(one) for one in found]) / np.array(seconds)[:, None]
        parts += nnls(design, np.ones(len(found)))[0].tolist()
    return Cost(*parts)


def forecast(options: argparse.Namespace) -> None:
    """Fit the model of cost, and say what it makes of larger corpora."""
    found = [Measured(**row) for row in json.loads(Path(options.grid).read_text())]
    cost = fitted(found)
    numbers = [f"{1e9 * x:.1f}" for x in cost[:-1]]
    show("Nanoseconds of one thread", list(Cost._fields), [[*numbers, f"{1e3 * cost.rest:.0f} ms"]])
    rows = []
    for one in found:
        sent, received = bytes_of(one.words, one.terms, one.pairs, one.workers, one.machines)
        sizes = (one.sent, sent, one.received, received)
        rows.append(
            [
                *(f"{x:,.0f}" for x in (one.words, one.terms, one.topics, one.pairs)),
                f"{one.workers} x {one.threads}",
                f"{one.seconds:.2f}",
                f"{cost.seconds(one):.2f}",
                *(f"{x / 1e6:.1f}" for x in sizes),
            ]
        )
    columns = ["words", "terms", "topics", "pairs", "workers x threads", "s/sweep", "model"]
    columns += ["MB out", "model", "MB in", "model"]
    show("Measured, and what the model says", columns, rows)
    rows = []
    for name, (words, terms, topics, share) in FORECASTS.items():
        for machines in options.machines:
            pairs = share * terms * topics
            sent, received = bytes_of(words, terms, pairs, machines, machines)
            of = Measured(
                int(words),
                terms,
                topics,
                int(pairs),
                machines,
                machines,
                options.cores,
                0.0,
                0.0,
                sent,
                received,
            )
            seconds = cost.seconds(of, options.bandwidth, options.latency)
            rows.append(
                [
                    name,
                    str(machines),
                    f"{seconds:,.1f}",
                    f"{words / seconds / 1e6:,.0f}",
                    f"{(sent + received) / 1e9:,.2f}",
                    f"{words / machines * BYTES_A_WORD / 1e9:,.1f}",
                ]
            )
    show(
        f"Forecast: machines of {options.cores} cores, {options.bandwidth / 1e9:g} GB/s, "
        f"{options.latency * 1e3:g} ms",
        ["", "machines", "s/sweep", "M words/s", "GB by the coordinator", "GB of seats a machine"],
        rows,
    )


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("speed")
    one.add_argument("--words", type=float, default=20e6)
    one.add_argument("--terms", type=int, default=20_000)
    one.add_argument("--topics", type=int, default=100)
    one.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    one.add_argument("--trials", type=int, default=10)
    one.set_defaults(run=speed)
    two = commands.add_parser("grid")
    two.add_argument("--output", default="grid.json")
    two.add_argument("--shapes", nargs="*", default=["1x1", "1x2", "2x1"], help="workers x threads of each")
    two.set_defaults(run=grid)
    one.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    one.add_argument("--each", type=int, help="threads of a worker")
    for each in (one, two):
        each.add_argument("--ray", default="local")
        each.add_argument("--sweeps", type=int, default=TIMED)
    three = commands.add_parser("forecast")
    three.add_argument("--grid", default=Path(__file__).with_name("cluster_grid.json"))
    three.add_argument("--machines", type=int, nargs="*", default=[1, 4, 16, 64])
    three.add_argument("--cores", type=int, default=16)
    three.add_argument("--bandwidth", type=float, default=1.25e9, help="bytes per second (10 Gbit)")
    three.add_argument("--latency", type=float, default=1e-3)
    three.set_defaults(run=forecast)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
