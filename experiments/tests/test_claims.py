"""Claims: the verdict follows the tables."""

import numpy as np
import pandas as pd
import pytest

from experiments import claims_synthetic, claims_text
from experiments.claim import CONFIRMED, DEPENDS, REFUTED, UNDECIDED
from experiments.markdown import claims_table, comparison_table
from experiments.tables import TIMINGS, write

RUNS = range(1, 9)
CORPORA = {"arxiv": 0.001, "mlir": 0.01, "nips": 0.005}  # share of similar pairs


def text_tables(gain, *, accepted=0, slower=1.0):
    """Return tables in which the paper's move is ahead of Gibbs by gain(corpus, eta), nearly in every run."""
    runs, curves, held_out, seconds = [], [], [], []
    for corpus, similar in CORPORA.items():
        for eta in (0.1, 0.2, 0.5):
            for method in ("gibbs", "paper", "default"):
                for run in RUNS:
                    noise = 1e-4 * np.sin(run * (1 if method == "gibbs" else 2))
                    ahead = (gain(corpus, eta) if method == "paper" else 0.0) + noise
                    keys = {"corpus": corpus, "eta": eta, "method": method, "run": run}
                    is_paper = method == "paper"
                    runs.append(
                        keys
                        | dict.fromkeys(claims_text.MEASURES, -7.0 + ahead)
                        | {
                            "median_similarity": 0.1,
                            "n_topics": 20 / eta,
                            "n_tables": 900,
                            "pairs": 1000,
                            "similar_pairs": 1000 * similar + run % 2,
                        }
                        | {"splits": accepted * is_paper, "splits_tried": 50 * is_paper, "undone": 0}
                        | {"merges": 0, "merges_tried": 50 * is_paper, "split_again": 0}
                    )
                    for sweep in (1, 10, 50, 100):
                        at = keys | {"sweep": sweep}
                        curves.append(at | {"best_joint": -7.0 + ahead})
                        held_out.append(at | {"paper_held_out": -7.0 + ahead, "completion": -6.0 + ahead})
                        seconds.append(at | {"seconds": sweep * (slower if is_paper else 1.0)})
    frames = (pd.DataFrame(rows) for rows in (runs, curves, held_out, seconds))
    return dict(zip(("text_runs", "text_curves", "text_held_out", f"{TIMINGS}/text_seconds"), frames))


def verdicts(folder, tables):
    write(folder, tables)
    return {claim.name: claim for claim in claims_text.check(folder)}


def test_the_papers_own_results_would_be_confirmed(tmp_path):
    ahead = {("mlir", 0.2), ("mlir", 0.5), ("nips", 0.2)}
    claims = verdicts(tmp_path, text_tables(lambda *at: 0.02 * (at in ahead), accepted=3, slower=1.02))
    unlike = {"4.2 same at the end", "4.2 reverse moves"}
    assert {claim.verdict for name, claim in claims.items() if name not in unlike} == {CONFIRMED}
    assert claims["4.2 reverse moves"].verdict == CONFIRMED  # none of 216 splits
    assert (
        "better in 3 (ML+IR 0.2; ML+IR 0.5; NIPS 0.2), worse in 0"
        in claims["4.2 at least as good, training"].measured
    )
    assert claims["4.2 same at the end"].verdict == DEPENDS  # the gains planted last to the end


def test_the_opposite_would_not(tmp_path):
    claims = verdicts(tmp_path, text_tables(lambda *_: -0.02, slower=1.5))
    for name in ("at least as good, training", "at least as good, completion", "cost", "acceptance"):
        assert claims[f"4.2 {name}"].verdict == REFUTED
    assert claims["4.2 faster where topics are similar"].verdict == REFUTED
    assert "paper, 50 sweeps: +50% CPU time" in claims["4.2 cost"].measured


def test_a_gain_in_one_place_only_depends(tmp_path):
    claims = verdicts(tmp_path, text_tables(lambda *at: 0.02 * (at == ("mlir", 0.2))))
    assert claims["4.2 faster where topics are similar"].verdict == DEPENDS
    assert claims["4.2 faster where topics are similar"].measured.startswith(
        "at equal CPU times, ahead by 0.01 nats per word or more in 1 of the 3"
    )


def test_ranking_of_similarity_is_checked(tmp_path):
    tables = text_tables(lambda *_: 0.0)
    tables["text_runs"].loc[tables["text_runs"]["corpus"] == "arxiv", "similar_pairs"] = 50
    assert verdicts(tmp_path, tables)["4.2 similar topics"].verdict == REFUTED


def synthetic_tables(all_five):
    """Return tables with the share of states with all five topics by method."""
    rows = [
        {"mixed": 20, "twin": twin, "start": "sequential", "method": method, "seed": seed}
        | {"undone": 0, "splits": 10, "all_five": min(1.0, share + 0.01 * np.cos(seed))}
        | {"easy_three": 1.0, "first_with_five": 7 if share > 0.5 else -1}
        | dict.fromkeys(
            [name for name in claims_synthetic.MEASURES if name != "all_five"], -2.0 + 1e-3 * seed
        )
        for twin in (0.10, 0.11)
        for method, share in all_five.items()
        for seed in RUNS
    ]
    seconds = [
        {key: row[key] for key in ("mixed", "twin", "start", "method", "seed")} | {"seconds": 2.0}
        for row in rows
    ]
    return {"synthetic_runs": pd.DataFrame(rows), f"{TIMINGS}/synthetic_seconds": pd.DataFrame(seconds)}


@pytest.mark.parametrize(("paper", "expected"), [(0.9, CONFIRMED), (0.2, REFUTED)])
def test_five_topics_are_compared_with_gibbs(tmp_path, paper, expected):
    write(tmp_path, synthetic_tables({"gibbs": 0.2, "paper": paper, "default": 0.9}))
    claims = {claim.name: claim for claim in claims_synthetic.check(tmp_path)}
    assert claims["4.1 five topics"].verdict == expected
    assert claims["4.1 better mode"].verdict == REFUTED  # all joints are the same
    assert claims["4.1 reverse moves"].verdict == claims["4.1 cost"].verdict == CONFIRMED
    assert claims["4.1 easy topics"].verdict == CONFIRMED
    assert claims["4.1 several iterations"].verdict == expected
    gains = claims_synthetic.comparison(tmp_path)
    own = gains[(gains["method"] == "default") & (gains["measure"] == "share of states with all five topics")]
    assert own["mean"].to_numpy() == pytest.approx(0.7, abs=0.02)


def test_few_runs_decide_nothing_on_means(tmp_path):
    tables = text_tables(lambda *_: 0.02)
    few = {name: table[table["run"] <= 2] for name, table in tables.items()}
    claims = verdicts(tmp_path, few)
    for name in (
        "at least as good, training",
        "faster where topics are similar",
        "same at the end",
        "similar topics",
    ):
        assert claims[f"4.2 {name}"].verdict == UNDECIDED


def test_claims_as_markdown_have_a_row_each(tmp_path):
    claims = list(verdicts(tmp_path, text_tables(lambda *_: 0.0)).values())
    lines = claims_table(claims).splitlines()
    assert len(lines) == 2 + len(claims)
    assert all(line.count("|") == 5 for line in lines)


def test_comparisons_as_markdown_have_gibbs_and_two_gains(tmp_path):
    verdicts(tmp_path, text_tables(lambda *_: 0.02))
    table = comparison_table(claims_text.comparison(tmp_path), claims_text.SETTINGS)
    lines = table.splitlines()
    assert len(lines) == 2 + 9
    assert lines[0].startswith("| corpus | eta | best log joint per word (the paper's) |")
    assert lines[2].startswith("| arXiv | 0.1 | -7.000, +0.020\\*, -0.000 |")
