"""Moves over some of the documents, and engines by name."""

import numba
import numpy as np
import pytest

from franchise import Chain, Corpus, SettingsError
from franchise.engines import EngineSettings, Trials, engine_named
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.engines.threads import Threads
from franchise.model import Priors, broken_invariants, copy_state
from franchise.model.packing import packed
from franchise.random import TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling import SplitMerge
from tests.golden.fingerprint import arithmetic_corpus
from tests.raising import raises
from tests.reference.chains import ALONE

pytestmark = pytest.mark.nojit
# NumPy's warnings of overflow, which are off without the compiler, are on in every new thread.
IN_THREADS = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="threads need the compiler")


@pytest.fixture
def chain():
    chain = Chain(arithmetic_corpus(), random_state=3)
    chain.run(2)
    return chain


def test_documents_that_are_not_visited_stay(chain):
    corpus, before = chain.corpus.arrays, copy_state(chain.state)
    visited = np.array([5, 3])
    sampler = CollapsedSampler(corpus, copy_state(chain.state), visited)
    for sweep in range(20):
        sampler.gibbs(Key(1, 0, sweep, WORD_TABLES))
    assert broken_invariants(corpus, sampler.state) == []
    for j in range(chain.corpus.n_documents):
        words = slice(corpus.doc_ptr[j], corpus.doc_ptr[j + 1])
        changed = sampler.state.t_ji[words].tolist() != before.t_ji[words].tolist()
        assert changed == (j in visited) or corpus.doc_ptr[j] == corpus.doc_ptr[j + 1]


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=IN_THREADS)])
def test_trials_are_the_same_where_no_table_move_has_laid_out_the_words(chain, threads):
    """A sampler whose table move has seen all documents, one without any move, and one that saw none."""
    corpus, trials, key = chain.corpus.arrays, Trials(30, SplitMerge().as_array()), Key(1, 0, 1, TABLE_TOPICS)
    first = CollapsedSampler(corpus, copy_state(chain.state))
    first.draw_tables(key)
    second = CollapsedSampler(corpus, copy_state(first.state))
    third = CollapsedSampler(corpus, copy_state(first.state), np.zeros(0, np.int64))
    third.draw_tables(key)
    found = []
    for sampler in (first, second, third):
        info, records = sampler.try_splits_and_merges(key, trials, threads=Threads(threads))
        assert broken_invariants(corpus, sampler.state) == []
        sampler.visit(np.arange(chain.corpus.n_documents))
        sampler.draw_words(key)  # there is room for topics everywhere
        sampler.compact()
        arrays = packed(corpus, sampler.state)
        found.append((info, records.tobytes(), {name: array.tobytes() for name, array in arrays.items()}))
    assert found[0] == found[1] == found[2]
    assert found[0][0].splits + found[0][0].merges > 0


def test_a_chain_names_its_engine():
    assert Chain(Corpus([0], [0, 1], ["a"]), random_state=0).engine.name == "collapsed"
    with raises(SettingsError, "unknown-choice", "engine='quantum'", "'auto'", *map(repr, ALONE)):
        Chain(Corpus([0], [0, 1], ["a"]), engine="quantum", random_state=0)


@pytest.mark.parametrize("name", ALONE)
def test_an_engine_goes_on_from_its_arrays(name):
    """Two engines, one handed the other's arrays, make the same sweep."""
    made_by, trials = engine_named(name), Trials(5, SplitMerge().as_array())
    corpus, settings = arithmetic_corpus(), EngineSettings(Priors(eta=(2.0, 10.0)))
    first, second = made_by.new(corpus, settings), made_by.new(corpus, settings)
    first.start(Key(4, 0, 0, 0), "sequential" if made_by.seats_in_turn else 3)
    first.sweep(Key(4, 0, 1, 0), trials)
    second.restore({array: values.copy() for array, values in first.arrays().items()})
    for engine in (first, second):
        engine.sweep(Key(4, 0, 2, 0), trials)
    assert first.numbers() == second.numbers()
    assert first.names().tolist() == second.names().tolist()
    for ours, theirs in zip(first.arrays().values(), second.arrays().values(), strict=True):
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", ["collapsed", "parallel"])
def test_an_engine_refuses_arrays_that_do_not_add_up(name):
    engine = engine_named(name).new(arithmetic_corpus(), EngineSettings(Priors()))
    engine.start(Key(4, 0, 0, 0), 3)
    arrays = {array: values.copy() for array, values in engine.arrays().items()}
    arrays["m_k"][0] += 1
    with pytest.raises(ValueError, match="m_k differs from a recount"):
        engine.restore(arrays)
