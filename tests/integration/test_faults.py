"""A sweep is whole or has not happened: an error at any point of it leaves the last whole checkpoint.

An error is raised at every line that a sweep runs through, in every chain, as a MemoryError may be; the run
that is then resumed from disk ends like one that was never interrupted.
"""

import shutil
import sys
import threading

import pytest

from franchise import FranchiseError, ModelError, SplitMerge
from franchise.sampling import Timetable
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan, starts_of
from franchise.sampling.run import run_chains
from franchise.storage.chain import save_chain
from franchise.storage.checkpoints import Checkpoints, load_chains
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, in_bits
from tests.integration.package import may_fail
from tests.raising import raises

pytestmark = pytest.mark.slow

SAVED, STRUCK, SWEEPS = 3, 5, 7
NEVER = 1e9  # seconds between checkpoints: only the end of a run saves
CHAINS = 3


def plan(sweeps=SWEEPS):
    trials = SplitMerge(keep_trials=True)
    schedule = Timetable(sweeps=sweeps, burn_in=SAVED, thin=1, split_merge=trials)
    return Plan(priors=PRIORS, schedule=schedule, starts=starts_of("apart", CHAINS), seed=11)


def everything(chain):
    draws = [draw.topic_terms.toarray().tolist() for draw in (*chain.draws, chain.mode)]
    return in_bits(chain), chain.events, chain.trials, draws


class Fault:
    """Raises at the n-th different line that a sweep of one chain runs through; none when n is None."""

    def __init__(self, number, n=None):
        self.number, self.n, self.lines, self.inside = number, n, set(), False

    def trace(self, frame, event, _):
        if frame.f_code is Chain.sweep.__wrapped__.__code__:
            chain = frame.f_locals["self"]
            self.inside = chain.number == self.number and chain.sweeps_done == STRUCK - 1
        if not self.inside or not may_fail(frame.f_code.co_filename):
            return None
        return self._line

    def _line(self, frame, event, _):
        line = frame.f_code.co_filename, frame.f_lineno
        if event == "line" and line not in self.lines:
            self.lines.add(line)
            if len(self.lines) - 1 == self.n:
                raise MemoryError(f"{frame.f_code.co_name}:{frame.f_lineno}")
        if event == "return" and frame.f_code is Chain.sweep.__wrapped__.__code__:
            self.inside = False
        return self._line

    def __enter__(self):
        self._before = sys.gettrace()
        threading.settrace(self.trace)  # the chains run in a thread
        return self

    def __exit__(self, *_):
        threading.settrace(self._before)


def run_from(folder, fault):
    """Take up the run of a folder, with a fault on the way."""
    with fault:
        run_chains(
            load_chains(plan(), folder, arithmetic_corpus()), jobs=1, keeper=Checkpoints(folder, NEVER)
        )


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A run that has been saved after a few sweeps."""
    folder = tmp_path_factory.mktemp("begun")
    run_chains(plan(SAVED).chains(arithmetic_corpus()), jobs=1, keeper=Checkpoints(folder, NEVER))
    return folder


@pytest.fixture(scope="module")
def whole():
    chains = plan().chains(arithmetic_corpus())
    run_chains(chains)
    return [everything(chain) for chain in chains]


@pytest.mark.parametrize("number", range(CHAINS))
def test_an_error_at_any_line_of_a_sweep(number, begun, whole, tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)  # it takes most of the time
    lines = Fault(number)
    run_from(shutil.copytree(begun, tmp_path / "counted"), lines)
    assert len(lines.lines) > 80, "the sweep runs through more lines than that"
    for n in range(len(lines.lines)):
        folder = shutil.copytree(begun, tmp_path / str(n))
        with pytest.raises(MemoryError) as caught:
            run_from(folder, Fault(number, n))
        saved = load_chains(plan(), folder, arithmetic_corpus())
        where = f"{caught.value} in chain {number}"
        assert saved[number].sweeps_done in (SAVED, STRUCK - 1), where
        assert all(len(chain.trace) == chain.sweeps_done + 1 for chain in saved), where
        run_chains(saved, jobs=1, keeper=Checkpoints(folder, NEVER))
        assert [everything(chain) for chain in saved] == whole, where
        shutil.rmtree(folder)


def test_a_chain_that_was_cut_off_goes_no_further(monkeypatch, tmp_path):
    (chain, *_) = plan().chains(arithmetic_corpus())
    chain.run(2)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(chain.engine.sampler, "draw_tables", fail)
    with pytest.raises(MemoryError):
        chain.sweep()
    assert not chain.is_whole
    assert (chain.sweeps_done, len(chain.trace)) == (2, 3)
    monkeypatch.undo()
    with raises(FranchiseError, "chain-cut-off", "chain 0", "sweep after 2;"):
        chain.sweep()
    with raises(ModelError, "nothing-to-save", tmp_path / "chain", "chain 0"):
        save_chain(chain, tmp_path / "chain")
    assert not (tmp_path / "chain").exists()


def test_an_error_in_the_start_leaves_nothing(monkeypatch, tmp_path):
    chains = plan().chains(arithmetic_corpus())

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(chains[1].engine, "numbers", fail)
    with pytest.raises(MemoryError):
        run_chains(chains, jobs=1, keeper=Checkpoints(tmp_path, NEVER))
    again = load_chains(plan(), tmp_path, arithmetic_corpus())
    assert len(again[1].trace) == 0
    with raises(FranchiseError, "chain-cut-off", "chain 1"):
        chains[1].start()
