"""Do all that users do that ends in a kernel, and print how often each kernel was compiled.

Kernels are found, not listed: one that is new, and not made use of here, shows as compiled 0 times.
"""

import pickle
import pkgutil
import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array

import franchise
from franchise import Chain, Corpus, HDPTopicModel, Priors, Schedule, SplitMerge, from_counts, from_tokens
from franchise.compat.options import HdpOptions
from franchise.compat.test_mode import test
from franchise.compat.train import train
from franchise.corpus import draw_hdp, five_topics
from franchise.engines import ENGINES
from franchise.engines.engine import EngineSettings, Trials
from franchise.engines.starts.dispersion import estimate_concentration
from franchise.engines.starts.em import first_topics
from franchise.engines.starts.number_of_topics import choose_number
from franchise.model.table_words import group_tables, new_gather_scratch
from franchise.random import Key
from franchise.sampling import Timetable
from tests.host_device import COMPILER, HostDevice
from tests.reference.gpu_runs import on_device
from tests.reference.workers import WorkersHere

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1]])
PRIORS = [Priors(), Priors(alpha=1, gamma=2, eta=(1, 1)), Priors(alpha=(1, 2), gamma=0.5, eta=1)]


def corpora() -> list[Corpus]:
    """Return corpora made in every way: their arrays must have the same types."""
    made = [
        from_tokens([["a", "b"], [], ["b"]]),
        from_counts(COUNTS),
        from_counts(csr_array(COUNTS.astype(np.float32))),
        Corpus(np.array([0, 1], np.int64), np.array([0, 2], np.int32), ["a", "b"]),
        five_topics(0).corpus,
        five_topics(0).corpus.select([1, 2]),
        draw_hdp(document_lengths=[3, 2], n_terms=2, alpha=1.0, gamma=1.0, eta=1.0, seed=0).corpus,
    ]
    return [*made, pickle.loads(pickle.dumps(made[0]))]


def run_chains() -> None:
    for number, corpus in enumerate(corpora()):
        for priors in PRIORS:
            for start in ("sequential", "one", "fitted", 3, np.int64(2)):
                for concentrations in ("slice", "auxiliary"):
                    schedule = Timetable(sweeps=2, burn_in=0, concentrations=concentrations)
                    Chain(corpus, priors, schedule, random_state=number, init=start, capacity=1).run()
        for priors in (*PRIORS, Priors(eta=1e-100)):
            schedule = Timetable(sweeps=4, burn_in=2, merges=(1, 2))
            Chain(corpus, priors, schedule, init=9, engine="parallel", n_jobs=2, random_state=0).run()
            Chain(
                corpus, priors, Timetable(sweeps=4, burn_in=0), engine="parallel", n_jobs=2, random_state=0
            ).run()
            for start in ("one", "fitted", 3):
                schedule = Timetable(sweeps=4, burn_in=2, merges=(1, 2))
                Chain(
                    corpus, priors, schedule, init=start, engine="cells", capacity=1, n_jobs=2, random_state=0
                ).run()


def look_at_tables() -> None:
    for counts in (np.arange(1, 241).reshape(30, 8) % 13, csr_array(np.eye(25, dtype=int) * 9 + 4)):
        cells = from_counts(counts).cells
        estimate_concentration(cells, choose_number(cells, 0).topics, 0)


def run_chains_that_take_turns() -> None:
    """Documents that take turns, so that trials list the tables of their topics, similar ones too."""
    for corpus in (from_counts(30_000 * COUNTS), from_counts(csr_array(30_000 * COUNTS))):
        for threads in (1, 2):
            schedule = Timetable(sweeps=4, burn_in=0, split_merge=SplitMerge(trials=20))
            Chain(
                corpus,
                schedule=schedule,
                init=40,
                engine="parallel",
                n_jobs=threads,
                capacity=1,
                random_state=0,
            ).run()


def run_chains_on_workers() -> None:
    for corpus in corpora():
        for start in ("one", "fitted", 3):
            chain = Chain(
                corpus,
                schedule=Timetable(sweeps=4, burn_in=2, merges=(1, 2)),
                init=start,
                engine="ray",
                capacity=1,
                random_state=0,
            )
            chain.use_workers(WorkersHere(corpus, 2, threads=2))
            chain.run()


def run_chains_for_a_gpu() -> None:
    """What the engine on a GPU does on the host, where its kernels can be compiled for the host."""
    if COMPILER is None:
        group_tables(np.zeros(3, np.int32), np.array([0, 3]), new_gather_scratch(1, 3), 0, 1)
        return
    with on_device(HostDevice()):
        for corpus, start in product(corpora(), ("one", "fitted", "sequential", 3)):
            settings = EngineSettings(Priors(eta=(1, 1)), capacity=1, threads=2)
            engine = ENGINES["gpu"].new(corpus, settings)
            engine.start(Key(0, 0, 0, 0), first_topics(start, corpus, settings.priors, 0))
            for sweep in (1, 2):
                engine.sweep(Key(0, 0, sweep, 0), Trials(20, SplitMerge().as_array()), merge=True)
                engine.numbers()
            engine.counts()
            engine.restore(engine.arrays())


def use_models(folder: Path) -> None:
    """Fit, save, load and resume a model, and ask it about new documents."""
    model = HDPTopicModel(
        chains=2, sweeps=4, burn_in=0, schedule=Schedule(thin=1), verbose=0, random_state=0
    ).fit(COUNTS)
    model.save(folder / "model")
    loaded = HDPTopicModel.load(folder / "model").resume(2)
    for asked, new in ((model, COUNTS), (loaded, csr_array(COUNTS))):
        asked.transform(new)
        for method in ("completion", "left-to-right", "paper"):
            asked.held_out(new, method)


def run_the_papers_program(folder: Path) -> None:
    data, directory = folder / "words.ldac", folder / "program"
    data.write_text("2 0:2 2:1\n0\n2 1:3 2:1\n")
    options = {"data": data, "directory": directory, "max_iter": 2, "random_seed": 1}
    train(HdpOptions(algorithm="train", sample_hyper=True, split_merge=True, **options))
    test(HdpOptions(algorithm="test", saved_model=directory / "final.bin", **options))


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(franchise.__path__, "franchise."):
        if not found.name.endswith("__main__"):
            yield import_module(found.name)


def kernels() -> dict[str, Dispatcher]:
    """Return every kernel of the library by its name: what is compiled and kept on disk."""
    values = [value for module in modules() for value in vars(module).values()]
    kept = [value for value in values if isinstance(value, Dispatcher) and value.stats.cache_path is not None]
    return {f"{kernel.py_func.__module__}.{kernel.__name__}": kernel for kernel in kept}


if __name__ == "__main__":
    run_chains()
    look_at_tables()
    run_chains_that_take_turns()
    run_chains_on_workers()
    run_chains_for_a_gpu()
    with tempfile.TemporaryDirectory() as temporary:
        use_models(Path(temporary))
        run_the_papers_program(Path(temporary))
    for name, kernel in sorted(kernels().items()):
        print(len(kernel.signatures), name, *kernel.signatures, sep=" | ")
