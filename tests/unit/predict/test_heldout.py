"""Held-out likelihoods: kernels against twins and enumeration; the paper's number against its definition."""

import math
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from franchise.corpus import five_topics
from franchise.errors import CorpusError, FranchiseError, SettingsError
from franchise.model import Priors, broken_invariants, copy_state, empty_state
from franchise.predict.fixed_topics import fixed_topics, in_order
from franchise.predict.fold_in import FoldInSettings, heats, new_fold_in_scratch, predict_words
from franchise.predict.heldout import HeldOut
from franchise.predict.left_to_right import left_to_right as left_to_right_kernel
from franchise.predict.left_to_right import new_left_to_right_scratch
from franchise.random import FOLD_IN, INITIALIZE, LEFT_TO_RIGHT, TABLE_TOPICS, WORD_TABLES, Key
from franchise.sampling import Chain
from franchise.sampling.paper_heldout import paper_held_out
from tests.raising import raises
from tests.reference import new_documents as twins
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations, log_joint
from tests.reference.franchise import NOWHERE, Franchise, corpus_of, plain
from tests.reference.new_documents import APART, DOCUMENTS, THREE, TWO, arrays_of, cases, random_corpus
from tests.reference.strategies import SEEDS
from tests.unit.predict.scores import document_completion, left_to_right

FALSE_FAIL_RATE = 1e-6


def assert_mean(samples, expected):
    """Test the mean of independent rows; a right program fails once in a million seeds."""
    error = samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    off = np.abs(samples.mean(axis=0) - expected) / error
    assert off.max() < student.isf(FALSE_FAIL_RATE / 2 / off.size, len(samples) - 1)


# -------------------------------------------------------------------- document completion


@pytest.mark.nojit
@given(cases(), SEEDS, st.integers(1, 3), st.integers(0, 2))
def test_completion_agrees_with_the_twin_draw_for_draw(case, seed, kept, burn_in):
    draws, documents, n_terms = case
    if not any(documents):
        return
    ours = document_completion(
        draws, arrays_of(documents, n_terms), sweeps=kept + burn_in, burn_in=burn_in, random_state=seed
    )
    expected = [twins.completion(draws, words, seed, kept + burn_in, heats(burn_in)) for words in documents]
    np.testing.assert_allclose(ours.log_p, expected, atol=1e-12)
    assert ours.n_words == sum(len(words) - len(words) // 2 for words in documents)
    assert ours.n_documents == sum(map(bool, documents))


@pytest.mark.parametrize("draw", [THREE, TWO, APART], ids=["three", "two", "apart"])
def test_completion_predicts_as_all_z_do(draw, seed):
    """The mean of independent runs; an error of 2% in any probability is found practically always."""
    runs, halves = 400, [([], [0, 1]), ([3], [3]), ([0, 2], [2]), ([1, 1, 3], [0, 1, 2, 3])]
    observed, hidden = (in_order(*arrays_of([half[part] for half in halves], 4)) for part in (0, 1))
    topics, settings = fixed_topics(draw), FoldInSettings(2020, heats(20), 1.0)
    samples = np.zeros((runs, hidden.x.size))
    for run in range(runs):
        key, scratch = Key(seed, 0, run, FOLD_IN), new_fold_in_scratch(topics, 3)
        predict_words(key, observed, topics, scratch, 0, len(halves), settings, hidden, samples[run])
    dense = twins.topics_of(draw)
    exact = np.concatenate([twins.exact(dense, given).theta @ dense.phi[:, then] for given, then in halves])
    np.testing.assert_allclose(samples[:, :2], np.tile(exact[:2], (runs, 1)), rtol=1e-13)  # nothing drawn
    assert_mean(samples[:, 2:], exact[2:])
    assert (samples.std(axis=0) / exact).max() / math.sqrt(runs) < 0.002


def test_cut_is_even(seed):
    """With one topic the score tells which word was hidden: either, in about half of the seeds."""
    draw = twins.draw_of([[9, 1]], [5], Concentrations(alpha=1.0, gamma=0.1, eta=0.1))
    corpus = corpus_of([[0, 1]], 2)
    scores = [
        document_completion([draw], corpus, random_state=seed + s, sweeps=1, burn_in=0) for s in range(400)
    ]
    commoner = sum(score.per_word > math.log(0.5) for score in scores)
    assert abs(commoner - 200) < 50  # five standard errors: false alarm once in a million seeds


# -------------------------------------------------------------------- left to right


@pytest.mark.nojit
@given(cases(), SEEDS, st.integers(1, 5))
def test_left_to_right_agrees_with_the_twin_draw_for_draw(case, seed, particles):
    draws, documents, n_terms = case
    if not any(documents):
        return
    ours = left_to_right(draws, arrays_of(documents, n_terms), particles=particles, random_state=seed)
    for words, log_p in zip(documents, ours.log_p):
        estimates = [
            twins.left_to_right(
                twins.topics_of(draw), words, twins.Streams((seed, 0, number, LEFT_TO_RIGHT)), particles
            ).log_p
            for number, draw in enumerate(draws)
        ]
        np.testing.assert_allclose(log_p, math.log(np.mean(np.exp(estimates))), atol=1e-12)


@pytest.mark.nojit
def test_left_to_right_agrees_where_particles_are_drawn_anew(seed):
    words, drawn_anew = [0, 1, 2, 3] * 4, 0
    for run in range(seed, seed + 12):
        ours = left_to_right([APART], corpus_of([words], 4), particles=6, random_state=run)
        choose = twins.Streams((run, 0, 0, LEFT_TO_RIGHT))
        theirs = twins.left_to_right(twins.topics_of(APART), words, choose, 6)
        np.testing.assert_allclose(ours.log_p[0], theirs.log_p, atol=1e-11)
        drawn_anew += theirs.n_drawn_anew
    assert drawn_anew > 0  # 1.6 times a run


@pytest.mark.parametrize("particles", [1, 4])
@pytest.mark.parametrize("draw", [THREE, TWO, APART], ids=["three", "two", "apart"])
def test_left_to_right_is_unbiased(draw, particles, seed):
    """The mean of many estimates; an error of 10% in any probability is found practically always."""
    runs = 40_000
    documents, topics = in_order(*arrays_of(DOCUMENTS, 4)), fixed_topics(draw)
    scratch = new_left_to_right_scratch(topics, 5, particles)
    log_p = np.zeros((runs, len(DOCUMENTS)))
    for run in range(runs):
        key = Key(seed, 0, run, LEFT_TO_RIGHT)
        left_to_right_kernel(key, documents, topics, scratch, 0, len(DOCUMENTS), log_p[run])
    exact = np.array([twins.exact(twins.topics_of(draw), words).p for words in DOCUMENTS])
    np.testing.assert_allclose(log_p[:, 0], math.log(exact[0]), rtol=1e-12)  # one word: nothing to draw
    samples = np.exp(log_p[:, 1:])
    assert_mean(samples, exact[1:])
    assert (samples.std(axis=0) / exact[1:]).max() / math.sqrt(runs) < 0.01


def test_left_to_right_is_unbiased_where_particles_are_drawn_anew(seed):
    """On a document too long for going through all z; an error of 20% is found practically always.

    The estimates are skewed, their mean a little still: false alarm once in some 100,000 seeds.
    """
    runs, words = 8000, [0, 1, 2, 3] * 4
    documents, topics = in_order(*arrays_of([words], 4)), fixed_topics(APART)
    scratch = new_left_to_right_scratch(topics, len(words), 20)
    log_p = np.zeros((runs, 1))
    for run in range(runs):
        left_to_right_kernel(Key(seed, 0, run, LEFT_TO_RIGHT), documents, topics, scratch, 0, 1, log_p[run])
    exact = twins.exact_p(twins.topics_of(APART), words)
    assert_mean(np.exp(log_p), np.array([exact]))
    assert np.exp(log_p).std() / exact / math.sqrt(runs) < 0.02


@pytest.mark.nojit
@pytest.mark.parametrize("words", DOCUMENTS)
def test_both_exact_answers_are_one(words):
    topics = twins.topics_of(THREE)
    assert twins.exact_p(topics, words) == pytest.approx(twins.exact(topics, words).p, rel=1e-12)


# -------------------------------------------------------------------- both


@pytest.fixture(params=[document_completion, left_to_right], ids=["completion", "left to right"])
def method(request):
    return request.param


def test_bits_do_not_depend_on_threads_order_or_batch(method, seed):
    corpus = random_corpus(seed, 60)
    whole = method([THREE, TWO], corpus, random_state=3)
    for jobs in (2, 4):
        again = method([THREE, TWO], corpus, random_state=3, jobs=jobs)
        assert np.array_equal(again.log_p, whole.log_p)
        assert again.per_word == whole.per_word
    order = np.random.default_rng(seed).permutation(60)
    assert np.array_equal(
        method([THREE, TWO], corpus.select(order), random_state=3).log_p, whole.log_p[order]
    )
    parts = [
        method([THREE, TWO], corpus.select(part), random_state=3).log_p for part in (range(23), range(23, 60))
    ]
    assert np.array_equal(np.concatenate(parts), whole.log_p)
    assert not np.array_equal(method([THREE, TWO], corpus, random_state=4).log_p, whole.log_p)


def test_numbers_follow_from_the_documents(method, seed):
    corpus = random_corpus(seed, 50)
    result = method([THREE], corpus)
    n_j = corpus.document_lengths if method is left_to_right else (corpus.document_lengths + 1) // 2
    has_words = n_j > 0
    assert has_words.sum() == 48
    assert result.n_documents == has_words.sum()
    assert result.n_words == n_j.sum()
    assert np.all(result.log_p[~has_words] == 0)
    assert np.all(result.log_p[has_words] < 0)
    x, y = n_j[has_words], result.log_p[has_words]
    ratio = y.sum() / x.sum()
    assert result.per_word == pytest.approx(ratio, rel=1e-12)
    assert result.perplexity == pytest.approx(math.exp(-ratio), rel=1e-12)
    ((s_xx, s_xy), (_, s_yy)) = np.cov(x, y)
    variance = (s_yy - 2 * ratio * s_xy + ratio**2 * s_xx) / x.size / x.mean() ** 2
    assert result.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.nojit
def test_documents_of_no_word_and_of_one(method):
    topics = twins.topics_of(THREE)
    alone = math.log(topics.a @ topics.phi[:, 2] / topics.a.sum())
    result = method([THREE], corpus_of([[], [2], []], 4))
    assert result.n_documents == result.n_words == 1
    assert math.isnan(result.standard_error)
    np.testing.assert_allclose(result.log_p, [0.0, alone, 0.0], rtol=1e-13)


@pytest.mark.nojit
@pytest.mark.parametrize("documents", [[], [[], []]])
def test_nothing_to_score_is_an_error(method, documents):
    with raises(FranchiseError, "empty-corpus"):
        method([THREE], arrays_of(documents, 4))


@pytest.mark.nojit
def test_errors_say_what_is_wrong(method):
    corpus = corpus_of([[0, 1]], 4)
    with raises(FranchiseError, "no-draws"):
        method([], corpus)
    with raises(CorpusError, "vocabulary-mismatch", "2 terms", "4"):
        method([THREE], corpus_of([[0, 1]], 2))
    with raises(SettingsError, "not-a-seed", "random_state=-1"):
        method([THREE], corpus, random_state=-1)
    for setting in ("sweeps" if method is document_completion else "particles", "jobs"):
        with raises(SettingsError, "not-a-whole-number", f"{setting}=-1"):
            method([THREE], corpus, **{setting: -1})


@pytest.mark.nojit
def test_a_result_reads_as_a_sentence():
    result = HeldOut("left to right", -7.0, 0.0123, 12345, 1000, np.zeros(1000))
    assert str(result) == (
        "left to right: -7.0000 nats per word (standard error 0.0123), perplexity 1,096.6; "
        "12,345 words of 1,000 documents scored"
    )


# -------------------------------------------------------------------- the paper's number

TRAIN, TEST = [[0, 0, 1, 2], [], [1, 1, 2], [3, 3, 0]], [[0, 3, 3], [], [2, 1, 1, 1], [4]]


def trained(seed):
    chain = Chain(corpus_of(TRAIN, 5), Priors(alpha=1.3, gamma=0.9, eta=0.4), random_state=seed, capacity=1)
    chain.run(5)
    return chain


@pytest.mark.nojit
@given(SEEDS, st.integers(1, 4))
def test_papers_number_is_its_definition(seed, sweeps):
    chain = trained(seed)
    before, at = copy_state(chain.state), Concentrations(*chain.state.concentrations)
    result = paper_held_out(
        chain.corpus, chain.state, chain.priors, corpus_of(TEST, 5), sweeps=sweeps, random_state=7
    )
    assert all(np.array_equal(now, then) for now, then in zip(chain.state, before))
    assert broken_invariants(result.corpus.arrays, result.state) == []
    all_seats = plain(result.corpus.arrays, result.state)
    seats = plain(chain.corpus.arrays, chain.state)
    assert all_seats.t_ji[: len(TRAIN)] == seats.t_ji
    assert all_seats.k_jt[: len(TRAIN)] == seats.k_jt
    expected = log_joint(TRAIN + TEST, 5, all_seats.seating, at)
    expected -= log_joint(TRAIN, 5, seats.seating, at)
    assert result.log_p[-1] == pytest.approx(expected, abs=1e-10)
    assert result.log_p.shape == (sweeps,)
    assert result.n_topics[-1] == len(all_seats.live)
    assert result.n_tables[-1] == sum(map(len, all_seats.k_jt))
    assert result.best == max(result.log_p)
    assert result.per_word == result.best / 8


@pytest.mark.nojit
@given(SEEDS)
def test_paper_held_out_agrees_with_the_twin_draw_for_draw(seed):
    chain = trained(seed)
    start = plain(chain.corpus.arrays, chain.state)
    start.t_ji.extend([NOWHERE] * len(words) for words in TEST)
    start.k_jt.extend([] for _ in TEST)
    at = Concentrations(*chain.state.concentrations)
    twin = Franchise.like(TRAIN + TEST, 5, at, start)
    order = list(range(len(TRAIN), len(TRAIN) + len(TEST)))
    twin.word_tables(Drawn((seed, 0, 0, INITIALIZE)), order)
    for sweep in (1, 2, 3):
        twin.word_tables(Drawn((seed, 0, sweep, WORD_TABLES)), order)
        twin.table_topics(Drawn((seed, 0, sweep, TABLE_TOPICS)), order)
    result = paper_held_out(
        chain.corpus, chain.state, chain.priors, corpus_of(TEST, 5), sweeps=3, random_state=seed
    )
    assert plain(result.corpus.arrays, result.state) == twin.plain()


@pytest.mark.nojit
def test_paper_held_out_refuses_what_does_not_fit():
    chain, test = trained(0), corpus_of(TEST, 5)
    with raises(CorpusError, "vocabulary-mismatch", "6 terms", "5"):
        paper_held_out(chain.corpus, chain.state, chain.priors, corpus_of(TEST, 6), sweeps=1)
    with raises(FranchiseError, "corpus-mismatch", f"{chain.corpus.n_documents} documents"):
        paper_held_out(test, chain.state, chain.priors, test, sweeps=1)
    with raises(FranchiseError, "not-fitted"):
        paper_held_out(test, empty_state(test.arrays), chain.priors, test, sweeps=1)
    with raises(SettingsError, "not-a-whole-number", "sweeps=0"):
        paper_held_out(chain.corpus, chain.state, chain.priors, test, sweeps=0)


def test_paper_held_out_rises_and_reads_as_a_sentence(seed):
    """A run rises by 117 nats from its first sweep to the last five, give or take 83: one in 13 does not.

    The mean of 8 runs is below 0 once in 30,000 times, and about 0 for a number that does not rise.
    """
    corpus = five_topics(0).corpus
    train, test = corpus.select(range(80)), corpus.select(range(80, 100))
    rises = []
    for number in range(8):
        chain = Chain(train, random_state=seed, number=number)
        chain.run(30)
        result = paper_held_out(train, chain.state, chain.priors, test, sweeps=20, random_state=number)
        rises.append(result.log_p[-5:].mean() - result.log_p[0])
    assert np.mean(rises) > 0.0
    assert str(result).startswith(f"the paper's held-out number: {result.per_word:.4f} nats per word")


# -------------------------------------------------------------------- compiled code

PROGRAM = """
import pickle
import sys

import numpy as np

from franchise._arrays import CorpusArrays
from franchise.corpus import Corpus, five_topics, from_counts, from_tokens
from franchise.model import Priors
from franchise.predict.fixed_topics import mixtures
from tests.unit.predict.scores import document_completion, left_to_right
from franchise.sampling.paper_heldout import paper_held_out
from franchise.sampling import Chain

vocabulary = ["a", "b", "c"]
train = from_tokens([["a", "b", "a"], ["b", "c"], ["c", "c", "a"]], vocabulary=vocabulary)
chain = Chain(train, Priors(gamma=2.0), random_state=1)
chain.run(3)
draws = [chain.draw()]
chain.run(2)
draws.append(pickle.loads(pickle.dumps(chain.draw())))
corpora = [
    from_tokens([["a", "c", "b", "a"], [], ["b"]], vocabulary=vocabulary),
    from_counts(np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1]]), vocabulary=vocabulary),
    train.select([2, 0]),
    Corpus(np.array([0, 1], np.int64), np.array([0, 2], np.int32), vocabulary),
]
one = np.int32(1)
for corpus in corpora:
    columns = [np.zeros(draw.m_k.size, np.int32) for draw in draws]
    held_out = paper_held_out(train, chain.state, chain.priors, corpus, sweeps=one, random_state=one)
    arrays = CorpusArrays(np.array(corpus.x), np.array(corpus.doc_ptr), 3)
    for given in (corpus, arrays):
        results = [
            mixtures(draws, given, columns, np.int64(2), sweeps=np.int32(3), burn_in=one, seed=one),
            mixtures(draws[:1], given, columns[:1], 2, sweeps=3, burn_in=0, jobs=2),
            document_completion(draws, given, sweeps=np.int32(3), burn_in=one, random_state=one).log_p,
            left_to_right(draws, given, particles=np.int16(3), random_state=one).log_p,
        ]
        print(*(result.tobytes().hex() for result in results))

if sys.argv[1] == "signatures":
    from franchise.moves import table_topics, word_tables
    from franchise.predict import fold_in, left_to_right

    kernels = [
        fold_in.fold_in,
        fold_in.hash_documents,
        fold_in.predict_words,
        fold_in.shuffle_words,
        left_to_right.left_to_right,
        table_topics.table_topics,
        word_tables.word_tables,
    ]
    for kernel in kernels:
        print(len(kernel.signatures), kernel.__name__, *kernel.signatures, sep=" | ")
"""


def lines_of(mode, **settings):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, mode],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_one_specialisation_a_kernel_and_the_same_bits_without_the_compiler():
    compiled = lines_of("signatures")
    assert compiled[:8] == lines_of("bits", NUMBA_DISABLE_JIT="1")
    assert len(compiled) == 8 + 7
    assert [line for line in compiled[8:] if not line.startswith("1 ")] == []
