import io
import os
import re
import signal
import sys
import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import joblib
import pytest
from rich.console import Console

from franchise import Chain, ModelError, Priors, SettingsError, SplitMerge
from franchise._folders import locked
from franchise._progress import LiveMonitor, LogMonitor, Monitor, NotebookMonitor, monitor_for
from franchise._threads import threads
from franchise.sampling import Timetable
from franchise.sampling.plan import Plan, extend, least_burn_in, starts_of
from franchise.sampling.run import run_chains
from franchise.storage.chain import load_chain, saved_chains
from franchise.storage.checkpoints import Checkpoints, load_chains
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, in_bits
from tests.raising import raises
from tests.settings import plan_of

SWEEPS = 12
ENDLESS = 10**7


def plan(sweeps=SWEEPS, chains=3):
    schedule = Timetable(sweeps=sweeps, burn_in=4, thin=2)
    return Plan(priors=PRIORS, schedule=schedule, starts=starts_of("apart", chains), seed=11)


def new_chains(sweeps=SWEEPS, chains=3):
    return plan(sweeps, chains).chains(arithmetic_corpus())


def one_after_another(sweeps=SWEEPS):
    chains = new_chains(sweeps)
    for chain in chains:
        chain.run()
    return [in_bits(chain) for chain in chains]


@pytest.mark.parametrize("jobs", [1, 2, 4, None])
def test_threads_change_nothing(jobs):
    chains = new_chains()
    assert run_chains(chains, jobs=jobs) == "complete"
    assert [in_bits(chain) for chain in chains] == one_after_another()


def test_chains_that_are_done_are_left_alone():
    chains = new_chains()
    run_chains(chains)
    before = [in_bits(chain) for chain in chains]
    assert run_chains(chains) == "complete"
    assert [in_bits(chain) for chain in chains] == before


def test_one_thread_takes_the_chains_in_turn():
    """So that a run that is stopped leaves chains of about the same length."""
    chains = new_chains(ENDLESS)
    assert run_chains(chains, jobs=1, time_budget=3.0) == "out of time"
    assert all(chain.sweeps_done > 0 for chain in chains)


class Slow(Chain):
    """Takes a known time for its start and for each sweep, the processor's share in it being small."""

    A_START, A_SWEEP = 1.5, 0.2

    def start(self):
        time.sleep(self.A_START)
        super().start()

    def sweep(self):
        time.sleep(self.A_SWEEP)
        super().sweep()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("budget", [0.05, 1.8])
def test_a_time_budget_holds_within_the_length_of_a_sweep(jobs, budget):
    new_chains()[0].run()  # compiled
    chains = [
        Slow(chain.corpus, chain.priors, chain.schedule, number=chain.number) for chain in new_chains(ENDLESS)
    ]
    began = time.monotonic()
    assert run_chains(chains, jobs=jobs, time_budget=budget) == "out of time"
    # A start that was begun first of all is not cut short; none is begun that would end too late.
    a_moment = 0.6  # for what the processor has to do, which others may be using
    assert time.monotonic() - began < max(budget + Slow.A_SWEEP, Slow.A_START) + a_moment
    assert sum(len(chain.trace) > 0 for chain in chains) == jobs


@pytest.mark.unix
def test_an_interrupt_ends_the_run_and_can_be_gone_on_from():
    chains = new_chains(ENDLESS)
    before = signal.getsignal(signal.SIGINT)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert run_chains(chains, jobs=2) == "interrupted"
    assert signal.getsignal(signal.SIGINT) is before
    for chain in chains:
        again = new_chains(max(1, chain.sweeps_done))[chain.number]
        assert len(chain.trace) == chain.sweeps_done + 1 or not len(chain.trace)
        if chain.sweeps_done:
            again.schedule = chain.schedule
            again.run(chain.sweeps_done)
            assert in_bits(chain) == in_bits(again)


def test_the_callback_sees_every_sweep_one_at_a_time():
    seen, inside = [], threading.Lock()

    def callback(chain):
        assert inside.acquire(blocking=False)
        seen.append((chain.number, chain.sweeps_done))
        time.sleep(0.001)
        inside.release()

    run_chains(new_chains(), jobs=3, callback=callback)
    assert sorted(seen) == [(i, sweep) for i in range(3) for sweep in range(SWEEPS + 1)]


def test_an_error_in_the_callback_is_raised_and_nothing_is_lost(tmp_path):
    def callback(chain):
        if chain.sweeps_done == 5:
            raise ZeroDivisionError("mine")

    chains = new_chains()
    with pytest.raises(ZeroDivisionError, match="mine"):
        run_chains(chains, jobs=2, callback=callback, keeper=Checkpoints(tmp_path))
    for i in saved_chains(tmp_path):
        assert in_bits(load_chain(tmp_path / str(i), chains[i].corpus)) == in_bits(chains[i])
    assert run_chains(chains) == "complete"
    assert [in_bits(chain) for chain in chains] == one_after_another()


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_resumed_at_every_checkpoint(tmp_path, jobs):
    """A run that is resumed from disk after every single sweep, with any number of threads."""
    whole = one_after_another()
    corpus = arithmetic_corpus()
    for sweeps in range(4, SWEEPS + 1):
        chains = load_chains(plan(sweeps), tmp_path, corpus)
        run_chains(chains, jobs=jobs, keeper=Checkpoints(tmp_path, 0))
    loaded = load_chains(plan(), tmp_path, corpus)
    assert [in_bits(chain) for chain in loaded] == whole
    assert [len(chain.draws) for chain in loaded] == [4, 4, 4]


def test_a_run_is_saved_at_its_end(tmp_path):
    chains = new_chains()
    run_chains(chains, keeper=Checkpoints(tmp_path))
    assert saved_chains(tmp_path) == [0, 1, 2]
    for chain in chains:
        assert in_bits(load_chain(tmp_path / str(chain.number), chain.corpus)) == in_bits(chain)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="cannot write it"):
        run_chains(new_chains(), keeper=Checkpoints(tmp_path / "file"))


@pytest.mark.unix
def test_two_processes_do_not_write_in_one_folder(tmp_path):
    with locked(tmp_path), pytest.raises(ModelError, match="another process is writing there"):
        run_chains(new_chains(), keeper=Checkpoints(tmp_path))
    assert run_chains(new_chains(), keeper=Checkpoints(tmp_path)) == "complete"


@pytest.mark.parametrize("jobs", [0, 1.5, "two", True])
def test_impossible_numbers_of_threads(jobs):
    with raises(SettingsError, "not-a-whole-number", f"n_jobs={jobs!r}"):
        threads(jobs, 4)


def test_numbers_of_threads():
    assert threads(8, 3) == 3
    assert threads(2, 3) == 2
    assert threads(None, 3) == 1


def test_negative_numbers_of_threads_leave_cores_alone(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 6)
    assert [threads(jobs, 9) for jobs in (-1, -2, -6, -7, -100)] == [6, 5, 1, 1, 1]


def test_joblib_may_say_how_many_threads_none_is():
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert threads(None, 9) == 3
        assert threads(2, 9) == 2


# ---------------------------------------------------------------- plans


def test_another_plan_is_refused(tmp_path):
    corpus = arithmetic_corpus()
    run_chains(new_chains(), keeper=Checkpoints(tmp_path))
    others = {
        "seed=11, not 12": Plan(
            priors=PRIORS, schedule=plan().schedule, starts=starts_of("apart", 3), seed=12
        ),
        "priors=": Plan(priors=Priors(), schedule=plan().schedule, starts=starts_of("apart", 3), seed=11),
        "init='one', not 'sequential'": Plan(
            priors=PRIORS, schedule=plan().schedule, starts=("sequential",) * 3, seed=11
        ),
        "thin=2, not 3": Plan(
            priors=PRIORS,
            schedule=Timetable(sweeps=12, burn_in=4, thin=3),
            starts=starts_of("apart", 3),
            seed=11,
        ),
        "the plan has 2": plan(chains=2),
    }
    for complaint, other in others.items():
        with pytest.raises(ModelError, match=complaint):
            load_chains(other, tmp_path, corpus)


def test_extended_chains_are_those_of_a_longer_plan():
    chains = new_chains()
    run_chains(chains)
    extend(chains, 3)
    run_chains(chains)
    assert [in_bits(chain) for chain in chains] == one_after_another(SWEEPS + 3)


USUAL = {
    "eta": 0.1,
    "init": "fitted",
    "sweeps": 500,
    "burn_in": None,
    "thin": None,
    "chains": 4,
    "warm_up": None,
    "split_merge": "always",
    "seed": 0,
}


def test_plan_of_the_usual_settings():
    plan = plan_of(**USUAL)
    assert plan.priors == Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.1)
    assert (plan.schedule.burn_in, plan.schedule.thin) == (250, 8)
    assert plan.starts == ("fitted",) * 4
    assert plan.schedule.warm_up == 40
    assert plan.schedule.merges == (45, 60, 80, 120, 200)
    assert plan.schedule.split_merge == SplitMerge(adapt=100)


def test_plan_of_other_settings():
    changes = {
        "eta": (1.0, 1.0),
        "alpha": 0.5,
        "split_merge": "burn-in",
        "sweeps": 10,
        "init": 3,
        "gamma": [2, 1],
    }
    plan = plan_of(**{**USUAL, **changes})
    assert plan.priors == Priors(alpha=0.5, gamma=(2, 1), eta=(1.0, 1.0))
    assert (plan.schedule.burn_in, plan.schedule.thin) == (5, 1)
    assert plan.starts == (3,) * 4
    assert plan.schedule.warm_up == 0
    assert plan.schedule.split_merge == SplitMerge(until=5, adapt=5)
    assert plan_of(**{**USUAL, "split_merge": "off"}).schedule.split_merge is None


def test_chains_that_start_apart():
    plan = plan_of(**{**USUAL, "init": "apart", "chains": 6})
    assert plan.starts == ("one", "sequential", 50, 200, "one", "sequential")
    assert plan.schedule.warm_up == 0


@pytest.mark.parametrize(
    ("changes", "warm_up", "adapt"),
    [
        ({"sweeps": 200}, 40, 100),
        ({"sweeps": 100}, 25, 50),
        ({"sweeps": 1}, 0, 0),
        ({"burn_in": 0}, 0, 0),
        ({"burn_in": 79}, 39, 79),
        ({"warm_up": 250}, 250, 100),
        ({"warm_up": 0}, 0, 100),
        ({"init": "documents"}, 60, 100),
        ({"init": "documents", "sweeps": 200}, 50, 100),
        ({"init": "one"}, 0, 100),
        ({"init": "one", "warm_up": 30}, 30, 100),
    ],
    ids=str,
)
def test_the_warm_up_and_what_adapts_belong_to_the_burn_in(changes, warm_up, adapt):
    schedule = plan_of(**{**USUAL, **changes}).schedule
    assert (schedule.warm_up, schedule.split_merge.adapt) == (warm_up, adapt)


def test_topics_begun_at_documents_warm_up_from_a_smaller_eta():
    shares = {
        init: plan_of(**{**USUAL, "init": init}).schedule.warm_up_from for init in ("fitted", "documents")
    }
    assert shares == {"fitted": 0.3, "documents": 0.1}


@pytest.mark.parametrize(
    ("changes", "merges"),
    [
        ({"sweeps": 200}, (45, 60, 80)),
        ({"burn_in": 44}, ()),
        ({"burn_in": 45}, (45,)),
        ({"warm_up": 60}, (80, 120, 200)),
        ({"init": "documents"}, (80, 120, 200)),
        ({"eta": (1.0, 1.0)}, (45, 60, 80, 120, 200)),
        ({"init": "one"}, ()),
        ({"init": "apart"}, ()),
        ({"init": "one", "merges": [9, 3]}, (3, 9)),
        ({"merges": ()}, ()),
    ],
    ids=str,
)
def test_merges_are_within_the_burn_in_and_after_the_warm_up(changes, merges):
    schedule = plan_of(**{**USUAL, **changes}).schedule
    assert schedule.merges == merges
    assert least_burn_in(schedule) >= max(merges, default=0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"split_merge": "sometimes"}, "unknown-choice"),
        ({"eta": "learn"}, "not-a-prior"),
        ({"alpha": -1}, "not-a-prior"),
        ({"sweeps": 0}, "not-a-whole-number"),
        ({"burn_in": 501}, "out-of-range"),
        ({"thin": 0}, "not-a-whole-number"),
        ({"chains": 0}, "not-a-whole-number"),
        ({"init": "two"}, "unknown-choice"),
        ({"init": "automatic"}, "unknown-choice"),
        ({"warm_up": 251}, "out-of-range"),
        ({"warm_up": -1}, "not-a-whole-number"),
        ({"warm_up": 2.5}, "not-a-whole-number"),
        ({"merges": (251,)}, "out-of-range"),
        ({"gamma": (1.0,)}, "not-a-prior"),
    ],
)
def test_impossible_settings_are_named(change, code):
    ((name, value),) = change.items()
    with raises(SettingsError, code, f"{name}={value!r}"):
        plan_of(**{**USUAL, **change}).chains(arithmetic_corpus())


# ---------------------------------------------------------------- monitors


def watched(monitor, sweeps=SWEEPS):
    chains = new_chains(sweeps)
    run_chains(chains, jobs=2, monitor=monitor)
    return [in_bits(chain) for chain in chains]


def test_a_log_names_each_chain_and_phase(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    stream = io.StringIO()
    assert watched(LogMonitor(stream)) == one_after_another()
    lines = stream.getvalue().splitlines()
    for number in range(3):
        own = [line for line in lines if line.startswith(f"chain {number}  ")]
        assert [line.split()[2] for line in own] == ["burn-in", "sampling", "done"]
        assert f"sweep {SWEEPS}/{SWEEPS}" in own[-1]
        assert all(
            word in own[-1] for word in ("topics", "joint/word", "splits", "merges", "words/s", "left")
        )


def test_quick_runs_are_not_shown():
    stream = io.StringIO()
    watched(LogMonitor(stream))
    assert stream.getvalue() == ""


def test_a_table_on_a_terminal(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120)
    assert watched(LiveMonitor(console)) == one_after_another()
    last = stream.getvalue().splitlines()[-4:]
    assert "joint/word" in last[0]
    assert all(f"{SWEEPS}/{SWEEPS}" in line for line in last[1:])


class Displayed:
    """Stands for the output below a cell of a notebook, as IPython hands it out."""

    def __init__(self, page):
        self.pages = [page]

    def update(self, page):
        self.pages.append(page)


@pytest.fixture
def outputs(monkeypatch):
    """Return what is shown below a cell, by a stand-in for IPython."""
    shown = []

    def display(page, *, display_id):
        assert display_id
        assert threading.current_thread() is threading.main_thread()  # others do not know the cell
        shown.append(Displayed(page))
        return shown[-1]

    ipython = SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=ipython))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    return shown


def test_one_table_in_a_notebook(monkeypatch, outputs):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    assert watched(NotebookMonitor()) == one_after_another()
    (output,) = outputs  # changed in its place
    assert output.pages[0] == ""
    assert 2 <= len(output.pages) < 3 * SWEEPS  # not for every sweep
    assert "joint/word" in output.pages[-1]
    assert output.pages[-1].count(f"{SWEEPS}/{SWEEPS}") == 3


def test_quick_runs_leave_a_notebook_empty(outputs):
    watched(NotebookMonitor())
    assert [output.pages for output in outputs] == [[""]]


def test_a_notebook_without_ipython_stops_nothing(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    assert watched(NotebookMonitor()) == one_after_another()


def test_a_monitor_can_never_stop_a_run(monkeypatch):
    monkeypatch.setattr("franchise._progress._PATIENCE", 0.0)
    stream = io.StringIO()
    stream.close()
    assert watched(LogMonitor(stream)) == one_after_another()


def test_which_monitor_for_what():
    assert type(monitor_for(0)) is Monitor
    assert type(monitor_for(1, io.StringIO())) is LogMonitor


def test_a_notebook_is_recognised(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert type(monitor_for(1)) is NotebookMonitor
    assert type(monitor_for(1, io.StringIO())) is LogMonitor
    assert type(monitor_for(0)) is Monitor


def test_chains_can_be_run_from_a_thread():
    chains = new_chains()
    thread = threading.Thread(target=run_chains, args=(chains,))
    thread.start()
    thread.join()
    assert [in_bits(chain) for chain in chains] == one_after_another()
    assert all(isinstance(chain, Chain) for chain in chains)


# ---------------------------------------------------------------- checkpoints that fail


class Failing(Checkpoints):
    """Cannot save some chains."""

    def __init__(self, folder, numbers):
        super().__init__(folder, 1e9)
        self.numbers = numbers

    def save(self, chain, *, now):
        if now and chain.number in self.numbers:
            raise ModelError("the disk is full", code="cannot-write")
        super().save(chain, now=now)


def test_where_one_chain_cannot_be_saved_the_others_are(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_A_TURN", 0.0)  # a sweep each, in turn

    def callback(chain):
        if (chain.number, chain.sweeps_done) == (2, 3):
            raise ZeroDivisionError("the first error")

    with pytest.raises(ZeroDivisionError, match="the first error"):
        run_chains(new_chains(), jobs=1, callback=callback, keeper=Failing(tmp_path, {0}))
    assert saved_chains(tmp_path) == [1, 2]


def test_after_a_checkpoint_that_failed_the_next_one_has_all(tmp_path):
    """The folder decides what is missing, not the chain."""
    chains = new_chains(6)
    run_chains(chains, keeper=Checkpoints(tmp_path))
    extend(chains, SWEEPS - 6)
    with pytest.raises(ModelError, match="the disk is full"):
        run_chains(chains, keeper=Failing(tmp_path, {0, 1, 2}))
    assert [load_chain(tmp_path / str(i), chains[i].corpus).sweeps_done for i in range(3)] == [6, 6, 6]
    assert run_chains(chains, keeper=Checkpoints(tmp_path)) == "complete"  # nothing left to do but to save
    loaded = [load_chain(tmp_path / str(i), chains[i].corpus) for i in range(3)]
    assert [in_bits(chain) for chain in loaded] == one_after_another()
    assert [len(chain.draws) for chain in loaded] == [4, 4, 4]


def test_a_run_that_another_has_continued_is_refused(tmp_path):
    chains = new_chains(6)
    run_chains(chains, keeper=Checkpoints(tmp_path))
    run_chains(load_chains(plan(), tmp_path, arithmetic_corpus()), keeper=Checkpoints(tmp_path))
    extend(chains, 2)
    for stale in (chains, new_chains()):
        with raises(ModelError, "model-replaced"):
            run_chains(stale, keeper=Checkpoints(tmp_path))
    loaded = load_chains(plan(), tmp_path, arithmetic_corpus())
    assert [in_bits(chain) for chain in loaded] == one_after_another()


# ---------------------------------------------------------------- narrow terminals


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (40, ["chain", "sweep", "topics", "left"]),
        (60, ["chain", "phase", "sweep", "topics", "joint/word", "left"]),
        (80, ["chain", "phase", "sweep", "topics", "joint/word", "splits", "merges", "left"]),
        (100, ["chain", "phase", "sweep", "topics", "joint/word", "splits", "merges", "words/s", "left"]),
    ],
)
def test_progress_can_be_read_on_a_narrow_terminal(monkeypatch, width, columns):
    long = {
        "sweep": "1234/10000",
        "topics": "213",
        "joint/word": "-7.1234",
        "splits": "1034",
        "merges": "998",
        "words/s": "1.23M",
        "left": "1:02:33",
    }
    monkeypatch.setattr("franchise._progress._PATIENCE", -1.0)
    monkeypatch.setattr("franchise._progress.Progress.facts", {"chain": "0", "phase": "sampling", **long})
    stream = io.StringIO()
    monitor = LiveMonitor(Console(file=stream, width=width, force_terminal=True))
    watched(monitor)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).splitlines()
    header, row = next((a, b) for a, b in pairwise(shown) if "topics" in a)
    assert header.split() == columns
    assert "\N{HORIZONTAL ELLIPSIS}" not in row
    assert all(len(line) <= width for line in shown)
    assert ("1:02:33" in row) == ("left" in columns)
