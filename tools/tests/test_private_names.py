"""The check for private names finds each way to use one from elsewhere, and nothing else."""

import pytest

from tools.private_names import SRC, faults

SHOP = """
from typing import NamedTuple
_PRICE = 3
class Shop:
    _open = True
    def __init__(self):
        self._till = _PRICE
    def _count(self):
        return self._till
"""


@pytest.fixture
def found(tmp_path):
    """Return a function that says which names are found in a file of one package beside another."""
    for folder in ("top/shop", "top/shop/back", "top/street"):
        (tmp_path / folder).mkdir(parents=True)
    for path in ("top/_tools.py", "top/shop/_keys.py", "top/shop/back/_safe.py"):
        (tmp_path / path).write_text("_x = 1\ny = 2\n")
    (tmp_path / "top/shop/shop.py").write_text(SHOP)

    def look(code, path="top/street/walk.py"):
        (tmp_path / path).write_text(code)
        return [fault.split(": ")[1].split(" is")[0] for fault in faults(tmp_path) if fault.startswith(path)]

    return look


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from top.shop.shop import _PRICE", "top.shop.shop._PRICE"),
        ("from ..shop.shop import _PRICE", "top.shop.shop._PRICE"),
        ("from top._tools import _x", "top._tools._x"),
        ("from top.shop._keys import y", "top.shop._keys"),
        ("from top.shop import _keys", "top.shop._keys"),
        ("import top.shop._keys", "top.shop._keys"),
        ("from top.shop.back._safe import y", "top.shop.back._safe"),
        ("from numpy import _core", "numpy._core"),
        ("import _csv", "_csv"),
        ("from top.shop import shop\nshop._PRICE", "._PRICE"),
        ("def f(shop): return shop._till", "._till"),
        ("def f(shop): shop._count()", "._count"),
        ("def f(shop): shop._till = 3", "._till"),
        ("def f(shop): return shop.other()._open", "._open"),
        ("def f(shop): return getattr(shop, '_till')", "._till"),
    ],
)
def test_each_form_is_found(found, code, name):
    assert found(code) == [name]


@pytest.mark.parametrize(
    "code",
    [
        "from top import _tools\n_tools.y",
        "from top._tools import y",
        "import top._tools",
        "from __future__ import annotations",
        "def f(shop): return shop.__class__.__name__",
        "def f(row): return row._replace(a=1)._asdict(), row._fields, type(row)._make([1])",
        "class A:\n    def f(self): return self._n_features_out, super()._count(), hasattr(self, '_till')",
        "class A:\n    @classmethod\n    def f(cls): return cls._open",
        "class A:\n    def __init__(self): self._own = 1\ndef f(a): return a._own",
        "from contextlib import suppress as _",
        "for _ in (1, 2): print(_)",
    ],
)
def test_what_is_allowed(found, code):
    assert found(code) == []


def test_a_package_uses_its_own_names(found):
    code = "from top.shop.shop import _PRICE\nfrom top.shop import _keys\ndef f(shop): return shop._till"
    assert found(code, "top/shop/more.py") == []
    assert (
        found("from top.shop import _keys", "top/shop/back/more.py") == []
    )  # a module is there for those below
    assert found("from top.shop.shop import _PRICE", "top/shop/back/more.py") == ["top.shop.shop._PRICE"]


def test_the_library_has_none():
    assert faults(SRC) == []
