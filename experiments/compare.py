"""Methods against Gibbs sampling, run by run."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from experiments.runs import Array

_LEVEL = 0.95
_TIMES = 60


class Interval(NamedTuple):
    """A mean over runs and its 95% interval (Student's t)."""

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"

    @property
    def sign(self) -> int:
        """1 or -1 if zero is outside the interval, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def interval(values: Array) -> Interval:
    """Return the mean of some runs, with its interval."""
    values = np.asarray(values, float)
    n, mean = values.size, float(values.mean())
    half = student_t.ppf((1 + _LEVEL) / 2, n - 1) * values.std(ddof=1) / np.sqrt(n) if n > 1 else np.inf
    return Interval(mean, mean - half, mean + half, n)


def bands(runs: Array) -> tuple[Array, Array, Array]:
    """Return mean, and low and high end of its interval, of each column of runs by times."""
    each = [interval(column) for column in runs.T]
    return tuple(np.array([getattr(one, name) for one in each]) for name in ("mean", "low", "high"))


def by_run(table: pd.DataFrame, column: str, along: str, unit: str = "run") -> pd.DataFrame:
    """Return one method's numbers, a row a run, a column a sweep (or whatever `along` is)."""
    return table.pivot(index=unit, columns=along, values=column).dropna()


def differences(table: pd.DataFrame, method: str, column: str, along: str, unit: str = "run") -> pd.DataFrame:
    """Return a method's numbers minus those of Gibbs sampling, of the runs that both have."""
    own, gibbs = (by_run(table[table["method"] == name], column, along, unit) for name in (method, "gibbs"))
    return (own - gibbs).dropna()


def at_times(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the numbers of one setting at equal CPU times, from those after sweeps.

    The times run from where all have made a sweep to where the quickest Gibbs run ends; whoever is slower
    has made fewer sweeps by then. Between two sweeps of the table, values are interpolated in log time.
    """
    made = table[table["sweep"] > 0]
    ends = made.groupby(["method", "run"])["seconds"].agg(["min", "max"])
    times = np.geomspace(ends["min"].max(), ends.loc["gibbs", "max"].min(), _TIMES)
    rows = []
    for (method, run), own in made.groupby(["method", "run"]):
        values = np.interp(np.log(times), np.log(own["seconds"]), own[column])
        rows.append(pd.DataFrame({"method": method, "run": run, "time": times, column: values}))
    return pd.concat(rows, ignore_index=True)
