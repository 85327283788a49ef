"""The kernels' weights are the twin's to ten digits.

A random stream seldom comes close to the border between two choices, so equal draws show little about
weights that are slightly wrong. Here the uniform numbers are made up to lie 1e-10 from a border, and the
kernels run as Python so that they can be given them.
"""

from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from franchise import moves
from franchise.model import broken_invariants
from franchise.random import TABLE_TOPICS, WORD_TABLES
from tests.reference.choices import Bordering
from tests.reference.enumeration import Concentrations, Seating
from tests.reference.franchise import Franchise
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit

AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)


@pytest.fixture(scope="module")
def uniforms():
    """Run the moves as Python; return the list from which they take uniform numbers."""
    queue: list[float] = []
    names = [found.name for found in walk_packages(moves.__path__, "franchise.moves.")]
    modules = [module for module in map(import_module, names) if "uniform" in vars(module)]
    names = [module.__name__ for module in modules]
    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            for name, function in list(vars(module).items()):
                python = getattr(function, "py_func", None)
                if isinstance(python, FunctionType) and python.__module__ in names:
                    patch.setattr(module, name, python)
            patch.setattr(module, "uniform", lambda stream: queue.pop(0))
        yield queue


def make_both(kernels, twin, move, seed, uniforms):
    choose = Bordering(seed)
    if move == WORD_TABLES:
        twin.word_tables(choose)
    else:
        twin.table_topics(choose)
    uniforms[:] = choose.uniforms
    kernels.make(move, seed)
    assert kernels.plain() == twin.plain()
    assert uniforms == [], "the kernel drew less often than its twin"
    assert broken_invariants(kernels.corpus, kernels.state) == []


@given(corpora(max_length=9), CONCENTRATIONS, SEEDS, st.sampled_from([1, 64]))
@example(([[0, 1, 2, 3, 0, 1, 2, 3], [3, 2, 1, 0]], 4), AT._replace(alpha=9.0, eta=5.0), 0, 1)
def test_first_seating_and_sweeps(uniforms, corpus, at, seed, capacity):
    kernels, twin = Kernels(*corpus, at, capacity), Franchise(*corpus, at)
    for move in (WORD_TABLES, TABLE_TOPICS) * 3:
        make_both(kernels, twin, move, seed, uniforms)


def test_large_tables(uniforms, seed):
    """Tables whose weights leave the range of products; one topic is a single table's."""
    documents = [[0, 1] * 40, [1, 0, 0] * 20, [2] * 30, [0, 2] * 20, [3, 1]]
    seating = Seating(tuple((0,) * len(words) for words in documents), (0, 0, 1, 1, 2))
    at = Concentrations(alpha=1.0, gamma=2.0, eta=3.0)
    kernels = Kernels.seated(documents, 4, at, seating)
    twin = Franchise.seated(documents, 4, at, seating)
    for sweep in range(20):
        make_both(kernels, twin, TABLE_TOPICS, seed + sweep, uniforms)
