"""A fitted posterior as other programs take it: pyLDAvis, topicwizard, scikit-learn's LDA, ArviZ.

Topics are numbered as in the posterior, from 0, everywhere. Nothing is written to disk here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from franchise import __version__
from franchise._arrays import Floats
from franchise._extras import needed
from franchise.errors import FranchiseError
from franchise.sampling import Timetable, Trace

if TYPE_CHECKING:
    import xarray as xr
    from sklearn.decomposition import LatentDirichletAllocation

    from franchise.posterior.estimates import Posterior

_TERMS_IN_NAME = 4  # of a topic, after its number

# Quantities of the model; the other columns of a trace describe the sampler.
_QUANTITIES = ("n_topics", "n_tables", "alpha", "gamma", "eta", "log_p_words", "log_joint")


def to_pyldavis(posterior: Posterior) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare``.

    There must be two topics or more. Proportions are those of the listed topics. Documents without words or
    without a listed topic, and terms that never occur, are left out.

    Examples
    --------
    pyLDAvis numbers topics from 1, largest first, unless told to keep their numbers::

        import pyLDAvis
        prepared = pyLDAvis.prepare(**to_pyldavis(posterior), sort_topics=False, start_index=0)
        pyLDAvis.save_html(prepared, "topics.html")
    """
    corpus, shares = posterior.corpus, posterior.document_topics[:, :-1]
    if shares.shape[1] < 2:
        raise FranchiseError(
            f"pyLDAvis draws a map of topics and needs two or more; this posterior has {shares.shape[1]}",
            code="too-few-topics",
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


def to_topicwizard(posterior: Posterior, transform: Callable[[Any], Floats] | None = None) -> dict[str, Any]:
    """Return what topicwizard calls topic data, for its figures and its web app.

    Proportions are those of the listed topics. Documents without words or without a listed topic are left
    out. If the corpus does not keep texts, the words of a document replace its text. `transform` returns
    the topics of new texts, for the app. Positions are left to topicwizard.

    Examples
    --------
    ::

        import topicwizard, topicwizard.figures
        topicwizard.figures.topic_map(to_topicwizard(posterior)).show()
        topicwizard.visualize(topic_data=to_topicwizard(posterior))
    """
    from scipy.sparse import csr_matrix

    corpus, shares = posterior.corpus, posterior.document_topics[:, :-1]
    kept = np.flatnonzero((corpus.document_lengths > 0) & (shares.sum(axis=1) > 0))
    terms = corpus.vocabulary
    texts = corpus.texts or [
        " ".join(terms[v] for v in corpus.document(j)) for j in range(corpus.n_documents)
    ]
    counts, theta = csr_matrix(corpus.to_counts()[kept]), _rows_to_one(shares[kept])  # arrays it cannot take
    largest = np.argsort(-posterior.phi, axis=1, kind="stable")[:, :_TERMS_IN_NAME]
    return {
        "corpus": [texts[j] for j in kept.tolist()],
        "vocab": np.array(terms),
        "document_term_matrix": counts,
        "document_topic_matrix": theta,
        "topic_term_matrix": posterior.phi,
        "document_representation": counts,
        "transform": transform,
        "topic_names": [f"{k} {' '.join(terms[v] for v in row)}" for k, row in enumerate(largest)],
        "topic_positions": None,
        "word_positions": None,
        "document_positions": None,
    }


def to_lda(posterior: Posterior, concentrations: npt.ArrayLike) -> LatentDirichletAllocation:
    """Return scikit-learn's LDA with these topics, fitted, for programs that take one.

    It is ready for ``transform``, ``score`` and ``perplexity`` of counts, one column per term of the corpus.
    Its ``components_`` are term counts, prior included; their rows divided by their sums are the posterior's
    phi. ``bound_`` is the perplexity of the fitted documents. `concentrations` are alpha, gamma and eta.

    LDA cannot say how sure the topics and their number are, has no unlisted topics, and no topic is more
    common than another (scikit-learn's prior of a document's topics is alpha / number of topics for all).
    """
    from scipy.special import psi
    from sklearn.decomposition import LatentDirichletAllocation

    corpus, n_topics = posterior.corpus, posterior.n_topics
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
    schedule: Timetable,
    settings: dict[str, Any],
    *,
    labels: Sequence[str] | None = None,
    held_out: xr.Dataset | None = None,
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
        The schedule of the chains: sweeps up to its burn-in (the start is sweep 0) are warm-up.
    settings
        The settings of the run, stored as JSON.
    labels
        What each topic is called, for a coordinate ``label`` of ``constant_data``.
    held_out
        Log probabilities of documents that the model was not fitted to, draw by draw
        (`franchise.predict.known_topics.LogPByDraw`).

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (numbers that do not depend on how topics are numbered, one per sweep; ``draw``
        is the sweep), ``sample_stats`` (what the moves did, NaN where they were not made, and seconds), both
        also as ``warmup_...``, ``constant_data`` (weight, support and stability of the topics) and
        ``observed_data`` (length of each document, occurrences of each term). ``sampling_time`` is the
        seconds of all chains together. With `held_out`, ``held_out_log_likelihood`` has log p(document |
        topics) for a few draws of each chain, the mixture of the document integrated out; ``sweep`` says
        which draws.

    Notes
    -----
    There is no group ``log_likelihood``, from which ArviZ computes leave-one-out scores. The chain's topics
    are counts that contain the words of every fitted document, with the topic of each word. Given these
    counts, the document's words are too likely, and importance weights cannot correct that. The log mean exp
    over the draws of ``held_out_log_likelihood``, summed over documents, is the expected log predictive
    density.
    """
    with needed("a DataTree", "arviz"):
        import xarray as xr

    about = _about(traces, schedule)
    moves = [name for name in dict.fromkeys(c for t in traces for c in t.columns) if "." in name]
    groups: dict[str, xr.Dataset] = {}
    for group, columns in (("posterior", _QUANTITIES), ("sample_stats", [*moves, "seconds"])):
        variables, coordinates = _by_chain(traces, columns)
        is_warmup = coordinates["draw"] <= schedule.burn_in
        sweeps = xr.Dataset(variables, coordinates)
        groups |= {group: sweeps.isel(draw=~is_warmup), f"warmup_{group}": sweeps.isel(draw=is_warmup)}
    found = {name: ("topic", getattr(posterior, name)) for name in ("weights", "support", "stability")}
    about_topics: dict[str, Any] = {"topic": np.arange(len(posterior.phi))}
    if labels is not None:
        about_topics["label"] = ("topic", list(labels))
    groups["constant_data"] = xr.Dataset(found, about_topics)
    corpus = posterior.corpus
    groups["observed_data"] = xr.Dataset(
        {
            "document_length": ("document", corpus.document_lengths),
            "term_count": ("term", corpus.term_counts),
        },
        {"document": list(corpus.document_names), "term": list(corpus.vocabulary)},
    )
    if held_out is not None:
        groups["held_out_log_likelihood"] = held_out
    tree = xr.DataTree.from_dict({name: data.assign_attrs(about) for name, data in groups.items()})
    tree.attrs = {**about, "settings": json.dumps(settings, default=str)}
    return tree


def _about(traces: Sequence[Trace], schedule: Timetable) -> dict[str, Any]:
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


def _rows_to_one(table: Floats) -> Floats:
    return np.asarray(table / table.sum(axis=1, keepdims=True))
