"""Chains that share something scarce, as a GPU: few work at a time, each makes room for others; same bits."""

import threading

import pytest

from franchise import Chain, GpuError, Priors
from franchise.corpus import planted
from franchise.engines import ENGINES, EngineKind
from franchise.engines.kinds import KINDS
from franchise.sampling import Timetable
from franchise.sampling import run as module
from franchise.sampling.run import run_chains, shares
from tests.reference.chains import differences
from tests.reference.parallel import Parallel

CORPUS = planted(n_topics=3, n_terms=30, n_documents=30, document_length=12, seed=1).corpus
SWEEPS = 6


class Scarce(Parallel):
    """Records how many chains work at a time, and which released memory when."""

    lock = threading.Lock()
    working = most = 0
    rested: list = []  # noqa: RUF012

    def __init__(self, corpus, settings):
        super().__init__(corpus, settings, KINDS["parallel"]._replace(name="scarce", at_once=2))

    def sweep(self, key, trials, eta=None, merge=False):
        with Scarce.lock:
            Scarce.working += 1
            Scarce.most = max(Scarce.most, Scarce.working)
        try:
            return super().sweep(key, trials, eta, merge)
        finally:
            with Scarce.lock:
                Scarce.working -= 1

    def rest(self):
        Scarce.rested.append(id(self))


@pytest.fixture
def scarce(monkeypatch):
    monkeypatch.setitem(ENGINES, "scarce", EngineKind("scarce", Scarce, at_once=2))
    monkeypatch.setattr(module, "_SECONDS_A_LONG_TURN", 0.0)
    Scarce.working = Scarce.most = 0
    Scarce.rested = []
    return Scarce


def chains_of(engine, number=4):
    schedule = Timetable(sweeps=SWEEPS, burn_in=3)
    return [
        Chain(CORPUS, Priors(), schedule, random_state=3, number=i, init="one", engine=engine)
        for i in range(number)
    ]


@pytest.mark.parametrize(
    ("jobs", "chains", "at_once", "expected"),
    [
        (16, 4, None, (4, 4)),
        (2, 4, None, (2, 1)),
        (16, 4, 2, (2, 8)),
        (16, 1, 2, (1, 16)),
        (16, 4, 1, (1, 16)),
        (1, 4, 2, (1, 1)),
    ],
)
def test_how_threads_are_shared(jobs, chains, at_once, expected):
    assert shares(jobs, chains, at_once) == expected


def test_no_more_than_so_many_work_at_a_time(scarce):
    running = chains_of("scarce")
    run_chains(running, jobs=8)
    assert 1 <= scarce.most <= 2
    assert {chain.engine._threads.number for chain in running} == {4}
    assert [chain.sweeps_done for chain in running] == [SWEEPS] * 4


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_it_changes_no_bit(scarce, jobs):
    own, others = chains_of("scarce"), chains_of("parallel")
    run_chains(own, jobs=jobs)
    run_chains(others, jobs=1)
    for one, other in zip(own, others, strict=True):
        assert not differences(one, other)


def test_each_makes_room_for_those_that_wait_and_at_the_end(scarce):
    running = chains_of("scarce", 3)
    run_chains(running, jobs=1)
    by_chain = [scarce.rested.count(id(chain.engine)) for chain in running]
    # With turns of one sweep all wait for each other until the last one is alone; all rest at the end.
    assert all(number >= SWEEPS for number in by_chain)
    assert set(scarce.rested[-3:]) == {id(chain.engine) for chain in running}


def test_a_chain_alone_need_not_make_room_before_it_is_done(scarce):
    (chain,) = chains_of("scarce", 1)
    run_chains([chain], jobs=1)
    assert len(scarce.rested) == 1


def test_a_chain_that_was_cut_off_is_left_alone(scarce, monkeypatch):
    def fail(self, key, trials, eta=None, merge=False):
        raise GpuError("out of memory", code="gpu-memory")

    monkeypatch.setattr(Scarce, "sweep", fail)
    (chain,) = chains_of("scarce", 1)
    with pytest.raises(GpuError, match="out of memory"):
        run_chains([chain], jobs=1)
    chain.rest()
    assert not scarce.rested


def test_an_error_in_saving_does_not_hide_the_first_one(scarce, monkeypatch):
    class Keeper(module._NoKeeper):
        def save(self, chain, *, now):
            if now:
                raise GpuError("the GPU has fallen off the bus", code="no-gpu")

    def fail(chain):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        run_chains(chains_of("scarce", 2), jobs=1, callback=fail, keeper=Keeper())
