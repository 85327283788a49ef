from dataclasses import replace

import numpy as np
import pytest

from franchise import Chain, Corpus, FranchiseError, Priors, SettingsError
from franchise.model import broken_invariants, joint
from franchise.moves.shared.scratch import new_scratch
from franchise.sampling import Timetable
from franchise.sampling.schedule import CONCENTRATION_METHODS
from tests.golden.fingerprint import PRIORS, SWEEPS, arithmetic_corpus, fixed_chain, in_bits
from tests.raising import raises

pytestmark = pytest.mark.nojit

STARTS = ("sequential", "one", 7, "fitted")


@pytest.fixture(params=STARTS)
def start(request):
    return request.param


def kept_draws(**settings):
    chain = Chain(arithmetic_corpus(), schedule=Timetable(**settings), random_state=0)
    chain.run()
    return chain.draws


# ---------------------------------------------------------------- start


def test_starts_soundly_with_every_word_seated(start):
    chain = fixed_chain(init=start)
    chain.start()
    assert broken_invariants(chain.corpus.arrays, chain.state) == []
    assert chain.sweeps_done == 0


def test_one_topic_has_one_table_a_document():
    chain = fixed_chain(init="one")
    chain.start()
    assert chain.trace.last["n_topics"] == 1
    assert chain.trace.last["n_tables"] == np.count_nonzero(chain.corpus.document_lengths)


def test_random_topics_have_one_table_a_document_and_topic():
    chain = fixed_chain(init=7)
    chain.start()
    assert chain.trace.last["n_topics"] == 7
    assert chain.trace.last["n_tables"] == chain.draw().document_topics.nnz


def test_more_random_topics_than_words():
    chain = Chain(Corpus([0, 1, 1], [0, 2, 3], ["a", "b"]), init=100, capacity=1, random_state=0)
    chain.start()
    assert chain.trace.last["n_topics"] <= 3
    assert broken_invariants(chain.corpus.arrays, chain.state) == []


def test_concentrations_start_at_their_priors_means_or_fixed_values():
    chain = Chain(arithmetic_corpus(), Priors(alpha=(3.0, 2.0), gamma=0.7, eta=(1.0, 4.0)), random_state=0)
    chain.start()
    assert [chain.trace.last[name] for name in ("alpha", "gamma", "eta")] == [1.5, 0.7, 0.25]


# ---------------------------------------------------------------- sweeps and trace


def test_row_zero_of_the_trace_is_the_start(start):
    chain = fixed_chain(init=start)
    chain.start()
    first = chain.trace.last
    chain.run(3)
    assert len(chain.trace) == 4
    assert chain.trace["sweep"].tolist() == [0, 1, 2, 3]
    assert all(chain.trace[name][0] == value for name, value in first.items())


def test_every_sweep_leaves_a_sound_state(start):
    chain = fixed_chain(init=start, capacity=1)
    for _ in range(5):
        chain.sweep()
        assert broken_invariants(chain.corpus.arrays, chain.state) == []


def test_log_joint_is_the_sum_of_its_parts():
    chain = fixed_chain()
    chain.run(5)
    trace = chain.trace
    parts = trace["log_p_tables"] + trace["log_p_topics"] + trace["log_p_words"]
    assert np.array_equal(trace["log_joint"], parts)


def test_the_last_row_describes_the_state():
    chain = fixed_chain()
    chain.run(5)
    last, draw = chain.trace.last, chain.draw()
    assert last["n_topics"] == draw.topic_terms.shape[0]
    assert last["n_tables"] == draw.m_k.sum()
    assert [last["alpha"], last["gamma"], last["eta"]] == draw.concentrations.tolist()
    parts = joint(chain.corpus.arrays, chain.state, chain.priors)
    assert (last["log_joint"], last["log_prior"]) == (parts.log_joint, parts.log_prior)


def test_moves_report_what_they_did():
    chain = fixed_chain()
    chain.run(5)
    trace, n_words = chain.trace, chain.corpus.n_words
    for move in ("word_tables", "table_topics"):
        assert np.isnan(trace[f"{move}.moved"][0])  # the start is no move
    assert np.all((trace["word_tables.moved"][1:] >= 0) & (trace["word_tables.moved"][1:] <= n_words))
    assert np.all(trace["table_topics.moved"][1:] <= trace["table_topics.tables"][1:])


def test_fixed_concentrations_stay():
    chain = Chain(arithmetic_corpus(), Priors(alpha=0.3, gamma=2.0, eta=0.5), random_state=0)
    chain.run(5)
    for name, value in {"alpha": 0.3, "gamma": 2.0, "eta": 0.5}.items():
        assert set(chain.trace[name]) == {value}
    assert set(chain.trace["log_prior"]) == {0.0}


@pytest.mark.parametrize("method", CONCENTRATION_METHODS)
def test_sampled_concentrations_move(method):
    chain = fixed_chain(method)
    chain.run(5)
    for name in ("alpha", "gamma", "eta"):
        assert len(set(chain.trace[name])) == 6


# ---------------------------------------------------------------- run


def test_run_makes_the_sweeps_that_the_schedule_still_has():
    chain = fixed_chain()
    chain.run(5)
    chain.run()
    assert chain.sweeps_done == SWEEPS
    before = in_bits(chain)
    chain.run()
    assert in_bits(chain) == before


def test_run_may_go_beyond_the_schedule():
    chain = fixed_chain()
    chain.run()
    chain.run(2)
    assert chain.sweeps_done == SWEEPS + 2


def test_no_sweeps_still_start():
    chain = fixed_chain()
    chain.run(0)
    assert len(chain.trace) == 1


def test_callback_sees_the_start_and_every_sweep():
    chain, seen = fixed_chain(), []
    chain.run(2, callback=lambda chain: seen.append(chain.sweeps_done))
    chain.run(2, callback=lambda chain: seen.append(chain.sweeps_done))
    assert seen == [0, 1, 2, 3, 4]


def test_a_callback_that_raises_leaves_a_chain_that_goes_on():
    """A run that was stopped between sweeps and resumed is the same as one that was not stopped."""

    def stop_at_three(chain):
        if chain.sweeps_done == 3:
            raise KeyboardInterrupt

    chain, whole = fixed_chain(), fixed_chain()
    with pytest.raises(KeyboardInterrupt):
        chain.run(callback=stop_at_three)
    chain.run()
    whole.run()
    assert in_bits(chain) == in_bits(whole)


# ---------------------------------------------------------------- draws


def test_keeps_the_draws_that_the_schedule_keeps():
    assert [draw.sweep for draw in kept_draws(sweeps=12, burn_in=4, thin=3)] == [6, 9, 12]


def test_draws_add_up_to_the_corpus():
    corpus = arithmetic_corpus()
    for draw in kept_draws(sweeps=6, burn_in=0, thin=1):
        terms, documents = draw.topic_terms, draw.document_topics
        assert np.array_equal(terms.sum(axis=0), corpus.term_counts)
        assert np.array_equal(documents.sum(axis=1), corpus.document_lengths)
        assert np.array_equal(documents.sum(axis=0), terms.sum(axis=1))
        assert terms.sum() == corpus.n_words


def test_topics_of_a_draw_are_ordered_by_size_and_never_empty():
    for draw in kept_draws(sweeps=6, burn_in=0, thin=1):
        sizes = draw.topic_terms.sum(axis=1)
        assert np.all(np.diff(sizes) <= 0)
        assert sizes[-1] > 0
        assert draw.m_k.min() > 0
        assert draw.m_k.size == draw.names.size == len(set(draw.names)) == sizes.size


def test_a_draw_has_no_stored_zeros():
    for draw in kept_draws(sweeps=4, burn_in=0, thin=1):
        for counts in (draw.topic_terms, draw.document_topics):
            assert counts.has_canonical_format
            assert counts.data.min() > 0


def test_a_draw_is_not_touched_by_later_sweeps():
    chain = fixed_chain()
    chain.run(1)
    draw = chain.draw()
    m_k, names, concentrations = draw.m_k.copy(), draw.names.copy(), draw.concentrations.copy()
    chain.run(5)
    assert np.array_equal(draw.m_k, m_k)
    assert np.array_equal(draw.names, names)
    assert np.array_equal(draw.concentrations, concentrations)


def test_a_topic_keeps_its_name_while_it_lives():
    """Names are never given twice: those new after a sweep are above all names of the sweeps before."""
    chain = fixed_chain()
    chain.run(1)
    largest = chain.draw().names.max()
    before = set(chain.draw().names.tolist())
    for _ in range(10):
        chain.sweep()
        names = set(chain.draw().names.tolist())
        assert all(name > largest for name in names - before)
        before, largest = names, max(largest, *names)


# ---------------------------------------------------------------- corpora at the edge


def test_empty_documents_are_carried_through(start):
    corpus = Corpus([0, 1, 0], [0, 0, 2, 2, 3, 3], ["a", "b"])
    chain = Chain(corpus, Priors(), Timetable(sweeps=5, burn_in=4, thin=1), init=start, random_state=0)
    chain.run()
    assert chain.draws[0].document_topics.sum(axis=1).tolist() == [0, 2, 0, 1, 0]
    assert chain.state.m_j[[0, 2, 4]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("method", ["slice", "auxiliary"])
def test_a_corpus_of_one_word(start, method):
    corpus = Corpus([0], [0, 1], ["a"])
    schedule = Timetable(sweeps=5, burn_in=0, thin=1, concentrations=method)
    chain = Chain(corpus, Priors(eta=(1.0, 1.0)), schedule, init=start, capacity=1, random_state=0)
    chain.run()
    assert set(chain.trace["n_topics"]) == set(chain.trace["n_tables"]) == {1}
    assert np.abs(chain.trace["log_joint"]).max() < 1e-12  # there is nothing to be uncertain about
    assert all(draw.topic_terms.toarray().tolist() == [[1]] for draw in chain.draws)


def test_terms_that_no_word_uses_are_carried_through(start):
    chain = Chain(Corpus([1, 1, 3], [0, 3], list("abcde")), init=start, random_state=0)
    chain.run(3)
    assert chain.draw().topic_terms.sum(axis=0).tolist() == [0, 2, 0, 1, 0]


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "code", "facts"),
    [
        ({"random_state": -1}, "not-a-seed", ["random_state=", "from 0 to 2**63 - 1"]),
        ({"random_state": 2**63}, "not-a-seed", ["random_state=", "from 0 to 2**63 - 1"]),
        ({"random_state": "a"}, "not-a-seed", ["random_state=", "from 0 to 2**63 - 1"]),
        ({"random_state": 1.5}, "not-a-seed", ["random_state=", "from 0 to 2**63 - 1"]),
        ({"number": -1}, "not-a-whole-number", ["number=-1", f"from 0 to {2**63 - 1}"]),
        ({"init": True}, "unknown-choice", ["init=True", "'sequential'", "'fitted'", "'one'"]),
        ({"init": "two"}, "unknown-choice", ["init='two'", "'sequential'", "'fitted'", "'one'"]),
        ({"init": 0}, "unknown-choice", ["init=0", "'sequential'", "'fitted'", "'one'"]),
        ({"init": 2.5}, "unknown-choice", ["init=2.5", "'sequential'", "'fitted'", "'one'"]),
        ({"capacity": 0}, "not-a-whole-number", ["capacity=0", "1 or more"]),
    ],
)
def test_refuses(settings, code, facts):
    with raises(SettingsError, code, *facts):
        Chain(arithmetic_corpus(), **settings)


def test_starts_once():
    chain = Chain(Corpus([0, 1], [0, 2], list("ab")), random_state=0)
    chain.start()
    with raises(FranchiseError, "already-started"):
        chain.start()


def test_runs_no_negative_number_of_sweeps():
    with raises(SettingsError, "not-a-whole-number", "sweeps=-3"):
        Chain(Corpus([0, 1], [0, 2], list("ab")), random_state=0).run(-3)


def test_what_is_looked_up_follows_eta():
    chain = Chain(Corpus([0, 1, 1, 0], [0, 2, 4], list("ab")), Priors(eta=(2.0, 4.0)), random_state=0)
    chain.run(3)
    own, fresh = chain.engine.sampler.scratch, new_scratch(chain.corpus.arrays, chain.state)
    assert chain.trace["eta"][-1] != chain.trace["eta"][0]
    for name in ("lg", "lgv", "ratio"):
        assert getattr(own.tables, name).tolist() == getattr(fresh.tables, name).tolist()


# ---------------------------------------------------------------- another schedule


def test_the_mode_obeys_the_new_burn_in():
    corpus = arithmetic_corpus()
    chain = Chain(corpus, PRIORS, Timetable(sweeps=30, burn_in=0, thin=4), random_state=5)
    chain.run()
    score = chain.trace["log_joint"] + chain.trace["log_prior"]
    best = chain.mode
    assert best.sweep == 1 + np.argmax(score[1:])
    chain.reschedule(replace(chain.schedule, burn_in=best.sweep - 1, thin=1))
    assert chain.mode is best  # still after the burn-in
    kept = [draw.sweep for draw in chain.draws]
    assert kept == [sweep for sweep in range(4, 31, 4) if sweep >= best.sweep]
    chain.reschedule(replace(chain.schedule, burn_in=best.sweep))
    left = [sweep for sweep in kept if sweep > best.sweep]
    assert [draw.sweep for draw in chain.draws] == left
    expected = max(left, key=score.__getitem__, default=None)
    assert (chain.mode.sweep if chain.mode else None) == expected
    chain.reschedule(replace(chain.schedule, burn_in=30))
    assert (chain.draws, chain.mode, chain.mode_log_joint) == ([], None, -np.inf)
    chain.run(3)
    assert [draw.sweep for draw in chain.draws] == [31, 32, 33]
    assert chain.mode.sweep > 30
