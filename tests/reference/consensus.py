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


class Limits(NamedTuple):
    """From which cosine on topics are put together, and what share of the runs a topic needs."""

    near: float  # two topics of runs
    at_centre: float  # a topic of a run and a sum of others
    share: float
    rounds: int


def agreed(runs: list[list[Topic]], limits: Limits) -> list[Topic]:
    """Return the topics that a share of the runs have, each added up over all topics of runs near to it."""
    topics = {Place(i, k): topic for i, run in enumerate(runs) for k, topic in enumerate(run)}
    least = max(2, ceil(limits.share * len(runs)))
    found = grouped(topics, limits.near, least)
    if not found:
        return runs[sharing_most(runs, limits.near)]
    for _ in range(limits.rounds):
        found = gathered(topics, found, limits.at_centre, least) or found
    return found


def grouped(topics: dict[Place, Topic], same: float, least: int) -> list[Topic]:
    """Return the topics that enough runs have: one topic and the nearest to it of each run, added up."""
    free, found = sorted(topics), []
    while True:
        near = {one: [other for other in free if cosine(topics[one], topics[other]) >= same] for one in free}
        support = {one: len({other.run for other in near[one]}) for one in free}
        best = max(support.values(), default=0)
        if best < least:
            return found
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


def gathered(
    topics: dict[Place, Topic], centres: list[Topic], least_cosine: float, least: int
) -> list[Topic]:
    """Add up at each centre the topics that it is nearest to; return the sums over enough runs."""
    at: list[list[Place]] = [[] for _ in centres]
    for place, topic in topics.items():
        cosines = [cosine(topic, centre) for centre in centres]
        if max(cosines) >= least_cosine:
            at[cosines.index(max(cosines))].append(place)
    return [added_up([topics[one] for one in own]) for own in at if len({one.run for one in own}) >= least]


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
