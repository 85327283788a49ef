"""A slow, obvious twin of the start from fitted topics: EM for a mixture, in plain lists."""

from math import ceil, sqrt
from typing import NamedTuple

from tests.reference.enumeration import Documents

STEPS = 20
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


def spread(values: list, number: int) -> list:
    """Return so many of the values: those whose multiples of the golden ratio have the least fraction."""
    ratio = (sqrt(5.0) - 1.0) / 2.0
    chosen = sorted(range(len(values)), key=lambda i: i * ratio % 1.0)[:number]
    return [values[i] for i in sorted(chosen)]


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


def fit(documents: Documents, n_terms: int, eta: float, limits: Limits = Limits()) -> Fitted:  # noqa: B008
    """Fit topics, each begun at a document."""
    n_words = sum(map(len, documents))
    filled = [list(words) for words in documents if words]
    share = min(1.0, limits.words / n_words, limits.documents / len(filled))
    chosen = spread(filled, ceil(share * len(filled)))
    frequencies = [sum(list(words).count(v) for words in documents) / n_words for v in range(n_terms)]
    begin = spread(
        chosen, min(limits.topics, len(chosen), max(1, round(max(0.05 / eta, 1 / 6) * sqrt(n_words))))
    )
    phi = [[(frequencies[v] + words.count(v) / len(words)) / 2 for v in range(n_terms)] for words in begin]
    fitted = Fitted([0.1 / 0.9 * frequency for frequency in frequencies], phi)
    theta = [[1.0 / len(begin)] * len(begin) for _ in chosen]
    for _ in range(STEPS):
        fitted, theta = step(fitted, theta, chosen)
    return fitted


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
