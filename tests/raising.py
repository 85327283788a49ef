"""Expect an error by its code and by the facts that its message names, never by its wording."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from franchise.errors import FranchiseError


@contextmanager
def raises(
    kind: type[FranchiseError], code: str, *facts: object
) -> Iterator[pytest.ExceptionInfo[FranchiseError]]:
    """Expect an error with this code whose message contains every fact (a name, a number, a command)."""
    with pytest.raises(kind) as caught:
        yield caught
    check(caught.value, code, *facts)


def check(error: FranchiseError, code: str, *facts: object) -> None:
    """Check the code of an error, and that its message contains every fact."""
    message = str(error)
    assert error.code == code, f"{error.code}: {message}"
    missing = [fact for fact in facts if str(fact) not in message]
    assert not missing, f"the message does not name {missing}: {message}"
