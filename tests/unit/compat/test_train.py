"""Training: its start, its log and its files; each number in the log belongs to the state saved with it."""

from pathlib import Path

import numpy as np
import pytest

from franchise import Chain, CorpusError, Priors, Proposal, SettingsError, SplitMerge, read_ldac
from franchise.compat.options import HdpOptions
from franchise.compat.starts import start
from franchise.compat.train import priors_of, started_chain, train, trials_of, try_splits_and_merges
from franchise.errors import ModelError
from franchise.model import broken_invariants, copy_state, empty_state
from franchise.model.seating import seat_all
from franchise.model.state import TABLES, TOPICS
from franchise.sampling import Timetable
from tests.raising import raises
from tests.reference.franchise import corpus_of
from tests.unit.compat.recompute import (
    LAST_DIGIT,
    counts_of_rows,
    read_files,
    read_state_log,
    training_likelihood,
)

pytestmark = pytest.mark.slow

LINES = ["3 0:2 3:1 4:2", "", "2 1:3 2:2", "4 0:1 2:1 3:2 4:3", "1 2:1", "0", "3 1:1 2:4 0:1"]
N_WORDS, N_TERMS = 24, 5


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.ldac"
    path.write_text("\n".join(LINES) + "\n")
    return path


@pytest.fixture
def options(data, tmp_path):
    def make(**changes):
        given = {"algorithm": "train", "data": data, "directory": tmp_path / "out", "random_seed": 3}
        return HdpOptions(**{**given, **changes})

    return make


def saved_names(folder):
    return sorted(path.stem for path in folder.glob("*.bin"))


# ---------------------------------------------------------------- settings


def test_the_priors_are_by_shape_and_scale(options):
    given = {"gamma_a": 2.0, "gamma_b": 5.0, "alpha_a": 3.0, "alpha_b": 0.5, "eta": 0.2}
    assert priors_of(options(**given)) == Priors(alpha=1.5, gamma=10.0, eta=0.2)
    drawn = priors_of(options(**given, sample_hyper=True))
    assert drawn == Priors(alpha=(3.0, 2.0), gamma=(2.0, 0.2), eta=0.2)
    assert drawn.initial().tolist() == [1.5, 10.0, 0.2]


@pytest.mark.parametrize(("restrict_scan", "scans"), [(-1, 0), (0, 1), (5, 6)])
def test_the_scans_count_the_last(options, restrict_scan, scans):
    expected = SplitMerge(trials=15, proposals=(Proposal(scans=scans),))
    assert trials_of(options(restrict_scan=restrict_scan)) == expected


# ---------------------------------------------------------------- starts


def start_of(data, init_topics, seed=1):
    corpus = read_ldac(data)
    state = start(corpus, np.array([0.8, 1.2, 0.3]), init_topics, seed)
    assert broken_invariants(corpus.arrays, state) == []
    assert state.concentrations.tolist() == [0.8, 1.2, 0.3]
    return corpus, state


def test_documents_are_topics_to_begin_with(data):
    seen = set()
    for seed in range(20):
        corpus, state = start_of(data, 2, seed)
        # The two documents are not visited: each is the first topic's, or the second's, and at one table.
        first = [np.flatnonzero(state.k_jt[corpus.doc_ptr[:-1]] == k) for k in (0, 1)]
        whole = [[j for j in own if state.m_j[j] == 1] for own in first]
        assert all(whole)
        seen |= {j for own in whole for j in own}
        assert state.totals[TOPICS] >= 2
    assert seen == {0, 2, 3, 4, 6}


def test_all_documents_can_be_topics(data):
    corpus, state = start_of(data, 5)
    assert state.totals[[TOPICS, TABLES]].tolist() == [5, 5]
    assert sorted(state.k_jt[corpus.doc_ptr[[0, 2, 3, 4, 6]]].tolist()) == list(range(5))


def test_more_topics_than_documents_with_words_are_refused(data):
    with raises(SettingsError, "too-few-documents", "init_topics=6", "5 documents"):
        start_of(data, 6)


def test_each_document_is_a_table_of_some_topic():
    corpus = corpus_of([[0, 1, 1]] * 300, 2)
    state = start(corpus, np.ones(3), -3, seed=1)
    assert broken_invariants(corpus.arrays, state) == []
    assert state.m_j.tolist() == [1] * 300
    tables = np.bincount(state.k_jt[corpus.doc_ptr[:-1]])
    # Each topic has a third of the documents; six standard deviations are 49.
    assert tables.size == 3
    assert np.all(np.abs(tables - 100) < 49)


def test_topics_that_no_document_draws_are_not_there(data):
    _, state = start_of(data, -1000)
    assert state.totals[TOPICS] <= 5
    _, state = start_of(data, -1)
    assert state.totals[[TOPICS, TABLES]].tolist() == [1, 5]


def test_word_after_word_by_default(data):
    _, state = start_of(data, 0, seed=1)
    assert state.totals[TABLES] >= 5
    others = [start_of(data, 0, seed)[1].t_ji.tolist() for seed in range(5)]
    assert len({tuple(t_ji) for t_ji in others}) > 1
    assert others[1] == state.t_ji.tolist()


def test_the_sweeps_are_those_of_a_chain(data, options):
    """From the same state, the same seed gives the same states as a chain of the library."""
    ours = started_chain(read_ldac(data), options(sample_hyper=True, eta=0.2))
    priors = Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.2)
    schedule = Timetable(split_merge=None, concentrations="auxiliary")
    chain = Chain(ours.corpus, priors, schedule, random_state=3, init="one")
    chain.start_at(copy_state(ours.state))
    ours.run(5)
    chain.run(5)
    assert ours.state.t_ji.tolist() == chain.state.t_ji.tolist()
    assert ours.trace["log_joint"][1:].tolist() == chain.trace["log_joint"][1:].tolist()
    assert ours.draws == []
    assert ours.mode is None


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("sample_hyper", [False, True])
@pytest.mark.parametrize("init_topics", [0, 2, -2])
def test_every_line_is_of_the_state_saved_beside_it(options, tmp_path, sample_hyper, init_topics):
    """With trials in the first iteration, too: its line and files are of the state before them."""
    priors = {"gamma": (2.0, 0.7), "alpha": (1.5, 0.4)}
    train(
        options(
            max_iter=6,
            save_lag=1,
            init_topics=init_topics,
            sample_hyper=sample_hyper,
            split_merge=True,
            gamma_a=2.0,
            gamma_b=0.7,
            alpha_a=1.5,
            alpha_b=0.4,
        )
    )
    lines = read_state_log(tmp_path / "out")
    assert [line.iteration for line in lines] == list(range(6))
    for line in lines:
        files = read_files(tmp_path / "out", f"{line.iteration:05d}")
        counts, m_k = counts_of_rows(files)
        assert np.array_equal(counts, files.counts)
        assert np.array_equal(m_k, files.m_k)
        assert (len(files.rows), files.counts.shape[1]) == (N_WORDS, N_TERMS)
        assert (line.n_topics, line.n_tables) == (len(m_k), m_k.sum())
        assert (line.gamma, line.alpha) == (round(files.at.gamma, 5), round(files.at.alpha, 5))
        likelihood = training_likelihood(files, priors if sample_hyper else None)
        assert line.likelihood == pytest.approx(likelihood, rel=0, abs=1.01 * LAST_DIGIT)
        if not sample_hyper:
            assert files.at == pytest.approx((0.6, 1.4, 0.5))


def test_the_words_saved_are_those_of_the_documents(options, data, tmp_path):
    train(options(max_iter=1))
    rows = read_files(tmp_path / "out", "final").rows
    corpus = read_ldac(data)
    assert rows[:, 1].tolist() == corpus.x.tolist()
    assert rows[:, 0].tolist() == np.repeat(np.arange(7), corpus.document_lengths).tolist()


@pytest.mark.parametrize(
    ("save_lag", "expected"),
    [(1, "00000 00001 00002 00003 00004"), (2, "00000 00002 00004"), (100, "00000"), (-1, "")],
)
def test_states_are_saved_every_so_often_and_at_the_end(options, tmp_path, save_lag, expected):
    train(options(max_iter=5, save_lag=save_lag))
    names = saved_names(tmp_path / "out")
    assert [name for name in names if name != "mode"] == [*expected.split(), "final"]


def test_the_mode_is_the_best_state_if_it_beats_the_start(options, tmp_path):
    with_mode = 0
    for seed in range(8):
        folder = tmp_path / str(seed)
        settings = options(max_iter=4, save_lag=1, random_seed=seed, directory=folder)
        chain = started_chain(read_ldac(settings.data), settings)
        train(settings)
        lines = read_state_log(folder)
        best = max(lines, key=lambda line: line.likelihood)
        # The start is the state that a run without iterations ends with.
        train(options(max_iter=0, random_seed=seed, directory=folder / "start"))
        of_start = training_likelihood(read_files(folder / "start", "final"))
        assert read_files(folder / "start", "final").rows[:, 3].tolist() == chain.state.t_ji.tolist()
        assert ("mode" in saved_names(folder)) == (best.likelihood > of_start)
        if best.likelihood > of_start:
            with_mode += 1
            for ending in ("-topics.dat", "-word-assignments.dat", ".bin"):
                one, other = folder / f"mode{ending}", folder / f"{best.iteration:05d}{ending}"
                assert one.read_bytes() == other.read_bytes()
    assert 0 < with_mode < 8, "the seeds show only one of the two cases"


def test_the_last_state_is_that_of_the_last_iteration(options, tmp_path):
    train(options(max_iter=5, save_lag=4))
    for ending in ("-topics.dat", "-word-assignments.dat", ".bin"):
        assert (tmp_path / "out" / f"final{ending}").read_bytes() == (
            tmp_path / "out" / f"00004{ending}"
        ).read_bytes()


def test_the_same_seed_gives_the_same_files(options, tmp_path):
    settings = {"max_iter": 4, "split_merge": True, "sample_hyper": True}
    contents = []
    for folder, seed in (("one", 5), ("two", 5), ("three", 6)):
        train(options(directory=tmp_path / folder, random_seed=seed, **settings))
        contents.append((tmp_path / folder / "final-word-assignments.dat").read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_trials_are_made_in_the_first_iteration(options, tmp_path):
    shown = []
    train(options(max_iter=3, split_merge=True), progress=shown.append)
    lines = read_state_log(tmp_path / "out")
    assert [line.trials for line in lines] == [15, 0, 0]
    assert [line.splits + line.merges for line in lines[1:]] == [0, 0]
    assert shown[-1] == f"accept rate: {100 * (lines[0].splits + lines[0].merges) / 15:.2f}%"


def test_trials_change_the_number_of_topics_as_they_say(data, options):
    topics_born, topics_gone = 0, 0
    for seed in range(10):
        settings = options(split_merge=True, random_seed=seed)
        chain = started_chain(read_ldac(data), settings)
        chain.sweep()
        before = int(chain.state.totals[TOPICS])
        info = try_splits_and_merges(chain, trials_of(settings))
        assert broken_invariants(chain.corpus.arrays, chain.state) == []
        assert chain.state.totals[TOPICS] - before == info.splits - info.merges
        assert info.splits_tried + info.merges_tried == 15
        topics_born += info.splits
        topics_gone += info.merges
        chain.sweep()
    assert topics_born > 0
    assert topics_gone > 0


def test_trials_find_room_for_topics(options):
    """Two kinds of documents in one topic, and no room for another: the split is still made."""
    corpus = corpus_of([[0] * 20] * 10 + [[1] * 20] * 10, 2)
    settings = options(init_topics=-1, split_merge=True)
    chain = started_chain(corpus, settings)
    full = empty_state(corpus.arrays, capacity=1)
    full.t_ji[:] = 0
    full.concentrations[:] = chain.state.concentrations
    seat_all(corpus.arrays, full, 1)
    chain.engine.seat(full)
    try_splits_and_merges(chain, trials_of(settings))
    assert chain.state.totals[TOPICS] == 2
    assert broken_invariants(corpus.arrays, chain.state) == []


def test_progress_is_what_the_program_shows(options, tmp_path):
    shown = []
    train(options(max_iter=2), progress=shown.append)
    lines = read_state_log(tmp_path / "out")
    assert shown == [
        f"iter = {line.iteration:05d}, #topics = {line.n_topics:04d}, #tables = {line.n_tables:04d}, "
        f"gamma = 1.00000, alpha = 1.00000, likelihood = {line.likelihood:.5f}"
        for line in lines
    ]


def test_an_interrupted_run_leaves_its_last_state_and_log(options, tmp_path):
    def interrupt(text):
        if text.startswith("iter = 00002"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(options(max_iter=50, save_lag=-1), progress=interrupt)
    assert [line.iteration for line in read_state_log(tmp_path / "out")] == [0, 1]
    train(options(max_iter=3, save_lag=-1, directory=tmp_path / "whole"))
    for name in ("final.bin", "final-word-assignments.dat"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_malformed_data_are_an_error_with_the_line_and_leave_nothing(options, data, tmp_path):
    data.write_text("\n".join([*LINES, "2 0:1 x:1"]))
    with pytest.raises(CorpusError, match=r"data\.ldac:8"):
        train(options())
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_is_an_error(options, tmp_path):
    Path(tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot write it"):
        train(options(directory=tmp_path / "file" / "out", max_iter=1))
