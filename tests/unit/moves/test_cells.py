"""Tables of large counts: as many and as large as in a Chinese restaurant, their words as from an urn."""

import itertools
from math import lgamma, log

import numpy as np
import pytest
from scipy import stats

from franchise.moves.cells import _multinomial, new_cell_scratch
from franchise.moves.shared.cell_seats import _list_words, _open_tables, _take_from_list, _take_from_pool
from franchise.random import Key, start_stream
from tests.reference.statistics import assert_frequencies


def scratch_of(seed, n_columns=8, n_terms=8, n_entries=100):
    scratch = new_cell_scratch(n_columns, n_terms, n_entries, 1 << 12)
    start_stream(scratch.stream, Key(seed, 0, 0, 0), 0)
    return scratch


def sizes_of(scratch, n, concentration):
    end = _open_tables(scratch.stream, concentration, n, scratch.n_jt, 0)
    return scratch.n_jt[:end].tolist()


def restaurant(n, concentration):
    """Return the probability of every division of n words into tables, by sizes."""
    states = {(): 1.0}
    for before in range(n):
        new = {}
        for sizes, chance in states.items():
            for t in range(len(sizes) + 1):
                own = (*sizes[:t], sizes[t] + 1, *sizes[t + 1 :]) if t < len(sizes) else (*sizes, 1)
                weight = sizes[t] if t < len(sizes) else concentration
                own = tuple(sorted(own))
                new[own] = new.get(own, 0.0) + chance * weight / (before + concentration)
        states = new
    return states


@pytest.mark.nojit
@pytest.mark.parametrize("concentration", [0.05, 1.0, 7.0])
def test_sizes_of_tables(concentration, seed):
    scratch, expected = scratch_of(seed), restaurant(6, concentration)
    found = [sizes_of(scratch, 6, concentration) for _ in range(4_000)]
    assert all(own[-1] == max(own) for own in found)
    assert_frequencies([tuple(sorted(own)) for own in found], expected)


@pytest.mark.parametrize(("n", "concentration"), [(3_000, 0.7), (3_000, 12.0), (100, 400.0)])
def test_numbers_of_tables_of_many_words(n, concentration, seed):
    """4,000 draws see a mean off by 1.5 percent or less."""
    chances = np.zeros(n + 1)
    chances[0] = 1.0
    for before in range(n):  # each of them has a table of its own with this probability
        p = concentration / (concentration + before)
        chances[1:] = (1 - p) * chances[1:] + p * chances[:-1]
        chances[0] *= 1 - p
    scratch = scratch_of(seed)
    assert_frequencies(
        [len(sizes_of(scratch, n, concentration)) for _ in range(4_000)], dict(enumerate(chances))
    )


def test_the_number_of_tables_of_a_billion_words(seed):
    n, c = 1_000_000_000, 2.5
    scratch = scratch_of(seed)
    found = [len(sizes_of(scratch, n, c)) for _ in range(4_000)]
    i = np.arange(100_000.0)  # the rest of the sums by integrals
    mean = np.sum(c / (c + i)) + c * (log(c + n) - log(c + i.size))
    variance = np.sum(c * i / (c + i) ** 2) + c * (log(c + n) - log(c + i.size))
    assert abs(np.mean(found) - mean) < 5 * np.sqrt(variance / len(found))


def test_a_concentration_of_next_to_nothing_has_one_table(seed):
    assert sizes_of(scratch_of(seed), 10**9, 1e-300) == [10**9]
    assert sizes_of(scratch_of(seed), 10**9, 0.0) == [10**9]


def test_there_is_no_room():
    scratch = scratch_of(0)
    assert _open_tables(scratch.stream, 1e9, 10_000, scratch.n_jt, 0) == -1


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("weights", "n"),
    [((1.0, 2.0, 0.5), 4), ((1.0, 2.0, 0.5), 20), ((0.0, 1.0, 1.0, 3.0, 0.0), 4), ((2.0,), 4)],
)
def test_the_words_of_a_cell_are_multinomial(weights, n, seed):
    scratch, n_leaves = scratch_of(seed), len(weights)
    scratch.tree[n_leaves : 2 * n_leaves] = weights
    scratch.active[:n_leaves] = range(n_leaves)
    for node in range(n_leaves - 1, 0, -1):
        scratch.tree[node] = scratch.tree[2 * node] + scratch.tree[2 * node + 1]
    found = []
    for _ in range(3_000):
        end = _multinomial(scratch.tree, n_leaves, n, scratch, 0, 0)
        assert not scratch.hits.any()
        assert np.all(np.diff(scratch.entry_c[:end]) > 0)
        counts = np.bincount(scratch.entry_c[:end], scratch.entry_n[:end], n_leaves).astype(int)
        found.append(tuple(counts.tolist()))
    law = stats.multinomial(n, np.array(weights) / sum(weights))
    every = [x for x in itertools.product(range(n + 1), repeat=n_leaves) if sum(x) == n]
    expected = {x: law.pmf(x) for x in every if law.pmf(x) > 0}
    if len(expected) == 1:
        assert set(found) == set(expected)
    else:
        assert_frequencies(found, expected)


@pytest.mark.nojit
def test_the_words_of_a_table_are_as_from_an_urn(seed):
    counts, size, found = [4, 1, 3, 2, 5], 6, []
    scratch = scratch_of(seed)
    scratch.sorted_v[:5] = range(5)
    for _ in range(3_000):
        scratch.pool[5:10] = counts
        for node in range(4, 0, -1):
            scratch.pool[node] = scratch.pool[2 * node] + scratch.pool[2 * node + 1]
        end = _take_from_pool(scratch, 0, 5, size, 0)
        taken = np.bincount(scratch.term[:end], scratch.number[:end], 5).astype(int)
        assert (scratch.pool[5:10] + taken).tolist() == counts
        assert scratch.pool[1] == sum(counts) - size
        found.append(tuple(taken.tolist()))
    assert_frequencies(found, from_urn(counts, size))


@pytest.mark.nojit
def test_the_words_of_a_short_column_are_as_from_an_urn(seed):
    counts, sizes, found = [4, 1, 3, 2, 5], (6, 4), ([], [])
    scratch = scratch_of(seed)
    scratch.sorted_v[:5] = range(5)
    for _ in range(3_000):
        scratch.pool[5:10] = counts
        _list_words(scratch, 5)
        n, seen = sum(counts), np.zeros(5, int)
        for size, taken in zip(sizes, found):
            end = _take_from_list(scratch, 0, 5, n, size, 0)
            n -= size
            assert np.unique(scratch.term[:end]).size == end
            assert not scratch.mark.any()
            words = np.bincount(scratch.term[:end], scratch.number[:end], 5).astype(int)
            seen += words
            taken.append(tuple(words.tolist()))
            assert (scratch.pool[5:10] + seen).tolist() == counts
    for size, taken in zip(sizes, found):
        assert_frequencies(taken, from_urn(counts, size))


def from_urn(counts, size):
    """Return the probability of all that can be taken from an urn."""
    law = stats.multivariate_hypergeom(counts, size)
    every = [x for x in itertools.product(*(range(n + 1) for n in counts)) if sum(x) == size]
    return {x: law.pmf(x) for x in every}


def test_log_factorials():
    from franchise.random import _log_factorial

    for k in [*range(40), 1_000, 10**6, 2**31]:
        assert _log_factorial(k) == pytest.approx(lgamma(k + 1.0), rel=1e-14, abs=1e-14)
