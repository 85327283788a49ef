"""What MALLET's ``--diagnostics-file`` says of each topic, for a posterior.

MALLET looks at one state. Here, numbers that come from documents are computed for every draw, as MALLET does,
and averaged over the draws that have the topic; those that come from the terms use the mean phi.

With n_jk words of topic k in document j, N_k = sum_j n_jk, and the share (n_jk + alpha_k) / (n_j + alpha):

* ``document_entropy``: -sum_j (n_jk / N_k) log (n_jk / N_k)
* ``rank_1_docs``: of the documents with a word of the topic, the share in which no topic has more
* ``allocation_count``: of these documents, the share in which the topic's share is 0.3 or more
* ``allocation_ratio``: documents with a share of 0.5 or more, divided by those with 0.02 or more

Not here: token-doc-diff, which needs the topic of every word, and the measures of single words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from franchise._arrays import Array
from franchise.corpus import Corpus
from franchise.model.state import ALPHA, GAMMA
from franchise.posterior.coherence import coherence, effective_terms, exclusivity, top_terms
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 50_000  # documents
_SMALL, _LARGE, _HALF = 0.02, 0.3, 0.5  # shares of a document


def topic_diagnostics(posterior: Posterior, labels: Sequence[str], n_terms: int = 20) -> pd.DataFrame:
    """Return MALLET's diagnostics of the listed topics (`HDPTopicModel.topic_diagnostics`)."""
    import pandas as pd

    corpus, phi = posterior.corpus, posterior.phi
    top = top_terms(phi, n_terms)
    lengths = np.array([len(term) for term in corpus.vocabulary])
    pairs = top.shape[1] * (top.shape[1] - 1) / 2
    share = corpus.term_counts / corpus.n_words
    of_documents = _of_documents(posterior)
    return pd.DataFrame(
        {
            "topic": np.arange(posterior.n_topics),
            "label": list(labels),
            "tokens": posterior.weights * corpus.n_words,
            "document_entropy": of_documents[0],
            "word_length": lengths[top].mean(axis=1),
            "coherence": coherence(phi, corpus, measure="u_mass", n_terms=max(n_terms, 2)) * pairs,
            "uniform_dist": _divergence(phi, np.full(corpus.n_terms, 1.0 / corpus.n_terms)),
            "corpus_dist": _divergence(phi, share),
            "eff_num_words": effective_terms(phi),
            "rank_1_docs": of_documents[1],
            "allocation_ratio": of_documents[2],
            "allocation_count": of_documents[3],
            "exclusivity": exclusivity(phi, n_terms),
        }
    )


def _divergence(phi: Array, share: Array) -> Array:
    """Return sum_v phi_kv log (phi_kv / p_v) over the terms that occur."""
    used = (share > 0) & (phi > 0).all(axis=0)
    return np.asarray((phi[:, used] * np.log(phi[:, used] / share[used])).sum(axis=1))


def _of_documents(posterior: Posterior) -> Array:
    """Return entropy, rank 1, ratio and count of each topic: means over the draws that have it."""
    total = np.zeros((4, posterior.n_topics))
    times = np.zeros((4, posterior.n_topics))
    for draw, column in zip(posterior.flat_draws, posterior.columns, strict=True):
        found = _of_draw(draw, column < posterior.n_topics, posterior.corpus)
        listed = column[column < posterior.n_topics]
        # A ratio is not known where no document has the topic to that extent.
        total[:, listed] += np.nan_to_num(found)
        times[:, listed] += np.isfinite(found)
    return np.divide(total, times, out=np.full_like(total, np.nan), where=times > 0)


def _of_draw(draw: Draw, listed: Array, corpus: Corpus) -> Array:
    """Return the same of the listed topics of one draw."""
    n_topics = draw.names.size
    alpha_k = draw.concentrations[ALPHA] * draw.m_k / (draw.m_k.sum() + draw.concentrations[GAMMA])
    words, n_log_n, there, first, small, large, half = np.zeros((7, n_topics))
    for begin in range(0, corpus.n_documents, _AT_ONCE):
        counts = draw.of_documents(slice(begin, begin + _AT_ONCE)).sorted_indices()
        n, k = counts.data.astype(float), counts.indices
        in_document = np.diff(counts.indptr)
        has_words = in_document > 0
        most = np.maximum.reduceat(n, counts.indptr[:-1][has_words]) if n.size else n
        # The first of several with as many words, as in MALLET.
        is_most = np.flatnonzero(n == np.repeat(most, in_document[has_words]))
        of_row = np.repeat(np.arange(in_document.size), in_document)[is_most]
        is_first = is_most[np.unique(of_row, return_index=True)[1]]
        lengths = corpus.document_lengths[begin : begin + _AT_ONCE] + draw.concentrations[ALPHA]
        share = (n + alpha_k[k]) / np.repeat(lengths, in_document)
        words += np.bincount(k, n, n_topics)
        n_log_n += np.bincount(k, n * np.log(n), n_topics)
        there += np.bincount(k, minlength=n_topics)
        first += np.bincount(k[is_first], minlength=n_topics)
        for total, least in ((small, _SMALL), (large, _LARGE), (half, _HALF)):
            total += np.bincount(k[share >= least], minlength=n_topics)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.array([np.log(words) - n_log_n / words, first / there, half / small, large / there])
    return found[:, listed]
