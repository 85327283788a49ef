"""A training and a test by the options of the paper's program leave its files, and numbers that recompute.

The files are read, and the likelihoods computed, apart from the library (`tests.unit.compat.recompute`); what
the program itself left of the same documents passes the same checks.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

from franchise.compat import test_mode
from franchise.compat.files import read_bin
from franchise.compat.options import parse
from franchise.compat.train import started_chain, train
from franchise.corpus import read_ldac
from tests.unit.compat import recompute

pytestmark = pytest.mark.slow

DATA = Path(__file__).resolve().parents[1] / "data" / "compat"
TRAINING = (
    "--algorithm train --max_iter 21 --save_lag 10 --sample_hyper yes --split_merge yes --random_seed 7"
)
TEST = "--algorithm test --max_iter 11 --save_lag 10 --random_seed 7"
PRIORS = {"gamma": (1.0, 1.0), "alpha": (1.0, 1.0)}
ROUNDING = 1.01 * recompute.LAST_DIGIT


def options_of(text, data, folder, *more):
    return parse([*text.split(), "--data", str(DATA / data), "--directory", str(folder), *more])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return the folder of a training with the settings of the program's run."""
    folder = tmp_path_factory.mktemp("drop-in") / "train-out"
    train(options_of(TRAINING, "train.ldac", folder))
    return folder


@pytest.fixture(scope="module")
def tested(trained):
    """Return the folder of a test of that training's mode."""
    folder = trained.with_name("test-out")
    options = options_of(TEST, "heldout.ldac", folder, "--saved_model", str(trained / "mode.bin"))
    test_mode.test(options)
    return folder


@pytest.fixture(scope="module")
def program_model(tmp_path_factory):
    """Return the binary file that the program saved."""
    path = tmp_path_factory.mktemp("program") / "mode.bin"
    path.write_bytes(gzip.decompress((DATA / "00020.bin.gz").read_bytes()))
    return path


def names_in(folder):
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def files_of(*states):
    return {f"{name}{end}" for name in states for end in ("-topics.dat", "-word-assignments.dat", ".bin")}


def test_training_leaves_the_programs_files_and_the_last_state(trained):
    assert names_in(trained) == {"state.log"} | files_of("00000", "00010", "00020", "mode", "final")


def test_each_training_state_is_of_the_documents(trained):
    corpus = read_ldac(DATA / "train.ldac")
    expected = sorted(zip(np.repeat(np.arange(60), corpus.document_lengths).tolist(), corpus.x.tolist()))
    for name in ("00000", "00010", "00020", "mode", "final"):
        files = recompute.read_files(trained, name)
        assert sorted(map(tuple, files.rows[:, :2].tolist())) == expected
        counts, m_k = recompute.counts_of_rows(files)
        assert np.array_equal(counts, files.counts)
        assert np.array_equal(m_k, files.m_k)


def test_each_logged_likelihood_recomputes(trained):
    lines = recompute.read_state_log(trained)
    assert [line[1] for line in lines] == list(range(21))
    assert [line[9] for line in lines] == [15] + [0] * 20
    for name, line in (("00000", lines[0]), ("00010", lines[10]), ("00020", lines[20]), ("final", lines[20])):
        files = recompute.read_files(trained, name)
        assert line[2:4] == (len(files.m_k), files.m_k.sum())
        assert line[4] == pytest.approx(recompute.training_likelihood(files, PRIORS), rel=0, abs=ROUNDING)
        assert line[5:7] == pytest.approx([files.at.gamma, files.at.alpha], rel=0, abs=ROUNDING)
    best = max(line[4] for line in lines)
    files = recompute.read_files(trained, "mode")
    assert best == pytest.approx(recompute.training_likelihood(files, PRIORS), rel=0, abs=ROUNDING)


def test_the_test_leaves_the_programs_files_and_the_last_state(tested):
    assert names_in(tested) == {"test.log"} | files_of("test-00000", "test-00010", "test-mode", "test-final")


def test_each_logged_test_likelihood_recomputes(trained, tested):
    corpus = read_ldac(DATA / "heldout.ldac")
    model = recompute.read_files(trained, "mode")
    lines = recompute.read_test_log(tested)
    assert [line[1] for line in lines] == list(range(11))
    best = max(lines, key=lambda line: line[4])
    for name, line in (("00000", lines[0]), ("00010", lines[10]), ("mode", best), ("final", lines[10])):
        files = recompute.read_files(tested, f"test-{name}")
        assert line[2:4] == (len(files.m_k), files.m_k.sum())
        assert line[4] == pytest.approx(recompute.held_out_likelihood(files, model), rel=0, abs=ROUNDING)
        assert sorted(files.rows[:, 1].tolist()) == sorted(corpus.x.tolist())
        counts, m_k = recompute.counts_of_rows(files)
        n_topics = len(model.m_k)
        assert np.array_equal((files.counts - counts)[:n_topics], model.counts)
        assert np.array_equal((files.m_k - m_k)[:n_topics], model.m_k)


def test_what_the_program_left_recomputes_in_the_same_way(program_model, tmp_path):
    for path in DATA.iterdir():
        if path.suffix == ".gz":
            (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        else:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    model = recompute.read_files(tmp_path, "00020")
    last = recompute.read_state_log(tmp_path)[-1]
    assert last[4] == pytest.approx(recompute.training_likelihood(model, PRIORS), rel=0, abs=ROUNDING)
    last = recompute.read_test_log(tmp_path)[-1]
    files = recompute.read_files(tmp_path, "test-00010")
    assert last[4] == pytest.approx(recompute.held_out_likelihood(files, model), rel=0, abs=ROUNDING)


def test_the_programs_training_is_one_that_this_one_could_have_made():
    """Its likelihoods and tables are within five standard deviations of those of twelve seeds.

    At iterations 10, 15 and 20, when the trials of the first, which are left out here, are forgotten.
    """
    program = np.array([[line.likelihood, line.n_tables] for line in recompute.read_state_log(DATA)])
    corpus, runs = read_ldac(DATA / "train.ldac"), []
    for seed in range(12):
        chain = started_chain(
            corpus, options_of(TRAINING, "train.ldac", "unused", "--random_seed", str(seed))
        )
        chain.run(21)
        likelihood = chain.trace["log_joint"] + chain.trace["log_prior"]
        runs.append(np.column_stack([likelihood, chain.trace["n_tables"]])[1:])
    at = np.array(runs)[:, [10, 15, 20]]
    assert np.all(np.abs(program[[10, 15, 20]] - at.mean(axis=0)) < 5 * at.std(axis=0, ddof=1))


def test_the_programs_test_is_one_that_this_one_could_have_made(program_model):
    """Its likelihoods from iteration 1 on are within five standard deviations of ours, in the long run."""
    program = np.array([line.likelihood for line in recompute.read_test_log(DATA)])[1:]
    guests = test_mode.Guests(read_bin(program_model), read_ldac(DATA / "heldout.ldac"), seed=1)
    ours = []
    for _ in range(300):
        guests.sweep()
        ours.append(guests.likelihood())
    ours = np.array(ours[100:])
    assert np.all(np.abs(program - ours.mean()) < 5 * ours.std())
