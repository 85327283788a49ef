"""A claim of the paper, and what was found about it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pandas as pd
from scipy.stats import binomtest

from experiments.compare import Interval

CONFIRMED, REFUTED, DEPENDS, UNDECIDED = "confirmed", "not confirmed", "depends", "undecided"
ENOUGH = 5  # runs, for a verdict on means


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


def sign(one: Case, least: float = 0.0) -> int:
    """Return 1 or -1 if zero is outside the interval and the mean at least so far from it, else 0."""
    return int(one.low > 0 and one.mean >= least) - int(one.high < 0 and one.mean <= -least)


def verdict(cases: Sequence[Case], holds: Callable[[Case], bool]) -> str:
    """Return whether a claim holds in all cases, in none, in some, or has too little evidence."""
    if not cases or min(one.n for one in cases) < ENOUGH:
        return UNDECIDED
    held = [holds(one) for one in cases]
    return CONFIRMED if all(held) else DEPENDS if any(held) else REFUTED


def rarity(share: Case, limit: float) -> str:
    """Return whether a share is below a limit, by its interval."""
    if share.high < limit:
        return CONFIRMED
    return REFUTED if share.low > limit else UNDECIDED


def frame(cases: Sequence[Case]) -> pd.DataFrame:
    """Return cases as a table."""
    return pd.DataFrame(cases, columns=Case._fields)


def listed(names: Sequence[str]) -> str:
    """Return names in brackets, or nothing if there are none."""
    return f" ({'; '.join(names)})" if names else ""


def better_and_worse(cases: Sequence[Case], least: float = 0.0) -> str:
    """Say in how many cases there is a difference, and which."""
    above, below = ([one.where for one in cases if sign(one, least) == side] for side in (1, -1))
    same = len(cases) - len(above) - len(below)
    return (
        f"of {len(cases)} settings, better in {len(above)}{listed(above)}, "
        f"worse in {len(below)}{listed(below)}, no difference seen in {same}"
    )
