"""Outcomes of runs as tables: CSV files from which every figure and claim is made.

What depends on the speed of the machine is kept apart, in the folder `timings`: all else comes out the same
to the last digit.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from experiments.measure import TRIALS
from experiments.reversals import count
from experiments.runs import Array, Outcome
from experiments.text import HELD_OUT
from franchise import FranchiseError

Columns = Callable[[Outcome], dict[str, object]]  # numbers, or arrays of one length

TIMINGS = "timings"
_DIGITS = "%.9g"
_LARGE_TOPIC = 100  # words, for a topic to be compared with others
_SIMILAR = 0.5  # cosine
_RANGES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 50))  # of sweeps, for trials


def write(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write tables as CSV files."""
    for name, table in tables.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False, float_format=_DIGITS, lineterminator="\n")


def read(folder: Path, name: str) -> pd.DataFrame:
    """Read a table, as it was written."""
    path = folder / f"{name}.csv"
    if not path.exists():
        raise FranchiseError(f"{path}: there is no such table; run the experiment first", code="no-such-file")
    return pd.read_csv(path)


def sweeps_shown(last: int) -> Array:
    """Return the sweeps of the curves: the first ones, then evenly on a log scale."""
    later = np.geomspace(10, max(last, 10), 30).round().astype(int)
    return np.unique(np.minimum(np.concatenate([np.arange(11), later]), last))


# ---------------------------------------------------------------- synthetic


def synthetic_tables(outcomes: Sequence[Outcome]) -> dict[str, pd.DataFrame]:
    """Return the tables of the synthetic experiment; sizes and topics are those of the examples."""
    keys = ("mixed", "twin", "start", "method", "seed")
    runs = _frame(outcomes, keys, _synthetic_run)
    examples = {(*corpus, example(own)) for corpus, own in runs.groupby(["mixed", "twin"])}
    from_sequential = [one for one in outcomes if one.settings["start"] == "sequential"]
    shown = [
        one
        for one in from_sequential
        if tuple(one.settings[key] for key in ("mixed", "twin", "seed")) in examples
    ]
    return {
        "synthetic_runs": runs,
        "synthetic_curves": _frame(from_sequential, keys, _curves),
        "synthetic_sizes": _frame(shown, keys, _sizes),
        "synthetic_topics": _frame(shown, keys, _topics),
        f"{TIMINGS}/synthetic_seconds": _frame(outcomes, keys, _last_second),
    }


def example(runs: pd.DataFrame) -> int:
    """Return the first data set that is `telling`, or the first of all if none is."""
    return int(telling(runs).idxmax())


def telling(runs: pd.DataFrame) -> pd.Series:
    """Return, for each data set, whether the paper's move has all five topics at its mode and Gibbs not."""
    own = runs[runs["start"] == "sequential"]
    at_mode = own.pivot(index="seed", columns="method", values="all_five_at_mode").astype(bool)
    return at_mode["paper"] & ~at_mode["gibbs"]


def _synthetic_run(one: Outcome) -> dict[str, object]:
    now, of_mode = one["held_out"]
    looks, found = one["looks"], one["found"]
    is_later = looks > looks[-1] // 2
    with_five = looks[found.all(axis=1)]
    return _run(one) | {
        "all_five": found.all(axis=1)[is_later].mean(),
        "easy_three": found[:, 2:].all(axis=1)[is_later].mean(),
        "first_with_five": with_five[0] if with_five.size else -1,
        "all_five_at_mode": bool(one["mode_found"].all()),
        "completion": now,
        "completion_of_mode": of_mode,
    }


def _sizes(one: Outcome) -> dict[str, object]:
    """Return sweep, rank and words of every topic in the first sweeps."""
    sweep, rank = np.nonzero(one["sizes"])
    return {"sweep": sweep, "rank": rank + 1, "words": one["sizes"][sweep, rank]}


def _topics(one: Outcome) -> dict[str, object]:
    """Return topic, term and count at the best mode."""
    topic, term = np.nonzero(one["mode_topics"])
    return {"topic": topic, "term": term, "words": one["mode_topics"][topic, term]}


def _last_second(one: Outcome) -> dict[str, object]:
    return {"seconds": one["cpu"][-1]}


# ---------------------------------------------------------------- text


def text_tables(outcomes: Sequence[Outcome]) -> dict[str, pd.DataFrame]:
    """Return the tables of the text experiment."""
    keys = ("corpus", "eta", "method", "run")
    first = [one for one in outcomes if one.settings["run"] == 1 and one.settings["eta"] == 0.5]
    return {
        "text_runs": _frame(outcomes, keys, _text_run),
        "text_curves": _frame(outcomes, keys, _curves),
        "text_held_out": _frame(outcomes, keys, _held_out),
        "text_similarity": _frame(first, keys, lambda one: {"similarity": np.sort(_similarities(one))}),
        f"{TIMINGS}/text_seconds": _frame(outcomes, keys, _seconds),
    }


def _text_run(one: Outcome) -> dict[str, object]:
    scores = dict(zip(HELD_OUT[:-1], one["held_out"][-1], strict=False))
    similar = _similarities(one)
    return (
        _run(one)
        | scores
        | {
            "pairs": similar.size,
            "similar_pairs": int((similar > _SIMILAR).sum()),
            "median_similarity": np.median(similar) if similar.size else np.nan,
        }
    )


def _held_out(one: Outcome) -> dict[str, object]:
    *scores, mode_sweep = one["held_out"].T
    return {"sweep": one["looks"], "mode_sweep": mode_sweep.astype(int)} | dict(
        zip(HELD_OUT, scores, strict=False)
    )


def _seconds(one: Outcome) -> dict[str, object]:
    shown = np.union1d(sweeps_shown(one["cpu"].size - 1), one["looks"])
    return {"sweep": shown, "seconds": one["cpu"][shown].round(4)}


def _similarities(one: Outcome) -> Array:
    """Return the cosine of every pair of topics with some words, from their counts.

    Smaller topics, and smoothed ones, would be alike in being almost all prior.
    """
    counts = csr_array(tuple(one[f"topic_terms.{part}"] for part in ("data", "indices", "indptr"))).toarray()
    counts = counts[counts.sum(axis=1) >= _LARGE_TOPIC].astype(float)
    unit = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    return (unit @ unit.T)[np.triu_indices(len(unit), 1)]


# ---------------------------------------------------------------- acceptance


def acceptance_tables(outcomes: Sequence[Outcome]) -> dict[str, pd.DataFrame]:
    """Return the table of the experiment on acceptance: the trials of some ranges of sweeps."""
    keys = ("corpus", "eta", "variant", "run")
    return {"acceptance_trials": _frame(outcomes, keys, _trials_by_sweeps)}


def _trials_by_sweeps(one: Outcome) -> dict[str, object]:
    sweep = one["trials"][:, TRIALS.index("sweep")]
    first, last = np.array(_RANGES).T
    counts = [count(one["trials"][(sweep >= low) & (sweep <= high)]) for low, high in _RANGES]
    names = ("splits_tried", "splits", "merges_tried", "merges")
    return {"first": first, "last": last} | {name: [getattr(c, name) for c in counts] for name in names}


# ---------------------------------------------------------------- all


def _run(one: Outcome) -> dict[str, object]:
    """Return what a run has come to: at its last state, at its mode, in its trials."""
    mode = int(one["log_joint"].argmax())
    names = ("log_joint", "log_p_words", "log_p_tables", "n_topics", "n_tables", "alpha", "gamma")
    return (
        {"mode_sweep": mode}
        | {f"mode_{name}": one[name][mode] for name in names}
        | {name: one[name][-1] for name in names}
        | count(one["trials"])._asdict()
    )


def _curves(one: Outcome) -> dict[str, object]:
    shown = sweeps_shown(one["log_joint"].size - 1)
    best = np.maximum.accumulate(one["log_joint"])
    names = ("log_joint", "log_p_words", "n_topics", "n_tables", "alpha")
    return {"sweep": shown, "best_joint": best[shown]} | {name: one[name][shown] for name in names}


def _frame(outcomes: Sequence[Outcome], keys: Sequence[str], columns: Columns) -> pd.DataFrame:
    """Return a table of all outcomes: the settings named, and what `columns` makes of each."""
    frames = []
    for one in outcomes:
        made = {key: one.settings[key] for key in keys} | columns(one)
        length = max(np.size(value) for value in made.values())
        frames.append(pd.DataFrame({name: np.broadcast_to(value, length) for name, value in made.items()}))
    return pd.concat(frames, ignore_index=True)
