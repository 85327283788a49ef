"""A slow, obvious twin of the start from fitted topics: EM for a mixture, in plain lists."""

from math import ceil, sqrt
from typing import NamedTuple

from tests.reference.enumeration import Documents

STEPS, STEPS_WITH_ALL, LEAST = 20, 4, 1e-3
FEW, STEPS_OF_FEW = 0.2, 8
STEPS_OF_A_DOCUMENT = 5


class Limits(NamedTuple):
    """How much is made use of."""

    topics: int = 200
    words: int = 200_000
    documents: int = 20_000


class Fitted(NamedTuple):
    """A common part of every mixture, and topics by terms."""

    common: list[float]
    phi: list[list[float]]


def parts(fitted: Fitted, theta: list[float], v: int) -> list[float]:
    """Return in which proportion a word of term v is common, or of each topic."""
    return [fitted.common[v], *(theta_k * phi_k[v] for theta_k, phi_k in zip(theta, fitted.phi))]


def expected_topics(fitted: Fitted, theta: list[float], words: list[int]) -> list[list[float]]:
    """Return for each word the probabilities of the topics; the rest is that of no topic."""
    shares = []
    for v in words:
        weights = parts(fitted, theta, v)
        shares.append([weight / sum(weights) for weight in weights[1:]])
    return shares


def in_proportion(values: list[float], otherwise: list[float]) -> list[float]:
    """Return values that add up to one."""
    return [x / sum(values) for x in values] if sum(values) > 0.0 else otherwise


def mixture(fitted: Fitted, theta: list[float], words: list[int]) -> list[float]:
    """Return the mixture of a document after one step of EM."""
    shares = expected_topics(fitted, theta, words)
    return in_proportion([sum(share[k] for share in shares) for k in range(len(theta))], theta)


def fit(
    documents: Documents,
    n_terms: int,
    eta: float,
    order: list[int],
    limits: Limits = Limits(),  # noqa: B008
) -> Fitted:
    """Fit topics, each begun at a document; documents that are not empty are taken in this order."""
    n_words = sum(map(len, documents))
    filled = [list(documents[j]) for j in order]
    share = min(1.0, limits.words / n_words, limits.documents / len(filled))
    chosen = filled[: ceil(share * len(filled))]
    frequencies = [sum(list(words).count(v) for words in documents) / n_words for v in range(n_terms)]
    n_topics = min(limits.topics, len(chosen), max(1, round(max(0.05 / eta, 1 / 6) * sqrt(n_words))))
    begin = chosen[:n_topics]
    phi = [[(frequencies[v] + words.count(v) / len(words)) / 2 for v in range(n_terms)] for words in begin]
    fitted = Fitted([0.1 / 0.9 * frequency for frequency in frequencies], phi)
    theta = [[1.0 / len(begin)] * len(begin) for _ in chosen]
    steps = STEPS_OF_FEW if sum(map(len, chosen)) < FEW * n_words else STEPS
    for done in range(1, steps + 1):
        fitted, theta = step(fitted, theta, chosen)
        if done >= STEPS_WITH_ALL:
            fitted = without_little(fitted)
    return fitted


def without_little(fitted: Fitted) -> Fitted:
    """Leave out of each term the topics that have next to none of it, beside the topic that has most."""
    most = [max(of_term) for of_term in zip(*fitted.phi)]
    phi = [[x if x > LEAST * limit else 0.0 for x, limit in zip(phi_k, most)] for phi_k in fitted.phi]
    return fitted._replace(phi=phi)


def step(
    fitted: Fitted, theta: list[list[float]], documents: list[list[int]]
) -> tuple[Fitted, list[list[float]]]:
    """Make one step of EM for the topics and the mixtures."""
    shares = [expected_topics(fitted, *one) for one in zip(theta, documents)]
    phi = []
    for k, before in enumerate(fitted.phi):
        n_v = [0.0] * len(before)
        for words, share in zip(documents, shares):
            for v, one in zip(words, share):
                n_v[v] += one[k]
        phi.append(in_proportion(n_v, before))
    return fitted._replace(phi=phi), [mixture(fitted, *one) for one in zip(theta, documents)]


def listed_most(expected: list[float], fewest: int = 32, most: int = 64) -> list[float]:
    """Return a mixture without the topics that have little of a document, where there are many."""
    if len(expected) > fewest:
        limit = limit_of_most(expected, fewest)
        listed = [k for k, x in enumerate(expected) if x > 0.0 and x >= limit][:most]
        expected = [x if k in listed else 0.0 for k, x in enumerate(expected)]
    return in_proportion(expected, [0.0] * len(expected))


def limit_of_most(expected: list[float], fewest: int) -> float:
    """Return a limit that `fewest` values reach, or few more: by halves, then between two halves."""

    def are_enough(limit: float) -> bool:
        return sum(x >= limit for x in expected) >= fewest

    largest = max(expected)
    too_few, limit = largest, 0.5 * largest
    while not are_enough(limit) and limit > 1e-6 * largest:
        too_few, limit = limit, 0.5 * limit
    for _ in range(5):
        between = 0.5 * (limit + too_few)
        limit, too_few = (between, too_few) if are_enough(between) else (limit, between)
    return limit


def mixture_of(fitted: Fitted, words: list[int]) -> list[float]:
    """Return the mixture of a document: one step with all topics, then some with those it has most of."""
    even = [1.0 / len(fitted.phi)] * len(fitted.phi)
    shares = expected_topics(fitted, even, words)
    theta = listed_most([sum(share[k] for share in shares) for k in range(len(even))])
    for _ in range(STEPS_OF_A_DOCUMENT - 1):
        theta = mixture(fitted, theta, words)
    return theta
