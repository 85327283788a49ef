"""Expect an error or a warning by its code and by the facts that its message names, never by its wording."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from franchise.errors import FranchiseError, FranchiseWarning


@contextmanager
def raises(
    kind: type[FranchiseError], code: str, *facts: object
) -> Iterator[pytest.ExceptionInfo[FranchiseError]]:
    """Expect an error with this code whose message contains every fact (a name, a number, a command)."""
    with pytest.raises(kind) as caught:
        yield caught
    check(caught.value, code, *facts)


@contextmanager
def warns(code: str, *facts: object) -> Iterator[pytest.WarningsRecorder]:
    """Expect one warning with this code whose message contains every fact."""
    with pytest.warns(FranchiseWarning) as caught:
        yield caught
    found = {one.message.code: one.message for one in caught if isinstance(one.message, FranchiseWarning)}
    assert code in found, f"{sorted(found)}: {[str(one.message) for one in caught]}"
    check(found[code], code, *facts)


def check(error: FranchiseError | FranchiseWarning, code: str, *facts: object) -> None:
    """Check the code of an error or a warning, and that its message contains every fact."""
    message = str(error)
    assert error.code == code, f"{error.code}: {message}"
    missing = [fact for fact in facts if str(fact) not in message]
    assert not missing, f"the message does not name {missing}: {message}"
