"""Batches of runs: saved when they end, resumed, stopped without loss."""

import numpy as np
import pytest

from experiments.runs import Run, Stopped, carry_out, finished


def run_of(number, done, **settings):
    def work(pause):
        pause()
        done.append(number)
        return {"x": np.arange(number)}

    return Run(f"run-{number}", number, {"number": number} | settings, work)


def test_outcomes_come_in_the_order_of_the_runs(tmp_path):
    done = []
    outcomes = carry_out([run_of(n, done) for n in (3, 1, 2)], tmp_path, jobs=2, title="test")
    assert [one.settings["number"] for one in outcomes] == [3, 1, 2]
    assert [one["x"].tolist() for one in outcomes] == [[0, 1, 2], [0], [0, 1]]


def test_runs_that_ended_are_not_made_again(tmp_path):
    done = []
    carry_out([run_of(1, done)], tmp_path, jobs=1, title="test")
    carry_out([run_of(1, done), run_of(2, done)], tmp_path, jobs=1, title="test")
    assert done == [1, 2]


def test_rounds_count_as_a_whole(tmp_path):
    done = []
    runs = [
        Run(f"{place}-{number}", number, {}, run_of(number, done).work) for number in (1, 2) for place in "ab"
    ]
    carry_out(runs[:3], tmp_path, jobs=1, title="test")
    assert len(finished(runs, tmp_path)) == 2
    carry_out(runs, tmp_path, jobs=1, title="test")
    assert len(finished(runs, tmp_path)) == 4
    assert done == [1, 1, 2, 2]


def test_a_run_with_other_settings_is_made_again(tmp_path):
    done = []
    carry_out([run_of(1, done)], tmp_path, jobs=1, title="test")
    assert finished([run_of(1, done, sweeps=5)], tmp_path) == []
    carry_out([run_of(1, done, sweeps=5)], tmp_path, jobs=1, title="test")
    assert done == [1, 1]


def test_a_damaged_file_is_made_again(tmp_path):
    done = []
    runs = [run_of(4, done)]
    carry_out(runs, tmp_path, jobs=1, title="test")
    path = tmp_path / "run-4.safetensors"
    path.write_bytes(path.read_bytes()[:-3])
    assert finished(runs, tmp_path) == []
    (outcome,) = carry_out(runs, tmp_path, jobs=1, title="test")
    assert outcome["x"].tolist() == [0, 1, 2, 3]
    assert done == [4, 4]


def test_an_error_ends_the_batch_and_keeps_what_ended(tmp_path):
    done = []

    def fail(pause):
        raise ValueError("no room")

    runs = [run_of(1, done), Run("bad", 7, {}, fail), run_of(2, done)]
    with pytest.raises(ValueError, match="no room"):
        carry_out(runs, tmp_path, jobs=1, title="test")
    assert [one.settings["number"] for one in finished([runs[0], runs[2]], tmp_path)][:1] == [1]


def test_runs_under_way_stop_at_their_next_pause(tmp_path):
    ended = []

    def interrupt(pause):
        raise KeyboardInterrupt

    def endless(pause):
        try:
            while True:
                pause()
        except Stopped:
            ended.append("stopped")
            raise

    with pytest.raises(KeyboardInterrupt):
        carry_out([Run("a", 1, {}, endless), Run("b", 2, {}, interrupt)], tmp_path, jobs=2, title="test")
    assert ended == ["stopped"]
    assert list(tmp_path.glob("*.safetensors")) == []
