"""The engine for cells: draw for draw its twin's, the same bits for any number of threads, resumed or not."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Chain, Priors, SettingsError, SplitMerge
from franchise._arrays import CorpusArrays
from franchise.corpus import from_counts, planted
from franchise.engines import ENGINES, kinds
from franchise.engines.engine import EngineSettings, Trials
from franchise.engines.partitions import cells as module
from franchise.engines.starts.em import fitted_topics
from franchise.model import broken_invariants, empty_state, joint
from franchise.model.cell_tables import broken_cells
from franchise.model.likelihood import MOST_TABULATED, log_p_words
from franchise.model.seating import seat_all
from franchise.model.state import BORN, TOPICS, topic_term_counts
from franchise.random import CELLS, Key
from franchise.sampling import Timetable
from tests.raising import raises
from tests.reference import cells as twin
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of
from tests.reference.parallel import instantiated
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

COUNTS = np.array([[300, 0, 12, 1], [0, 0, 0, 0], [5, 40_000, 0, 7], [1, 2, 3, 900], [0, 0, 1, 0]])


def engine_of(documents, n_terms, at, **settings):
    corpus = corpus_of(documents, n_terms)
    return ENGINES["cells"].new(corpus, EngineSettings(Priors(**at._asdict()), capacity=1, **settings))


def engine_of_counts(threads=1, **priors):
    settings = EngineSettings(Priors(**priors), capacity=1, threads=threads)
    return ENGINES["cells"].new(from_counts(COUNTS), settings)


def tables_of(engine, column=None):
    """Return the tables of every document, with topics, or columns of topics."""
    state, tables, found = engine.state, engine._pool.partitions[0].tables, []
    for j in range(state.m_j.size):
        own = []
        for slot in range(tables.slot_ptr[j], tables.slot_ptr[j + 1]):
            pairs = slice(tables.pair_ptr[slot], tables.pair_ptr[slot + 1])
            words = dict(zip(tables.term[pairs].tolist(), tables.words[pairs].tolist()))
            assert sum(words.values()) == state.n_jt[slot]
            k = int(state.k_jt[slot])
            own.append(twin.Table(k if column is None else int(column[k]), words))
        found.append(own)
    return found


def check(engine):
    """Recount all that a state of cells must satisfy."""
    state, cells = engine.state, engine._corpus.cells
    assert broken_cells(cells, engine.arrays()) == ""
    live = state.live[: state.totals[TOPICS]]
    n_kv, m_k = np.zeros((live.size, cells.n_terms), int), Counter()
    for own in tables_of(engine):
        for table in own:
            m_k[table.column] += 1
            for v, count in table.words.items():
                n_kv[state.place[table.column], v] += count
    assert np.array_equal(topic_term_counts(state), n_kv)
    assert np.array_equal(state.n_k[live], n_kv.sum(axis=1))
    assert [m_k[k] for k in live.tolist()] == state.m_k[live].tolist()


# ---------------------------------------------------------------- the pass


@pytest.mark.nojit
@given(corpora(), CONCENTRATIONS, SEEDS, st.sampled_from([0.3, 0.05, 0.001]), st.sampled_from([1, 30, 1_000]))
def test_the_pass_is_that_of_its_twin(corpus, at, seed, epsilon, times):
    documents, n_terms = [words * times for words in corpus[0]], corpus[1]
    engine = engine_of(documents, n_terms, at)
    engine._epsilon = epsilon
    engine.start(Key(seed, 0, 0, 0), 3)
    for sweep in (1, 2, 3):
        key = Key(seed, 0, sweep, 0)
        measure = instantiated(engine, key)
        moving, n_columns = measure.sizes.tolist()
        number, before = measure.number[:n_columns].copy(), engine.state
        old, column = before.live[: before.totals[TOPICS]].tolist(), measure.column.copy()
        mass = (at.alpha * measure.beta[:n_columns]).tolist()
        phi = measure.phi[:, :moving].T.astype(float).tolist()
        counted = [Counter(words) for words in documents]
        expected = twin.update(
            counted, tables_of(engine, column), moving, mass, phi, key._replace(move=CELLS)
        )
        names = engine.names().tolist()
        info = engine._update_documents(key)
        check(engine)
        used = {table.column for own in expected for table in own}
        order = [column[k] for k in old if column[k] in used]
        order += [c for c in range(moving) if number[c] < 0 and c in used]
        numbered = [[twin.Table(order.index(c), words) for c, words in own] for own in expected]
        assert tables_of(engine) == numbered
        survivors = [name for name, k in zip(names, old) if column[k] in used]
        assert engine.names().tolist()[: len(survivors)] == survivors
        assert (info.births, info.deaths) == (len(order) - len(survivors), len(old) - len(survivors))


@pytest.mark.parametrize("eta", [0.1, 1e-100])
def test_sweeps_of_large_counts_add_up(eta, seed):
    engine = engine_of_counts(eta=eta)
    trials = Trials(3, Timetable().split_merge.as_array())
    engine.start(Key(seed, 0, 0, 0), 3)
    for sweep in range(1, 30):
        engine.sweep(Key(seed, 0, sweep, 0), trials)
        check(engine)
    assert engine.state.n_jt.sum() == COUNTS.sum()


def test_the_joint_of_counts_beyond_the_table(seed):
    """Their logarithms of gammas are computed, not looked up."""
    counts = np.array([[0, 3 * MOST_TABULATED], [4, MOST_TABULATED], [7, 1]])
    engine = ENGINES["cells"].new(from_counts(counts), EngineSettings(Priors(eta=0.3)))
    engine.start(Key(seed, 0, 0, 0), 2)
    for sweep in range(1, 4):
        engine.sweep(Key(seed, 0, sweep, 0), None)
        assert engine.state.row_n.max() > MOST_TABULATED
        assert engine.numbers()["log_p_words"] == pytest.approx(log_p_words(engine.state, 0.3), rel=1e-9)


def test_more_topics_than_there_was_room_for_keep_their_counts(seed):
    corpus = planted(n_topics=20, n_terms=30, n_documents=40, document_length=200, seed=1).corpus
    settings = EngineSettings(Priors(gamma=50.0, alpha=20.0, eta=0.02), capacity=1)
    engine = ENGINES["cells"].new(corpus, settings)
    engine.start(Key(seed, 0, 0, 0), "one")
    for sweep in range(1, 5):
        engine.sweep(Key(seed, 0, sweep, 0), Trials(5, Timetable().split_merge.as_array()))
        check(engine)
    assert engine.state.totals[TOPICS] > 8


def test_the_joint_is_that_of_the_words_laid_out(seed):
    engine = engine_of([[0, 0, 0, 1, 2, 2], [], [1, 1, 3, 3, 3]], 4, Concentrations(1.3, 0.7, 0.4))
    engine.start(Key(seed, 0, 0, 0), 2)
    for sweep in range(1, 10):
        engine.sweep(Key(seed, 0, sweep, 0), None)
        found, tables = engine.numbers(), tables_of(engine)
        words = [[v for table in own for v, n in table.words.items() for _ in range(n)] for own in tables]
        x = np.array([v for own in words for v in own], np.int32)
        doc_ptr = np.cumsum([0, *map(len, words)])
        corpus = CorpusArrays(x, doc_ptr, 4)
        state = empty_state(corpus)
        state.concentrations[:] = engine.state.concentrations
        for j, own in enumerate(tables):
            sizes = [table.size for table in own]
            state.t_ji[doc_ptr[j] : doc_ptr[j + 1]] = np.repeat(np.arange(len(own)), sizes)
            state.k_jt[doc_ptr[j] : doc_ptr[j] + len(own)] = [table.column for table in own]
        seat_all(corpus, state, engine.state.totals[TOPICS])
        assert broken_invariants(corpus, state) == []
        expected = joint(corpus, state, engine._settings.priors)
        for name in ("log_p_tables", "log_p_topics", "log_p_words", "log_prior"):
            assert found[name] == pytest.approx(getattr(expected, name))


# ---------------------------------------------------------------- starts


def test_starts(seed):
    for start, most in (("one", 1), (5, 5), (fitted_topics(from_counts(COUNTS), 0.5, seed), 1_000)):
        engine = engine_of_counts()
        engine.start(Key(seed, 0, 0, 0), start)
        check(engine)
        assert 1 <= engine.state.totals[TOPICS] <= most


def test_a_start_from_topics_takes_them(seed):
    corpus = from_counts(np.array([[500, 480, 0, 0], [0, 0, 700, 650], [300, 310, 290, 305]]))
    topics = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    chain = Chain(corpus, engine="cells", init=as_given(topics), random_state=seed)
    chain.start()
    largest = chain.draw().topic_terms.toarray()[:2].astype(float)
    largest /= largest.sum(axis=1, keepdims=True)
    assert np.abs(largest[np.argsort(-largest[:, 0])] - topics).max() < 0.05


def as_given(topics):
    from franchise.engines import TOPICS as KIND
    from franchise.engines import GivenTopics

    return GivenTopics(KIND, topics)


def test_words_are_not_seated_one_after_another():
    with raises(SettingsError, "conflicting-settings", "start='sequential'", "'fitted'", "'one'"):
        Chain(from_counts(COUNTS), engine="cells", init="sequential", random_state=0).start()


def test_a_state_of_words_is_refused():
    corpus = from_counts(COUNTS)
    with raises(SettingsError, "unsupported-start", "engine='cells'"):
        Chain(corpus, engine="cells", init="one", random_state=0).start_at(empty_state(corpus.arrays))


# ---------------------------------------------------------------- threads, room and resuming


def run(threads, start=10, sweeps=6):
    schedule = Timetable(sweeps=sweeps, burn_in=3)
    corpus = planted(n_topics=5, n_terms=40, n_documents=60, document_length=300, seed=3).corpus
    chain = Chain(
        corpus, Priors(eta=(1, 1)), schedule, random_state=2, init=start, engine="cells", n_jobs=threads
    )
    chain.run()
    names = ("n_topics", "n_tables", "log_joint", "alpha", "eta")
    arrays = chain.engine.arrays().values()
    return [chain.trace[name].tobytes() for name in names] + [array.tobytes() for array in arrays]


def test_neither_threads_nor_room_change_a_bit(monkeypatch):
    expected = run(1)
    monkeypatch.setattr(module, "_ROOM", 1)
    assert run(1) == expected
    assert [run(threads) == expected for threads in (1, 2, 3, 16)] == [True] * 4


def test_an_engine_goes_on_where_another_was(seed):
    trials = Trials(3, Timetable().split_merge.as_array())
    first, second = engine_of_counts(eta=(1, 1)), engine_of_counts(eta=(1, 1))
    first.start(Key(seed, 0, 0, 0), 4)
    for sweep in (1, 2, 3):
        first.sweep(Key(seed, 0, sweep, 0), trials)
    second.restore({name: array.copy() for name, array in first.arrays().items()})
    assert second.numbers() == pytest.approx(first.numbers(), rel=1e-12)
    for sweep in (4, 5, 6):
        for engine in (first, second):
            engine.sweep(Key(seed, 0, sweep, 0), trials)
        assert second.numbers() == first.numbers()
        assert second.names().tolist() == first.names().tolist()
        for name, array in first.arrays().items():
            assert np.array_equal(second.arrays()[name], array), name


def test_arrays_that_do_not_add_up_are_refused():
    engine = engine_of_counts()
    engine.start(Key(0, 0, 0, 0), 3)
    for sweep in (1, 2):
        engine.sweep(Key(0, 0, sweep, 0), None)
    sound = {name: array.copy() for name, array in engine.arrays().items()}
    engine_of_counts().restore(sound)
    for name, array in sound.items():
        for broken in (array[:-1], array + array.dtype.type(1), -array, array.astype(np.float32)):
            if np.array_equal(broken, array) and broken.dtype == array.dtype:
                continue
            if name == "dead" and broken.size == array.size and broken.dtype == array.dtype:
                continue  # none is
            if name == "at" and broken.size == 1:
                continue  # any sweep may have been the last
            if name == "concentrations" and broken.size == 3 and np.all(broken > 0) and broken.dtype == float:
                continue
            if name == "name_k" and broken.dtype == array.dtype and np.all(broken < sound["totals"][BORN]):
                continue
            with pytest.raises((ValueError, TypeError), match=r"\w"):
                engine_of_counts().restore({**sound, name: broken})
    with pytest.raises(KeyError):
        engine_of_counts().restore({name: array for name, array in sound.items() if name != "term"})


def test_trials_where_documents_take_turns(monkeypatch):
    """Tables hold counts, and are always laid out, whichever documents are visited."""
    monkeypatch.setattr(kinds, "TABLE_CELLS", 20)
    corpus = planted(n_topics=3, n_terms=20, n_documents=30, document_length=50, seed=1).corpus
    schedule = Timetable(sweeps=6, burn_in=3, split_merge=SplitMerge(trials=4, keep_trials=True))
    chain = Chain(corpus, schedule=schedule, init="fitted", engine="cells", n_jobs=2, random_state=0)
    chain.run()
    assert len(chain.engine._pool.partitions[0]._turns) > 1
    assert len(chain.trials) == 24
