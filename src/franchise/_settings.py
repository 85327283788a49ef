"""Checks of settings: an error names the setting, its value and the allowed values."""

import math
import operator
import os
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from franchise.errors import MovedSettingError, SettingsError

LARGEST_SEED = 2**63 - 1
# The random states that users may give.
RandomState = int | np.random.Generator | np.random.RandomState | None
_Called = TypeVar("_Called", bound=Callable[..., Any])


def whole_number(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return the value as an int; the error says that it is not a whole number in the range.

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
    """Return the value as a float; the error says that it is not a positive number.

    Examples
    --------
    >>> positive_number("weight", 2)
    2.0
    """
    if not is_positive(value):
        raise SettingsError(f"{name}={value!r}: give a positive number", code="not-a-positive-number")
    return float(value)  # type: ignore[arg-type]


def is_positive(value: object) -> bool:
    """Return whether the value is a positive, finite number, and not a bool."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return 0 < float(value) < math.inf
    except OverflowError:  # an integer too large for a float
        return False


def flag(name: str, value: object) -> bool:
    """Return the value as a bool; the error says that it is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingsError(f"{name}={value!r}: give True or False", code="not-a-flag")
    return bool(value)


def is_one_of(value: object, known: Collection[str]) -> bool:
    """Return whether the value is one of some words; it may have any type, such as a list."""
    return isinstance(value, str) and value in known


def cores() -> int:
    """Return the number of cores that affinity and container limits leave to this process."""
    from joblib import cpu_count  # its import takes long

    try:
        return int(cpu_count())
    except ValueError:
        limit = os.environ.get("LOKY_MAX_CPU_COUNT")
        raise SettingsError(
            f"LOKY_MAX_CPU_COUNT={limit!r} in the environment: give a whole number, or unset it",
            code="not-a-whole-number",
        ) from None


def seed_of(random_state: object) -> int:
    """Return the seed of a random state; a random one for None.

    Raises
    ------
    SettingsError
        If it is neither a whole number from 0 nor a NumPy generator.
    """
    if random_state is None:
        return int.from_bytes(os.urandom(7), "little")
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return whole_number("random_state", random_state, 0, LARGEST_SEED)
    except SettingsError:
        raise SettingsError(
            f"random_state={random_state!r}: give a whole number from 0 to 2**63 - 1, a NumPy "
            "Generator or RandomState, or None",
            code="not-a-seed",
        ) from None


def pair(value: object) -> tuple[float, float] | None:
    """Return two positive numbers; None if the value is something else."""
    if not isinstance(value, list | tuple | np.ndarray) or len(value) != 2:
        return None
    first, second = value
    return (float(first), float(second)) if is_positive(first) and is_positive(second) else None


def refuse_moved(places: Mapping[str, str], given: Collection[str]) -> None:
    """Refuse parameters that have another name or place now, which `places` has."""
    for name in given:
        if name in places:
            raise MovedSettingError(f"{name} is not a parameter: give {places[name]}", code="moved-setting")


def moved(**places: str) -> Callable[[_Called], _Called]:
    """Make a class or function refuse moved parameters; the value of each is what to give instead."""

    def decorate(target: _Called) -> _Called:
        make: Any = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]

        @wraps(make)
        def checked(*args: Any, **given: Any) -> Any:
            refuse_moved(places, given)
            return make(*args, **given)

        if not isinstance(target, type):
            return checked  # type: ignore[return-value]
        target.__init__ = checked  # type: ignore[misc]
        return target

    return decorate
