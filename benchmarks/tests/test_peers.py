"""``benchmarks.peers``: every peer gives topics that can be scored, and the command says what it found."""

import gzip
import json
import shlex
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.completion import of_topics
from benchmarks.peers.__main__ import main
from benchmarks.peers.corpora import of_file, tiny_case
from benchmarks.peers.interface import Peer, Settings, Training, paced
from benchmarks.peers.programs import HCA, BleiHDP, HDPFaster, peak_of
from benchmarks.peers.registry import PEERS, peer_named
from benchmarks.peers.report import seconds_to
from benchmarks.peers.runs import Run, measure
from franchise import read_ldac

COMPAT = Path(__file__).resolve().parents[2] / "tests" / "data" / "compat"
ETA = 0.1
IN_PYTHON = ["franchise", "franchise, average", "tomotopy HDP", "gensim HDP", "scikit-learn LDA 5"]


def training_of(corpus):
    return Training(corpus.x, corpus.doc_ptr, corpus.n_terms)


@pytest.fixture(scope="module")
def tiny():
    return tiny_case(ETA)


# ---------------------------------------------------------------- adapters


@pytest.mark.parametrize("name", [*PEERS, "scikit-learn LDA 7"])
def test_every_peer_has_the_interface(name):
    peer = peer_named(name)
    assert isinstance(peer, Peer)
    assert peer.name == name


@pytest.mark.filterwarnings("default")  # those of other people's packages
@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_package_finds_the_planted_topics(name, tiny):
    peer = peer_named(name)
    if reason := peer.available():
        pytest.skip(reason)
    peer.load()
    assert peer.version()
    # The second moment is late enough for two passes of the slowest, the first one may be anywhere.
    checkpoints = list(peer.fit(training_of(tiny.training), Settings(ETA, 3, (0.01, 0.5))))
    assert len(checkpoints) >= 2
    seconds, passes = zip(*(one[:2] for one in checkpoints), strict=True)
    assert 0 < seconds[0] < seconds[-1]
    assert passes[0] >= 1
    assert passes[-1] > passes[0]
    for one in checkpoints:
        assert one.topics.shape == (one.prior.size, tiny.training.n_terms)
        np.testing.assert_allclose(one.topics.sum(axis=1), 1.0)
        assert (one.topics > 0).all()
        assert (one.prior >= 0).all()
        assert one.words.shape == one.prior.shape
    last = checkpoints[-1]
    # The average leaves out topics that few draws have.
    within = 0.05 if "average" in name else 0.01
    assert last.words.sum() == pytest.approx(tiny.training.n_words, rel=within)
    assert of_topics(last.topics, last.prior, tiny.test, last.prior_new) > tiny.floor + 0.2


@pytest.mark.parametrize("name", ["tomotopy HDP", "gensim HDP"])
def test_a_package_that_is_missing_is_named(name, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.packages.find_spec", lambda module: None)
    assert "is not installed: pip install" in peer_named(name).available()


def test_passes_are_made_until_each_moment(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.process_time", lambda: clock[0])

    def step(passes):
        clock[0] += 0.4 * passes

    found = list(paced(step, (0.1, 0.2, 1.0, 2.0)))
    # At least one, and then more until the next would end further from the moment than the last did.
    assert found == [
        (pytest.approx(0.4), 1, False),
        (pytest.approx(0.8), 2, False),
        (pytest.approx(2.0), 5, True),
    ]


def test_short_passes_are_made_several_at_once(monkeypatch):
    clock, calls = [0.0], []
    monkeypatch.setattr("time.process_time", lambda: clock[0])

    def step(passes):
        calls.append(passes)
        clock[0] += 0.001 * passes

    ((seconds, passes, _),) = paced(step, (1.0,))
    assert passes == sum(calls) == pytest.approx(1_000, abs=20)
    assert seconds == pytest.approx(1.0, abs=0.02)
    assert len(calls) < 100


# ---------------------------------------------------------------- programs


PROGRAM = """import pathlib, sys, time
given = sys.argv.index("--directory") + 1 if "--directory" in sys.argv else -1
target = pathlib.Path(sys.argv[given])
prepared = pathlib.Path({prepared!r})
names = (prepared / "order").read_text().split()
lag = int(sys.argv[sys.argv.index({lag!r}) + 1])
for number in range(lag, 10**6, lag):
    until = time.process_time() + 0.02
    while time.process_time() < until:
        pass
    for name in names:
        content = (prepared / name).read_bytes().replace(b"@NUMBER@", b"%d" % number)
        own = name.replace("NUMBER", "%05d" % number)
        (target / own if target.is_dir() else target.parent / own).write_bytes(content)
"""


def pretend(tmp_path, monkeypatch, peer, lag, files):
    """Put a program in the place of a peer's, that saves the same files again and again."""
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    for name, content in files.items():
        (prepared / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (prepared / "order").write_text(" ".join(files))
    (tmp_path / "program.py").write_text(PROGRAM.format(prepared=str(prepared), lag=lag))
    program = tmp_path / "program"
    # By a shell: the path of an interpreter with a space in it cannot stand after "#!".
    command = shlex.join([sys.executable, str(tmp_path / "program.py")])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(peer.variable, f"./{program.name}")


@pytest.fixture(scope="module")
def three_topics(tiny):
    """Topics of words by their terms, and their counts; the last term's topic has no words."""
    corpus = tiny.training
    words = np.zeros((3, corpus.n_terms))
    np.add.at(words, (corpus.x % 3, corpus.x), 1.0)
    return words


def only(checkpoints, words, eta=ETA):
    """Look at all checkpoints, which are alike but for the time."""
    assert len(checkpoints) >= 2
    seconds = [one.seconds for one in checkpoints]
    passes = [one.passes for one in checkpoints]
    assert seconds == sorted(seconds)
    assert passes == sorted(set(passes))
    for one in checkpoints:
        np.testing.assert_array_equal(one.words, words.sum(axis=1))
        smooth = words + eta
        np.testing.assert_allclose(one.topics, smooth / smooth.sum(axis=1, keepdims=True))
    return checkpoints[-1]


def test_the_papers_program(tmp_path, monkeypatch):
    corpus, peer = read_ldac(COMPAT / "train.ldac"), BleiHDP()
    saved = gzip.decompress((COMPAT / "00020.bin.gz").read_bytes())
    pretend(tmp_path, monkeypatch, peer, "--save_lag", {"NUMBER.bin": saved})
    assert peer.available() is None
    assert len(peer.version()) == 8
    # A vocabulary with three terms that no document has, and the program does not know.
    training = Training(corpus.x, corpus.doc_ptr, corpus.n_terms + 3)
    counts = np.loadtxt(COMPAT / "00020-topics.dat.gz")
    words = np.pad(counts, ((0, 0), (0, training.n_terms - counts.shape[1])))
    last = only(list(peer.fit(training, Settings(0.5, 0, (0.1, 0.3)))), words, eta=0.5)
    assert last.prior.size == 21
    # alpha, gamma and 95 tables of its log
    assert last.prior.sum() == pytest.approx(0.14247 * 95 / (95 + 4.58334), abs=1e-5)
    assert last.prior_new == pytest.approx(0.14247 * 4.58334 / (95 + 4.58334), abs=1e-5)
    assert peer.peak_bytes > 1e6


def test_hdp_faster(tmp_path, monkeypatch, tiny, three_topics):
    peer, weights = HDPFaster(), [0.5, 0.3, 0.1, 0.1]
    files = {
        "iter@NUMBER.info": f"eta: {ETA}\ngamma: 2.0\nalpha: 3.0\nsize_vocab: 100\nnum_topics: 3\n",
        "iter@NUMBER.topics": "\n".join(" ".join(f"{n:.0f}" for n in row) for row in three_topics) + "\n",
        "iter@NUMBER.pi": "".join(f"{weight:f}\n" for weight in weights),
    }
    pretend(tmp_path, monkeypatch, peer, "--save_lag", files)
    # A program stopped while it writes its weights can still be read: the state before is complete.
    last = only(list(peer.fit(training_of(tiny.training), Settings(ETA, 0, (0.1, 0.3)))), three_topics)
    np.testing.assert_allclose(last.prior, [1.5, 0.9, 0.3])
    assert last.prior_new == pytest.approx(0.3)


def test_hca(tmp_path, monkeypatch, tiny, three_topics):
    peer, training = HCA(), training_of(tiny.training)
    terms = [v for bag in training.bags() for v, n in bag for _ in range(n)]
    files = {
        "state.ndt": "",
        "state.tdt": "80\n200\n3\n0 0 4\n1 1 3\n2 2 1\n",
        "state.zt": "".join(f"{v % 3}\n" for v in terms),
        "state.par": "stem = x\nITER = @NUMBER@\n# sampled\nb = 2.000000\nb0 = 5.000000\n",
    }
    pretend(tmp_path, monkeypatch, peer, "-c", files)
    last = only(list(peer.fit(training, Settings(ETA, 0, (0.1, 0.3)))), three_topics)
    np.testing.assert_allclose(last.prior, 2.0 * (np.array([4, 3, 1]) + 5 / 200) / 13)
    assert last.prior.sum() + last.prior_new == pytest.approx(2.0)


def test_a_program_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.delenv("HCA_PROGRAM", raising=False)
    assert HCA().available() == "build it, and set HCA_PROGRAM to its path"
    monkeypatch.setenv("HCA_PROGRAM", str(tmp_path / "hca"))
    assert "there is no program that can be run" in HCA().available()
    monkeypatch.setenv("HCA_PROGRAM", str(tmp_path))
    assert "there is no program that can be run" in HCA().available()


def test_a_program_that_ends_at_once(monkeypatch, tiny):
    monkeypatch.setenv("HCA_PROGRAM", "/bin/false")
    with pytest.raises(RuntimeError, match="hca ended before it had saved a state"):
        list(HCA().fit(training_of(tiny.training), Settings(ETA, 0, (0.1,))))


def test_peak_memory_is_read_from_the_status():
    assert peak_of("Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t  2048 kB\n") == 2 << 20
    assert peak_of("Name:\tx\n") == 0


# ---------------------------------------------------------------- runs and the command


def test_a_peer_that_fails_says_why(monkeypatch, tiny):
    monkeypatch.setenv("HDP_PROGRAM", "/bin/false")
    run, fit = measure(tiny, "hdp", Settings(ETA, 0, (0.1,)))
    assert fit is None
    assert "hdp ended before it had saved a state" in run.problem


def test_the_score_at_a_moment_is_that_of_the_newest_checkpoint():
    run = Run("c", "p", 0, seconds=[1.0, 2.1, 9.0], scores=[-9.0, -8.0, -7.0])
    assert run.score_at(0.5) is None
    assert run.score_at(1.0) == -9.0
    assert run.score_at(2.0) == -8.0
    assert run.score_at(5.0) == -8.0
    assert seconds_to([run], -8.5) == 2.1
    assert seconds_to([run], -6.0) is None
    # A score that is lost again does not count: a warm-up can be ahead of the posterior.
    assert seconds_to([Run("c", "p", 0, seconds=[1.0, 2.0, 3.0], scores=[-7.0, -8.0, -7.0])], -7.5) == 3.0


def test_corpora_of_files_are_split(tmp_path):
    case = of_file(COMPAT / "train.ldac", ETA)
    whole = read_ldac(COMPAT / "train.ldac")
    assert case.name == "train"
    assert case.training.n_words + sum(one.size for one in case.test) == whole.n_words
    assert len(case.test) == whole.n_documents // 5
    assert case.truth is None


def test_smoke(tmp_path, capsys):
    main(["--smoke", "--seconds", "0.2", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "nats per word" in printed
    assert all(way in printed for way in ("seed", "order", "90%"))
    found = json.loads((tmp_path / "found.json").read_text())
    runs = {(run["peer"], run["seed"]): Run(**run) for run in found["runs"]}
    assert set(runs) == {(name, seed) for name in ("franchise", "scikit-learn LDA 10") for seed in (0, 1)}
    about = found["corpora"]["tiny"]
    assert about["words"] == 4_000
    for run in runs.values():
        assert run.problem is None
        assert about["floor"] < run.scores[-1] < about["truth"] + 0.2
        assert run.peak_bytes > run.alone_bytes > 1e6
        assert run.words_per_second > 1e3
        assert 3 <= run.effective_topics <= run.topics <= 30
    shares = found["replicated"]["tiny"]["franchise"]
    assert list(shares) == ["seed", "order", "90%"]
    assert min(shares.values()) > 0.6
    assert (tmp_path / "quality.png").stat().st_size > 10_000
    assert "<svg" in (tmp_path / "quality.svg").read_text()[:1000]
    main(["--again", str(tmp_path / "found.json")])
    again = capsys.readouterr().out
    assert again.strip() in printed
    # With a run on another corpus, which had more time.
    found["corpora"] = {"other": about}
    found["options"]["moments"] = [7.0, 77.0]
    found["runs"] = [run | {"corpus": "other"} for run in found["runs"]]
    (tmp_path / "other.json").write_text(json.dumps(found))
    main(["--again", str(tmp_path / "found.json"), str(tmp_path / "other.json")])
    both = capsys.readouterr().out
    assert again.strip() in both
    assert "other: 4,000 training words" in both
    assert "77 s" in both
    with pytest.raises(SystemExit, match="other is in more than one of the files"):
        main(["--again", *[str(tmp_path / "other.json")] * 2])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--peers", "gensin"], "'gensin' is not one of franchise"),
        (["--peers", "scikit-learn LDA 0"], "is not one of"),
        (["--data", "nowhere"], "there is no such file"),
        (["--seconds", "0"], "--seconds: give a number above 0"),
        (["--planted-words", "0"], "there is no corpus"),
        (["--again", "nowhere.json"], "nowhere.json: there is no such file"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as ending:
        main(arguments)
    assert ending.value.code == 2
    assert complaint in capsys.readouterr().err
