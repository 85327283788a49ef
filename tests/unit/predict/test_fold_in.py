"""Mixtures of new documents: the kernel against twin and enumeration, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from franchise.corpus import from_counts, from_tokens
from franchise.errors import CorpusError, FranchiseError, SettingsError
from franchise.predict.fixed_topics import fixed_topics, in_order, mixtures
from franchise.predict.fold_in import FoldInSettings, fold_in, heats, new_fold_in_scratch
from franchise.random import FOLD_IN, Key
from tests.raising import raises
from tests.reference import new_documents as twins
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import corpus_of
from tests.reference.new_documents import DOCUMENTS, THREE, TWO, arrays_of, cases, random_corpus
from tests.reference.strategies import SEEDS

OWN = [np.arange(3), np.arange(2)]  # a column for each topic of THREE, of TWO
FALSE_FAIL_RATE = 1e-6


@pytest.mark.nojit
@given(cases())
def test_topics_are_the_formulas(case):
    draws, _, n_terms = case
    for draw in draws:
        ours, theirs = fixed_topics(draw), twins.topics_of(draw)
        p = np.zeros((ours.a_k.size, n_terms))
        for v in range(n_terms):
            places = slice(ours.row_ptr[v], ours.row_ptr[v + 1])
            p[ours.row_k[places], v] = ours.row_p[places]
        np.testing.assert_allclose(p, theirs.p, rtol=1e-14)
        np.testing.assert_allclose(ours.s_k, theirs.s, rtol=1e-14)
        np.testing.assert_allclose(ours.a_k, theirs.a, rtol=1e-14)
        np.testing.assert_allclose((p + ours.s_k[:, None]).sum(axis=1), 1.0, rtol=1e-14)
        assert ours.row_p.size == draw.topic_terms.nnz or 0 in draw.topic_terms.data


@pytest.mark.nojit
@given(cases(), SEEDS, st.integers(1, 4), st.integers(0, 3))
def test_agrees_with_the_twin_draw_for_draw(case, seed, kept, burn_in):
    """Some 1e-13 of the draws fall within rounding of a border, where the two may differ."""
    draws, documents, n_terms = case
    sweeps, corpus = kept + burn_in, in_order(*arrays_of(documents, n_terms))
    for number, draw in enumerate(draws):
        topics, n = fixed_topics(draw), draw.m_k.size + 1
        key, settings = Key(seed, 0, number, FOLD_IN), FoldInSettings(sweeps, heats(burn_in), 1.0)
        for j, words in enumerate(documents):
            scratch, out = new_fold_in_scratch(topics, len(words)), np.zeros((len(documents), n))
            fold_in(key, corpus, topics, scratch, j, j + 1, settings, np.arange(n), topics.a_k, out)
            choose = Drawn(key)
            theta, z = twins.fold_in(twins.topics_of(draw), words, choose, sweeps, heats(burn_in))
            assert scratch.z.tolist() == z
            assert scratch.stream.tolist() == choose._stream.state  # as many draws were made
            np.testing.assert_allclose(out[j], theta, atol=1e-13)
            # All is left as it was found.
            assert scratch.p_k.tolist() == topics.a_k.tolist()
            assert not scratch.n_k.any()
            assert not scratch.kept_k.any()


@pytest.mark.nojit
@given(cases(), SEEDS, st.data())
def test_columns_and_draws_are_averaged(case, seed, data):
    draws, documents, n_terms = case
    n_columns = data.draw(st.integers(1, 4))
    columns = [np.array([data.draw(st.integers(-1, n_columns - 1)) for _ in draw.m_k]) for draw in draws]
    ours = mixtures(draws, arrays_of(documents, n_terms), columns, n_columns, sweeps=3, burn_in=1, seed=seed)
    expected = np.zeros((len(documents), n_columns))
    for number, (draw, column) in enumerate(zip(draws, columns)):
        for j, words in enumerate(documents):
            choose = Drawn((seed, 0, number, FOLD_IN))
            theta, _ = twins.fold_in(twins.topics_of(draw), words, choose, 3, heats(1))
            np.add.at(expected[j], np.append(column, -1), theta / len(draws))
    np.testing.assert_allclose(ours, expected, atol=1e-13)
    np.testing.assert_allclose(ours.sum(axis=1), 1.0, atol=1e-12)


def test_long_documents_are_scaled_down_evenly():
    long, scaled, short = [40_000, 20_000, 0, 20_000], [10_000, 5_000, 0, 5_000], [1, 2, 3, 4]
    both = from_counts(np.array([long, short, scaled]))
    found = mixtures([THREE], both, OWN[:1], 4, sweeps=3, burn_in=1, seed=1)
    assert found[0].tolist() == found[2].tolist()
    alone = mixtures([THREE], from_counts(np.array([short])), OWN[:1], 4, sweeps=3, burn_in=1, seed=1)
    assert found[1].tolist() == alone[0].tolist()


@pytest.mark.parametrize("draw", [THREE, TWO], ids=["three", "two"])
def test_mean_is_that_of_all_z(draw, seed):
    """Independent runs: false alarm once in a million seeds; finds an error of 0.02 practically always."""
    runs = 400
    corpus, n = corpus_of(DOCUMENTS, 4), draw.m_k.size + 1
    own = [np.arange(draw.m_k.size)]
    means = np.array(
        [mixtures([draw], corpus, own, n, sweeps=2020, burn_in=20, seed=seed + run) for run in range(runs)]
    )
    exact = np.array([twins.exact(twins.topics_of(draw), words).theta for words in DOCUMENTS])
    off = (means.mean(axis=0) - exact) / (means.std(axis=0, ddof=1) / np.sqrt(runs))
    assert np.abs(off).max() < student.isf(FALSE_FAIL_RATE / 2 / off.size, runs - 1)
    assert means.std(axis=0, ddof=1).max() / np.sqrt(runs) < 0.002


def test_bits_do_not_depend_on_threads_order_or_batch(seed):
    corpus = random_corpus(seed, 150)
    n = corpus.n_documents
    whole = mixtures([THREE, TWO], corpus, OWN, 4, seed=3)
    for jobs in (2, 4):
        assert np.array_equal(mixtures([THREE, TWO], corpus, OWN, 4, seed=3, jobs=jobs), whole)
    order = np.random.default_rng(seed).permutation(n)
    assert np.array_equal(mixtures([THREE, TWO], corpus.select(order), OWN, 4, seed=3), whole[order])
    parts = [corpus.select(range(37)), corpus.select(range(37, n))]
    assert np.array_equal(np.vstack([mixtures([THREE, TWO], part, OWN, 4, seed=3) for part in parts]), whole)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0, atol=1e-12)
    assert not np.array_equal(mixtures([THREE, TWO], corpus, OWN, 4, seed=4), whole)


def test_words_in_any_order_and_counts_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 4, size=60)
    vocabulary = [str(v) for v in range(4)]
    shuffled = from_tokens(
        [[str(v) for v in rng.permutation(words)] for _ in range(2)], vocabulary=vocabulary
    )
    counts = from_counts(np.bincount(words, minlength=4)[None], vocabulary=vocabulary)
    rows = np.vstack([mixtures([THREE], corpus, OWN[:1], 4) for corpus in (shuffled, counts)])
    assert np.array_equal(rows, np.repeat(rows[:1], 3, axis=0))


@pytest.mark.nojit
def test_a_document_without_words_gets_the_weights():
    expected = (np.array([4, 2, 1, 0.5]) / 7.5 + np.array([1, 3, 0, 1.5]) / 5.5) / 2
    for documents in ([[], [0, 1]], [[], []]):
        result = mixtures([THREE, TWO], arrays_of(documents, 4), OWN, 4)
        np.testing.assert_allclose(result[0], expected, rtol=1e-13)
    assert mixtures([THREE], arrays_of([], 4), OWN[:1], 4).shape == (0, 4)


@pytest.mark.nojit
def test_a_term_that_no_topic_has_is_the_rests():
    draw = twins.draw_of([[900, 0], [800, 0]], [3, 3], Concentrations(1.0, 1.0, 0.001))
    rest = mixtures([draw], corpus_of([[1] * 20, [0] * 20], 2), [np.arange(2)], 3)[:, -1]
    assert rest[0] > 0.9
    assert rest[1] < 0.1


@pytest.mark.nojit
def test_heat_falls_to_one():
    assert heats(0).shape == (0,)
    np.testing.assert_allclose(heats(2), [100.0, 10.0])
    assert np.all(np.diff(heats(5)) < 0)
    assert np.all(heats(5) > 1)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("error", "code", "fact", "change"),
    [
        (FranchiseError, "no-draws", "burn-in", {"draws": [], "columns": []}),
        (CorpusError, "vocabulary-mismatch", "2 terms", {"corpus": corpus_of([[0, 1]], 2)}),
        (SettingsError, "wrong-length", "2 arrays for 1 draws", {"columns": [np.arange(3)] * 2}),
        (SettingsError, "wrong-shape", "3 topics", {"columns": [np.arange(2)]}),
        (SettingsError, "wrong-shape", "float64", {"columns": [np.zeros(3)]}),
        (SettingsError, "out-of-range", "from 0 to 3, or -1", {"columns": [np.array([0, 4, 1])]}),
        (SettingsError, "out-of-range", "from 0 to 3, or -1", {"columns": [np.array([0, -2, 1])]}),
        (SettingsError, "not-a-whole-number", "n_columns=0", {"n_columns": 0}),
        (SettingsError, "not-a-whole-number", "sweeps=0", {"sweeps": 0}),
        (SettingsError, "not-a-whole-number", "burn_in=25", {"burn_in": 25}),
        (SettingsError, "not-a-whole-number", "seed=-1", {"seed": -1}),
        (SettingsError, "not-a-whole-number", "jobs=0", {"jobs": 0}),
    ],
)
def test_errors_say_what_is_wrong(error, code, fact, change):
    arguments = {"draws": [THREE], "corpus": corpus_of([[0, 1]], 4), "columns": OWN[:1], "n_columns": 4}
    with raises(error, code, fact):
        mixtures(**arguments | change)
