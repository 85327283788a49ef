"""Check settings: what is wrong is said with the setting's name, its value and what to give instead."""

import math
import operator

import numpy as np

from franchise.errors import SettingsError


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
        raise SettingsError(f"{name}={value!r}: give a whole number, {limits}") from None
    return number


def positive_number(name: str, value: object) -> float:
    """Return the value as a float, or say that it is not a positive number.

    Examples
    --------
    >>> positive_number("weight", 2)
    2.0
    """
    if not is_positive(value):
        raise SettingsError(f"{name}={value!r}: give a positive number")
    return float(value)  # type: ignore[arg-type]


def is_positive(value: object) -> bool:
    """Say whether this is a positive number, finite, and no truth value."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and bool(value > 0)  # type: ignore[arg-type, operator]
