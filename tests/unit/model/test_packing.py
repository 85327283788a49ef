"""A state packed and unpacked is the same, in arrays of its own, as narrow as its numbers allow."""

import numpy as np
import pytest

from franchise import Chain, Corpus
from franchise.model.packing import packed, unpacked
from tests.golden.fingerprint import PRIORS, arithmetic_corpus, seats
from tests.reference.chains import ALONE

pytestmark = pytest.mark.nojit


def new_chain(corpus, **options):
    chain = Chain(corpus, PRIORS, random_state=4, init=3, **options)
    chain.run(3)
    return chain


@pytest.mark.parametrize("engine", ALONE)
def test_they_share_no_memory_with_the_state(engine):
    """A checkpoint is written while the chain continues."""
    chain = new_chain(arithmetic_corpus(), engine=engine)
    for array in chain.engine.arrays().values():
        assert not any(np.shares_memory(array, own) for own in chain.state)


def test_there_and_back():
    chain = new_chain(arithmetic_corpus())
    arrays = chain.engine.arrays()
    again = Chain(chain.corpus, PRIORS, random_state=4)
    again.start_at(unpacked(chain.corpus.arrays, arrays))
    assert [one.tolist() for one in seats(again)] == [one.tolist() for one in seats(chain)]
    for name, array in packed(chain.corpus.arrays, again.state).items():
        assert array.dtype == arrays[name].dtype
        assert array.tolist() == arrays[name].tolist()


def test_types_are_as_narrow_as_the_numbers_allow():
    """One document with 300 words of a term and all in one topic: only counts of words need two bytes."""
    corpus = Corpus([0] * 300 + [1], [0, 300, 301], ["a", "b"])
    chain = Chain(corpus, PRIORS, random_state=4, init="one")
    chain.start()
    arrays = chain.engine.arrays()
    assert arrays["n_jt"].tolist() == [300, 1]
    kinds = {
        name: arrays[name].dtype for name in ("t_ji", "m_j", "k_jt", "row_k", "row_len", "n_jt", "row_n")
    }
    assert {name for name, kind in kinds.items() if kind == np.uint16} == {"n_jt", "row_n"}
    assert all(kind in (np.uint8, np.uint16) for kind in kinds.values())


def test_wide_types_of_an_earlier_format_are_read():
    chain = new_chain(arithmetic_corpus())
    arrays = chain.engine.arrays()
    wide = {name: array.astype(getattr(chain.state, name).dtype) for name, array in arrays.items()}
    assert any(wide[name].dtype != array.dtype for name, array in arrays.items())
    again = packed(chain.corpus.arrays, unpacked(chain.corpus.arrays, wide))
    for name, array in arrays.items():
        assert again[name].tolist() == array.tolist()


def test_words_that_sit_nowhere_can_be_packed():
    corpus = arithmetic_corpus().arrays
    state = Chain(arithmetic_corpus(), PRIORS, random_state=0).state
    assert np.all(unpacked(corpus, packed(corpus, state)).t_ji == -1)
