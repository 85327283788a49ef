"""Look things up in a fitted posterior: the topics of a term, documents like another, shares by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise._arrays import Floats
from franchise._settings import whole_number
from franchise._text import printable
from franchise.corpus import Corpus
from franchise.errors import SettingsError
from franchise.posterior.labels import distinct
from franchise.posterior.tables import opening, terms_in_words

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.estimates import Posterior


_UNLISTED = "unlisted"
_HINTS = 3


def document_topics_frame(
    posterior: Posterior,
    labels: Sequence[str],
    *,
    documents: Sequence[int] | None = None,
    interval: bool = False,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the share of each topic in each document (`HDPTopicModel.document_topics`).

    Labels that occur twice get the numbers of their topics. Intervals take about 10 ms per document.
    """
    import pandas as pd

    corpus = posterior.corpus
    chosen = _documents(documents, corpus)
    index = pd.Index([printable(corpus.document_names[j]) for j in chosen], name="document")
    columns = distinct(labels, [_UNLISTED])
    share = posterior.document_topics[chosen] if documents is None else posterior.mixtures(chosen)
    if not interval:
        return pd.DataFrame(share, index=index, columns=[*columns, _UNLISTED])
    bounds = posterior.document_topics_interval(chosen, level)
    parts: dict[tuple[str, str], Floats] = {}
    for k, label in enumerate(columns):
        parts |= {(label, "share"): share[:, k], (label, "low"): bounds[:, k, 0]}
        parts[label, "high"] = bounds[:, k, 1]
    parts[_UNLISTED, "share"] = share[:, -1]
    frame = pd.DataFrame(parts, index=index)
    frame.columns.names = ["topic", None]
    return frame


def topics_with(
    posterior: Posterior, labels: Sequence[str], terms: str | Sequence[str], n: int = 5
) -> pd.DataFrame:
    """Return the topics in which terms are most probable (`HDPTopicModel.find_topics`).

    What is no term itself is split into words, and tried in lower case. The error for a term that is not in
    the vocabulary names the nearest ones.
    """
    import pandas as pd

    corpus = posterior.corpus
    chosen = _terms(terms, corpus.vocabulary)
    phi = posterior.phi[:, chosen]
    with np.errstate(divide="ignore"):  # a topic that cannot have the term
        probability = np.exp(np.log(phi).mean(axis=1))
    order = np.argsort(-probability, kind="stable")[: whole_number("n", n, 1)]
    everywhere = np.exp(np.log(np.maximum(corpus.term_counts[chosen], 1) / corpus.n_words).mean())
    # A topic that has the terms by its prior alone is no answer; the first one always is.
    order = order[: max(1, np.count_nonzero(probability[order] > everywhere))]
    # Of all occurrences; what is not in these topics is in topics that are not listed.
    inside = corpus.n_words * posterior.weights * phi.sum(axis=1)
    inside /= max(corpus.term_counts[chosen].sum(), 1)
    top = terms_in_words(posterior)
    return pd.DataFrame(
        {
            "topic": order,
            "label": [labels[k] for k in order],
            "probability": probability[order],
            "share": np.minimum(inside[order], 1.0),
            "weight": posterior.weights[order],
            "terms": [top[k] for k in order],
        }
    )


def documents_like(
    posterior: Posterior, mixture: npt.ArrayLike, n: int = 5, *, but: int | None = None
) -> pd.DataFrame:
    """Return the documents whose topics are most like a mixture, the share of each topic.

    Documents without words are left out, and the one with the number `but`. The similarity is the affinity of
    the mixtures, ``sum_k sqrt(p_k q_k)`` (`HDPTopicModel.similar_documents`).
    """
    import pandas as pd

    corpus = posterior.corpus
    given = np.sqrt(_to_one(np.asarray(mixture, np.float64)))
    similarity = np.concatenate([np.sqrt(_to_one(block[:, :-1])) @ given for _, block in posterior.blocks()])
    there = corpus.document_lengths > 0
    if but is not None:
        there[but] = False
    order = np.argsort(-similarity, kind="stable")
    chosen = order[there[order]][: whole_number("n", n, 1)]
    return pd.DataFrame(
        {
            "number": chosen,
            "document": [printable(corpus.document_names[j]) for j in chosen],
            "similarity": np.minimum(similarity[chosen], 1.0),
            "words": corpus.document_lengths[chosen],
            "opening": [opening(corpus, j) for j in chosen.tolist()],
        }
    )


def number_of_document(document: Any, corpus: Corpus) -> int | None:
    """Return the number of a document that is given by its number or name; None if it is neither."""
    if isinstance(document, str):
        return corpus.document_names.index(document) if document in corpus.document_names else None
    if isinstance(document, int | np.integer):
        return whole_number("document", document, 0, corpus.n_documents - 1)
    return None


def number_of_topic(topic: Any, n_topics: int, names: Mapping[int, str], setting: str = "topic") -> int:
    """Return the number of a topic that is given by its number or by its name, in a setting."""
    if not isinstance(topic, str) or topic.isdecimal():
        return whole_number(setting, int(topic) if isinstance(topic, str) else topic, 0, n_topics - 1)
    called = [k for k, name in names.items() if name.casefold() == topic.strip().casefold()]
    if len(called) == 1:
        return called[0]
    if called:
        numbers = " and ".join(map(str, sorted(called)))
        raise SettingsError(
            f"{setting}={topic!r}: topics {numbers} have this name; give a number", code="ambiguous-topic"
        )
    written = {name.casefold(): name for name in names.values()}
    near = get_close_matches(topic.casefold(), written, _HINTS)
    hint = (
        f"; did you mean {' or '.join(repr(written[name]) for name in near)}?"
        if near
        else "; give its number or its name"
    )
    raise SettingsError(f"{setting}={topic!r}: no topic has this name{hint}", code="unknown-topic")


def _documents(documents: Sequence[int] | None, corpus: Corpus) -> npt.NDArray[np.int64]:
    if documents is None:
        return np.arange(corpus.n_documents)
    last = corpus.n_documents - 1
    numbers = [whole_number("documents", j, 0, last) for j in np.atleast_1d(np.asarray(documents)).tolist()]
    return np.array(numbers, np.int64)


def _terms(given: str | Sequence[str], vocabulary: Sequence[str]) -> list[int]:
    """Return the numbers of terms; say which are nearest to one that is not there."""
    number = {term: v for v, term in enumerate(vocabulary)}
    texts = [given] if isinstance(given, str) else [str(text) for text in given]
    if not texts or not all(text.strip() for text in texts):
        raise SettingsError(f"terms={given!r}: give a term, or a list of terms", code="wrong-type")
    chosen = []
    for text in texts:
        for word in [text] if text in number or text.lower() in number else text.split():
            found = number.get(word, number.get(word.lower()))
            if found is None:
                near = get_close_matches(word.lower(), vocabulary, _HINTS, 0.7)
                hint = f"did you mean {' or '.join(near)}?" if near else "give another"
                raise SettingsError(
                    f"{word!r} is not among the {len(vocabulary):,} terms of the model; {hint}",
                    code="unknown-term",
                )
            chosen.append(found)
    return list(dict.fromkeys(chosen))


def _to_one(shares: Floats) -> Floats:
    total = shares.sum(axis=-1, keepdims=True)
    return np.asarray(shares / np.where(total > 0, total, 1.0))
