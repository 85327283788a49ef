import pickle

import pytest

from franchise import errors
from franchise.errors import CorpusError
from tests.raising import raises

KINDS = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_keeps_its_message_and_code_between_processes(kind):
    error = pickle.loads(pickle.dumps(kind("the file is empty", code="empty-file")))
    assert type(error) is kind
    assert (str(error), error.code) == ("the file is empty", "empty-file")


def test_expecting_another_code_or_fact_fails():
    with raises(CorpusError, "empty-file", "a.csv", 3):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")
    with pytest.raises(AssertionError), raises(CorpusError, "no-file"):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")
    with pytest.raises(AssertionError), raises(CorpusError, "empty-file", "b.csv"):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")
