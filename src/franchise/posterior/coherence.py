"""How good topics are, judged by their top terms: coherence, diversity, exclusivity, effective terms.

Every function takes `phi`, one row of term probabilities per topic, and looks at the most probable terms of
each row. Coherence also asks a corpus which of these terms occur in the same documents: with D(v) the
number of documents in which term v occurs, D(v, w) those in which both do, and D all of them::

    u_mass  log (D(v, w) + 1) / D(w), w ranked above v      Mimno et al. (2011), equation 1
    c_npmi  log (p_vw / (p_v p_w)) / -log p_vw, p = D(.)/D  Bouma (2009)

each averaged over the pairs of a topic's top terms. Documents without words do not count.

Not here: c_v, which needs the order of the words (a window that slides over each text), and a corpus may
have been made from counts.

References
----------
- D. Mimno, H. Wallach, E. Talley, M. Leenders, A. McCallum (2011), Optimizing semantic coherence in topic
  models, EMNLP.
- G. Bouma (2009), Normalized (pointwise) mutual information in collocation extraction, GSCL.
- M. Röder, A. Both, A. Hinneburg (2015), Exploring the space of topic coherence measures, WSDM.
- A. Dieng, F. Ruiz, D. Blei (2020), Topic modeling in embedding spaces, TACL (diversity).
- The diagnostics of MALLET (exclusivity, effective number of words).
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from franchise._arrays import Floats, ranges_of
from franchise._settings import whole_number
from franchise.corpus import Corpus, arrays_of_shard, shards_of
from franchise.errors import CorpusError, SettingsError

Integers = npt.NDArray[np.int64]
_Columns = npt.NDArray[np.int32]

_WORDS_AT_ONCE = 4_000_000  # in which pairs of terms are looked for


def top_terms(phi: npt.ArrayLike, n: int = 10) -> Integers:
    """Return the numbers of each topic's most probable terms, most probable first.

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.
    n
        How many terms; all of them where the vocabulary is smaller.

    Returns
    -------
    numpy.ndarray
        Topics by `n`. Equally probable terms are in the order of their numbers.

    Examples
    --------
    >>> top_terms([[0.2, 0.2, 0.6]], 2)
    array([[2, 0]])
    """
    topics = _topics(phi)
    n = min(whole_number("n", n, 1), topics.shape[1])
    return np.array([_largest(row, n) for row in topics], dtype=np.int64).reshape(len(topics), n)


def coherence(phi: npt.ArrayLike, corpus: Corpus, *, measure: str = "c_npmi", n_terms: int = 10) -> Floats:
    """Return, for each topic, how much its top terms occur in the same documents.

    High: the terms of the topic really are used together, so people tend to find that it makes sense.
    Low: they only happen to be together.

    ``"c_npmi"`` is 1 where terms occur only together, 0 where they meet as often as by chance, and -1
    where they never meet. ``"u_mass"`` is about 0 where the less probable term of each pair is in every
    document that has the more probable one, and the lower the fewer of these it is in; compare it only
    within one corpus.

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.
    corpus
        The documents to judge by: those the topics were fitted to, or others over the same vocabulary.
    measure
        ``"c_npmi"`` or ``"u_mass"``.
    n_terms
        How many top terms of each topic; all of them where the vocabulary is smaller.

    Returns
    -------
    numpy.ndarray
        One number per topic; NaN for a topic fewer than two of whose top terms occur in the corpus.

    Notes
    -----
    Both are means over pairs, so that they do not grow with `n_terms`; Mimno et al. add the pairs up
    (multiply by ``n_terms * (n_terms - 1) / 2``). gensim's u_mass adds 1e-12 to the probability where Mimno
    et al. and this function add 1 to the count: there, one pair that never meets outweighs all others.

    Terms meet in c_npmi when they are in the same document. In gensim's (after Röder et al.) they meet within
    a window of ten words; with a window as long as the longest document it is the same as this one.
    A pair that never meets counts -1, the limit. A pair with a term that is in every document counts 0,
    also when both are: such a term says nothing about any other.

    A term that no document of `corpus` has says nothing: its pairs are left out.

    Examples
    --------
    >>> from franchise.corpus import from_tokens
    >>> corpus = from_tokens([["ant", "bee"], ["bee", "ant"], ["cat"], ["dog"]])
    >>> coherence([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]], corpus, n_terms=2)
    array([ 1., -1.])
    """
    if measure not in _PAIR_SCORES:
        known = " or ".join(repr(name) for name in _PAIR_SCORES)
        raise SettingsError(
            f"measure={measure!r}: give {known} (c_v is not offered: it needs a window that slides "
            "over the words in their order, and a corpus of counts has no order)",
            code="unknown-choice",
        )
    top = top_terms(phi, whole_number("n_terms", n_terms, 2))
    if np.shape(phi)[1] != corpus.n_terms:
        raise CorpusError(
            f"the topics are over {np.shape(phi)[1]:,} terms, the corpus over {corpus.n_terms:,}; "
            "give a corpus with the vocabulary that the topics were fitted to",
            code="vocabulary-mismatch",
        )
    terms, places = np.unique(top, return_inverse=True)
    columns = places.reshape(top.shape)
    together = np.zeros((*top.shape, top.shape[1]))  # of each topic, documents that have both of two terms
    column_of = np.full(corpus.n_terms, -1, np.int32)
    column_of[terms] = np.arange(terms.size)
    for ends, columns_of_words in _documents(corpus, column_of):
        occurs = _occurrence(ends, columns_of_words, terms.size)
        for of_topic, own in zip(together, columns, strict=True):
            part = occurs[:, own]
            of_topic += (part.T @ part).toarray()
    n_documents = int(corpus.documents_of_length[1:].sum())
    scores = [_mean_over_pairs(of_topic, n_documents, measure) for of_topic in together]
    return np.array(scores, dtype=np.float64)


def diversity(phi: npt.ArrayLike, n_terms: int = 25) -> float:
    """Return the share of different terms among the top terms of all topics (Dieng et al. 2020).

    High (1): every topic has terms of its own. Low: topics repeat each other.

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.
    n_terms
        How many top terms of each topic; all of them where the vocabulary is smaller.

    Returns
    -------
    float
        From 1 / number of topics to 1; NaN where there are no topics.

    Examples
    --------
    >>> diversity([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3]], n_terms=2)
    0.75
    """
    top = top_terms(phi, whole_number("n_terms", n_terms, 1))
    return np.unique(top).size / top.size if top.size else float("nan")


def exclusivity(phi: npt.ArrayLike, n_terms: int = 10) -> Floats:
    """Return, for each topic, how much its top terms belong to it alone (as in MALLET's diagnostics).

    It is the mean over the topic's top terms of phi_kv / sum over all topics of phi_kv.
    High (1): its top terms are rare in other topics. Low: other topics use them as well, as topics
    of general terms do.

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.
    n_terms
        How many top terms of each topic; all of them where the vocabulary is smaller.

    Returns
    -------
    numpy.ndarray
        One number per topic, from 0 to 1.

    Examples
    --------
    >>> exclusivity([[0.9, 0.1], [0.1, 0.9]], n_terms=1)
    array([0.9, 0.9])
    """
    topics = _topics(phi)
    top = top_terms(topics, whole_number("n_terms", n_terms, 1))
    own = np.take_along_axis(topics, top, axis=1)
    total = topics.sum(axis=0)[top]
    shares = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
    return np.asarray(shares.mean(axis=1))


def effective_terms(phi: npt.ArrayLike) -> Floats:
    """Return, for each topic, how many terms it effectively consists of: 1 / sum of phi_kv squared.

    A topic that spreads evenly over ten terms has 10. Low: a few terms are nearly the whole topic. High: it
    spreads over many, as topics of general terms do.

    It is MALLET's effective number of words. (The exponential of the entropy would count, in a large
    vocabulary, mostly the terms that a topic has only by its prior.)

    Parameters
    ----------
    phi
        Term probabilities, topics by terms.

    Returns
    -------
    numpy.ndarray
        One number per topic, from 1 to the size of the vocabulary.

    Examples
    --------
    >>> effective_terms([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    array([2., 1.])
    """
    return np.asarray(1.0 / np.square(_topics(phi)).sum(axis=1))


def _topics(phi: npt.ArrayLike) -> Floats:
    topics = np.asarray(phi, dtype=np.float64)
    if topics.ndim != 2:
        raise SettingsError(
            f"phi has {topics.ndim} dimensions; give one row of term probabilities per topic",
            code="wrong-shape",
        )
    return topics


def _largest(row: Floats, n: int) -> Integers:
    # Sorting only what can be among the first n is thirty times as quick as sorting a large vocabulary.
    candidates = np.flatnonzero(row >= np.partition(row, row.size - n)[row.size - n])
    return candidates[np.argsort(-row[candidates], kind="stable")[:n]]


def _documents(corpus: Corpus, column_of: _Columns) -> Iterator[tuple[Integers, _Columns]]:
    """Yield documents with some millions of words, or one: where each ends, and the columns of its words.

    Cells count as words. Of a corpus in shards, one shard at a time is read.
    """
    if corpus.keeps_cells:
        parts = iter([(corpus.cells.cell_ptr, corpus.cells.terms)])
    else:
        # `shards_of` only divides a corpus that is in memory.
        shards = shards_of(corpus, 1)
        parts = ((one.doc_ptr, one.x) for one in (arrays_of_shard(corpus, shard) for shard in shards))
    for ends, terms in parts:
        for begin, end in ranges_of(ends, _WORDS_AT_ONCE):
            yield ends[begin : end + 1] - ends[begin], column_of[terms[ends[begin] : ends[end]]]


def _occurrence(ends: Integers, columns: _Columns, n_terms: int) -> sp.csc_array:
    """Return documents by terms, 1.0 where the term occurs; `columns` are -1 for words of other terms."""
    rows = np.repeat(np.arange(ends.size - 1, dtype=np.int32), np.diff(ends))
    wanted = columns >= 0
    ones = np.ones(np.count_nonzero(wanted))
    shape = (ends.size - 1, n_terms)
    occurs = sp.coo_array((ones, (rows[wanted], columns[wanted])), shape=shape).tocsc()
    occurs.sum_duplicates()
    occurs.data[:] = 1.0
    return occurs


def _mean_over_pairs(together: Floats, n_documents: int, measure: str) -> float:
    """Score one topic: documents that have both of two of its top terms, in their order."""
    alone = together.diagonal()
    lower, upper = np.tril_indices(alone.size, -1)  # each term with those ranked above it
    known = (alone[lower] > 0) & (alone[upper] > 0)
    if not known.any():
        return float("nan")
    lower, upper = lower[known], upper[known]
    scores = _PAIR_SCORES[measure](together[lower, upper], alone[lower], alone[upper], n_documents)
    return float(scores.mean())


def _u_mass(together: Floats, lower: Floats, upper: Floats, n_documents: int) -> Floats:
    return np.asarray(np.log((together + 1.0) / upper))


def _npmi(together: Floats, lower: Floats, upper: Floats, n_documents: int) -> Floats:
    scores = np.full(together.size, -1.0)
    met = together > 0
    p = together[met] / n_documents
    pmi = np.log(p / (lower[met] / n_documents * upper[met] / n_documents))
    scores[met] = np.divide(pmi, -np.log(p), out=np.zeros_like(p), where=p < 1)
    return scores


_PAIR_SCORES = {"c_npmi": _npmi, "u_mass": _u_mass}
