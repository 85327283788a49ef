"""The library's joint equals the paper's equations as the enumeration writes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise.model import Joint, Priors, joint
from franchise.model.likelihood import fill_log_gamma, log_gamma
from franchise.random import TABLE_TOPICS, WORD_TABLES
from tests.reference import enumeration
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_every_part_of_the_joint(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    kernels.make(WORD_TABLES, seed)
    kernels.make(TABLE_TOPICS, seed)
    seating = kernels.plain().seating
    priors = Priors(alpha=(2.0, 1.0), gamma=1.0, eta=1.0)
    parts = joint(kernels.corpus, kernels.state, priors)
    assert parts.log_p_tables == pytest.approx(enumeration.log_p_tables(seating, at.alpha), abs=1e-9)
    assert parts.log_p_topics == pytest.approx(enumeration.log_p_topics(seating, at.gamma), abs=1e-9)
    assert parts.log_p_words == pytest.approx(enumeration.log_p_words(*corpus, seating, at.eta), abs=1e-9)
    assert parts.log_joint == pytest.approx(enumeration.log_joint(*corpus, seating, at), abs=1e-9)
    assert parts.log_prior == priors.log_density(kernels.state.concentrations)


def test_log_joint_leaves_the_prior_out():
    assert Joint(1.0, 2.0, 4.0, 8.0).log_joint == 7.0


@given(st.floats(1e-3, 1e4), st.integers(1, 50), st.integers(0, 200))
def test_log_gamma_is_the_same_within_and_beyond_its_table(offset, size, n):
    """To the bit; Python's own lgamma is another program, and may round otherwise."""
    table = np.zeros(201)
    fill_log_gamma(table, offset)
    assert log_gamma(table[:size].copy(), offset, n) == log_gamma(table, offset, n)
    assert table[n] == pytest.approx(math.lgamma(n + offset), rel=1e-13, abs=1e-13)
