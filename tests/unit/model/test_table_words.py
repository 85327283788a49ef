"""Words laid out by table, equal terms side by side."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given

from franchise.model.seating import end_of_run
from franchise.model.table_words import lay_out
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora

pytestmark = pytest.mark.nojit


@given(corpora(), CONCENTRATIONS, SEEDS)
def test_a_table_is_a_list_of_terms_with_counts(corpus, at, seed):
    documents, n_terms = corpus
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    count_v = np.zeros(n_terms, np.int32)
    for j, (words, seats) in enumerate(zip(documents, kernels.plain().t_ji, strict=True)):
        of_tables = [
            [v for v, seat in zip(words, seats, strict=True) if seat == t] for t in sorted(set(seats))
        ]
        laid_out, terms = np.zeros((2, len(words)), np.int32)
        ends = np.cumsum([0, *map(len, of_tables)])
        table_end = ends[:-1].copy()
        lay_out(kernels.corpus, kernels.state, j, laid_out, table_end, count_v, terms)
        assert table_end.tolist() == ends[1:].tolist()
        for own, begin, end in zip(of_tables, ends, ends[1:]):
            found = laid_out[begin:end].tolist()
            in_order = list(dict.fromkeys(own))  # of their first words
            assert [v for v, _ in groupby(found)] == in_order
            assert sorted(found) == sorted(own)
            first = int(begin)
            for v in in_order:
                after = end_of_run(laid_out, first, int(end))
                assert (laid_out[first], after - first) == (v, own.count(v))
                first = after
            assert first == end
        assert not count_v.any()
