"""A chain whose documents live with workers is that of the parallel engine, to the bit, whoever is lost."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Chain, Corpus, Priors, SplitMerge
from franchise.corpus import five_topics, open_shards, planted, shard
from franchise.engines import kinds
from franchise.engines.partitions.host import HostSeating
from franchise.engines.pools import ranges
from franchise.engines.pools import workers as module
from franchise.engines.pools.ranges import jobs_for
from franchise.engines.pools.worker import Worker, WorkersLostError
from franchise.errors import ClusterError, ModelError, SettingsError
from franchise.model import broken_invariants
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain, save_chain
from tests.raising import raises, warns
from tests.reference.chains import differences
from tests.reference.workers import Unreliable, WorkersHere

SWEEPS = 8
pytestmark = pytest.mark.filterwarnings("ignore:a worker was lost")


@cache
def corpus():
    """Return documents for two turns of collapsed moves, some of them empty, and terms for several blocks."""
    words = planted(n_topics=8, n_terms=400, n_documents=200, document_length=100, seed=3).corpus
    lengths = np.insert(words.document_lengths, [0, 0, 70, 200], 0)
    return Corpus(words.x, np.concatenate([[0], np.cumsum(lengths)]), words.vocabulary)


def new_chain(engine, start="fitted", of=None, eta=(1.0, 1.0), merges=(), **settings):
    schedule = Timetable(
        sweeps=SWEEPS, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True), merges=merges
    )
    return Chain(
        of or corpus(), Priors(eta=eta), schedule, random_state=5, init=start, engine=engine, **settings
    )


def on_workers(workers, *more, **settings):
    chain = new_chain("ray", *more, **settings)
    chain.use_workers(workers)
    return chain


@pytest.fixture(scope="module", autouse=True)
def _two_turns():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 10_000)
        yield


@cache
def by_threads(start="fitted"):
    chain = new_chain("parallel", start, n_jobs=2)
    chain.run()
    assert len(chain.engine._pool.partitions[0]._turns) == 2
    assert chain.trials
    return chain


# ---------------------------------------------------------------- same bits


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_merges(workers):
    alone, chain = (
        new_chain("parallel", 12, merges=(1, 2)),
        on_workers(WorkersHere(corpus(), workers), 12, merges=(1, 2)),
    )
    for one in (alone, chain):
        one.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    merged = [event for event in chain.events if event.kind == "merged" and event.sweep <= 2]
    assert len(merged) > 2
    assert differences(chain, alone) == []


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_any_number_of_workers(workers):
    chain = on_workers(WorkersHere(corpus(), workers, workers % 2 + 1))
    chain.run()
    assert broken_invariants(corpus().arrays, chain.state) == []
    assert differences(chain, by_threads()) == []


@pytest.mark.parametrize("start", ["one", 20])
def test_any_start(start):
    chain = on_workers(WorkersHere(corpus(), 3), start)
    chain.run()
    assert differences(chain, by_threads(start)) == []


def test_room_for_topics_changes_nothing():
    """Rows of the coordinator have room for as many topics as there are, and grow."""
    chain = on_workers(WorkersHere(corpus(), 2), capacity=1, n_jobs=3)
    chain.run()
    assert differences(chain, by_threads()) == []


def test_rows_whose_room_adds_up_to_the_words():
    """Terms of 3, 5, 3, 2 and 7 words: with room for four topics each, there are as many places as words."""
    x = np.repeat(np.arange(5), [3, 5, 3, 2, 7])
    words = Corpus(np.random.default_rng(0).permutation(x), [0, 20], list("abcde"))
    chains = [new_chain("parallel", 40, of=words, eta=0.01)]
    chains.append(on_workers(WorkersHere(words, 1), 40, of=words, eta=0.01, capacity=2))
    for chain in chains:
        chain.run()
    assert differences(*chains) == []


def test_documents_in_shards(tmp_path):
    shard(corpus(), tmp_path / "shards", shards=7)
    sharded = open_shards(tmp_path / "shards")
    chain = on_workers(WorkersHere(sharded, 3), of=sharded)
    chain.run()
    assert differences(chain, by_threads()) == []


@pytest.mark.parametrize(("workers", "most_words"), [(1, 7_000), (2, 7_000), (3, 500)])
def test_workers_with_several_partitions(monkeypatch, workers, most_words):
    """Lower the limit of 32 bits to this number of words."""
    monkeypatch.setattr(ranges, "MOST_WORDS", most_words)
    chain = on_workers(among := WorkersHere(corpus(), workers))
    assert all(n > 1 for n in among.partitions_each)
    chain.run()
    assert differences(chain, by_threads()) == []


def test_more_workers_than_documents():
    few = Corpus([0, 1, 1, 0, 2], [0, 2, 2, 5], ["a", "b", "c"])
    workers = WorkersHere(few, 9)
    assert workers.size == 2
    chain, other = on_workers(workers, of=few), new_chain("parallel", of=few)
    for one in (chain, other):
        one.run()
    assert differences(chain, other) == []


def test_two_chains_of_one_crew():
    workers, chains = WorkersHere(corpus(), 2), []
    for number in (0, 1):
        chains.append(on_workers(workers, number=number))
        chains[-1].start()
    for _ in range(SWEEPS):
        for chain in chains:
            chain.sweep()
    assert differences(chains[0], by_threads()) == []
    assert differences(chains[1], by_threads()) != []


# ---------------------------------------------------------------- workers that are lost


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("every", [17, 19, 23])
def test_workers_lost_all_the_time(tmp_path, every, after):
    chain = on_workers(workers := Unreliable(corpus(), 3, lose=range(every, 10_000, every), after=after))
    chain.keep_in(tmp_path)
    chain.run(callback=lambda chain: chain.engine.write_seating(tmp_path / str(chain.sweeps_done)))
    assert workers.lost > 3
    assert differences(chain, by_threads()) == []


@pytest.mark.parametrize("lost", range(1, 14))
def test_a_worker_lost_in_the_start_and_the_first_sweep(lost):
    chain = on_workers(workers := Unreliable(corpus(), 2, lose=[lost]))
    chain.run(2)
    assert workers.lost == 1
    other = new_chain("parallel")
    other.run(2)
    for name in ("log_joint", "n_tables", "alpha"):
        assert chain.trace[name].tobytes() == other.trace[name].tobytes()


def test_sweeps_since_the_last_checkpoint_are_made_again(tmp_path):
    chain = on_workers(workers := WorkersHere(corpus(), 2))
    chain.keep_in(tmp_path)
    chain.run(4)
    assert chain.engine.write_seating(tmp_path / "seats")
    chain.run(2)
    workers.workers[1] = None
    made = []
    sweep = chain.engine._sweep
    chain.engine._sweep = lambda key, *more: made.append(key.sweep) or sweep(key, *more)
    since = chain.engine._pool._since
    since[:] = [type(step)(chain.engine._sweep, *step.args) for step in since]
    chain.run(2)
    assert made == [7, 5, 6, 7, 8]  # 7 failed
    assert differences(chain, by_threads()) == []


@pytest.mark.parametrize("after", [False, True])
def test_a_worker_lost_in_any_call_of_sweeps_with_merges(after):
    settings = {"start": 12, "merges": (1, 2)}
    whole = on_workers(counted := Unreliable(corpus(), 2), **settings)
    whole.run(4)
    for call in range(2 + after, counted.calls + 1, 2):
        chain = on_workers(workers := Unreliable(corpus(), 2, lose=[call], after=after), **settings)
        chain.run(4)
        assert workers.lost == 1
        assert differences(chain, whole) == []


@pytest.mark.filterwarnings("default:a worker was lost")
def test_a_lost_worker_is_told_of():
    chain = on_workers(workers := WorkersHere(corpus(), 2))
    chain.run(1)
    workers.workers[0] = None
    with warns("worker-lost"):
        chain.run(1)


def test_both_chains_take_up_their_snapshots():
    workers = WorkersHere(corpus(), 2)
    chains = [on_workers(workers, number=number) for number in (0, 1)]
    for chain in chains:
        chain.run(3)
    workers.workers[0] = None
    for chain in chains[::-1]:
        chain.run(5)
    assert workers.generation == 1
    assert differences(chains[0], by_threads()) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(5))
def test_a_loss_while_one_is_being_mended(tmp_path, call, after):
    """With sweeps since the last checkpoint, which must not be forgotten."""
    chain = on_workers(workers := Unreliable(corpus(), 3, after=after))
    chain.keep_in(tmp_path)
    chain.run(3)
    chain.engine.write_seating(tmp_path / "seats")
    chain.run(2)
    workers.workers[0] = None
    workers._lose = {workers.calls + 2 + call}
    chain.run()
    assert workers.lost == 1
    assert differences(chain, by_threads()) == []


def test_a_loss_in_a_repair(monkeypatch):
    chain = on_workers(workers := WorkersHere(corpus(), 3))
    chain.run(2)
    replace, tried = workers.replace_lost, []

    def fails_twice():
        tried.append(1)
        if len(tried) < 3:
            raise WorkersLostError
        return replace()

    monkeypatch.setattr(workers, "replace_lost", fails_twice)
    workers.workers[1] = None
    chain.run()
    assert len(tried) == 3
    assert differences(chain, by_threads()) == []


def test_chains_in_threads_share_losses():
    """One chain replaces workers while another is anywhere in its sweep."""
    workers = Unreliable(corpus(), 3, lose=range(20, 400, 37))
    chains = [on_workers(workers, number=number) for number in range(3)]
    with ThreadPoolExecutor(3) as threads:
        for done in [threads.submit(chain.run) for chain in chains]:
            done.result()
    assert workers.lost > 3
    assert differences(chains[0], by_threads()) == []
    alone = new_chain("parallel", number=2)
    alone.run()
    assert differences(chains[2], alone) == []


def test_a_cluster_that_is_gone_is_waited_for_once(monkeypatch):
    workers = WorkersHere(corpus(), 2)
    chains = [on_workers(workers, number=number) for number in (0, 1)]
    tried = []

    def gone():
        tried.append(1)
        raise ClusterError("no place for 1 worker", code="no-place-for-workers")

    monkeypatch.setattr(workers, "replace_lost", gone)
    workers.workers[0] = None
    for chain in chains:
        with raises(ClusterError, "no-place-for-workers", "1 worker"):
            chain.run(1)
    assert len(tried) == 1


def test_a_crew_that_is_gone_is_left_behind(tmp_path, monkeypatch):
    """What was done since the last checkpoint is done again with the next workers."""
    chain = on_workers(workers := WorkersHere(corpus(), 2))
    chain.run(3)
    monkeypatch.setattr(
        workers, "replace_lost", lambda: (_ for _ in ()).throw(ClusterError("gone", code="no-cluster"))
    )
    workers.workers[0] = None
    with raises(ClusterError, "no-cluster", "gone"):
        chain.use_workers(None)
    with raises(ClusterError, "seating-lost", "ray"):
        chain.engine.write_seating(tmp_path)
    chain.use_workers(WorkersHere(corpus(), 3))
    chain.run()
    assert differences(chain, by_threads()) == []


def test_a_chain_is_made_again_as_it_was():
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.run(3)
    chain.use_workers(None)
    again = chain.remembered()
    chain.use_workers(WorkersHere(corpus(), 2))
    chain.run(2)
    same = again()
    assert (same.sweeps_done, len(same.trace), chain.sweeps_done) == (3, 4, 5)
    same.use_workers(WorkersHere(corpus(), 3))
    same.run()
    assert differences(same, by_threads()) == []


def test_a_folder_that_machines_do_not_share(tmp_path, monkeypatch):
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.run(1)
    monkeypatch.setattr(Worker, "write_seating", lambda *_: None)  # as on a disk of its own
    with raises(ModelError, "folder-not-shared", tmp_path):
        save_chain(chain, tmp_path)


def test_workers_that_are_lost_again_and_again(monkeypatch):
    monkeypatch.setattr(module, "_MOST_LOSSES", 3)
    chain = on_workers(Unreliable(corpus(), 2, lose=range(1, 100)))
    with raises(ClusterError, "workers-lost-repeatedly", 3):
        chain.run()
    assert not chain.is_whole


class KilledByChain(WorkersHere):
    """Chain 1 kills a worker whenever it asks for a pass; all others are well."""

    killed = 0

    def call(self, generation, what, arguments):
        if what == "all" and arguments[0][:2] == (1, "update"):
            self.killed += 1
            self.workers[0] = None
        return super().call(generation, what, arguments)


@pytest.mark.parametrize("finder", [0, 1])
def test_sweeps_of_one_chain_do_not_excuse_the_losses_of_another(monkeypatch, finder):
    """Whichever chain finds out first that a worker is gone, and so has it replaced."""
    monkeypatch.setattr(module, "_MOST_LOSSES", 3)
    workers = KilledByChain(corpus(), 2)
    well, killer = (on_workers(workers, number=number) for number in (0, 1))
    repair = workers.repair

    def between(generation, chain):
        if chain == 0:
            return repair(generation, chain)
        assert workers.killed < 10, "it would be repaired for ever"
        if finder == 0:
            well.run(1)
        done = repair(generation, chain)
        if finder == 1:
            well.run(1)
        return done

    well.start()
    killer.start()
    monkeypatch.setattr(workers, "repair", between)
    with raises(ClusterError, "workers-lost-repeatedly", 3):
        killer.run(1)
    assert workers.killed == 4
    assert well.sweeps_done >= 3


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize(("sweep", "workers"), [(0, 1), (3, 5), (6, 3)])
def test_taken_up_on_another_number_of_workers(tmp_path, sweep, workers):
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.start()
    chain.run(sweep)
    save_chain(chain, tmp_path)
    taken_up = load_chain(tmp_path, corpus())
    assert taken_up.engine_name == "ray"
    taken_up.use_workers(WorkersHere(corpus(), workers))
    taken_up.run()
    assert differences(taken_up, by_threads()) == []


def test_a_chain_that_has_left_its_workers(tmp_path):
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.run()
    chain.use_workers(None)
    assert differences(chain, by_threads()) == []
    save_chain(chain, tmp_path / "a")
    again = load_chain(tmp_path / "a", corpus())
    assert differences(again, by_threads()) == []
    save_chain(again, tmp_path / "b")  # from the files of the first
    assert differences(load_chain(tmp_path / "b", corpus()), by_threads()) == []
    assert again.engine.counts().m_k.tolist() == chain.engine.counts().m_k.tolist()
    with raises(ClusterError, "no-workers", "engine='ray'"):
        again.run(1)


def test_a_chain_can_be_pickled():
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.run(3)
    chain.use_workers(None)
    again = pickle.loads(pickle.dumps(chain))
    again.use_workers(WorkersHere(corpus(), 1))
    again.run()
    assert differences(again, by_threads()) == []


def test_a_franchise_from_elsewhere():
    other = new_chain("parallel")
    other.run(3)
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.start_at(other.state)
    assert chain.trace["log_joint"][0] == other.trace["log_joint"][-1]
    chain.run(1)
    assert broken_invariants(corpus().arrays, chain.state) == []


def damage(seats, which):
    seats = {name: array.astype(np.int64) for name, array in seats.items()}
    if which == "table":
        seats["t_ji"][0] = 10_000
    elif which == "topic":
        seats["k_jt"][0] = 10_000
    elif which == "nobody":
        seats["k_jt"], seats["m_j"] = np.append(seats["k_jt"], 0), seats["m_j"].copy()
        seats["m_j"][-1] += 1
    elif which == "other topic":
        seats["k_jt"][0] = 0 if seats["k_jt"][0] else 1
    else:
        seats["t_ji"] = seats["t_ji"][1:]
    return seats


@pytest.mark.parametrize("which", ["table", "topic", "nobody", "other topic", "length"])
def test_seats_that_are_unsound(which):
    chain = on_workers(WorkersHere(five_topics(0).corpus, 2), of=five_topics(0).corpus)
    chain.run(1)
    chain.use_workers(None)
    snapshot = chain.engine._pool._snapshot
    snapshot.seating[3] = damage(snapshot.seating[3], which)
    chain.use_workers(WorkersHere(five_topics(0).corpus, 2))
    with raises(ModelError, "seats-mismatch" if which == "other topic" else "damaged-file"):
        chain.run(1)


@pytest.mark.parametrize("m_j", [(3, 1), (1, 3)])
def test_a_document_has_no_more_tables_than_words(m_j):
    """Further tables would lie in the next document, or behind the end of all."""
    documents = HostSeating(Corpus(np.zeros(4, np.int32), [0, 2, 4], ("term",)).arrays)
    seating = {"t_ji": np.array([0, m_j[0] > 1, 0, m_j[1] > 1]), "m_j": np.array(m_j), "k_jt": np.zeros(4)}
    with pytest.raises(ValueError, match="more tables than words"):
        documents.seat(0, 2, seating)


def test_files_of_seats_that_are_missing_or_others(tmp_path):
    chain = on_workers(WorkersHere(corpus(), 2))
    chain.run(1)
    save_chain(chain, tmp_path)
    seats = sorted((tmp_path / "seats").rglob("*.safetensors"))
    assert len(seats) == 64
    seats[5].write_bytes(seats[6].read_bytes())
    taken_up = load_chain(tmp_path, corpus())
    taken_up.use_workers(WorkersHere(corpus(), 1))
    with raises(ModelError, "damaged-file", seats[5]):
        taken_up.run(1)
    seats[5].unlink()
    taken_up = load_chain(tmp_path, corpus())
    taken_up.use_workers(WorkersHere(corpus(), 1))
    with raises(ModelError, "no-such-file", seats[5]):
        taken_up.run(1)


def test_what_cannot_be_started():
    with raises(SettingsError, "conflicting-settings", "start='sequential'"):
        on_workers(WorkersHere(corpus(), 2), "sequential").start()
    with raises(ClusterError, "no-workers", "engine='ray'"):
        new_chain("ray").start()


# ---------------------------------------------------------------- sharing out


@given(st.lists(st.integers(0, 30), min_size=1, max_size=100).filter(any), st.integers(1, 12))
def test_every_document_has_one_worker(lengths, workers):
    words = Corpus(np.zeros(sum(lengths), int), np.cumsum([0, *lengths]), ["a"])
    jobs = jobs_for(words, workers)
    assert 1 <= len(jobs) <= workers
    numbers = [shard.number for job in jobs for shard in job.shards]
    assert numbers == list(range(len(numbers)))
    assert all(job.shards for job in jobs)
    assert np.concatenate([np.diff(job.source.doc_ptr) for job in jobs]).tolist() == lengths


def test_work_is_shared_evenly():
    words = planted(n_topics=2, n_terms=5, n_documents=1000, document_length=20, seed=0).corpus
    shares = [job.source.x.size for job in jobs_for(words, 5)]
    assert max(shares) < 1.2 * words.n_words / 5
