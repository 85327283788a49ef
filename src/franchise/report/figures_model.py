"""What each figure draws of a fitted model that is given in the place of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from franchise._settings import whole_number
from franchise.errors import SettingsError


def is_model(given: Any) -> bool:
    """Return whether this is a fitted model."""
    return hasattr(given, "posterior_")


class Terms(NamedTuple):
    """Topics as figures of their terms take them."""

    phi: Any
    vocabulary: Sequence[str] | None
    labels: Mapping[int, str]
    interval: Callable[[int, Any], Any] | None


def terms_of(
    given: Any,
    vocabulary: Sequence[str] | None,
    labels: Mapping[int, str] | None,
    interval: Callable[[int, Any], Any] | None = None,
) -> Terms:
    """Return topics that are given as they are, or as a model; what is given beside them goes first."""
    if not is_model(given):
        return Terms(given, vocabulary, labels or {}, interval)
    posterior = given.posterior_
    return Terms(
        posterior.phi,
        given.corpus_.vocabulary if vocabulary is None else vocabulary,
        given.named_topics_ if labels is None else labels,
        posterior.phi_interval if interval is None else interval,
    )


def traces_of(given: Any) -> tuple[list[Any], int]:
    """Return the traces of a model's chains, and the burn-in."""
    started = [chain for chain in given.chains_ if len(chain.trace)]
    return [chain.trace for chain in started], started[0].schedule.burn_in


def draws_of(given: Any, chain: int) -> Any:
    """Return the draws of one of a model's chains."""
    chains = given.chains_
    draws = chains[whole_number("chain", chain, 0, len(chains) - 1)].draws
    if not draws:
        raise SettingsError(f"chain {chain} has kept no draws yet; run it past its burn-in", code="no-draws")
    return draws


def similarities_of(given: Any) -> dict[str, Any]:
    """Return how similar topics of a model are: each to its nearest, and each two."""
    posterior = given.posterior_
    if posterior.n_topics < 2:
        raise SettingsError(
            "the model has one topic; there is nothing that it could be like", code="too-few-topics"
        )
    pairs = posterior.similarity[np.triu_indices(posterior.n_topics, 1)]
    return {"each topic and its nearest": posterior.nearest_similarity, "each two topics": pairs}
