"""This library compared with other programs, by one score, in CPU seconds of each program's own work.

    python -m benchmarks.peers                          a planted corpus, every peer that is here
    python -m benchmarks.peers --data FOLDER            also reuters.npz and ap.npz of that folder
    python -m benchmarks.peers --corpus FILE.ldac       documents of your own (LDA-C, or a split as .npz)
    python -m benchmarks.peers --smoke                  a tiny corpus, a few seconds
    python -m benchmarks.peers --again found.json       the tables and the picture of earlier runs

Peers are this library, tomotopy, gensim and scikit-learn where they are installed (the dependencies `peers`),
and programs that you have built, each found by an environment variable with its path: HDP_PROGRAM
(blei-lab/hdp), HDP_FASTER_PROGRAM (its hdp-faster), HCA_PROGRAM (hca). Missing programs are listed.

Every fit runs in a process of its own, on one thread, with the same eta and as many CPU seconds (not wall
seconds: other work on the machine does less harm so). Compiling, importing and reading are not in them; the
last table has what they cost. The score is document completion (`benchmarks.completion`) by each peer's own
topics and prior weights. *seed*, *order* and *90%* are the shares of words whose topic has a match in a
second fit: with another seed; with another seed and another order of the documents; with another seed and a
random 90% of the documents (`benchmarks.replicability`). *As good* says after how many CPU seconds one state
of this library has, to stay, the score that the peer has at its end; *times sooner* compares that with when
the peer itself came within 0.005 of it.
"""

import argparse
import json
import platform
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from rich.progress import Progress

from benchmarks.peers.corpora import KNOWN, Case, of_file, planted_case, tiny_case
from benchmarks.peers.interface import Settings
from benchmarks.peers.picture import draw
from benchmarks.peers.registry import PEERS, SMOKE, peer_named
from benchmarks.peers.report import replicated, show_all
from benchmarks.peers.runs import Run, measure
from benchmarks.refits import WAYS, documents_of
from benchmarks.replicability import Fit
from benchmarks.tables import console

MOMENTS = (1 / 40, 1 / 20, 1 / 10, 1 / 4, 1 / 2, 1)  # of the budget
SHORT = (0.01,)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and draw."""
    options = parsed(arguments)
    if options.again:
        found = together([json.loads(path.read_text(encoding="utf-8")) for path in options.again])
    else:
        found = measured(options)
    show_all(found)
    if options.out:
        keep(found, options.out)
        paths = [options.out / f"quality.{kind}" for kind in ("svg", "png")]
        draw(found, paths)
        console.print(f"Written: {options.out / 'found.json'}, {paths[0]}, {paths[1]}")


def together(several: list[dict[str, Any]]) -> dict[str, Any]:
    """Put runs on different corpora into one; machine and options are those of the first."""
    first, *others = several
    for one in others:
        for name, corpus in one["corpora"].items():
            if name in first["corpora"]:
                raise SystemExit(f"--again: {name} is in more than one of the files")
            first["corpora"][name] = {"moments": one["options"]["moments"]} | corpus
        first["runs"] += one["runs"]
        first["replicated"] |= one["replicated"]
        first["startup"] += one["startup"]
    return first


def keep(found: dict[str, Any], folder: Path | None) -> None:
    """Write the figures, if there is a folder for them."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "found.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Read the options, and refuse what cannot be done before anything is measured."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="folder with reuters.npz and ap.npz")
    parser.add_argument("--corpus", type=Path, action="append", default=[], help="may be given several times")
    parser.add_argument(
        "--planted-words", type=int, default=250_000, help="of the planted corpus; 0: leave it out"
    )
    parser.add_argument("--peers", nargs="*", help=f"any of: {', '.join(PEERS)}, scikit-learn LDA K")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU seconds for each fit")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--eta", type=float, default=0.1)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, each on one core")
    parser.add_argument("--out", type=Path, help="folder for found.json and the picture (SVG and PNG)")
    parser.add_argument("--again", type=Path, nargs="+", help="found.json of earlier runs: measure nothing")
    parser.add_argument("--no-startup", action="store_true", help="do not measure import and compilation")
    parser.add_argument("--smoke", action="store_true", help="this library and scikit-learn, a few seconds")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.peers = options.peers or list(SMOKE)
        options.seconds, options.planted_words = min(options.seconds, 0.3), 0
    options.peers = options.peers or list(PEERS)
    for name in options.peers:
        try:
            peer_named(name)
        except KeyError:
            parser.error(f"--peers: {name!r} is not one of {', '.join(PEERS)}, scikit-learn LDA K")
    for name in ("seconds", "seeds", "eta", "jobs"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name}: give a number above 0")
    files = [options.data / f"{name}.npz" for name in KNOWN] if options.data else []
    options.files = files + options.corpus
    for path in [*options.files, *(options.again or [])]:
        if not path.is_file():
            parser.error(f"{path}: there is no such file")
    if not (options.files or options.planted_words or options.smoke or options.again):
        parser.error("there is no corpus: give --data or --corpus, or do not say --planted-words 0")
    return options


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """Yield the corpora."""
    if options.smoke:
        yield tiny_case(options.eta)
    yield from (of_file(path, options.eta) for path in options.files)
    if options.planted_words:
        yield planted_case(options.planted_words, options.eta)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run every peer that is here on every corpus with every seed."""
    here = []
    for name in options.peers:
        reason = peer_named(name).available()
        if reason is None:
            here.append(name)
        else:
            console.print(f"{name} is left out: {reason}")
    moments = tuple(options.seconds * share for share in MOMENTS)
    found: dict[str, Any] = {
        "machine": machine(),
        "options": {"eta": options.eta, "moments": moments, "seeds": options.seeds, "jobs": options.jobs},
        "skipped": {name: peer_named(name).available() for name in options.peers if name not in here},
        "corpora": {},
        "runs": [],
        "replicated": {},
        "startup": [],
    }
    if not (options.smoke or options.no_startup):
        found["startup"] = [startup(name, options.eta) for name in here]
    planned = [
        (way, (corpus, name, Settings(options.eta, seed, moments)))
        for case in cases(options)
        for seed, way, corpus in corpora_of_fits(case, options.seeds)
        for name in here
    ]
    work = [one for _, one in planned]
    fits: dict[tuple[str, str], dict[str, list[Fit]]] = {}
    with Progress(console=console, transient=True) as progress:
        results = progress.track(all_of(work, options.jobs), len(work))
        for (way, (case, name, _)), (run, fit) in zip(planned, results):
            if way == "seed":
                found["corpora"].setdefault(case.name, about(case))
                found["runs"].append(run.as_dict())
            elif run.problem:
                console.print(f"{case.name}: {name} failed ({way}): {run.problem}")
            if fit is not None:
                fits.setdefault((case.name, name), {}).setdefault(way, []).append(fit)
            keep(found, options.out)  # what is stopped leaves what it had
    for (corpus, name), own in fits.items():
        found["replicated"].setdefault(corpus, {})[name] = replicated(own)
    return found


def corpora_of_fits(case: Case, seeds: int) -> Iterator[tuple[int, str, Case]]:
    """Yield the seed, the way (`benchmarks.refits`) and the corpus of every fit, the first fit first."""
    for seed in range(seeds):
        for way in WAYS if seed else WAYS[:1]:
            documents = documents_of(way, case.training.n_documents, seed)
            yield seed, way, case._replace(training=case.training.select(documents))


def all_of(work: list[Any], jobs: int) -> Iterator[tuple[Run, Fit | None]]:
    """Measure in turn, or several at a time."""
    if jobs == 1:
        yield from (measure(*one) for one in work)
        return
    # Spawned, not forked: compiled code and threads do not like to be forked.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(measure, *zip(*work, strict=True))


def about(case: Case) -> dict[str, Any]:
    """Return the sizes of a corpus, and the scores to compare with."""
    training = case.training
    sizes = {"documents": training.n_documents, "words": training.n_words, "terms": training.n_terms}
    return sizes | {"floor": case.floor, "truth": case.truth}


def startup(name: str, eta: float) -> dict[str, Any]:
    """Measure import and a tiny fit, where a peer compiles also without compiled code."""
    case, settings, first = tiny_case(eta), Settings(eta, 0, SHORT), None
    if peer_named(name).compiles:
        with TemporaryDirectory() as empty:
            first = measure(case, name, settings, Path(empty))[0].until_first_seconds
        measure(case, name, settings)  # so that the next finds what was compiled
    run, _ = measure(case, name, settings)
    return run.as_dict() | {"first_ever_seconds": first}


def machine() -> dict[str, Any]:
    """Return what the figures are to be read with."""
    models = []
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": joblib.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
