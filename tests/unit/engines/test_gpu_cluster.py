"""A chain on the GPUs of many workers is that of the engine on one GPU, to the bit, whoever is lost."""

import dataclasses
import pickle
from functools import cache

import numpy as np
import pytest

from franchise import Chain, Corpus, Priors, SplitMerge
from franchise.corpus import open_shards, planted, shard
from franchise.engines import kinds
from franchise.engines.partitions.cuda.availability import problem
from franchise.engines.partitions.cuda.device import gpu
from franchise.engines.pools import local, ranges
from franchise.engines.pools.worker import WorkersLostError
from franchise.errors import ClusterError, SettingsError
from franchise.model import broken_invariants
from franchise.sampling import Timetable
from franchise.sampling.run import run_chains
from franchise.storage.chain import load_chain, save_chain
from tests.host_device import HostDevice, needs_compiler
from tests.raising import raises
from tests.reference.chains import differences
from tests.reference.workers import Unreliable, WorkersHere

SWEEPS = 8
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
    schedule = Timetable(
        sweeps=SWEEPS, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True), merges=merges
    )
    return Chain(
        of or corpus(), Priors(eta=eta), schedule, random_state=5, init=start, engine=engine, **settings
    )


def workers_for(number, of=None, threads=1, kind=WorkersHere, **more):
    return kind(of or corpus(), number, threads, "cuda", **more)


def on_workers(workers, *more, **settings):
    chain = new_chain("ray-gpu", *more, **settings)
    chain.use_workers(workers)
    return chain


@pytest.fixture(scope="module", autouse=True, params=["collapsed moves in every sweep", "now and then"])
def _on_host(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 6_000)
        patch.setattr(local, "gpu", HostDevice)
        if request.param == "now and then":
            patch.setattr(kinds, "MANY_WORDS", 10)
            patch.setattr(kinds, "EVERY", 3)
        by_one.cache_clear()
        yield


@cache
def by_one(start="fitted", eta=(1.0, 1.0)):
    chain = new_chain("gpu", start, eta=eta, n_jobs=2)
    chain.run()
    assert chain.trials
    return chain


# ---------------------------------------------------------------- same bits


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_merges(workers):
    alone, chain = new_chain("gpu", 12, merges=(1, 2)), on_workers(workers_for(workers), 12, merges=(1, 2))
    for one in (alone, chain):
        one.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    merged = [event for event in chain.events if event.kind == "merged" and event.sweep <= 2]
    assert len(merged) > 2
    assert differences(chain, alone) == []


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_any_number_of_workers(workers):
    chain = on_workers(workers_for(workers, threads=workers % 2 + 1))
    chain.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    assert differences(chain, by_one()) == []


@pytest.mark.skipif(problem() is not None, reason="no GPU can be used on this machine")
@pytest.mark.parametrize("workers", [1, 3])
def test_on_a_gpu(monkeypatch, workers):
    monkeypatch.setattr(local, "gpu", gpu)
    chain, other = on_workers(workers_for(workers)), new_chain("gpu")
    for one in (chain, other):
        one.run()
    assert differences(chain, other) == []
    assert differences(chain, by_one()) == []  # on the host


@pytest.mark.parametrize(("start", "eta"), [("one", (1.0, 1.0)), (20, 0.5)])
@pytest.mark.parametrize("workers", [1, 3])
def test_any_start_and_eta_fixed_or_not(start, eta, workers):
    chain = on_workers(workers_for(workers), start, eta=eta)
    chain.run()
    assert differences(chain, by_one(start, eta)) == []


def test_documents_in_shards(tmp_path):
    shard(corpus(), tmp_path / "shards", shards=7)
    sharded = open_shards(tmp_path / "shards")
    chain = on_workers(workers_for(3, sharded), of=sharded)
    chain.run()
    assert differences(chain, by_one()) == []


@pytest.mark.parametrize(("workers", "most_words"), [(1, 6_000), (2, 4_700)])
def test_workers_with_several_partitions(monkeypatch, workers, most_words):
    """Lower the limit of 32 bits to this number of words; all words are on the GPU of their worker."""
    monkeypatch.setattr(ranges, "MOST_WORDS", most_words)
    chain = on_workers(among := workers_for(workers))
    assert max(among.partitions_each) > 1
    chain.run()
    assert differences(chain, by_one()) == []


def test_more_workers_than_documents():
    few = Corpus([0, 1, 1, 0, 2], [0, 2, 2, 5], ["a", "b", "c"])
    workers = workers_for(9, few)
    assert workers.size == 2
    chain, other = on_workers(workers, of=few), new_chain("gpu", of=few)
    for one in (chain, other):
        one.run()
    assert differences(chain, other) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_chains_that_take_turns_on_the_gpus(monkeypatch, workers):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_A_LONG_TURN", 0.0)
    workers = workers_for(workers)
    chains = [new_chain("ray-gpu", 20, eta=0.5, number=number) for number in range(3)]
    run_chains(chains, jobs=2, workers=workers)
    for worker in workers.workers:
        pools = worker._chains.values()
        assert [own._there for pool in pools for own in pool.partitions] == [None] * 3  # all have left
    assert differences(chains[0], by_one(20, 0.5)) == []
    alone = new_chain("gpu", 20, eta=0.5, number=2)
    alone.run()
    assert differences(chains[2], alone) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_a_chain_that_rests_after_every_sweep(workers):
    chain = on_workers(workers_for(workers), 20, eta=0.5)
    chain.start()
    for _ in range(SWEEPS):
        chain.rest()
        assert chain.engine.arrays()["n_k"].sum() == corpus().n_words
        chain.sweep()
    assert differences(chain, by_one(20, 0.5)) == []


def test_a_franchise_from_elsewhere():
    other = new_chain("collapsed", 5)
    other.run(1)
    chains = [on_workers(workers_for(3)), new_chain("gpu")]
    for chain in chains:
        chain.start_at(other.state)
        chain.run()
    assert differences(*chains) == []


# ---------------------------------------------------------------- workers that are lost


def test_a_worker_lost_in_any_call_of_sweeps_with_merges():
    settings = {"start": 12, "merges": (1, 2)}
    whole = on_workers(counted := workers_for(2, kind=Unreliable, lose=[]), **settings)
    whole.run(4)
    for call in range(2, counted.calls + 1, 2):
        chain = on_workers(workers := workers_for(2, kind=Unreliable, lose=[call]), **settings)
        chain.run(4)
        assert workers.lost == 1
        assert differences(chain, whole) == []


@pytest.mark.parametrize("every", [19, 23])
def test_workers_lost_all_the_time(tmp_path, every):
    # A sweep with collapsed moves asks more of the workers, and must come to its end between two losses.
    every += 10 if kinds.MANY_WORDS > 10 else 0
    workers = workers_for(3, kind=Unreliable, lose=range(every, 10_000, every))
    chain = on_workers(workers)
    chain.keep_in(tmp_path)
    chain.run(callback=lambda chain: chain.engine.write_seating(tmp_path / str(chain.sweeps_done)))
    assert workers.lost > 2
    assert differences(chain, by_one()) == []


@pytest.mark.parametrize("sweeps", [2, 4, 6])
def test_the_only_worker_lost_with_counts_that_the_coordinator_does_not_know(sweeps):
    """They are not known in sweeps without collapsed moves."""
    chain = on_workers(workers := workers_for(1), 20, eta=0.5)
    chain.run(sweeps)
    workers.workers[0] = None
    assert chain.engine.counts().topic_terms.sum() == corpus().n_words
    assert workers.generation == 1
    chain.run()
    assert differences(chain, by_one(20, 0.5)) == []


def test_a_worker_lost_while_a_chain_rests():
    chain = on_workers(workers := workers_for(2))
    chain.run(4)
    workers.workers[1] = None
    chain.rest()
    chain.run()
    assert workers.generation == 1
    assert differences(chain, by_one()) == []


@pytest.mark.parametrize("error", [None, ClusterError("the cluster is gone", code="no-cluster")])
def test_a_worker_lost_after_the_last_sweep(monkeypatch, error):
    """The run does not wait for another, and says how it ended."""
    workers, chain, alone = workers_for(1), new_chain("ray-gpu", 20, eta=0.5), new_chain("gpu", 20, eta=0.5)
    for one in (chain, alone):  # a draw would bring the counts to the coordinator
        one.reschedule(dataclasses.replace(one.schedule, burn_in=SWEEPS))
    call, replace = workers.call, workers.replace_lost

    def lose(chain):
        if chain.sweeps_done == SWEEPS:
            workers.workers[0] = None
            monkeypatch.setattr(workers, "replace_lost", lambda: pytest.fail("a worker was asked for"))
            if error is not None:
                monkeypatch.setattr(workers, "call", lambda *_: (_ for _ in ()).throw(error))

    assert run_chains([chain], callback=lose, workers=workers) == "complete"
    monkeypatch.setattr(workers, "replace_lost", replace)
    monkeypatch.setattr(workers, "call", call)
    alone.run()
    assert np.array_equal(chain.state.t_ji, alone.state.t_ji)
    assert workers.generation == 1


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize(("sweep", "workers"), [(0, 1), (3, 5), (5, 3)])
def test_taken_up_on_another_number_of_workers(tmp_path, sweep, workers):
    chain = on_workers(workers_for(2))
    chain.start()
    chain.run(sweep)
    save_chain(chain, tmp_path)
    taken_up = load_chain(tmp_path, corpus())
    assert taken_up.engine_name == "ray-gpu"
    with raises(ClusterError, "no-workers", "engine='ray-gpu'"):
        taken_up.sweep()
    taken_up = load_chain(tmp_path, corpus())
    taken_up.use_workers(workers_for(workers))
    taken_up.run()
    assert differences(taken_up, by_one()) == []


def test_a_chain_that_has_left_its_workers():
    chain = on_workers(workers_for(2))
    chain.run(5)
    chain.use_workers(None)
    again = pickle.loads(pickle.dumps(chain))
    again.use_workers(workers_for(3))
    again.run()
    assert differences(again, by_one()) == []


def test_words_seated_one_after_another_are_refused():
    with raises(SettingsError, "conflicting-settings", "start='sequential'"):
        on_workers(workers_for(1), "sequential").start()


def test_a_worker_that_knows_nothing_of_the_chain():
    workers = workers_for(1)
    with pytest.raises(WorkersLostError):
        workers.call(0, "all", [(0, "rest")])
