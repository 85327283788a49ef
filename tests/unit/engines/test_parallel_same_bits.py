"""A chain of the parallel engine is the same to the bit for any number of threads, resumed or not."""

from functools import cache

import pytest

from franchise import Chain, Priors, SplitMerge
from franchise.corpus import planted
from franchise.engines import kinds
from franchise.engines.partitions import document_pass
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain, save_chain
from tests.reference.chains import differences

SWEEPS = 8
THREADS = (1, 2, 3, 16)


@cache
def corpus():
    """Return documents for two turns of collapsed moves, and terms for several blocks."""
    return planted(n_topics=8, n_terms=600, n_documents=300, document_length=100, seed=3).corpus


def new_chain(threads, **changes):
    settings = {"sweeps": SWEEPS, "burn_in": 2, "thin": 2, "split_merge": SplitMerge(keep_trials=True)}
    priors = Priors(eta=(1.0, 1.0))
    schedule = Timetable(**{**settings, **changes})
    return Chain(corpus(), priors, schedule, random_state=5, engine="parallel", n_jobs=threads)


@pytest.fixture(scope="module", autouse=True)
def _two_turns():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "COLLAPSED_WORDS", 20_000)
        yield


@pytest.fixture(scope="module")
def in_one_piece():
    chain = new_chain(1)
    chain.run()
    assert len(chain.engine._pool.partitions[0]._turns) > 1
    assert chain.trials
    assert chain.draws
    return chain


@pytest.mark.parametrize("threads", THREADS[1:])
def test_any_number_of_threads(in_one_piece, threads):
    chain = new_chain(threads)
    chain.run()
    (partition,) = chain.engine._pool.partitions
    assert len(partition._instantiator._terms) > 3
    assert len(partition._pass.ranges) > 3
    assert differences(chain, in_one_piece) == []


@pytest.mark.parametrize("sweep", range(SWEEPS))
def test_taken_up_with_another_number_of_threads(tmp_path, in_one_piece, sweep):
    before, after = THREADS[sweep % 4], THREADS[(sweep + 1 + sweep // 4) % 4]
    chain = new_chain(before)
    chain.start()
    chain.run(sweep)
    save_chain(chain, tmp_path)
    taken_up = load_chain(tmp_path, corpus())
    assert taken_up.engine.name == "parallel"
    taken_up.engine.use_threads(after)
    taken_up.run()
    assert differences(taken_up, in_one_piece) == []


def test_another_number_of_threads_for_every_sweep(in_one_piece):
    chain = new_chain(1)
    chain.start()
    for threads in (3, 1, 16, 2, 2, 1, 16, 3):
        chain.engine.use_threads(threads)
        chain.sweep()
    assert differences(chain, in_one_piece) == []


def test_room_and_the_way_of_counting(in_one_piece, monkeypatch):
    """Neither room for topics, nor whether threads count their words as they go, changes a bit."""
    for budget in (0, 10_000):
        monkeypatch.setattr(document_pass, "_BYTES_TO_COUNT", budget)
        chain = Chain(
            corpus(),
            in_one_piece.priors,
            in_one_piece.schedule,
            random_state=5,
            engine="parallel",
            n_jobs=2,
            capacity=1,
        )
        chain.run()
        assert differences(chain, in_one_piece) == []


@pytest.mark.parametrize("start", ["fitted", "one", 20])
def test_any_start(in_one_piece, start):
    found = []
    for threads in THREADS:
        chain = Chain(
            corpus(), in_one_piece.priors, init=start, engine="parallel", n_jobs=threads, random_state=0
        )
        chain.start()
        seats = chain.state.t_ji.tobytes()
        chain.run(2)
        found.append((seats, chain.state.t_ji.tobytes(), chain.trace["log_joint"].tobytes()))
    assert len(set(found)) == 1


def test_another_seed_or_number_is_another_chain(in_one_piece):
    for change in ({"random_state": 6}, {"random_state": 5, "number": 1}):
        chain = Chain(corpus(), in_one_piece.priors, in_one_piece.schedule, engine="parallel", **change)
        chain.start()
        chain.run(1)
        assert chain.state.t_ji.tobytes() != in_one_piece.state.t_ji.tobytes()
        assert chain.trace["log_joint"][1] != in_one_piece.trace["log_joint"][1]
