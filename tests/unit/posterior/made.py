"""Hand-made draws and traces: what a run would have left, with a truth that is known."""

import numpy as np
import scipy.sparse as sp

from franchise.corpus import Corpus
from franchise.posterior.estimates import Posterior
from franchise.sampling import Draw, Trace

CONCENTRATIONS = (0.7, 1.3, 0.2)  # alpha, gamma, eta


def draw_of_counts(topic_terms, sweep: int = 0) -> Draw:
    """Return a draw of which only the topics matter: all words are in one document."""
    counts = np.asarray(topic_terms, np.int32)
    return Draw(
        sweep,
        np.arange(len(counts)),
        sp.csr_array(counts),
        sp.csr_array(counts.sum(axis=1, keepdims=True).T),
        np.ones(len(counts), np.int64),
        np.array(CONCENTRATIONS),
    )


def draw_of_words(corpus: Corpus, z, tables=None, concentrations=CONCENTRATIONS, sweep: int = 0) -> Draw:
    """Return the draw in which word i of the corpus has topic z[i]; all topics 0, ..., K - 1 have words."""
    documents = np.repeat(np.arange(corpus.n_documents), corpus.document_lengths)
    n_topics = int(np.max(z)) + 1
    topic_terms = np.zeros((n_topics, corpus.n_terms), np.int32)
    document_topics = np.zeros((corpus.n_documents, n_topics), np.int32)
    np.add.at(topic_terms, (z, corpus.x), 1)
    np.add.at(document_topics, (documents, z), 1)
    tables = (document_topics > 0).sum(axis=0) if tables is None else np.asarray(tables)
    return Draw(
        sweep,
        np.arange(n_topics),
        sp.csr_array(topic_terms),
        sp.csr_array(document_topics),
        tables,
        np.array(concentrations),
    )


def one_document(n_words: int, n_terms: int) -> Corpus:
    """Return a corpus for draws of which only the topics matter."""
    return Corpus(np.zeros(n_words, int), [0, n_words], [f"w{v}" for v in range(n_terms)])


def posterior_of_counts(chains) -> Posterior:
    """Return the posterior of draws given as topics by terms, chain by chain; all have as many words."""
    draws = [[draw_of_counts(counts) for counts in chain] for chain in chains]
    first = draws[0][0].topic_terms
    return Posterior(one_document(int(first.sum()), first.shape[1]), draws, [])


def trace_of(n_topics, **columns) -> Trace:
    """Return a trace with these numbers of topics, from sweep 1 on; what is not given is 1."""
    trace = Trace()
    names = ["n_tables", "log_p_tables", "log_p_topics", "log_p_words", "log_joint", "log_prior"]
    names += ["alpha", "gamma", "eta", "seconds"]
    for i, k in enumerate([n_topics[0], *n_topics]):  # the start is sweep 0
        row = {name: float(columns[name][max(i - 1, 0)]) if name in columns else 1.0 for name in names}
        trace.append({"sweep": i, "n_topics": int(k), **row}, {})
    return trace
