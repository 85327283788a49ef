"""Check settings: what is wrong is said with the setting's name, its value and what to give instead."""

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
