"""What a run will take: known soon, also for a large corpus, and not after compiling for a minute."""

import time
from dataclasses import replace

import numpy as np
import pytest

from franchise import Corpus, Priors
from franchise.corpus import planted
from franchise.sampling import Timetable
from franchise.sampling import forecast as module
from franchise.sampling.forecast import Forecast, forecast
from franchise.sampling.plan import Plan, starts_of
from tests.reference.chains import ALONE
from tests.reference.gpus import let_there_be_engine

PLAN = Plan(
    priors=Priors(), schedule=Timetable(sweeps=100, burn_in=50), starts=starts_of("fitted", 2), seed=1
)


@pytest.fixture(scope="module")
def corpus():
    return planted(n_documents=400, document_length=100, n_topics=10, n_terms=500, seed=1).corpus


def repeated(corpus, times):
    """Return a corpus of `n` copies of every document."""
    x, offsets = np.tile(corpus.x, times), np.arange(times)[:, None] * corpus.n_words + corpus.doc_ptr[:-1]
    return Corpus(x, [*offsets.ravel(), x.size], corpus.vocabulary)


def test_a_large_corpus_takes_no_longer(corpus):
    plan = replace(PLAN, engine="collapsed")
    forecast(plan, corpus, 1)  # compiled
    large = repeated(corpus, 100)
    began = time.process_time()
    found = forecast(plan, large, 1)
    assert time.process_time() - began < 10.0  # a single sweep of it takes several seconds
    small = forecast(plan, corpus, 1)
    assert 20 < found.seconds / small.seconds < 500
    assert 20 < found.memory / small.memory < 500


def test_documents_that_are_looked_at(corpus):
    most = module._MOST
    assert module._part_of(PLAN, corpus, most) is corpus
    part = module._part_of(PLAN, repeated(corpus, 100), most)
    assert 0.5 * most < part.n_words < 1.5 * most
    one = Corpus(np.zeros(300_000, int), [0, 300_000, 300_000], ["a"])
    assert module._part_of(PLAN, one, most).n_words == most
    empty = Corpus(np.zeros(300_000, int), [0, 0, 300_000, 300_000], ["a"])
    assert module._part_of(PLAN, empty, most) is empty
    of_cells = module._part_of(replace(PLAN, engine="cells"), corpus, 5_000)
    assert 2_500 < of_cells.cells.terms.size < 7_500


@pytest.mark.parametrize("engine", ALONE)
def test_a_part_tells_what_the_whole_takes(corpus, engine, monkeypatch):
    plan = replace(PLAN, starts=("fitted",), engine=engine)
    expected = forecast(plan, corpus, 1)
    monkeypatch.setattr(module, "_MOST", 8_000)
    found = forecast(plan, corpus, 1)
    assert 0.2 < found.seconds / expected.seconds < 5.0
    assert 0.5 < found.memory / expected.memory < 2.0


@pytest.mark.parametrize("engine", ["collapsed", "parallel"])
def test_short_runs_before_the_chains_are_counted(corpus, engine, monkeypatch):
    """24 runs of 40 sweeps are more than 2 chains of 20, whatever makes these."""
    plan = replace(PLAN, engine=engine, schedule=Timetable(sweeps=20, burn_in=10))
    fitted = forecast(plan, corpus, 1).seconds
    assert forecast(replace(plan, starts=("consensus",) * 2), corpus, 1).seconds > 5 * fitted
    monkeypatch.setattr(module, "_of_short_runs", lambda *_: 1e9)
    few = corpus.select(np.arange(50))
    for start, documents, has_runs in (
        ("auto", corpus, True),
        ("auto", few, False),
        ("fitted", corpus, False),
        ("counts", corpus, False),
    ):
        found = forecast(replace(plan, starts=(start,) * 2), documents, 1).seconds
        assert (found >= 1e9) == has_runs


@pytest.mark.parametrize("start", ["fitted", "consensus"])
def test_threads_are_counted(corpus, monkeypatch, start):
    """A busy machine takes longer for the same sweeps at times, so they are timed once."""
    plan = replace(PLAN, starts=(start,) * 2)
    found, threads = [], []

    def timed(plan, part, own_threads, timed=module._timed):
        threads.append(own_threads)
        if not found:
            found.append(timed(plan, part, own_threads))
        return found[0]

    monkeypatch.setattr(module, "_timed", timed)
    one, two, four = (forecast(plan, corpus, jobs).seconds for jobs in (1, 2, 4))
    assert one == pytest.approx(2.0 * two)
    short_runs = start == "consensus"  # of 24 runs four threads make twice as many as two; chains are two
    assert (four < 0.99 * two) == short_runs
    assert threads == ([1, 1, 1, 1, 2, 1] if short_runs else [1, 1, 2])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 seconds"), (80, "80 seconds"), (100, "2 minutes"), (5000, "83 minutes"), (9000, "2 hours")],
)
def test_times_in_words(seconds, text):
    assert Forecast(seconds, 0).text == text


def test_a_cluster_is_not_needed_for_a_forecast(monkeypatch):
    corpus = planted(n_topics=3, n_terms=30, n_documents=20, document_length=20, seed=0).corpus
    settings = dict(priors=Priors(), schedule=Timetable(sweeps=10, burn_in=5), starts=("one",), seed=0)
    let_there_be_engine(monkeypatch)  # for the GPUs of a cluster, one here
    for engine in ("ray", "ray-gpu"):
        assert forecast(Plan(**settings, engine=engine), corpus, 1).seconds > 0.0
