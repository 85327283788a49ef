"""Where chains start, as users say it: a word, a number, an earlier model, topics, or seed words."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator

from franchise._settings import whole_number
from franchise.corpus import Corpus
from franchise.engines import SEED_WORDS, TOPICS, GivenTopics, Start
from franchise.errors import SettingsError
from franchise.estimator.summary import posterior_of, read_model
from franchise.posterior.labels import Named, carried, remember_all
from franchise.sampling.plan import STARTS

_GIVE_TOPICS = "give topics by terms, such as model.components_"


def start_of(init: Any) -> Start:
    """Return where chains start; topics and seed words are checked, apart from their terms."""
    if hasattr(init, "components_") and hasattr(init, "corpus_"):
        posterior = getattr(init, "_all_topics", None)  # not as they are merged and hidden for reading
        phi, names = init.components_, getattr(init, "_topic_names", None)
        return GivenTopics(
            TOPICS, posterior.phi if posterior else phi, init.corpus_.vocabulary, names=dict(names or {})
        )
    if isinstance(init, BaseEstimator):
        raise SettingsError(
            f"init: {type(init).__name__} has no topics yet; fit the model to start from, or load one",
            code="not-fitted",
        )
    if isinstance(init, os.PathLike) or (
        isinstance(init, str) and init not in STARTS and Path(init).is_dir()
    ):
        return _topics_in(Path(init))
    if isinstance(init, Mapping):
        return _seed_words(init)
    if hasattr(init, "columns") and hasattr(init, "to_numpy"):
        return _topics(init.to_numpy(), tuple(map(str, init.columns)))
    if isinstance(init, np.ndarray) and init.ndim:
        return _topics(init, None)
    return init if isinstance(init, str | GivenTopics) else _number(init)


def _topics_in(folder: Path) -> Start:
    """Return the topics of the model in a folder."""
    stored = read_model(folder)
    started = [chain for chain in stored.chains if len(chain.trace)]
    if not started:
        raise SettingsError(
            f"init: the model in {folder} has no topics yet; resume it first", code="not-fitted"
        )
    phi = posterior_of(started, stored.corpus).phi
    names, _ = carried(stored.topic_names, phi)
    return GivenTopics(TOPICS, phi, stored.corpus.vocabulary, names=names)


def names_to_carry(start: Start, corpus: Corpus) -> list[Named]:
    """Return the topics of a start in the terms of a corpus, if any of them has a name."""
    if not isinstance(start, GivenTopics) or start.phi is None or not start.names:
        return []
    return earlier_topics(start, corpus)


def has_earlier_topics(start: Start) -> TypeGuard[GivenTopics]:
    """Return whether a start has the topics of an earlier model, or of a table."""
    return isinstance(start, GivenTopics) and start.kind != SEED_WORDS and start.phi is not None


def earlier_topics(start: GivenTopics, corpus: Corpus) -> list[Named]:
    """Return the topics of a start in the terms of a corpus, with their names or empty ones."""
    assert start.phi is not None
    return remember_all(start.names, start.phi, start.terms or corpus.vocabulary, corpus.vocabulary)


def _number(init: Any) -> Start:
    try:
        return whole_number("init", init, 1)
    except SettingsError:
        return init  # the plan says what can be given


def _topics(table: Any, terms: tuple[str, ...] | None) -> GivenTopics:
    try:
        phi = np.array(table, float)
    except (TypeError, ValueError):
        raise SettingsError(
            f"init: the table does not hold numbers; {_GIVE_TOPICS}", code="not-a-number"
        ) from None
    if phi.ndim != 2 or not phi.size:
        raise SettingsError(f"init: the topics have shape {phi.shape}; {_GIVE_TOPICS}", code="wrong-shape")
    if not np.isfinite(phi).all() or (phi < 0).any():
        raise SettingsError(
            f"init: the topics have missing numbers or numbers below 0; {_GIVE_TOPICS}", code="out-of-range"
        )
    totals = phi.sum(axis=1, keepdims=True)
    if not totals.all():
        raise SettingsError(
            f"init: topic {int(np.argmin(totals))} has no terms, all are 0; leave it out", code="empty-topic"
        )
    if terms is not None and len(set(terms)) < len(terms):
        raise SettingsError(
            "init: two columns have the same term; give each term once", code="duplicate-term"
        )
    return GivenTopics(TOPICS, phi / totals, terms)


def _seed_words(lists: Mapping[Any, Any]) -> GivenTopics:
    if not lists:
        raise SettingsError(
            "init: there are no seed words; give a list of words for each topic", code="no-seed-words"
        )
    terms: dict[str, int] = {}
    rows = []
    for name, words in lists.items():
        if isinstance(words, str) or not hasattr(words, "__iter__"):
            raise SettingsError(
                f"init: the seed words of topic {name!r} are {words!r}; give a list of words, such as "
                "['galaxy', 'redshift']",
                code="wrong-type",
            )
        words = list(dict.fromkeys(words))
        if not words:
            raise SettingsError(
                f"init: topic {name!r} has no seed words; give some, or leave it out", code="no-seed-words"
            )
        for word in words:
            if not isinstance(word, str):
                raise SettingsError(
                    f"init: seed word {word!r} of topic {name!r} is not a string; give words",
                    code="wrong-type",
                )
        rows.append([terms.setdefault(word, len(terms)) for word in words])
    phi = np.zeros((len(rows), len(terms)))
    for k, row in enumerate(rows):
        phi[k, row] = 1.0 / len(row)
    return GivenTopics(SEED_WORDS, phi, tuple(terms))
