"""Packages that only some users need: if one is missing, the error says what to install."""

from collections.abc import Iterator
from contextlib import contextmanager

from franchise.errors import MissingPackageError


@contextmanager
def needed(what: str, extra: str) -> Iterator[None]:
    """Import the packages of an extra in this block; the error for a missing one says how to install it.

    A package that is there but fails to load is not caught: installing it again would not help.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "franchise").partition(".")[0]
        if package == "franchise":
            raise  # our own mistake
        raise MissingPackageError(
            f'{what} needs {package}, which is not installed: pip install "franchise[{extra}]"', name=package
        ) from None
