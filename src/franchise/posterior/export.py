"""A fitted posterior in the forms that people and other programs take.

Tables for reading (`topics_frame`, `documents_frame`, `representative_documents`), the arguments of
``pyLDAvis.prepare`` (`to_pyldavis`), scikit-learn's fixed LDA (`to_lda`) and the DataTree of ArviZ
(`to_datatree`). Topics are numbered as in the posterior, from 0, everywhere. The last column of a posterior's
`document_topics` is the share of topics that it does not list; here it is called unlisted.

Nothing is written to disk here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise import __version__
from franchise._settings import whole_number
from franchise.corpus import Corpus
from franchise.errors import CorpusError, FranchiseError
from franchise.posterior.coherence import top_terms
from franchise.sampling import Schedule, Trace

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from sklearn.decomposition import LatentDirichletAllocation

    from franchise.posterior.estimates import Posterior

Floats = npt.NDArray[np.float64]

# What the model is about; the rest of a trace says how the sampler fared.
_QUANTITIES = ("n_topics", "n_tables", "alpha", "gamma", "eta", "log_p_words", "log_joint")
_WORDS_SHOWN = 10  # of a document whose text is not kept


def topics_frame(
    posterior: Posterior,
    vocabulary: Sequence[str],
    *,
    n_terms: int = 10,
    coherence: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Return a table with one row a topic.

    Parameters
    ----------
    posterior
        The fitted posterior.
    vocabulary
        The terms.
    n_terms
        How many top terms to name.
    coherence
        One number a topic (`franchise.posterior.coherence`), for a column of that name.
    level
        Probability of the interval from `weight_low` to `weight_high`.

    Returns
    -------
    pandas.DataFrame
        Columns topic, weight, weight_low, weight_high, support, chain_support, stability, nearest,
        nearest_similarity, perhaps coherence, and terms (the top terms as one string).
    """
    import pandas as pd

    if len(vocabulary) != posterior.phi.shape[1]:
        raise CorpusError(
            f"the topics are over {posterior.phi.shape[1]:,} terms, the vocabulary has {len(vocabulary):,}; "
            "give the vocabulary that the topics were fitted to"
        )
    low, high = posterior.weights_interval(level).T
    columns: dict[str, Any] = {
        "topic": np.arange(len(posterior.phi)),
        "weight": posterior.weights,
        "weight_low": low,
        "weight_high": high,
        "support": posterior.support,
        "chain_support": posterior.chain_support,
        "stability": posterior.stability,
        "nearest": posterior.nearest,
        "nearest_similarity": posterior.nearest_similarity,
    }
    if coherence is not None:
        columns["coherence"] = np.asarray(coherence)
    columns["terms"] = [
        printable(", ".join(vocabulary[v] for v in terms)) for terms in top_terms(posterior.phi, n_terms)
    ]
    return pd.DataFrame(columns)


def documents_frame(posterior: Posterior, corpus: Corpus, *, n_topics: int = 3) -> pd.DataFrame:
    """Return a table with one row a document.

    Parameters
    ----------
    posterior
        The fitted posterior.
    corpus
        The documents that it was fitted to.
    n_topics
        How many topics of each document to name at most; shares that round to 0.00 are not named.

    Returns
    -------
    pandas.DataFrame
        Columns document (its name), words (their number), topic (the largest listed one), proportion (its
        share), topics (``"12: 0.43, 3: 0.21"``) and unlisted (the share of topics that are not listed). Of a
        document without words the posterior says what it expects of any document.
    """
    import pandas as pd

    shares = _shares(posterior, corpus)
    n_topics = min(whole_number("n_topics", n_topics, 1), shares.shape[1])
    order = np.argsort(-shares, axis=1, kind="stable")[:, :n_topics]
    largest = np.take_along_axis(shares, order, axis=1)
    return pd.DataFrame(
        {
            "document": [printable(name) for name in corpus.document_names],
            "words": corpus.document_lengths,
            "topic": order[:, 0],
            "proportion": largest[:, 0],
            "topics": [_named(*row) for row in zip(order.tolist(), largest.tolist())],
            "unlisted": posterior.document_topics[:, -1],
        }
    )


def representative_documents(posterior: Posterior, corpus: Corpus, topic: int, n: int = 5) -> pd.DataFrame:
    """Return the documents that show best what a topic is about.

    Ranked by the lower end of Wilson's 95 % interval of the topic's share in the document, as if its words
    were drawn one by one: three words that are all of the topic come after a hundred of which ninety are.
    Documents without words are left out.

    Parameters
    ----------
    posterior
        The fitted posterior.
    corpus
        The documents that it was fitted to.
    topic
        Which topic, from 0.
    n
        How many documents at most.

    Returns
    -------
    pandas.DataFrame
        Columns number (of the document in the corpus, from 0), document (its name), proportion (the topic's
        share), words (their number) and text: its text where the corpus keeps texts, else its most
        frequent words.
    """
    import pandas as pd

    shares = _shares(posterior, corpus)
    share = shares[:, whole_number("topic", topic, 0, shares.shape[1] - 1)]
    words = corpus.document_lengths
    chosen = np.argsort(-_lower_bound(share, words), kind="stable")
    chosen = chosen[words[chosen] > 0][: whole_number("n", n, 1)]
    return pd.DataFrame(
        {
            "number": chosen,
            "document": [printable(corpus.document_names[j]) for j in chosen],
            "proportion": share[chosen],
            "words": words[chosen],
            "text": [printable(_text(corpus, j)) for j in chosen.tolist()],
        }
    )


def to_pyldavis(posterior: Posterior, corpus: Corpus) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare``.

    Proportions are of the listed topics alone. Documents without words or without a listed topic, and terms
    that never occur, are left out: there is nothing to show of them.

    Parameters
    ----------
    posterior
        The fitted posterior, of two topics or more.
    corpus
        The documents that it was fitted to.

    Returns
    -------
    dict
        topic_term_dists, doc_topic_dists, doc_lengths, vocab, term_frequency.

    Examples
    --------
    pyLDAvis numbers topics from 1, largest first, unless told to keep their numbers::

        import pyLDAvis
        prepared = pyLDAvis.prepare(**to_pyldavis(posterior, corpus), sort_topics=False, start_index=0)
        pyLDAvis.save_html(prepared, "topics.html")
    """
    shares = _shares(posterior, corpus)
    if shares.shape[1] < 2:
        raise FranchiseError(
            f"pyLDAvis draws a map of topics and needs two or more; this posterior has {shares.shape[1]}"
        )
    kept = (corpus.document_lengths > 0) & (shares.sum(axis=1) > 0)
    counts = corpus.term_counts
    used = np.flatnonzero(counts)
    return {
        "topic_term_dists": _rows_to_one(posterior.phi[:, used]),
        "doc_topic_dists": _rows_to_one(shares[kept]),
        "doc_lengths": corpus.document_lengths[kept],
        "vocab": [corpus.vocabulary[v] for v in used],
        "term_frequency": counts[used],
    }


def to_lda(posterior: Posterior, corpus: Corpus, concentrations: npt.ArrayLike) -> LatentDirichletAllocation:
    """Return scikit-learn's LDA with these topics, fitted, for programs that take one.

    Its ``components_`` are term counts, prior included; their rows divided by their sums are the posterior's
    phi. What LDA cannot say is lost: how sure the topics and their number are, the topics that are not
    listed, and that some topics are more common than others (scikit-learn's prior of a document's topics is
    the same for all: alpha / number of topics).

    Parameters
    ----------
    posterior
        The fitted posterior.
    corpus
        The documents that it was fitted to; ``bound_`` is their perplexity.
    concentrations
        alpha, gamma and eta.

    Returns
    -------
    sklearn.decomposition.LatentDirichletAllocation
        Ready for ``transform``, ``score`` and ``perplexity`` of counts, a column a term of the corpus.
    """
    from scipy.special import psi
    from sklearn.decomposition import LatentDirichletAllocation

    n_topics = _shares(posterior, corpus).shape[1]
    alpha, _, eta = np.asarray(concentrations, dtype=np.float64).tolist()
    lda = LatentDirichletAllocation(
        n_components=n_topics, doc_topic_prior=alpha / n_topics, topic_word_prior=eta, random_state=0
    )
    # One empty document makes scikit-learn set up everything that a fitted model has; then the topics follow.
    lda.partial_fit(np.zeros((1, corpus.n_terms)))
    sizes = posterior.weights * corpus.n_words + corpus.n_terms * eta
    lda.components_ = np.asarray(posterior.phi * sizes[:, np.newaxis])
    # exp E log phi under Dirichlet(components_), as scikit-learn keeps it.
    lda.exp_dirichlet_component_ = np.exp(psi(lda.components_) - psi(sizes)[:, np.newaxis])
    lda.bound_ = lda.perplexity(corpus.to_counts())
    return lda


def to_datatree(
    traces: Sequence[Trace],
    posterior: Posterior,
    schedule: Schedule,
    settings: dict[str, Any],
    *,
    corpus: Corpus | None = None,
) -> xr.DataTree:
    """Return the run as ArviZ takes it.

    Parameters
    ----------
    traces
        The trace of each chain. Where an interrupted run left some shorter than others, all are cut to the
        shortest, and the attribute ``chains_cut`` says so.
    posterior
        The fitted posterior.
    schedule
        The plan of the run: sweeps up to its burn-in (the start is sweep 0) are warm-up.
    settings
        Whatever describes the run; kept as JSON.
    corpus
        The documents; without them there is no ``observed_data``.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (numbers that do not depend on how topics are numbered, one a sweep; ``draw`` is
        the sweep), ``sample_stats`` (what the moves did, NaN where they were not made, and seconds), both
        also as ``warmup_...``, ``constant_data`` (weight, support and stability of the topics) and
        ``observed_data`` (length of each document, occurrences of each term). ``sampling_time`` is the
        seconds of all chains together.
    """
    try:
        import xarray as xr
    except ImportError:
        raise FranchiseError(
            "a DataTree needs xarray, which is not installed: pip install franchise[arviz]"
        ) from None

    about = _about(traces, schedule)
    moves = [name for name in dict.fromkeys(c for t in traces for c in t.columns) if "." in name]
    groups: dict[str, xr.Dataset] = {}
    for group, columns in (("posterior", _QUANTITIES), ("sample_stats", [*moves, "seconds"])):
        variables, coordinates = _by_chain(traces, columns)
        is_warmup = coordinates["draw"] <= schedule.burn_in
        sweeps = xr.Dataset(variables, coordinates)
        groups |= {group: sweeps.isel(draw=~is_warmup), f"warmup_{group}": sweeps.isel(draw=is_warmup)}
    found = {name: ("topic", getattr(posterior, name)) for name in ("weights", "support", "stability")}
    groups["constant_data"] = xr.Dataset(found, {"topic": np.arange(len(posterior.phi))})
    if corpus is not None:
        groups["observed_data"] = xr.Dataset(
            {
                "document_length": ("document", corpus.document_lengths),
                "term_count": ("term", corpus.term_counts),
            },
            {"document": list(corpus.document_names), "term": list(corpus.vocabulary)},
        )
    tree = xr.DataTree.from_dict({name: data.assign_attrs(about) for name, data in groups.items()})
    tree.attrs = {**about, "settings": json.dumps(settings, default=str)}
    return tree


def _about(traces: Sequence[Trace], schedule: Schedule) -> dict[str, Any]:
    """Return the attributes that ArviZ expects of every group."""
    about = {
        "created_at": datetime.now(UTC).isoformat(),
        "inference_library": "franchise",
        "inference_library_version": __version__,
        "sampling_time": float(sum(trace["seconds"].sum() for trace in traces)),
        "tuning_steps": schedule.burn_in,
    }
    sweeps = [len(trace) - 1 for trace in traces]
    if min(sweeps) < max(sweeps):
        about["chains_cut"] = (
            f"the chains made {', '.join(map(str, sweeps))} sweeps; all were cut to {min(sweeps)}"
        )
    return about


def _by_chain(
    traces: Sequence[Trace], columns: Sequence[str]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[np.int64]]]:
    """Return columns of the traces, chains by the sweeps that all chains have, and the coordinates."""
    n = min(len(trace) for trace in traces)
    variables = {}
    for column in columns:
        values = [trace[column][:n] if column in trace.columns else np.full(n, np.nan) for trace in traces]
        variables[column.replace(".", "_")] = (("chain", "draw"), np.stack(values))
    return variables, {"chain": np.arange(len(traces)), "draw": traces[0]["sweep"][:n]}


def _shares(posterior: Posterior, corpus: Corpus) -> Floats:
    """Return the shares of the listed topics in each document; refuse another corpus."""
    shares = np.asarray(posterior.document_topics)[:, :-1]
    given = (corpus.n_documents, corpus.n_terms)
    expected = (len(shares), posterior.phi.shape[1])
    if given != expected:
        raise CorpusError(
            f"the corpus has {given[0]:,} documents and {given[1]:,} terms, the posterior {expected[0]:,} "
            f"and {expected[1]:,}; give the corpus that it was fitted to"
        )
    return shares


def _named(topics: list[int], shares: list[float]) -> str:
    return ", ".join(f"{k}: {share:.2f}" for k, share in zip(topics, shares) if round(share, 2) > 0)


def _lower_bound(share: Floats, words: npt.NDArray[np.int64]) -> Floats:
    """Return the lower end of Wilson's 95 % interval of a share that was seen in so many words; 0 of none."""
    z = 1.96
    spread = z * np.sqrt(words * share * (1 - share) + z**2 / 4)
    return np.asarray((words * share + z**2 / 2 - spread) / (words + z**2))


def printable(text: str) -> str:
    """Return the text with a ? for what no file can hold: halves of characters, from broken input."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(corpus: Corpus, j: int) -> str:
    if corpus.texts is not None:
        return corpus.texts[j]
    terms, counts = np.unique(corpus.document(j), return_counts=True)
    most = np.argsort(-counts, kind="stable")[:_WORDS_SHOWN]
    return " ".join(corpus.vocabulary[v] for v in terms[most])


def _rows_to_one(table: Floats) -> Floats:
    return np.asarray(table / table.sum(axis=1, keepdims=True))
