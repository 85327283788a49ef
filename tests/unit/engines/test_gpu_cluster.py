"""A chain on the GPUs of many workers is that of the engine on one GPU, to the bit, whoever is lost."""

import dataclasses
import pickle
from functools import cache, partial

import numpy as np
import pytest

from franchise import Chain, Corpus, Priors, Schedule, SplitMerge
from franchise.corpus import open_shards, planted, shard
from franchise.engines import parallel
from franchise.engines.crew import CrewInProcess
from franchise.engines.cuda import engine as on_one
from franchise.engines.cuda import steps
from franchise.engines.cuda.availability import problem
from franchise.engines.cuda.device import gpu
from franchise.engines.cuda.worker_part import CudaWorkerPart
from franchise.engines.worker import WorkersLostError
from franchise.errors import ClusterError, SettingsError
from franchise.model import broken_invariants
from franchise.sampling.run import run_chains
from franchise.storage.chain import load_chain, save_chain
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.chains import differences

SWEEPS = 8
NEW_PART = partial(CudaWorkerPart, device=HostDevice())
pytestmark = [needs_compiler, pytest.mark.filterwarnings("ignore:a worker was lost")]


@cache
def corpus():
    """Return documents for two turns of collapsed moves, some of them empty, one of them long."""
    words = planted(n_topics=6, n_terms=200, n_documents=120, document_length=60, seed=3).corpus
    long = np.random.default_rng(1).integers(0, 200, 4_500)
    lengths = np.insert(words.document_lengths, [0, 0, 70, 120], [0, 0, 0, long.size])
    x = np.concatenate([words.x, long])
    return Corpus(x, np.concatenate([[0], np.cumsum(lengths)]), words.vocabulary)


def new_chain(engine, start="fitted", of=None, eta=(1.0, 1.0), merges=(), **settings):
    schedule = Schedule(
        sweeps=SWEEPS, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True), merges=merges
    )
    return Chain(of or corpus(), Priors(eta=eta), schedule, seed=5, start=start, engine=engine, **settings)


def crew_of(workers, of=None, threads=1, kind=CrewInProcess, **more):
    return kind(of or corpus(), workers, threads, NEW_PART, **more)


def on_workers(crew, *more, **settings):
    chain = new_chain("ray-gpu", *more, **settings)
    chain.use_crew(crew)
    return chain


@pytest.fixture(scope="module", autouse=True, params=["the head moves always", "now and then"])
def _on_host(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "COLLAPSED_WORDS", 6_000)
        patch.setattr(on_one, "gpu", HostDevice)
        if request.param == "now and then":
            patch.setattr(steps, "MANY_WORDS", 10)
            patch.setattr(steps, "EVERY", 3)
        by_one.cache_clear()
        yield


@cache
def by_one(start="fitted", eta=(1.0, 1.0)):
    chain = new_chain("gpu", start, eta=eta, threads=2)
    chain.run()
    assert chain.trials
    return chain


# ---------------------------------------------------------------- same bits


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_merges(workers):
    alone, chain = new_chain("gpu", 12, merges=(1, 2)), on_workers(crew_of(workers), 12, merges=(1, 2))
    for one in (alone, chain):
        one.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    merged = [event for event in chain.events if event.kind == "merged" and event.sweep <= 2]
    assert len(merged) > 2
    assert differences(chain, alone) == []


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_any_number_of_workers(workers):
    chain = on_workers(crew_of(workers, threads=workers % 2 + 1))
    chain.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    assert differences(chain, by_one()) == []


@pytest.mark.skipif(problem() is not None, reason="no GPU can be used on this machine")
@pytest.mark.parametrize("workers", [1, 3])
def test_on_a_gpu(monkeypatch, workers):
    monkeypatch.setattr(on_one, "gpu", gpu)
    chain, other = new_chain("ray-gpu"), new_chain("gpu")
    chain.use_crew(CrewInProcess(corpus(), workers, 1, CudaWorkerPart))
    for one in (chain, other):
        one.run()
    assert differences(chain, other) == []
    assert differences(chain, by_one()) == []  # on the host


@pytest.mark.parametrize(("start", "eta"), [("one", (1.0, 1.0)), (20, 0.5)])
@pytest.mark.parametrize("workers", [1, 3])
def test_any_start_and_eta_fixed_or_not(start, eta, workers):
    chain = on_workers(crew_of(workers), start, eta=eta)
    chain.run()
    assert differences(chain, by_one(start, eta)) == []


def test_documents_in_shards(tmp_path):
    shard(corpus(), tmp_path / "shards", shards=7)
    sharded = open_shards(tmp_path / "shards")
    chain = on_workers(crew_of(3, sharded), of=sharded)
    chain.run()
    assert differences(chain, by_one()) == []


def test_more_workers_than_documents():
    few = Corpus([0, 1, 1, 0, 2], [0, 2, 2, 5], ["a", "b", "c"])
    crew = crew_of(9, few)
    assert crew.size == 2
    chain, other = on_workers(crew, of=few), new_chain("gpu", of=few)
    for one in (chain, other):
        one.run()
    assert differences(chain, other) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_chains_that_take_turns_on_the_gpus(monkeypatch, workers):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_A_LONG_TURN", 0.0)
    crew = crew_of(workers)
    chains = [new_chain("ray-gpu", 20, eta=0.5, number=number) for number in range(3)]
    run_chains(chains, jobs=2, crew=crew)
    for worker in crew.workers:
        assert [part._there for part in worker._parts.values()] == [None] * 3  # all have left
    assert differences(chains[0], by_one(20, 0.5)) == []
    alone = new_chain("gpu", 20, eta=0.5, number=2)
    alone.run()
    assert differences(chains[2], alone) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_a_chain_that_rests_after_every_sweep(workers):
    chain = on_workers(crew_of(workers), 20, eta=0.5)
    chain.start()
    for _ in range(SWEEPS):
        chain.rest()
        assert chain.engine.arrays()["n_k"].sum() == corpus().n_words
        chain.sweep()
    assert differences(chain, by_one(20, 0.5)) == []


def test_a_franchise_from_elsewhere():
    other = new_chain("collapsed", 5)
    other.run(1)
    chains = [on_workers(crew_of(3)), new_chain("gpu")]
    for chain in chains:
        chain.start_at(other.state)
        chain.run()
    assert differences(*chains) == []


# ---------------------------------------------------------------- workers that are lost


class Unreliable(CrewInProcess):
    """Loses a worker in certain calls, before it has done its work."""

    def __init__(self, *arguments, lose):
        self._lose, self.calls, self.lost = set(lose), 0, 0
        super().__init__(*arguments)

    def call(self, generation, what, arguments):
        self.calls += 1
        if self.calls in self._lose:
            self.workers[self.calls % self.size] = None
            self.lost += 1
        return super().call(generation, what, arguments)


def test_a_worker_lost_in_any_call_of_sweeps_with_merges():
    settings = {"start": 12, "merges": (1, 2)}
    whole = on_workers(counted := crew_of(2, kind=Unreliable, lose=[]), **settings)
    whole.run(4)
    for call in range(2, counted.calls + 1, 2):
        chain = on_workers(crew := crew_of(2, kind=Unreliable, lose=[call]), **settings)
        chain.run(4)
        assert crew.lost == 1
        assert differences(chain, whole) == []


@pytest.mark.parametrize("every", [19, 23])
def test_workers_lost_all_the_time(tmp_path, every):
    # A sweep in which the head moves asks more of the workers, and must come to its end between two losses.
    every += 10 if steps.MANY_WORDS > 10 else 0
    crew = crew_of(3, kind=Unreliable, lose=range(every, 10_000, every))
    chain = on_workers(crew)
    chain.keep_in(tmp_path)
    chain.run(callback=lambda chain: chain.engine.write_seats(tmp_path / str(chain.sweeps_done)))
    assert crew.lost > 2
    assert differences(chain, by_one()) == []


@pytest.mark.parametrize("sweeps", [2, 4, 6])
def test_the_only_worker_lost_with_counts_that_the_head_does_not_know(sweeps):
    """They are not known in sweeps without moves of the head."""
    chain = on_workers(crew := crew_of(1), 20, eta=0.5)
    chain.run(sweeps)
    crew.workers[0] = None
    assert chain.engine.counts().topic_terms.sum() == corpus().n_words
    assert crew.generation == 1
    chain.run()
    assert differences(chain, by_one(20, 0.5)) == []


def test_a_worker_lost_while_a_chain_rests():
    chain = on_workers(crew := crew_of(2))
    chain.run(4)
    crew.workers[1] = None
    chain.rest()
    chain.run()
    assert crew.generation == 1
    assert differences(chain, by_one()) == []


@pytest.mark.parametrize("error", [None, ClusterError("the cluster is gone", code="no-cluster")])
def test_a_worker_lost_after_the_last_sweep(monkeypatch, error):
    """The run does not wait for another, and says how it ended."""
    crew, chain, alone = crew_of(1), new_chain("ray-gpu", 20, eta=0.5), new_chain("gpu", 20, eta=0.5)
    for one in (chain, alone):  # a draw would bring the counts to the head
        one.reschedule(dataclasses.replace(one.schedule, burn_in=SWEEPS))
    call, replace = crew.call, crew.replace_lost

    def lose(chain):
        if chain.sweeps_done == SWEEPS:
            crew.workers[0] = None
            monkeypatch.setattr(crew, "replace_lost", lambda: pytest.fail("a worker was asked for"))
            if error is not None:
                monkeypatch.setattr(crew, "call", lambda *_: (_ for _ in ()).throw(error))

    assert run_chains([chain], callback=lose, crew=crew) == "complete"
    monkeypatch.setattr(crew, "replace_lost", replace)
    monkeypatch.setattr(crew, "call", call)
    alone.run()
    assert np.array_equal(chain.state.t_ji, alone.state.t_ji)
    assert crew.generation == 1


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize(("sweep", "workers"), [(0, 1), (3, 5), (5, 3)])
def test_taken_up_on_another_number_of_workers(tmp_path, sweep, workers):
    chain = on_workers(crew_of(2))
    chain.start()
    chain.run(sweep)
    save_chain(chain, tmp_path)
    taken_up = load_chain(tmp_path, corpus())
    assert taken_up.engine_name == "ray-gpu"
    with raises(ClusterError, "no-workers", "engine='ray-gpu'"):
        taken_up.sweep()
    taken_up = load_chain(tmp_path, corpus())
    taken_up.use_crew(crew_of(workers))
    taken_up.run()
    assert differences(taken_up, by_one()) == []


def test_a_chain_that_has_left_its_workers():
    chain = on_workers(crew_of(2))
    chain.run(5)
    chain.use_crew(None)
    again = pickle.loads(pickle.dumps(chain))
    again.use_crew(crew_of(3))
    again.run()
    assert differences(again, by_one()) == []


def test_words_seated_one_after_another_are_refused():
    with raises(SettingsError, "conflicting-settings", "start='sequential'"):
        on_workers(crew_of(1), "sequential").start()


def test_a_worker_that_knows_nothing_of_the_chain():
    crew = crew_of(1)
    with pytest.raises(WorkersLostError):
        crew.call(0, "ask", [(0, "rest")])
