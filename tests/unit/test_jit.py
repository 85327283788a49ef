"""Helpers, which kernels call, have no way in from Python: whoever calls one there gets another copy."""

import numpy as np
import pytest

from franchise import Chain, Schedule, from_tokens
from franchise.model.likelihood import fill_log_gamma, log_gamma
from franchise.moves.word_tables import word_tables


def test_a_helper_that_kernels_have_compiled_can_be_called():
    Chain(from_tokens([["a", "b"], ["b", "c"]]), schedule=Schedule(sweeps=1, burn_in=0)).run()
    table = np.zeros(5)
    fill_log_gamma(table, 0.5)
    assert log_gamma(table, 0.5, 3) == table[3] == pytest.approx(1.2009736)  # log Gamma(3.5)


def test_only_kernels_are_kept_on_disk():
    if not hasattr(word_tables, "stats"):
        pytest.skip("the compiler is off")
    assert word_tables.stats.cache_path is not None
    assert log_gamma.stats.cache_path is None
