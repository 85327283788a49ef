"""Test mode: documents seated on top of the counts of a model, exactly as on top of its documents."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from franchise.compat import test_mode
from franchise.compat.files import write_bin
from franchise.compat.options import HdpOptions
from franchise.compat.saved import SavedModel
from franchise.errors import CorpusError, ModelError, SettingsError
from franchise.model import broken_invariants
from franchise.model.state import TABLES, TOPICS
from tests.raising import raises
from tests.reference.enumeration import Concentrations, Seating, by_first_appearance, log_joint, partitions
from tests.reference.franchise import corpus_of
from tests.statistical.means import assert_means
from tests.unit.compat.recompute import (
    LAST_DIGIT,
    counts_of_rows,
    held_out_likelihood,
    read_files,
    read_test_log,
)

# Training documents and their seating; one topic has three tables, the other one.
TRAINED, N_TERMS = [[0, 0, 1], [1, 2], [0]], 3
SEATED = Seating(((0, 0, 1), (0, 0), (0,)), (0, 0, 1, 0))
GUESTS = [[1, 1, 0], [], [2]]
AT = Concentrations(alpha=0.9, gamma=1.4, eta=0.4)
RAREST = 0.01


def model_of(documents, seating):
    """Return the counts that a saved model keeps of a seating."""
    counts = np.zeros((seating.n_topics, N_TERMS), np.int32)
    np.add.at(counts, (seating.word_topics(), [v for words in documents for v in words]), 1)
    m_k = Counter(seating.k)
    return SavedModel(
        topic_terms=sp.csr_array(counts),
        m_k=np.array([m_k[k] for k in range(seating.n_topics)]),
        alpha=AT.alpha,
        gamma=AT.gamma,
        eta=AT.eta,
    )


def continued(topics, n_more):
    """Yield every assignment of topics to this number of further tables."""
    if n_more == 0:
        yield topics
        return
    for k in range(max(topics) + 2):
        yield from continued((*topics, k), n_more - 1)


def exact_posterior():
    """Return the seatings of all documents that leave the trained ones as they are, with probabilities."""
    seatings = [
        Seating(SEATED.t + t, k)
        for t in product(*(list(partitions(len(words))) for words in GUESTS))
        for k in continued(SEATED.k, sum(len(set(own)) for own in t))
    ]
    weights = np.exp([log_joint(TRAINED + GUESTS, N_TERMS, seating, AT) for seating in seatings])
    return seatings, weights / weights.sum()


def seating_on_top(guests):
    """Return the seating of trained documents and guests, from the places that would be saved."""
    rows = guests.saved().assignments
    t, k = list(SEATED.t), list(SEATED.k)
    for j in range(len(GUESTS)):
        own = rows[rows[:, 0] == j]
        t.append(by_first_appearance(own[:, 3].tolist()))
        k += dict(own[:, [3, 2]].tolist()).values()  # a table each, in the order of its first word
    return Seating(tuple(t), by_first_appearance(k))


def test_guests_are_seated_as_if_the_trained_documents_were_there(seed):
    """20,000 sweeps on top of a model's counts visit the states as the documents' exact posterior says.

    They see a probability off by about 0.03.
    """
    seatings, probabilities = exact_posterior()
    number = {seating: i for i, seating in enumerate(seatings)}
    guests = test_mode.Guests(model_of(TRAINED, SEATED), corpus_of(GUESTS, N_TERMS), seed)
    visited, known = np.empty(20_000, np.int64), {}
    for sweep in range(-200, visited.size):
        guests.sweep()
        labels = guests.state.t_ji.tobytes() + guests.state.k_jt.tobytes()
        if labels not in known:
            known[labels] = number[seating_on_top(guests)]
        if sweep >= 0:
            visited[sweep] = known[labels]
    common = np.flatnonzero(probabilities > RAREST)
    n_topics = np.array([seating.n_topics for seating in seatings])
    columns = np.column_stack([np.arange(len(seatings))[:, None] == common, n_topics == 2, n_topics == 3])
    names = [str(seatings[i]) for i in common] + ["2 topics", "3 topics"]
    assert_means(names, columns[visited].astype(float), probabilities @ columns)


def test_the_likelihood_is_the_joint_that_the_guests_add(seed):
    """It is log p(all) - log p(trained), whichever way the trained words sit at their tables."""
    guests = test_mode.Guests(model_of(TRAINED, SEATED), corpus_of(GUESTS, N_TERMS), seed)
    alone = log_joint(TRAINED, N_TERMS, SEATED, AT)
    for _ in range(10):
        guests.sweep()
        everything = log_joint(TRAINED + GUESTS, N_TERMS, seating_on_top(guests), AT)
        assert guests.likelihood() == pytest.approx(everything - alone, rel=1e-9)


def test_the_topics_of_the_model_stay_and_keep_their_rows(seed):
    model = model_of(TRAINED, SEATED)
    guests = test_mode.Guests(model, corpus_of(GUESTS * 20, N_TERMS), seed)
    for _ in range(30):
        guests.sweep()
        assert broken_invariants(guests._corpus, guests.state) == []
        saved = guests.saved()
        counts = np.zeros(saved.model.topic_terms.shape, int)
        np.add.at(counts, (saved.assignments[:, 2], saved.assignments[:, 1]), 1)
        before = saved.model.topic_terms.toarray() - counts
        assert before[:2].tolist() == model.topic_terms.toarray().tolist()
        assert not before[2:].any()


def test_the_programs_likelihood_is_what_it_is_said_to_be(program):
    """The definition that ours is tested against gives the number that the program logged."""
    files = read_files(program, "test-00010")
    last = read_test_log(program)[-1]
    expected = held_out_likelihood(files, read_files(program, "00020"))
    assert last.likelihood == pytest.approx(expected, rel=0, abs=1.01 * LAST_DIGIT)
    assert (last.n_topics, last.n_tables) == (len(files.m_k), files.m_k.sum())


# ---------------------------------------------------------------- runs


@pytest.fixture
def options(program, tmp_path):
    def make(**changes):
        given = {
            "algorithm": "test",
            "data": program / "heldout.ldac",
            "directory": tmp_path / "out",
            "saved_model": program / "00020.bin",
            "random_seed": 1,
        }
        return HdpOptions(**{**given, **changes})

    return make


def test_every_line_is_of_the_state_saved_beside_it(options, program, tmp_path):
    shown = []
    test_mode.test(options(max_iter=5, save_lag=1), progress=shown.append)
    lines = read_test_log(tmp_path / "out")
    model = read_files(program, "00020")
    assert [line.iteration for line in lines] == list(range(5))
    for line, text in zip(lines, shown, strict=True):
        files = read_files(tmp_path / "out", f"test-{line.iteration:05d}")
        assert (line.n_topics, line.n_tables) == (len(files.m_k), files.m_k.sum())
        assert line.likelihood == pytest.approx(
            held_out_likelihood(files, model), rel=0, abs=1.01 * LAST_DIGIT
        )
        counts, m_k = counts_of_rows(files)
        assert np.array_equal(files.counts[:21] - counts[:21], model.counts)
        assert np.array_equal(files.m_k[:21] - m_k[:21], model.m_k)
        assert np.array_equal(files.counts[21:], counts[21:])
        assert files.at == model.at
        assert text == (
            f"iter = {line.iteration:05d}, #topics = {line.n_topics:04d}, #tables = {line.n_tables:04d}, "
            f"likelihood = {line.likelihood:.5f}"
        )


def test_states_are_saved_as_in_training(options, tmp_path):
    test_mode.test(options(max_iter=8, save_lag=5))
    lines = read_test_log(tmp_path / "out")
    names = {path.stem for path in (tmp_path / "out").glob("*.bin")}
    assert names - {"test-mode"} == {"test-00000", "test-00005", "test-final"}
    test_mode.test(options(max_iter=8, save_lag=1, directory=tmp_path / "all"))
    best = max(lines, key=lambda line: line.likelihood)
    for one, other in (
        ("out/test-mode", f"all/test-{best.iteration:05d}"),
        ("out/test-final", "all/test-00007"),
    ):
        assert (tmp_path / f"{one}.bin").read_bytes() == (tmp_path / f"{other}.bin").read_bytes()


def test_documents_without_words_are_allowed(options, program, tmp_path):
    data = tmp_path / "gaps.ldac"
    data.write_text("0\n1 5:2\n\n1 7:1\n")
    test_mode.test(options(data=data, max_iter=2))
    files = read_files(tmp_path / "out", "test-final")
    assert files.rows[:, :2].tolist() == [[1, 5], [1, 5], [3, 7]]


def test_terms_that_the_model_does_not_have_are_an_error(options, tmp_path):
    data = tmp_path / "more.ldac"
    data.write_text("1 1142:1\n\n2 3:1 1143:2\n")
    with raises(CorpusError, "term-out-of-range", f"{data}:3: ", "document 2", "term 1143", "0 to 1142"):
        test_mode.test(options(data=data))
    assert not (tmp_path / "out").exists()


def test_a_topic_without_tables_is_passed_over(options, program, tmp_path):
    model = model_of(TRAINED, SEATED)
    with_gap = SavedModel(
        topic_terms=sp.csr_array(np.insert(model.topic_terms.toarray(), 1, 0, axis=0)),
        m_k=np.insert(model.m_k, 1, 0),
        alpha=AT.alpha,
        gamma=AT.gamma,
        eta=AT.eta,
    )
    data = tmp_path / "few.ldac"
    data.write_text("2 0:1 1:2\n")
    for name, one in (("gap", with_gap), ("none", model)):
        write_bin(tmp_path / f"{name}.bin", one)
        settings = options(
            data=data, saved_model=tmp_path / f"{name}.bin", directory=tmp_path / name, max_iter=3
        )
        test_mode.test(settings)
    assert (tmp_path / "gap" / "test-final.bin").read_bytes() == (
        tmp_path / "none" / "test-final.bin"
    ).read_bytes()


def test_a_damaged_model_and_none_are_errors(options, program, tmp_path):
    damaged = tmp_path / "damaged.bin"
    damaged.write_bytes((program / "00020.bin").read_bytes()[:-4])
    with raises(ModelError, "damaged-file", "damaged.bin", "21 topics", "1143 terms", "96,220 bytes"):
        test_mode.test(options(saved_model=damaged))
    training = HdpOptions(algorithm="train", data=program / "heldout.ldac", directory=tmp_path)
    with raises(SettingsError, "missing-setting", "saved_model"):
        test_mode.test(training)


def test_many_new_topics_find_room(seed):
    """Room for topics grows while guests are being seated, and no topic of the model is lost."""
    model = SavedModel(
        topic_terms=sp.csr_array(np.ones((1, 200), np.int32)),
        m_k=np.array([1]),
        alpha=50.0,
        gamma=1000.0,
        eta=0.01,
    )
    guests = test_mode.Guests(model, corpus_of([list(range(200))] * 3, 200), seed)
    guests.sweep()
    assert guests.state.totals[TOPICS] > 64
    assert broken_invariants(guests._corpus, guests.state) == []
    assert guests.state.totals[TABLES] == guests.saved().model.m_k.sum()
