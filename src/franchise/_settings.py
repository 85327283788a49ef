"""Check settings: an error names the setting, its value and what to give instead."""

import math
import operator
import os
from collections.abc import Collection

import numpy as np

from franchise.errors import SettingsError

LARGEST_SEED = 2**63 - 1


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return the value as an int, or say that it is not a whole number in the range.

    Examples
    --------
    >>> whole_number("thin", 2, 1)
    2
    """
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
        if number < least or (most is not None and number > most):
            raise TypeError
    except TypeError:
        limits = f"{least} or more" if most is None else f"from {least} to {most}"
        raise SettingsError(
            f"{name}={value!r}: give a whole number, {limits}", code="not-a-whole-number"
        ) from None
    return number


def positive_number(name: str, value: object) -> float:
    """Return the value as a float, or say that it is not a positive number.

    Examples
    --------
    >>> positive_number("weight", 2)
    2.0
    """
    if not is_positive(value):
        raise SettingsError(f"{name}={value!r}: give a positive number", code="not-a-positive-number")
    return float(value)  # type: ignore[arg-type]


def is_positive(value: object) -> bool:
    """Return whether this is a positive number, finite, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return 0 < float(value) < math.inf
    except OverflowError:  # a whole number that no float can hold
        return False


def flag(name: str, value: object) -> bool:
    """Return the value as a bool, or say that it is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingsError(f"{name}={value!r}: give True or False", code="not-a-flag")
    return bool(value)


def is_one_of(value: object, known: Collection[str]) -> bool:
    """Return whether this is one of some words; it may be anything, such as a list."""
    return isinstance(value, str) and value in known


def cores() -> int:
    """Return how many cores affinity and the limits of a container leave to this process."""
    from joblib import cpu_count  # which takes long to import

    try:
        return int(cpu_count())
    except ValueError:
        limit = os.environ.get("LOKY_MAX_CPU_COUNT")
        raise SettingsError(
            f"LOKY_MAX_CPU_COUNT={limit!r} in the environment: give a whole number, or unset it",
            code="not-a-whole-number",
        ) from None
