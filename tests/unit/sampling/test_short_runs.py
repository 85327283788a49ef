"""The short runs before the chains of a fit: what they are made of, threads, Ctrl-C, time and monitors."""

import io
import math
import os
import re
import signal
import time
from contextlib import nullcontext

import numpy as np
import pytest
from rich.console import Console

from franchise import Chain, FranchiseError
from franchise._progress import LiveMonitor, LogMonitor, Monitor, NotebookMonitor, monitor_for
from franchise.sampling import short_runs
from franchise.sampling.run import run_chains
from franchise.sampling.short_runs import FEWEST_DOCUMENTS, SHARE
from tests.golden.fingerprint import in_bits
from tests.raising import raises
from tests.settings import plan_of
from tests.unit.sampling.short import (
    CORPUS,
    NUMBER,
    SETTINGS,
    SWEEPS,
    before_short_sweeps,
    by_hand,
    new_chains,
    short_chains,
    shorten,
)

FINDING = "finding topics to start from"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    shorten(monkeypatch)


def same_runs(one, other):
    return np.array_equal(one.run, other.run) and (one.topics != other.topics).nnz == 0


# ---------------------------------------------------------------- what they are


def test_each_run_has_its_own_documents_in_its_own_order():
    runs = short_chains(new_chains()[0].priors, 8)
    size = math.ceil(SHARE * CORPUS.n_documents)
    assert len(runs) == NUMBER
    assert [run.corpus.n_documents for run in runs] == [size] * NUMBER
    assert size < CORPUS.n_documents >= FEWEST_DOCUMENTS
    texts = {run.corpus.x.tobytes() for run in runs}
    assert len(texts) == NUMBER
    assert len({run.number for run in runs}) == NUMBER
    again = short_chains(new_chains()[0].priors, 8)
    assert [run.corpus.x.tobytes() for run in again] == [run.corpus.x.tobytes() for run in runs]
    others = short_chains(new_chains()[0].priors, 9)
    assert not texts & {run.corpus.x.tobytes() for run in others}


def test_runs_of_a_sampled_eta_have_a_fixed_one():
    plan = new_chains(eta=(1.0, 1.0))[0].priors
    assert {run.priors.eta for run in short_chains(plan, 8)} == {0.1}


def test_a_chain_alone_cannot_start_from_what_runs_agree_on():
    for start in ("consensus", "counts"):
        with raises(FranchiseError, "start-not-prepared", repr(start)):
            Chain(CORPUS, init=start, random_state=0).run(1)


# ---------------------------------------------------------------- the same bits


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("engine", ["collapsed", "parallel"])
def test_chains_are_those_started_from_the_same_topics_by_hand(jobs, engine):
    """What happens after the start is the same as from any other topics, and threads change nothing."""
    chains, others = new_chains(engine=engine), by_hand(engine=engine)
    assert run_chains(chains, jobs=jobs) == "complete"
    assert [in_bits(chain) for chain in chains] == [in_bits(chain) for chain in others]
    assert same_runs(chains[0].runs, others[0].runs)
    assert all(chain.runs is chains[0].runs for chain in chains)
    assert all(chain.first_topics is None for chain in chains)  # large, and of no use any more


def test_chains_of_several_corpora_in_one_run_have_topics_of_their_own():
    """As `tune_eta` runs them: none may start from documents that it has to predict."""
    parts = [CORPUS, CORPUS.select(np.arange(100)), CORPUS]
    plans = [plan_of(**{**SETTINGS, "chains": 2, "eta": eta}) for eta in (0.1, 0.1, 0.5)]
    together = [plan.chains(part) for plan, part in zip(plans, parts, strict=True)]
    alone = [plan.chains(part) for plan, part in zip(plans, parts, strict=True)]
    run_chains([chain for chains in together for chain in chains], jobs=2)
    for chains, others in zip(together, alone, strict=True):
        run_chains(others, jobs=1)
        assert [in_bits(chain) for chain in chains] == [in_bits(chain) for chain in others]
        assert same_runs(chains[0].runs, others[0].runs)


def test_chains_that_have_started_need_no_runs(monkeypatch):
    chains = new_chains(sweeps=4)
    run_chains(chains, jobs=2)
    before_short_sweeps(monkeypatch, lambda chain: pytest.fail("a short run was made"))
    for chain in chains:
        chain.reschedule(new_chains()[0].schedule)
    assert run_chains(chains, jobs=2) == "complete"
    assert [chain.sweeps_done for chain in chains] == [6] * 3


# ---------------------------------------------------------------- errors, Ctrl-C and time


@pytest.mark.unix
def test_an_interrupt_ends_the_runs_and_leaves_the_chains_as_they_were(monkeypatch):
    made = []

    def strike(chain):
        made.append(chain.number)
        if len(made) == SWEEPS + 2:  # in the second run
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)

    before_short_sweeps(monkeypatch, strike)
    chains = new_chains()
    assert run_chains(chains, jobs=1) == "interrupted"
    assert len(made) <= SWEEPS + 3
    assert [(len(chain.trace), chain.first_topics, chain.runs) for chain in chains] == [(0, None, None)] * 3
    monkeypatch.undo()
    with pytest.MonkeyPatch.context() as patch:
        shorten(patch)
        assert run_chains(chains, jobs=1) == "complete"
        assert [in_bits(chain) for chain in chains] == [in_bits(chain) for chain in by_hand()]


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_in_a_run_is_raised_and_ends_the_others(monkeypatch, jobs):
    made = []

    def fail(chain):
        made.append(chain.number)
        if len(made) == 2:
            raise MemoryError("mine")
        time.sleep(0.01)

    before_short_sweeps(monkeypatch, fail)
    chains = new_chains()
    with pytest.raises(MemoryError, match="mine"):
        run_chains(chains, jobs=jobs)
    assert len(made) <= 2 + jobs
    assert not any(len(chain.trace) for chain in chains)


def test_a_time_budget_does_not_cut_them_short_and_a_chain_starts(monkeypatch):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_TO_START", 0.3)
    made = []
    before_short_sweeps(monkeypatch, made.append)
    chains = new_chains(sweeps=10**7)
    assert run_chains(chains, jobs=1, time_budget=1e-6) == "out of time"
    assert len(made) == NUMBER * SWEEPS
    assert chains[0].runs.number == NUMBER
    assert len(chains[0].trace) > 0


class Keeping:
    """Writes down which chains are to be kept at once."""

    def __init__(self):
        self.at_once = []

    def keeping(self, chains):
        return nullcontext()

    def save(self, chain, *, now):
        if now:
            self.at_once.append((chain.number, chain.sweeps_done))

    def save_runs(self, chain):
        pass


@pytest.mark.parametrize("init", ["consensus", "one"])
def test_chains_are_kept_as_soon_as_they_have_started_from_short_runs(init):
    """What is lost in a crash is made again, and the short runs take longer than a few sweeps."""
    keeper = Keeping()
    run_chains(new_chains(init=init, sweeps=6), jobs=1, keeper=keeper)
    started = [(number, 0) for number in range(3)]
    assert [one for one in keeper.at_once if one[1] == 0] == (started if init == "consensus" else [])


# ---------------------------------------------------------------- monitors


class Noting(Monitor):
    """Records what it receives, in order."""

    def __init__(self):
        self.told = []

    def preparing(self, what):
        self.told.append(what)

    def swept(self, chain):
        self.told.append("swept")


def test_monitors_hear_of_the_runs_before_chains_start(monkeypatch):
    monkeypatch.setattr(short_runs, "_SECONDS_A_LOOK", 0.01)
    before_short_sweeps(monkeypatch, lambda chain: time.sleep(0.01))
    monitor = Noting()
    run_chains(new_chains(), jobs=1, monitor=monitor)
    first = monitor.told.index("swept")
    assert first > 2
    assert monitor.told[first - 1] == ""  # that is done
    assert set(monitor.told[first:]) == {"swept"}
    numbers = [
        re.fullmatch(rf"{FINDING}: (\d+) of {NUMBER} short runs", told)[1]
        for told in monitor.told[: first - 1]
    ]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 1


def test_a_log_has_lines_of_the_runs(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    monkeypatch.setattr(short_runs, "_SECONDS_A_LOOK", 0.01)
    before_short_sweeps(monkeypatch, lambda chain: time.sleep(0.01))
    stream = io.StringIO()
    chains = new_chains()
    run_chains(chains, jobs=1, monitor=LogMonitor(stream))
    lines = stream.getvalue().splitlines()
    assert [line.startswith(FINDING) for line in lines] == [True] + [False] * (len(lines) - 1)  # one in 10 s
    assert lines[-1].startswith("chain 2  done")


def test_a_log_of_the_runs_has_no_lines_of_chains(monkeypatch):
    """Chains wait for the short runs: only how far these are is worth a line."""
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    monkeypatch.setattr(short_runs, "_SECONDS_A_LOOK", 0.01)
    before_short_sweeps(monkeypatch, lambda chain: time.sleep(0.01))
    stream = io.StringIO()
    run_chains(new_chains(), jobs=1, monitor=LogMonitor(stream, seconds=0.05))
    lines = stream.getvalue().splitlines()
    n_told = sum(line.startswith(FINDING) for line in lines)
    assert n_told > 1
    assert all(line.startswith(FINDING) for line in lines[:n_told])


def test_a_heading_comes_first_and_once(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    stream = io.StringIO()
    run_chains(new_chains(), jobs=1, monitor=monitor_for(1, stream, heading="Chosen: this"))
    lines = stream.getvalue().splitlines()
    assert [line == "Chosen: this" for line in lines] == [True] + [False] * (len(lines) - 1)
    assert len(lines) > 1


def test_a_heading_is_above_a_table(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", -1.0)
    stream = io.StringIO()
    monitor = LiveMonitor(Console(file=stream, force_terminal=True, width=80), heading="Chosen: this")
    monitor.begin(new_chains(init="one", chains=2))
    monitor.end()
    shown = stream.getvalue()
    assert 0 <= shown.rindex("Chosen: this") < shown.rindex("starting")


def test_a_quick_run_shows_no_heading():
    stream = io.StringIO()
    run_chains(new_chains(init="one"), jobs=1, monitor=LogMonitor(stream, heading="Chosen: this"))
    assert stream.getvalue() == ""


def shown_by(monitor):
    facts, _, note = monitor._shown()
    return [fact["phase"] for fact in facts], note


@pytest.mark.parametrize("kind", ["terminal", "notebook"])
def test_a_table_has_a_note_of_the_runs_until_a_chain_starts(kind):
    monitor = LiveMonitor(Console(file=io.StringIO())) if kind == "terminal" else NotebookMonitor()
    chains = new_chains(init="one", chains=2)
    monitor.begin(chains)
    try:
        assert shown_by(monitor) == (["starting"] * 2, "")
        monitor.preparing(f"{FINDING}: 3 of 24 short runs")
        assert shown_by(monitor) == (["starting"] * 2, f"{FINDING}: 3 of 24 short runs")
        chains[0].start()
        assert shown_by(monitor) == (["burn-in", "starting"], "")
    finally:
        monitor.end()


def test_the_note_can_be_read_on_a_terminal(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", -1.0)
    stream = io.StringIO()
    monitor = LiveMonitor(Console(file=stream, force_terminal=True, width=80))
    monitor.begin(new_chains(init="one", chains=2))
    monitor.preparing(f"{FINDING}: 3 of 24 short runs")
    monitor.end()
    assert f"{FINDING}: 3 of 24 short runs" in stream.getvalue()


def test_the_time_of_the_runs_is_no_time_of_sweeps(monkeypatch):
    """The remaining time is estimated from the sweeps alone."""
    monitor = LogMonitor(io.StringIO())
    chains = new_chains(init="one", chains=1, sweeps=1000)
    monitor.begin(chains)
    began = monitor._rows[0].begun
    monkeypatch.setattr(time, "monotonic", lambda: began + 1e6)
    assert monitor._shown()[0] == [{"chain": "0", "phase": "starting"}]
    monkeypatch.undo()
    monkeypatch.setattr(time, "monotonic", lambda: began + 1e6 + 2.0)
    chains[0].run(2)
    assert monitor._shown()[0][0]["left"] == "16:38"  # a second per sweep, 998 more
    monitor.end()
