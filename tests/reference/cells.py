"""A slow, obvious twin of the pass over cells given G_0."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from franchise.moves.cells import _FEW
from franchise.moves.shared.cell_seats import LISTED
from franchise.random import binomial, gamma_variate, hypergeometric, integer, start_stream, uniform


class Table(NamedTuple):
    """A table of a document: its column, or topic, and its words by term."""

    column: int
    words: dict[int, int]

    @property
    def size(self) -> int:
        return sum(self.words.values())


def update(documents, tables, moving, mass, phi, key):
    """Return the new tables of every document.

    `documents` are dicts of counts by term; `tables` lists of `Table`; `mass` is alpha beta of each column,
    `phi[c][v]` is for those that move.
    """
    new = []
    for j, words in enumerate(documents):
        stream = np.zeros(4, np.uint64)
        start_stream(stream, key, j)
        found = defaultdict(Counter)
        for table in tables[j]:
            if table.column >= moving:
                found[table.column] += Counter(table.words)
        resting = sum(found.values(), Counter())
        n = [sum(table.size for table in tables[j] if table.column == c) for c in range(moving)]
        theta = [gamma_variate(stream, mass[c] + n[c]) for c in range(moving)]
        for v in sorted(words):
            left = words[v] - resting[v]
            if left:
                active = [c for c in range(moving) if theta[c] > 0]
                weights = [theta[c] * phi[c][v] for c in active]
                counts = Counter()
                for place, count in divided(left, weights, binomial, below, stream, _FEW):
                    counts[place] += count
                for place in sorted(counts):
                    found[active[place]][v] += counts[place]
        new.append([table for c in found for table in seated(c, found[c], mass[c], stream)])
    return new


def below(stream, total):
    """Draw a number below `total`."""
    return uniform(stream) * total


def divided(n, weights, split, one, stream, few):
    """Yield what each part gets of n, in halves as a heap has them: node i is 2 i and 2 i + 1.

    Up to `few` words below a node find their parts one by one.
    """
    n_leaves = len(weights)

    def total(node):
        if node >= n_leaves:
            return weights[node - n_leaves]
        return total(2 * node) + total(2 * node + 1)

    def leaf_below(node, u):
        while node < n_leaves:
            node *= 2
            if u >= total(node) and total(node + 1) > 0:
                u -= total(node)
                node += 1
        return node - n_leaves

    def parts(node, d):
        if d == 0:
            return
        if node >= n_leaves:
            yield node - n_leaves, d
            return
        if d <= few:
            for _ in range(d):
                yield leaf_below(node, one(stream, total(node))), 1
            return
        left = split(stream, d, total(2 * node), total(2 * node + 1))
        yield from parts(2 * node, left)
        yield from parts(2 * node + 1, d - left)

    yield from parts(1, n)


def seated(c, words, mass, stream):
    """Yield the tables of the words of one column, the largest last."""
    sizes, left = [], sum(words.values())
    while left:
        others = 0
        if left > 1:
            log_free = np.log(1.0 - uniform(stream)) / mass
            others = binomial(stream, left - 1, np.exp(log_free), -np.expm1(log_free))
        sizes.append(left - others)
        left = others
    largest = sizes.index(max(sizes))
    sizes[largest], sizes[-1] = sizes[-1], sizes[largest]
    terms, pool = list(words), list(words.values())
    is_listed = sum(pool) <= LISTED
    listed = [place for place, count in enumerate(pool) for _ in range(count)] if is_listed else []
    for size in sizes[:-1]:
        taken = Counter()
        if is_listed:
            for _ in range(size):
                u = integer(stream, len(listed))
                taken[listed[u]] += 1
                listed[u] = listed[-1]
                listed.pop()
        else:
            for place, count in divided(size, pool, _from_urn, integer, stream, 1):
                taken[place] += count
        for place, count in taken.items():
            pool[place] -= count
        yield Table(c, {terms[place]: count for place, count in taken.items()})
    yield Table(c, {v: count for v, count in zip(terms, pool) if count})


def _from_urn(stream, n, good, bad):
    return hypergeometric(stream, good, bad, n)
