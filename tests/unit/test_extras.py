import sys

import pytest

from franchise._extras import needed
from franchise.errors import FranchiseError, MissingPackageError
from tests.raising import raises


def test_a_missing_package_is_named_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "atlas", None)
    facts = ("a map", "atlas", 'pip install "franchise[map]"')
    with raises(MissingPackageError, "missing-package", *facts) as caught, needed("a map", "map"):
        import atlas.europe  # noqa: F401
    assert caught.value.name == "atlas"
    assert isinstance(caught.value, FranchiseError)


def test_what_is_there_is_imported():
    with needed("a number", "math"):
        from math import pi
    assert round(pi, 2) == 3.14


def test_a_mistake_of_our_own_is_not_blamed_on_the_user():
    with pytest.raises(ModuleNotFoundError, match=r"franchise\.nowhere"), needed("a map", "map"):
        import franchise.nowhere  # noqa: F401


def test_a_package_that_fails_to_load_keeps_its_own_error():
    with pytest.raises(ImportError, match="cannot import name") as caught, needed("a map", "map"):
        from math import no_such_thing  # noqa: F401
    assert not isinstance(caught.value, FranchiseError)
