"""Topics that runs agree on, naively: lists of counts, and every pair of topics compared again each time."""

from math import ceil, sqrt
from typing import NamedTuple

Topic = list[float]  # the count of each term


class Place(NamedTuple):
    """Where a topic is: which run has it, and its number there."""

    run: int
    number: int


def cosine(a: Topic, b: Topic) -> float:
    """Return the cosine of two topics."""
    product = sum(p * q for p, q in zip(a, b, strict=True))
    return product / sqrt(sum(p * p for p in a) * sum(q * q for q in b))


def agreed(runs: list[list[Topic]], same: float, share: float) -> list[Topic]:
    """Return the topics that at least a share of the runs have, each added up over the runs that have it."""
    topics = {Place(i, k): topic for i, run in enumerate(runs) for k, topic in enumerate(run)}
    least = max(2, ceil(share * len(runs)))
    free, found = sorted(topics), []
    while True:
        near = {one: [other for other in free if cosine(topics[one], topics[other]) >= same] for one in free}
        support = {one: len({other.run for other in near[one]}) for one in free}
        best = max(support.values(), default=0)
        if best < least:
            break
        candidates = [one for one in free if support[one] == best]
        chosen = max(
            candidates, key=lambda one: sum(cosine(topics[one], topics[other]) for other in near[one])
        )
        group = []
        for run in sorted({other.run for other in near[chosen]}):
            own = [other for other in near[chosen] if other.run == run]
            group.append(max(own, key=lambda other: cosine(topics[chosen], topics[other])))
        found.append(added_up([topics[one] for one in group]))
        free = [one for one in free if one not in near[chosen]]
    return found or runs[sharing_most(runs, same)]


def sharing_most(runs: list[list[Topic]], same: float) -> int:
    """Return the run whose topics are near to the most topics of all runs."""
    everything = [topic for run in runs for topic in run]
    shared = [sum(cosine(one, other) >= same for one in run for other in everything) for run in runs]
    return shared.index(max(shared))


def added_up(topics: list[Topic]) -> Topic:
    """Return the sum of topics."""
    return [sum(counts) for counts in zip(*topics, strict=True)]


def support(runs: list[list[Topic]], topic: Topic, same: float) -> float:
    """Return the share of the runs that have a topic."""
    return sum(any(cosine(topic, other) >= same for other in run) for run in runs) / len(runs)
