"""Checkpoints of large chains are written while the chain continues: one at a time, complete or not."""

import itertools
import shutil
import threading
import time

import pytest

from franchise import ModelError
from franchise.sampling import Timetable
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan, starts_of
from franchise.sampling.run import run_chains
from franchise.storage import chain as storage
from franchise.storage.checkpoints import Checkpoints, load_chains
from franchise.storage.draws import is_large
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, in_bits
from tests.raising import raises
from tests.reference.chains import ALONE

SWEEPS, PATIENCE = 12, 60.0  # seconds, for what takes none


def plan(chains=1):
    schedule = Timetable(sweeps=SWEEPS, burn_in=2, thin=1)
    return Plan(priors=PRIORS, schedule=schedule, starts=starts_of("sequential", chains), seed=8)


def everything(chain):
    draws = [draw.document_topics.toarray().tolist() for draw in (*chain.draws, chain.mode)]
    return in_bits(chain), chain.events, draws


@pytest.fixture(scope="module")
def whole():
    chains = plan(2).chains(arithmetic_corpus())
    run_chains(chains, jobs=1)
    return [everything(chain) for chain in chains]


@pytest.fixture(autouse=True)
def all_is_large(monkeypatch):
    monkeypatch.setattr("franchise.storage.checkpoints._LARGE", 0)
    monkeypatch.setattr("franchise.storage.chain._LARGE", 0)
    monkeypatch.setattr("franchise.storage.draws.LARGE_DRAW", 0)


class Disk:
    """Writes what checkpoints write, when it is allowed to; records the threads."""

    def __init__(self, monkeypatch):
        self.go_on, self.began, self.ended, self.threads = threading.Event(), 0, 0, set()
        self.errors = iter(())  # of the next writes
        self._write = storage.write_arrays
        monkeypatch.setattr(storage, "write_arrays", self.write)

    def write(self, *arguments):
        self.began += 1
        self.threads.add(threading.current_thread().name)
        assert self.go_on.wait(PATIENCE), "the disk was never released"
        if error := next(self.errors, None):
            raise error
        self._write(*arguments)
        self.ended += 1


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.001)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seconds", [0, 1e9])
def test_the_same_bits(tmp_path, whole, jobs, seconds):
    chains = plan(2).chains(arithmetic_corpus())
    run_chains(chains, jobs=jobs, keeper=Checkpoints(tmp_path, seconds))
    assert [everything(chain) for chain in chains] == whole
    assert [everything(chain) for chain in load_chains(plan(2), tmp_path, arithmetic_corpus())] == whole
    assert not any(is_large(draw) for chain in chains for draw in (*chain.draws, chain.mode))
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_slow_disk_does_not_stop_the_sweeps(tmp_path, whole, monkeypatch):
    disk = Disk(monkeypatch)
    seen = []

    def watch(chain):
        seen.append((chain.sweeps_done, disk.began, disk.ended))
        if chain.sweeps_done == 4:
            wait_for(lambda: disk.began)
            shutil.copytree(tmp_path / "all", tmp_path / "before")
            disk.go_on.set()
            wait_for(lambda: disk.ended)
            shutil.copytree(tmp_path / "all", tmp_path / "after")

    (chain,) = chains = plan().chains(arithmetic_corpus())
    run_chains(chains, jobs=1, keeper=Checkpoints(tmp_path / "all", 0), callback=watch)
    # The start was being written all the while; nothing else was begun, and nothing was there before.
    assert [(sweep, ended) for sweep, _, ended in seen[:5]] == [(sweep, 0) for sweep in range(5)]
    assert max(began for _, began, _ in seen[:5]) <= 1
    assert any(name.startswith("checkpoints") for name in disk.threads)
    assert everything(chain) == whole[0]
    monkeypatch.undo()
    assert not load_chains(plan(), tmp_path / "before", arithmetic_corpus())[0].trace
    # The file has the state at the start of the checkpoint, whatever the chain did meanwhile.
    (taken,) = load_chains(plan(), tmp_path / "after", arithmetic_corpus())
    assert taken.sweeps_done == 0
    taken.run()
    assert everything(taken) == whole[0]


def test_draws_do_not_pile_up_before_a_slow_disk(tmp_path, monkeypatch):
    """They are kept from the third sweep on; when three wait in memory, so does the chain."""
    disk, held = Disk(monkeypatch), []

    def watch(chain):
        held.append(sum(map(is_large, chain.draws)))

    chains = plan().chains(arithmetic_corpus())
    run = threading.Thread(
        target=run_chains, args=(chains,), kwargs={"keeper": Checkpoints(tmp_path, 0), "callback": watch}
    )
    run.start()
    wait_for(lambda: len(held) == 5)  # the start, two sweeps of the burn-in, two draws
    time.sleep(0.2)
    assert len(held) == 5
    disk.go_on.set()
    run.join(PATIENCE)
    assert len(held) == SWEEPS + 1
    assert max(held) <= 3


def test_draws_are_written_before_the_checkpoint_that_mentions_them(tmp_path):
    seen = []

    def watch(chain):
        wait_for(
            lambda: len(list((tmp_path / "0").rglob("draws/*.safetensors"))) >= max(0, chain.sweeps_done - 4)
        )
        seen.append(sum(map(is_large, chain.draws)))

    chains = plan().chains(arithmetic_corpus())
    run_chains(chains, jobs=1, keeper=Checkpoints(tmp_path, 1e9), callback=watch)
    assert max(seen) <= 3
    assert sum(map(is_large, chains[0].draws)) == 0


def test_an_error_of_the_disk_ends_the_run_and_leaves_the_last_checkpoint(tmp_path, whole, monkeypatch):
    disk = Disk(monkeypatch)
    disk.go_on.set()

    def fail(chain):
        if chain.sweeps_done == 6:
            wait_for(lambda: disk.ended)
            disk.errors = itertools.repeat(ModelError("the disk is full", code="cannot-write"))

    chains = plan().chains(arithmetic_corpus())
    with raises(ModelError, "cannot-write", "the disk is full"):
        run_chains(chains, jobs=1, keeper=Checkpoints(tmp_path, 0), callback=fail)
    monkeypatch.setattr(storage, "write_arrays", disk._write)
    (saved,) = load_chains(plan(), tmp_path, arithmetic_corpus())
    assert 0 <= saved.sweeps_done <= 7
    run_chains([saved], jobs=1, keeper=Checkpoints(tmp_path, 0))
    assert everything(saved) == whole[0]
    # Nor has the chain in memory lost anything.
    run_chains(chains, jobs=1)
    assert everything(chains[0]) == whole[0]


def test_the_rows_of_a_narrower_trace_do_not_stay(tmp_path):
    """The start has fewer columns than a sweep, and files of other names."""
    narrow, chains = set(), plan().chains(arithmetic_corpus())

    def look(_):
        narrow.update(path.name for path in (tmp_path / "0").glob("trace-*.rows"))

    run_chains(chains, keeper=Checkpoints(tmp_path, 0), callback=look)
    there = {path.name for path in (tmp_path / "0").glob("trace-*.rows")}
    assert there == {f"trace-{len(chains[0].trace.columns)}.rows"}
    assert narrow - there
    assert [everything(chain) for chain in load_chains(plan(), tmp_path, arithmetic_corpus())] == [
        everything(chain) for chain in chains
    ]


def test_files_of_earlier_checkpoints_go_while_a_run_lasts(tmp_path):
    """A checkpoint leaves the files of the one before, which someone may be reading, and no others."""
    (chain,) = plan().chains(arithmetic_corpus())
    writer, rows, modes = storage.ChainWriter(tmp_path), [], []
    chain.start()
    for _ in range(SWEEPS):
        writer.save(chain)
        rows.append(len([*tmp_path.glob("trace-*.rows")]))
        modes.append(len([*tmp_path.glob("mode/*")]))
        chain.sweep()
    assert (rows[:3], set(rows[2:])) == ([1, 2, 1], {1})
    assert max(modes) == 2


def test_saved_chains_are_made_once(tmp_path, monkeypatch):
    run_chains(plan(2).chains(arithmetic_corpus()), jobs=1, keeper=Checkpoints(tmp_path, 0))
    made, new = [], storage.Chain.__init__

    def counted(chain, *arguments, **options):
        made.append(options["number"])
        new(chain, *arguments, **options)

    monkeypatch.setattr(storage.Chain, "__init__", counted)
    load_chains(plan(3), tmp_path, arithmetic_corpus())
    assert sorted(made) == [0, 1, 2]


def test_what_failed_once_is_written_again(tmp_path, whole, monkeypatch):
    """The run ends with the error, but first every chain is saved, this one too if the disk has recovered."""
    disk = Disk(monkeypatch)
    disk.go_on.set()

    def fail(chain):
        if chain.sweeps_done == 6:
            disk.errors = iter([ModelError("for a moment", code="cannot-write")])

    chains = plan().chains(arithmetic_corpus())
    with raises(ModelError, "cannot-write", "for a moment"):
        run_chains(chains, jobs=1, keeper=Checkpoints(tmp_path, 0), callback=fail)
    (saved,) = load_chains(plan(), tmp_path, arithmetic_corpus())
    assert saved.sweeps_done == chains[0].sweeps_done >= 6
    saved.run()
    assert everything(saved) == whole[0]


def test_small_checkpoints_are_written_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.storage.checkpoints._LARGE", 2**24)
    monkeypatch.setattr("franchise.storage.draws.LARGE_DRAW", 2**22)
    disk = Disk(monkeypatch)
    disk.go_on.set()
    run_chains(plan().chains(arithmetic_corpus()), jobs=1, keeper=Checkpoints(tmp_path, 0))
    assert disk.ended == SWEEPS + 1
    assert not any(name.startswith("checkpoints") for name in disk.threads)


@pytest.mark.parametrize("engine", ALONE)
def test_what_a_checkpoint_takes_does_not_change_with_the_chain(tmp_path, engine):
    chain = Chain(
        arithmetic_corpus(),
        PRIORS,
        Timetable(sweeps=9, burn_in=1, thin=1),
        random_state=3,
        init=3,
        engine=engine,
    )
    chain.run(3)
    writer = storage.ChainWriter(tmp_path / "taken")
    expected = {name: array.copy() for name, array in chain.engine.arrays().items()}
    taken = writer.take(chain)
    chain.run(3)
    for name, array in expected.items():
        assert taken.arrays[f"engine.{name}"].tobytes() == array.tobytes()
    writer.write(taken)
    again = storage.load_chain(tmp_path / "taken", chain.corpus)
    assert again.sweeps_done == 3
    again.run(3)
    for name, array in chain.engine.arrays().items():
        assert again.engine.arrays()[name].tobytes() == array.tobytes()
    assert again.trace["log_joint"].tobytes() == chain.trace["log_joint"].tobytes()
