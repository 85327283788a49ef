"""Outcomes as tables: what the CSV files hold, and that they come out the same."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from experiments.measure import TRIALS
from experiments.runs import Outcome
from experiments.tables import read, sweeps_shown, text_tables, write


def outcome(run=1, method="gibbs", eta=0.5):
    """Return a run of three sweeps with topics [300, 0, 100], [0, 200, 0] and a small one."""
    topics = csr_array(np.array([[300, 0, 100], [0, 200, 0], [1, 1, 0]]))
    arrays = {
        "log_joint": np.array([-9.0, -7.5, -7.25, -8.0]),
        "log_p_words": np.array([-8.0, -7.0, -6.5, -6.0]),
        "log_p_tables": np.array([-1.0, -0.5, -0.75, -2.0]),
        "n_topics": np.array([1, 2, 2, 3]),
        "n_tables": np.array([4, 5, 6, 7]),
        "alpha": np.full(4, 0.5),
        "gamma": np.full(4, 1.5),
        "cpu": np.array([0.1, 0.2, 0.3, 0.4]),
        "trials": np.zeros((0, len(TRIALS)), int),
        "looks": np.array([0, 3]),
        "held_out": np.array([[-8.0, -8.0, -9.0, 0], [-6.75, -6.875, -7.5, 2]]),
    }
    arrays |= {f"topic_terms.{part}": getattr(topics, part) for part in ("data", "indices", "indptr")}
    return Outcome({"corpus": "arxiv", "eta": eta, "method": method, "run": run}, arrays)


def test_a_run_is_told_at_its_mode_and_at_its_end():
    row = text_tables([outcome()])["text_runs"].iloc[0]
    assert (row["mode_sweep"], row["mode_log_joint"], row["mode_log_p_words"]) == (2, -7.25, -6.5)
    assert (row["log_joint"], row["log_p_words"], row["n_topics"]) == (-8.0, -6.0, 3)
    assert (row["completion"], row["completion_of_mode"], row["paper_held_out"]) == (-6.75, -6.875, -7.5)


def test_the_best_joint_never_falls():
    curves = text_tables([outcome()])["text_curves"]
    assert curves["sweep"].tolist() == [0, 1, 2, 3]
    assert curves["best_joint"].tolist() == [-9.0, -7.5, -7.25, -7.25]


def test_similarities_are_of_large_topics():
    tables = text_tables([outcome()])
    assert tables["text_similarity"]["similarity"].tolist() == [0.0]  # the third topic has two words
    assert tables["text_runs"].iloc[0]["pairs"] == 1


def test_curves_show_the_first_sweeps_and_the_last():
    shown = sweeps_shown(500)
    assert shown[:11].tolist() == list(range(11))
    assert shown[-1] == 500
    assert np.all(np.diff(shown) > 0)
    assert sweeps_shown(4).tolist() == [0, 1, 2, 3, 4]


def test_tables_are_written_the_same_and_read_as_written(tmp_path):
    tables = text_tables([outcome(run, method) for run in (1, 2) for method in ("gibbs", "paper")])
    write(tmp_path / "a", tables)
    write(tmp_path / "b", tables)
    for name, table in tables.items():
        assert (tmp_path / "a" / f"{name}.csv").read_bytes() == (tmp_path / "b" / f"{name}.csv").read_bytes()
        pd.testing.assert_frame_equal(read(tmp_path / "a", name), table, check_dtype=False, rtol=1e-8)


def test_seconds_are_kept_apart():
    timed = [name for name, table in text_tables([outcome()]).items() if "seconds" in table.columns]
    assert timed == ["timings/text_seconds"]


@pytest.mark.parametrize("last", [1, 10, 11, 1000])
def test_the_last_sweep_is_always_shown(last):
    assert sweeps_shown(last).max() == last
