"""Which of several fitted models predicts new documents better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from franchise.errors import SettingsError
from franchise.estimator.answers import Answers
from franchise.estimator.inputs import in_known_terms
from franchise.predict.compare import Comparison, compare_models


def compare(
    models: Sequence[Answers] | Mapping[str, Answers],
    X: Any,
    *,
    method: str = "completion",
    n_jobs: int | None = -1,
    **options: Any,
) -> Comparison:
    """Compare how well models predict documents that none of them was fitted to.

    All models predict the same words of the same documents, and differences are taken document by document:
    they are known far better than the scores themselves.

    Parameters
    ----------
    models
        Fitted models, two or more: a list (they are called "model 0", "model 1", ...), or a dictionary of
        names and models. They must know the same terms; models of different vocabularies are refused, as the
        one with fewer terms would have the easier task.
    X
        Documents that the models were not fitted to.
    method
        ``"completion"``: half of each document is given, the other half predicted; ``"left-to-right"``:
        whole documents, slower.
    n_jobs
        Number of threads; -1 for all cores, None for one.
    options
        More options of the method: see `franchise.predict.heldout`.

    Returns
    -------
    Comparison
        In words (`print`), and as tables: `as_frame` (models), `pairs`, `documents`.

    Examples
    --------
    >>> from franchise import HDPTopicModel, compare, from_tokens
    >>> corpus = from_tokens([["cat", "milk", "cat"], ["bond", "stock"]] * 10)
    >>> models = {eta: HDPTopicModel(eta=eta, sweeps=20, random_state=0, verbose=0) for eta in (0.1, 2.0)}
    >>> for model in models.values():
    ...     _ = model.fit(corpus.select(range(10)))
    >>> found = compare({f"eta {eta}": model for eta, model in models.items()}, corpus.select(range(10, 20)))
    >>> found.best
    'eta 0.1'
    """
    named = _named(models)
    topics = {name: model.known_topics_ for name, model in named.items()}
    new = in_known_terms(next(iter(named.values())), X)
    return compare_models(topics, new, method=method, jobs=n_jobs, **options)


def _named(models: Any) -> dict[str, Answers]:
    given = models if isinstance(models, Mapping) else None
    if given is None:
        if isinstance(models, Answers | str) or not hasattr(models, "__iter__"):
            raise SettingsError(
                "models: give a list of two fitted models or more, or names and models", code="wrong-type"
            )
        given = {f"model {i}": model for i, model in enumerate(models)}
    if len(given) < 2:
        raise SettingsError(
            f"models: {len(given)} given; a comparison needs two or more", code="too-few-models"
        )
    for name, model in given.items():
        if not isinstance(model, Answers):
            raise SettingsError(
                f"models: {name} is of type {type(model).__name__}; give fitted models", code="wrong-type"
            )
        check_is_fitted(model)
    return {str(name): model for name, model in given.items()}
