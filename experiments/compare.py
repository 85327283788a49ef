"""Methods against Gibbs sampling, run by run."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from experiments.runs import Array
from franchise.report.figures_comparisons import mean_and_interval
from franchise.report.figures_style import LEVEL

_TIMES = 60


class Interval(NamedTuple):
    """A mean over runs and its 95% interval (Student's t)."""

    mean: float
    low: float
    high: float
    n: int


def interval(values: Array, settings: int = 1) -> Interval:
    """Return the mean of the runs that have a number, with its interval.

    With several `settings`, the intervals of all of them hold at once with 95% (Bonferroni).
    """
    values = np.asarray(values, float)
    n = int(np.isfinite(values).sum())
    mean, low, high = (end.item() for end in mean_and_interval(values[:, None], 1 - (1 - LEVEL) / settings))
    return Interval(mean, low, high, n) if n > 1 else Interval(mean, -np.inf, np.inf, n)


def by_run(table: pd.DataFrame, column: str, along: str, unit: str = "run") -> pd.DataFrame:
    """Return one method's numbers, one row per run, one column per sweep (or whatever `along` is)."""
    return table.pivot(index=unit, columns=along, values=column).dropna()


def differences(table: pd.DataFrame, method: str, column: str, along: str, unit: str = "run") -> pd.DataFrame:
    """Return a method's numbers minus those of Gibbs sampling, of the runs that both have."""
    own, gibbs = (by_run(table[table["method"] == name], column, along, unit) for name in (method, "gibbs"))
    return (own - gibbs).dropna()


def paired(table: pd.DataFrame, column: str, method: str, unit: str = "run") -> pd.DataFrame:
    """Return two columns, `method` and Gibbs, with a row for every run that both have."""
    both = table[table["method"].isin(["gibbs", method])]
    return both.pivot(index=unit, columns="method", values=column).dropna().astype(float)


def gains(table: pd.DataFrame, column: str, method: str, unit: str = "run") -> Array:
    """Return a method's numbers minus those of Gibbs sampling, one number per run."""
    wide = paired(table, column, method, unit)
    return (wide[method] - wide["gibbs"]).to_numpy()


def comparison(table: pd.DataFrame, settings: list[str], measures: dict[str, str], unit: str) -> pd.DataFrame:
    """Return each method minus Gibbs by several measures, with the level and spread of Gibbs itself."""
    rows = []
    for setting, own in table.groupby(settings, sort=False):
        for method in ("paper", "default"):
            for column, label in measures.items():
                gibbs = paired(own, column, method, unit)["gibbs"]
                facts = dict(zip(settings, setting, strict=True)) | {"method": method, "measure": label}
                level = {"gibbs": gibbs.mean(), "gibbs_spread": gibbs.std()}
                rows.append(facts | level | interval(gains(own, column, method, unit))._asdict())
    return pd.DataFrame(rows)


def with_seconds(table: pd.DataFrame, seconds: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the text experiment with the CPU time of each row."""
    return table.merge(seconds, on=["corpus", "eta", "method", "run", "sweep"])


def gains_over_time(table: pd.DataFrame, column: str, method: str) -> pd.DataFrame:
    """Return a method minus Gibbs at equal CPU times, one row per run, one column per time.

    The time of a sweep is the median over the runs of its method, as the clock of a single run is too noisy:
    two runs that do the same would seem to differ. The times run from where both have made a sweep to where
    the first ends. Between two sweeps of the table, values are interpolated in log time.
    """
    made = table[(table["sweep"] > 0) & table["method"].isin(["gibbs", method])]
    clock = made.groupby(["method", "sweep"])["seconds"].median()
    ends = clock.groupby("method").agg(["min", "max"])
    times = np.geomspace(ends["min"].max(), ends["max"].min(), _TIMES)
    values = {
        name: by_run(made[made["method"] == name], column, "sweep").apply(
            lambda run, name=name: np.interp(np.log(times), np.log(clock[name].to_numpy()), run),
            axis=1,
            result_type="expand",
        )
        for name in (method, "gibbs")
    }
    gain = (values[method] - values["gibbs"]).dropna()
    return gain.set_axis(times, axis=1)
