import pickle
import warnings

import pytest

from franchise import errors
from franchise.errors import CorpusError, FranchiseWarning
from tests.raising import raises, warns

KINDS = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_keeps_its_message_and_code_between_processes(kind):
    error = pickle.loads(pickle.dumps(kind("the file is empty", code="empty-file")))
    assert type(error) is kind
    code = " [empty-file]" if kind is FranchiseWarning else ""
    assert (str(error), error.code) == (f"the file is empty{code}", "empty-file")


def test_expecting_another_code_or_fact_fails():
    with raises(CorpusError, "empty-file", "a.csv", 3):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")
    with pytest.raises(AssertionError), raises(CorpusError, "no-file"):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")
    with pytest.raises(AssertionError), raises(CorpusError, "empty-file", "b.csv"):
        raise CorpusError("a.csv:3: nothing there", code="empty-file")


def test_expecting_a_warning():
    with warns("large-counts", 7):
        warnings.warn(FranchiseWarning("7 counts are large", code="large-counts"), stacklevel=1)
    with pytest.raises(AssertionError), warns("few-documents"):
        warnings.warn(FranchiseWarning("7 counts are large", code="large-counts"), stacklevel=1)
