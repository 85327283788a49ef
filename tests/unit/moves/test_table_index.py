"""Words laid out by table, equal terms side by side."""

from itertools import groupby

import pytest
from hypothesis import given

from franchise.model.seating import end_of_run
from tests.reference.kernels import Kernels, lay_out_words
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_a_table_is_a_list_of_terms_with_counts(corpus, at, seed):
    documents, _ = corpus
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    tables = kernels.scratch.tables
    lay_out_words(kernels.corpus, kernels.state, tables)
    begin = 0
    for words, seats in zip(documents, kernels.plain().t_ji, strict=True):
        for t in range(max(seats, default=-1) + 1):
            own = [v for v, seat in zip(words, seats, strict=True) if seat == t]
            end = begin + len(own)
            laid_out = tables.table_words[begin:end].tolist()
            in_order = list(dict.fromkeys(own))  # of their first words
            assert [v for v, _ in groupby(laid_out)] == in_order
            assert sorted(laid_out) == sorted(own)
            first = begin
            for v in in_order:
                after = end_of_run(tables.table_words, first, end)
                assert (tables.table_words[first], after - first) == (v, own.count(v))
                first = after
            assert first == end
            begin = end
    assert not tables.count_v.any()
