"""Documents that are too many for one partition: a chain is the same to the bit however they are divided."""

import gc
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest

from franchise import Chain, HDPTopicModel, Priors, SplitMerge
from franchise._draws import PartsOfDraw
from franchise.corpus import planted, shard
from franchise.engines import kinds
from franchise.engines.checkpoints import joined_seating
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions import document_pass, host
from franchise.engines.partitions.host import HostPartition
from franchise.engines.pools import local, ranges
from franchise.sampling import Timetable
from franchise.sampling.run import run_chains
from franchise.storage.chain import load_chain, save_chain
from franchise.storage.checkpoints import Checkpoints

SWEEPS, SHARDS = 8, 11
SCHEDULE = Timetable(
    sweeps=SWEEPS,
    burn_in=5,
    thin=2,
    merges=(2, 4),
    split_merge=SplitMerge(trials=10, keep_trials=True),
)
PRIORS = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=(2.0, 8.0))
STARTS = ["one", 20, "fitted"]
ENGINES = ["parallel", "cells"]


@cache
def corpus():
    return planted(n_topics=5, n_terms=150, n_documents=120, document_length=30, seed=2).corpus


@pytest.fixture(scope="module", autouse=True)
def _several_turns():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 1_000)
        patch.setattr(kinds, "TABLE_CELLS", 800)
        yield


@contextmanager
def at_most(words):
    """Let a partition have no more words than that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "MOST_WORDS", words)
        yield


def new_chain(engine, start, of=None, **settings):
    chain = Chain(of or corpus(), PRIORS, SCHEDULE, random_state=4, init=start, engine=engine, **settings)
    chain.start()
    return chain


def in_bits(chain):
    """Return where a chain is and how it came there, but for the time that it took."""
    engine = chain.engine
    seating = joined_seating(engine._pool.seating(), engine.kind.has_counts)
    found = {name: array.tobytes() for name, array in (engine.arrays_of_coordinator() | seating).items()} | {
        name: chain.trace[name].tobytes() for name in chain.trace.columns if name != "seconds"
    }
    for draw in (*chain.draws, chain.mode):
        for table in (draw.topic_terms, draw.of_documents(slice(None))):
            name = f"draw {draw.sweep}, {table.shape}"
            found[name] = table.data.tobytes() + table.indices.tobytes() + table.indptr.tobytes()
    return found | {"events": chain.events, "trials": chain.trials, "mode": chain.mode_log_joint}


def differences(chain, whole):
    """Return the names of what is not the same."""
    found = in_bits(chain)
    return [name for name in found.keys() | whole.keys() if found.get(name) != whole.get(name)]


@cache
def whole_chain(engine, start):
    """Return the bits of a chain with one partition."""
    chain = new_chain(engine, start)
    chain.run()
    assert len(chain.engine._pool.partitions) == 1
    assert len(chain.engine._pool.partitions[0]._turns) > 1
    assert chain.draws
    return in_bits(chain)


def test_there_is_something_to_compare():
    """Topics are born, split and merged, in chains that this file compares."""
    seen = {event.kind for engine in ENGINES for start in STARTS for event in events_of(engine, start)}
    assert {"born", "died", "split", "merged"} <= seen


def events_of(engine, start):
    return whole_chain(engine, start)["events"]


@pytest.mark.parametrize("words", [300, 2_000])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_several_partitions_change_no_bit(engine, start, words):
    with at_most(words):
        chain = new_chain(engine, start, n_jobs=2)
        chain.run()
    assert len(chain.engine._pool.partitions) >= corpus().n_words // words
    assert differences(chain, whole_chain(engine, start)) == []


def test_words_that_are_seated_in_turn():
    with at_most(300):
        chain = new_chain("parallel", "sequential")
        chain.run()
    assert differences(chain, whole_chain("parallel", "sequential")) == []


@pytest.mark.parametrize("before", [300, 10**9])
@pytest.mark.parametrize("sweeps", [0, 3, 6])
@pytest.mark.parametrize("engine", ENGINES)
def test_taken_up_with_other_partitions(tmp_path, engine, sweeps, before):
    with at_most(before):
        chain = new_chain(engine, 20)
        chain.run(sweeps)
        save_chain(chain, tmp_path)
    with at_most(1_000 if before > 1_000 else 10**9):
        taken_up = load_chain(tmp_path, corpus())
        taken_up.run()
    assert len(taken_up.engine._pool.partitions) == (4 if before > 1_000 else 1)
    assert differences(taken_up, whole_chain(engine, 20)) == []


def test_a_sweep_does_not_count_the_words_of_terms_again(monkeypatch):
    """They never change, and counting them takes seconds where words are many."""
    with at_most(300):
        chain = new_chain("parallel", 20)
        for module in (host, document_pass):
            monkeypatch.setattr(module, "count_terms", None, raising=False)
        chain.run(2)
    assert len(chain.engine._pool.partitions) > 10


@pytest.mark.parametrize("words", [300, 10**9])
@pytest.mark.parametrize("engine", ENGINES)
def test_terms_are_sampled_once_per_sweep_and_counts_are_not_held(engine, words, monkeypatch):
    """Counts that have come through Ray stay in its memory as long as anyone has them."""
    sampled, draw = [], Instantiator._draw
    monkeypatch.setattr(Instantiator, "_draw", lambda *given: sampled.append(1) or draw(*given))
    with at_most(words):
        chain = new_chain(engine, 20)
        chain.run(3)
    assert len(sampled) == 3
    assert chain.engine._pool._factory._instantiator._made_with is None


# ---------------------------------------------------------------- documents that lie in shards


@pytest.fixture(scope="module")
def sharded(tmp_path_factory):
    return shard(corpus(), tmp_path_factory.mktemp("sharded") / "corpus", SHARDS)


@pytest.mark.parametrize("start", STARTS)
def test_from_shards(tmp_path, sharded, start):
    """Every shard has its seating written apart, and draws lie in parts."""
    with at_most(1_000):
        chain = Chain(sharded, PRIORS, SCHEDULE, random_state=4, init=start, engine="parallel", n_jobs=2)
        run_chains([chain], keeper=Checkpoints(tmp_path, 0.0))
    assert len(chain.engine._pool.partitions) > 3
    assert all(isinstance(draw.document_counts, PartsOfDraw) for draw in chain.draws)
    assert len({path.name for path in (tmp_path / "0" / "seats").rglob("*.safetensors")}) == SHARDS
    assert differences(chain, whole_chain("parallel", start)) == []


@pytest.mark.parametrize("sweeps", [0, 3, 6])
def test_from_shards_taken_up_with_other_partitions(tmp_path, sharded, sweeps):
    with at_most(1_000):
        chain = new_chain("parallel", 20, sharded)
        chain.run(sweeps)
        save_chain(chain, tmp_path)
    with at_most(400):
        taken_up = load_chain(tmp_path, sharded)
        taken_up.run()
    assert len(taken_up.engine._pool.partitions) > len(chain.engine._pool.partitions) > 3
    assert differences(taken_up, whole_chain("parallel", 20)) == []


def test_the_seating_of_one_shard_at_a_time_is_gathered_and_written(tmp_path, sharded, monkeypatch):
    done = []
    gather, write = HostPartition.seating, local.write_seating
    monkeypatch.setattr(
        HostPartition, "seating", lambda *arguments: done.append("gathered") or gather(*arguments)
    )
    monkeypatch.setattr(
        local, "write_seating", lambda *arguments: done.append("written") or write(*arguments)
    )
    with at_most(1_000):
        save_chain(new_chain("parallel", 20, sharded), tmp_path)
    assert done == ["gathered", "written"] * SHARDS


@pytest.fixture
def shards_read(monkeypatch):
    """Return a list of the shards that are read for partitions."""
    gc.collect()  # chains of other tests, which have these documents
    read, found = ranges.read_shard, []
    monkeypatch.setattr(
        ranges, "read_shard", lambda folder, one: found.append(one.number) or read(folder, one)
    )
    return found


def test_chains_read_the_same_documents_once(sharded, shards_read):
    with at_most(1_000):
        chains = [new_chain("parallel", 20, sharded, number=i) for i in range(2)]
    assert sorted(shards_read) == list(range(SHARDS))
    first, second = (chain.engine._pool.partitions for chain in chains)
    assert len(first) > 3
    assert all(np.shares_memory(a.corpus.x, b.corpus.x) for a, b in zip(first, second, strict=True))


def test_no_shard_is_read_before_the_next_sweep(tmp_path, sharded, shards_read):
    """To look at a model needs neither its documents nor their seating."""
    with at_most(1_000):
        chain = new_chain("parallel", 20, sharded)
        chain.run(6)
        save_chain(chain, tmp_path)
        del chain
        gc.collect()
        shards_read.clear()
        taken_up = load_chain(tmp_path, sharded)
        taken_up.use_threads(2)
        assert taken_up.draws
        assert not taken_up.progress
        assert shards_read == []
        taken_up.run()
    assert sorted(shards_read) == list(range(SHARDS))
    assert differences(taken_up, whole_chain("parallel", 20)) == []


def test_a_report_of_a_corpus_that_does_not_fit_in_one_piece(tmp_path, sharded, monkeypatch):
    monkeypatch.setattr("franchise.corpus.shards.corpus.MAX_WORDS", 1_000)
    # Looks at fewer words, as above 2**31.
    monkeypatch.setattr("franchise.corpus.data_warnings._MOST_WORDS", 500)
    with at_most(1_000):
        model = HDPTopicModel(init="one", sweeps=6, burn_in=3, chains=2, engine="parallel", verbose=0)
        model.fit(sharded)
        assert np.isfinite(model.coherence()).any()
        model.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").is_file()
