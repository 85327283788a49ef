"""``python -m benchmarks.gpu``: every command runs, on an engine that needs no GPU."""

import json

import numpy as np
import pytest

from benchmarks.gpu import main
from benchmarks.planted_corpora import even
from benchmarks.planted_search import STAYS, Arrival, At
from franchise.corpus import write_corpus

FEW = ["--engine", "parallel", "--threads", "2"]


def call(tmp_path, *arguments):
    out = tmp_path / "found.json"
    main([*map(str, arguments), *FEW, "--out", str(out)])
    return json.loads(out.read_text())


def test_speed(tmp_path, capsys):
    found = call(tmp_path, "speed", "--words", "2e4", "--terms", 200, "--topics", 4, 8, "--tens", 2)
    assert [one["topics_planted"] for one in found["found"]] == [4, 8]
    for one in found["found"]:
        assert one["words"] == 20_000
        seconds = np.array(one["seconds"])
        assert seconds.shape == (2, 10)
        assert one["ten_best"] == pytest.approx(200_000 / seconds.sum(axis=1).min())
        assert one["plain_best"] == pytest.approx(20_000 / seconds[:, :9].min())
    assert "million words per second" in capsys.readouterr().out
    assert found["options"]["engine"] == "parallel"


def test_planted(tmp_path, capsys):
    sizes = ["--words", "2e4", "--terms", 200, "--topics", 5, "--kind", "even"]
    found = call(tmp_path, "planted", *sizes, "--start", 5, "one", "--truth-sweeps", 10, "--seconds", 1)
    truth, *others = found["found"]
    assert truth["level"]["topics"] >= 5
    assert [one["start"] for one in others] == [5, "one"]
    for one in others:
        assert one["path"][0][1] == 0  # the start itself
        assert len(one["path"]) == one["last"]["sweeps"] + 1
    assert "a chain from start one" in capsys.readouterr().out


def test_planted_from_documents_by_samples(tmp_path, capsys):
    sizes = ["--words", "4e4", "--terms", 200, "--topics", 8, "--kind", "even"]
    stages = ["--start", "documents:12", "--sample", "0.25:20:0.05:0:4", "0.5:20:0.05:0", "--merges"]
    stages += ["--warm-up", 5]
    found = call(tmp_path, "planted", *sizes, *stages, "--truth-sweeps", 10, "--seconds", 2, "--trials", 2)
    assert found["found"][-1]["start"] == "documents:12"
    out = capsys.readouterr().out
    assert "a sample of 10,000 words" in out
    assert "4 more topics" in out
    assert "0 of 8 planted topics are missing, 0.00% of the words" in out


def test_text(tmp_path, capsys):
    files = []
    for name in ("a.ldac", "b.ldac"):
        files.append(tmp_path / name)
        write_corpus(even(2_000, 50, 4, xp=np).corpus, files[-1])
    found = call(tmp_path, "text", "--corpus", *files, "--sweeps", 4, "--seconds", 5)
    names = [(one["corpus"], one["engine"]) for one in found["found"]]
    assert names == [(name, engine) for name in ("a.ldac", "b.ldac") for engine in ("collapsed", "parallel")]
    assert all(len(one["path"]) == 5 for one in found["found"])
    assert "s to the same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed", "--engine", "abacus"], "there is no such engine"),
        (["text", "--corpus", "nowhere.ldac", *FEW], "nowhere.ldac"),
    ],
)
def test_what_cannot_be_done_is_said_without_a_traceback(arguments, message):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert message in str(stopped.value)


@pytest.mark.parametrize("start", ["0", "many", "documents:0", "documents:"])
def test_a_start_that_is_none_is_refused(start, capsys):
    with pytest.raises(SystemExit):
        main(["planted", "--start", start])
    assert "give fitted, one, a number of random topics, or documents:NUMBER" in capsys.readouterr().err


def test_a_chain_has_arrived_when_it_stays():
    arrival = Arrival()
    near = [True] * (STAYS - 1) + [False] + [True] * (STAYS + 3)
    found = []
    for sweep, is_near in enumerate(near):
        arrival.note(At(float(sweep), sweep, 1, 0.0, 0.0), is_near)
        found.append(arrival.where and arrival.where.sweeps)
    assert found == [None] * (2 * STAYS - 1) + [STAYS] * 4
