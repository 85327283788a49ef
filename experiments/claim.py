"""A claim of the paper, and what was found of it."""

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from experiments.compare import Interval

CONFIRMED, REFUTED, DEPENDS = "confirmed", "not confirmed", "depends"


class Claim(NamedTuple):
    """What the paper says, what was measured, in words and case by case, and the verdict."""

    name: str
    says: str
    measured: str
    verdict: str
    cases: pd.DataFrame
    timed: bool = False  # whether it depends on the speed of the machine


class Case(NamedTuple):
    """A number for one setting, with its 95% interval."""

    where: str
    measure: str
    mean: float
    low: float
    high: float
    n: int


def case(where: str, measure: str, number: Interval) -> Case:
    """Return a case of a mean over runs."""
    return Case(where, measure, *number)


def rate(where: str, measure: str, yes: int, tried: int) -> Case:
    """Return a case of a share, with Wilson's interval."""
    if not tried:
        return Case(where, measure, float("nan"), 0.0, 1.0, 0)
    low, high = binomtest(yes, tried).proportion_ci(method="wilson")
    return Case(where, measure, yes / tried, low, high, tried)


def sign(one: Case) -> int:
    """Return 1 or -1 if zero is outside the interval, else 0."""
    return int(one.low > 0) - int(one.high < 0)


def verdict(holds: Sequence[bool]) -> str:
    """Say whether a claim holds everywhere, nowhere or in some cases."""
    return CONFIRMED if all(holds) else DEPENDS if any(holds) else REFUTED


def frame(cases: Sequence[Case]) -> pd.DataFrame:
    """Return cases as a table."""
    return pd.DataFrame(cases, columns=Case._fields)


def listed(names: Sequence[str]) -> str:
    """Return names in brackets, or nothing if there are none."""
    return f" ({'; '.join(names)})" if names else ""


def better_and_worse(cases: Sequence[Case]) -> str:
    """Say in how many cases the interval is above zero, below it, or holds it."""
    above, below = ([one.where for one in cases if sign(one) == side] for side in (1, -1))
    same = len(cases) - len(above) - len(below)
    return (
        f"of {len(cases)} settings, better in {len(above)}{listed(above)}, "
        f"worse in {len(below)}{listed(below)}, no difference seen in {same}"
    )
