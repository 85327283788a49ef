"""Score topics on documents that they were not fitted to: half of each document given, half predicted."""

import numpy as np
import numpy.typing as npt

from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw

_STEPS = 100
Array = npt.NDArray[np.float64]


def completion(draw: Draw, test: list[npt.NDArray[np.int32]], seed: int = 0) -> float:
    """Return the log probability per word of the second halves, in nats.

    Proportions are fitted to the first half by EM under the prior alpha m_k / (m + gamma), topics fixed
    at (n_kv + eta) / (n_k + V eta); what is left of the prior is a topic with all terms alike.
    """
    alpha, gamma, _ = draw.concentrations
    scale = alpha / (draw.m_k.sum() + gamma)
    return of_topics(topics_of(draw), scale * draw.m_k, test, scale * gamma, seed)


def topics_of(draw: Draw) -> Array:
    """Return topics by terms, (n_kv + eta) / (n_k + V eta)."""
    counts = draw.topic_terms.toarray()
    eta = draw.concentrations[2]
    return np.asarray((counts + eta) / (counts.sum(axis=1, keepdims=True) + counts.shape[1] * eta))


def of_topics(
    phi: Array, prior: Array, test: list[npt.NDArray[np.int32]], prior_new: float = 0.0, seed: int = 0
) -> float:
    """Score topics by terms with the prior of each, and `prior_new` for a topic with all terms alike."""
    if prior_new > 0.0:
        phi = np.vstack([phi, np.full(phi.shape[1], 1.0 / phi.shape[1])])
        prior = np.append(prior, prior_new)
    return completion_of(phi.T.copy(), prior, test, seed)


def prior_of(posterior: Posterior) -> tuple[Array, float]:
    """Return the prior of each reported topic, and what the others have of it."""
    draws = posterior.flat_draws
    prior = np.zeros(posterior.n_topics + 1)
    for draw, columns in zip(draws, posterior.columns, strict=True):
        alpha, gamma, _ = draw.concentrations
        scale = alpha / (draw.m_k.sum() + gamma) / len(draws)
        np.add.at(prior, columns, scale * draw.m_k)
        prior[-1] += scale * gamma
    return prior[:-1], float(prior[-1])


def of_posterior(posterior: Posterior, test: list[npt.NDArray[np.int32]]) -> float:
    """Score the reported topics; the others' share of the prior goes to a topic with all terms alike."""
    prior, prior_new = prior_of(posterior)
    return of_topics(posterior.phi, prior, test, prior_new)


def completion_of(terms: Array, prior: Array, test: list[npt.NDArray[np.int32]], seed: int = 0) -> float:
    """Score topics given as terms by topics, with the prior of each."""
    rng = np.random.default_rng(seed)
    total, n_scored = 0.0, 0
    for document in test:
        shuffled = rng.permutation(document)
        given, hidden = shuffled[: document.size // 2], shuffled[document.size // 2 :]
        total += float(np.log(terms[hidden] @ _proportions(terms, prior, given)).sum())
        n_scored += hidden.size
    return total / n_scored


def _proportions(terms: Array, prior: Array, given: npt.NDArray[np.int32]) -> Array:
    v, times = np.unique(given, return_counts=True)
    likelihood = terms[v]
    theta = prior / prior.sum()
    for _ in range(_STEPS):
        responsibility = likelihood * theta
        theta = prior + (times / responsibility.sum(axis=1)) @ responsibility
        theta /= theta.sum()
    return theta
