"""What the draws say: how many topics, which, how large, in which documents, each with its interval.

The estimates of one draw, with n counts of words and m counts of tables::

    phi_kv = (n_kv + eta) / (n_k + V eta)          beta_k = m_k / (m + gamma)
    theta_jk = (n_jk + alpha beta_k) / (n_j + alpha)

What is left of beta, gamma / (m + gamma), is a topic not seen yet, in which all terms are equally likely.
Topics of different draws are put together by `posterior.align`; *listed* are as many of them as the median
of K, those of the largest support. What other topics have of a document is its *unlisted* part.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import Documents
from franchise._settings import whole_number
from franchise.corpus import Corpus
from franchise.errors import FranchiseError, SettingsError
from franchise.posterior.align import Alignment, align
from franchise.sampling import Draw, Trace

LEVEL = 0.95
# Points per interval, over all draws: the ends of the interval are then good to about a tenth of its width.
_POINTS = 1000
# Cells of documents by topics: the most that are kept, and how many are in memory at a time if there are
# more, few enough for the cache of a processor.
_MOST_KEPT, _CELLS = 2**24, 2**20


class Posterior:
    """The results of a run.

    Parameters
    ----------
    corpus
        The documents.
    draws
        The kept draws, chain by chain.
    traces
        The trace of each of these chains.
    mode
        The draw of the highest log joint (the paper's mode).
    find_support
        Returns the share of short runs that found each topic, given topics by terms; None without such runs.
    alignment
        Which topics of different draws are the same; None if not known yet.

    Attributes
    ----------
    n_topics_draws
        The number of topics in each draw.
    n_topics_median, n_topics_interval
        The median of these, and their central 95%. If the chains do not agree, no chain has this range.
    n_topics, members, read_as
        How many topics are listed, as many as the median or fewer where some are merged or hidden
        (`posterior.reading`); which ones each of them is; and what is merged and hidden, in words.
    n_topics_by_chain
        The central 95% of each chain by itself.
    """

    def __init__(
        self,
        corpus: Corpus,
        draws: Sequence[Sequence[Draw]],
        traces: Sequence[Trace],
        mode: Draw | None = None,
        find_support: Callable[[Array], Array] | None = None,
        alignment: Alignment | None = None,
    ) -> None:
        if not draws or not all(draws):
            raise FranchiseError("there are no draws; run the chains past their burn-in", code="no-draws")
        self.corpus, self.draws, self.traces, self.mode = corpus, draws, traces, mode
        self.flat_draws = [draw for chain in draws for draw in chain]
        self.n_topics_draws = np.array([draw.names.size for draw in self.flat_draws])
        self.n_topics = int(np.quantile(self.n_topics_draws, 0.5, method="inverted_cdf"))
        self.n_topics_interval = _central(self.n_topics_draws)
        self.n_topics_by_chain = [_central([draw.names.size for draw in chain]) for chain in draws]
        self.n_topics_median, self.read_as = self.n_topics, ""
        self.members: list[tuple[int, ...]] = [(k,) for k in range(self.n_topics)]
        self._find_support, self._alignment = find_support, alignment

    # ------------------------------------------------------------ topics

    @cached_property
    def run_support(self) -> Array | None:
        """Share of the independent short runs that found each listed topic; None if there were no runs."""
        return None if self._find_support is None else self._find_support(self.phi)

    @cached_property
    def alignment(self) -> Alignment:
        """Which topics of different draws are the same."""
        return self._alignment or align(self.draws)

    @cached_property
    def _listed(self) -> Array:
        """The clusters that are listed, in the order of their weight.

        There are always enough clusters: a draw has at most one topic in each, and the draw with the median K
        has `n_topics` topics.
        """
        first = np.arange(self.n_topics)  # clusters come by support, then by weight
        return first[np.argsort(-self._mean_weights[first], kind="stable")]

    @cached_property
    def _cluster_weights(self) -> Array:
        """Share of the words, draw by cluster; 0 where a draw does not have the cluster."""
        weights = np.zeros((len(self.flat_draws), self.alignment.support.size))
        for row, draw, clusters in zip(weights, self.flat_draws, self.alignment.clusters, strict=True):
            row[clusters] = draw.topic_terms.sum(axis=1) / self.corpus.n_words
        return weights

    @cached_property
    def _mean_weights(self) -> Array:
        return self._cluster_weights.mean(axis=0)

    @cached_property
    def columns(self) -> list[Array]:
        """For each draw, the listed topic of each of its topics; `n_topics` for those not listed."""
        column = np.full(self.alignment.support.size, self.n_topics)
        column[self._listed] = np.arange(self.n_topics)
        return [column[clusters] for clusters in self.alignment.clusters]

    @cached_property
    def phi(self) -> Array:
        """Topics by terms: the mean of the topic's probabilities over the draws that have it."""
        total = np.zeros((self.n_topics, self.corpus.n_terms))
        times = np.zeros(self.n_topics)
        for draw, column in zip(self.flat_draws, self.columns, strict=True):
            here = np.flatnonzero(column < self.n_topics)
            _, sizes = self._smoothing(draw)
            rows = draw.topic_terms[here]
            seen = sp.csr_array(
                (rows.data / np.repeat(sizes[here], np.diff(rows.indptr)), rows.indices, rows.indptr),
                shape=rows.shape,
            )
            # Rows of one draw are different topics, so nothing is added twice to one place.
            _add_rows(total, column[here], seen)
            times[column[here]] += 1
        total /= times[:, None]
        total += self._phi_elsewhere[:, None]
        return total

    @cached_property
    def _phi_elsewhere(self) -> Array:
        """The value of phi for terms that a topic does not have in any draw."""
        total, times = np.zeros((2, self.n_topics))
        for draw, column in zip(self.flat_draws, self.columns, strict=True):
            here = np.flatnonzero(column < self.n_topics)
            eta, sizes = self._smoothing(draw)
            total[column[here]] += eta / sizes[here]
            times[column[here]] += 1
        return total / times

    def phi_interval(self, topic: int, terms: Sequence[int] | Array, level: float = LEVEL) -> Array:
        """Return the lower and upper bound of a topic's probabilities of some terms, (terms, 2).

        They cover the draws that have the topic, and the uncertainty within each: given its counts, a draw's
        probability of a term is Beta(n_kv + eta, n_k - n_kv + (V - 1) eta).
        """
        topic = whole_number("topic", topic, 0, self.n_topics - 1)
        chosen, tails = _numbers("terms", terms, self.corpus.n_terms), _tails(level)
        shapes, others = [], []
        for draw, column in zip(self.flat_draws, self.columns, strict=True):
            _, _, eta = draw.concentrations
            for k in np.flatnonzero(column == topic):
                counts, row = draw.topic_terms, np.full(self.corpus.n_terms, eta)
                own = slice(*counts.indptr[k : k + 2])  # quicker than SciPy's way to a row
                row[counts.indices[own]] += counts.data[own]
                shapes.append(row[chosen])
                others.append(np.maximum(row.sum() - shapes[-1], 0.0))
        points, bounds = -(-_POINTS // len(shapes)), np.zeros((chosen.size, 2))
        of_terms = zip(bounds, chosen, np.transpose(shapes), np.transpose(others), strict=True)
        for bound, term, shape, other in of_terms:
            rng = np.random.default_rng([topic, term])  # the same answer, whatever else is asked for
            part = rng.standard_gamma(shape, (points, shape.size))
            rest = rng.standard_gamma(other, (points, shape.size))
            bound[:] = np.quantile(part / (part + rest), tails)
        return bounds

    @property
    def weights(self) -> Array:
        """Share of the words that each listed topic has, the mean over all draws."""
        return self._mean_weights[self._listed]

    def weights_interval(self, level: float = LEVEL) -> Array:
        """Return the lower and upper bound of each topic's share of the words, (topics, 2)."""
        return np.quantile(self.weights_by_draw, _tails(level), axis=0).T

    @property
    def weights_by_draw(self) -> Array:
        """Share of the words that each listed topic has in each draw, 0 where it is absent."""
        return self._cluster_weights[:, self._listed]

    @property
    def unlisted_weight(self) -> float:
        """Share of the words in topics that are not listed."""
        return max(0.0, 1.0 - float(self.weights.sum()))

    @property
    def support(self) -> Array:
        """Share of the draws that have each topic."""
        return self.alignment.support[self._listed]

    @property
    def chain_support(self) -> Array:
        """Share of the chains that have each topic in at least a tenth of their draws."""
        return self.alignment.chain_support[self._listed]

    @property
    def chain_counts(self) -> Array:
        """Number of the chains that have each topic in at least a tenth of their draws."""
        return np.rint(self.chain_support * len(self.draws)).astype(np.int64)

    @property
    def stability(self) -> Array:
        """How similar the topic is in the draws that have it, 1 for identical."""
        return self.alignment.stability[self._listed]

    @cached_property
    def similarity(self) -> Array:
        """Affinity (`posterior.align`) of each two listed topics, 1 for the same.

        It is that of the words in the topics, without eta, which would make all small topics similar.
        """
        seen = np.maximum(self.phi - self._phi_elsewhere[:, None], 0.0)
        roots = np.sqrt(seen / seen.sum(axis=1, keepdims=True)).astype(np.float32)
        return np.clip(roots @ roots.T, 0.0, 1.0)

    @property
    def nearest(self) -> Array:
        """The most similar other topic of each; the topic itself if it is the only one."""
        return np.argmax(self._other_similarity, axis=1)

    @property
    def nearest_similarity(self) -> Array:
        """The similarity of the nearest other topic; 0 if there is none."""
        return np.maximum(self._other_similarity.max(axis=1), 0.0)

    @property
    def _other_similarity(self) -> Array:
        return self.similarity - 2.0 * np.eye(self.n_topics, dtype=np.float32)

    # ------------------------------------------------------------ documents

    @cached_property
    def document_topics(self) -> Array:
        """Documents by topics: mean proportions; the last column is the unlisted part.

        For many documents this takes much memory; `mixtures` returns some rows, `blocks` all of them in turn.
        """
        rows = np.empty((self.corpus.n_documents, self.n_topics + 1))
        for first in range(0, len(rows), self._at_once):
            some = slice(first, first + self._at_once)
            rows[some] = self._mixtures(some)
        return rows

    def mixtures(self, documents: Documents) -> Array:
        """Return the rows of `document_topics` of some documents, a range or numbers."""
        n_cells = self.corpus.n_documents * (self.n_topics + 1)
        if "document_topics" in vars(self) or n_cells <= _MOST_KEPT:
            return self.document_topics[documents]
        return self._mixtures(documents)

    def blocks(self) -> Iterator[tuple[int, Array]]:
        """Yield all rows of `document_topics`, some at a time, with the number of the first."""
        for first in range(0, self.corpus.n_documents, self._at_once):
            yield first, self.mixtures(slice(first, first + self._at_once))

    @property
    def _at_once(self) -> int:
        return max(1, _CELLS // (self.n_topics + 1))

    def _mixtures(self, documents: Documents) -> Array:
        total = np.zeros((self._lengths[documents].size, self.n_topics + 1))
        for draw, column in zip(self.flat_draws, self.columns, strict=True):
            counts, prior, rest, lengths = self._mixture(draw, documents)
            to = sp.csr_array(
                (np.ones(column.size), (np.arange(column.size), column)),
                shape=(column.size, self.n_topics + 1),
            )
            share = (counts @ to).toarray() + to.T @ prior
            share[:, -1] += rest
            share /= lengths[:, None]
            total += share
        total /= len(self.flat_draws)
        return total

    def document_topics_interval(self, documents: Sequence[int] | Array, level: float = LEVEL) -> Array:
        """Return bounds of the proportions of some documents, (documents, topics, 2).

        They cover the draws, and the uncertainty within each: given its counts, a draw's proportions are
        Dirichlet(n_jk + alpha beta_k). A topic that a draw does not have is 0 there.
        """
        chosen, tails = _numbers("documents", documents, self.corpus.n_documents), _tails(level)
        points, bounds = -(-_POINTS // len(self.flat_draws)), np.zeros((chosen.size, self.n_topics, 2))
        for bound, j in zip(bounds, chosen, strict=True):
            rng, theta = np.random.default_rng(j), []  # the same answer, whatever else is asked for
            for draw, column in zip(self.flat_draws, self.columns, strict=True):
                counts, prior, rest, _ = self._mixture(draw, np.array([j]))
                shape = np.bincount(column, counts.toarray()[0] + prior, self.n_topics + 1)
                shape[-1] += rest
                theta.append(rng.dirichlet(shape, points)[:, :-1])
            bound[:] = np.quantile(np.concatenate(theta), tails, axis=0).T
        return bounds

    # ------------------------------------------------------------ averages that need no labels

    def predictive(self, documents: Sequence[int] | Array) -> Array:
        """Return the probability of each term as the next word of some documents, (documents, terms)."""
        chosen = _numbers("documents", documents, self.corpus.n_documents)
        total = np.zeros((chosen.size, self.corpus.n_terms))
        for draw, theta, rest in self._thetas(chosen):
            eta, sizes = self._smoothing(draw)
            share = theta / sizes
            total += share @ draw.topic_terms + eta * share.sum(axis=1, keepdims=True)
            total += rest[:, None] / self.corpus.n_terms
        return total / len(self.flat_draws)

    def co_assignment(self, documents: Sequence[int] | Array) -> Array:
        """Return how probable it is that words of two documents have one topic, (documents, documents).

        That is the sum over topics of the products of their proportions; topics not seen yet are left out.
        """
        chosen = _numbers("documents", documents, self.corpus.n_documents)
        total = np.zeros((chosen.size, chosen.size))
        for _, theta, _ in self._thetas(chosen):
            total += theta @ theta.T
        return total / len(self.flat_draws)

    def term_co_assignment(self, terms: Sequence[int] | Array) -> Array:
        """Return how probable it is that occurrences of two terms have one topic, (terms, terms).

        An occurrence is compared with all, itself included. NaN for a term that does not occur.
        """
        chosen = _numbers("terms", terms, self.corpus.n_terms)
        occurrences = self.corpus.term_counts[chosen]
        total = np.zeros((chosen.size, chosen.size))
        with np.errstate(invalid="ignore"):
            for draw in self.flat_draws:
                share = draw.topic_terms[:, chosen].toarray() / occurrences
                total += share.T @ share
        return total / len(self.flat_draws)

    # ------------------------------------------------------------ of one draw

    def _smoothing(self, draw: Draw) -> tuple[float, Array]:
        """Return eta, and n_k + V eta of each topic."""
        _, _, eta = map(float, draw.concentrations)
        return eta, draw.topic_terms.sum(axis=1) + self.corpus.n_terms * eta

    @cached_property
    def _lengths(self) -> Array:
        return self.corpus.document_lengths

    def _mixture(self, draw: Draw, documents: Documents) -> tuple[sp.csr_array, Array, float, Array]:
        """Return, of some documents, n_jk, alpha beta_k, alpha times the rest of beta, and n_j + alpha."""
        alpha, gamma, _ = draw.concentrations
        scale = alpha / (draw.m_k.sum() + gamma)
        counts = draw.of_documents(documents)
        return counts, scale * draw.m_k, scale * gamma, self._lengths[documents] + alpha

    def _thetas(self, documents: Array) -> Iterator[tuple[Draw, Array, Array]]:
        """Yield each draw with the proportions of some documents and what is left of them."""
        for draw in self.flat_draws:
            counts, prior, rest, lengths = self._mixture(draw, documents)
            theta = (counts.toarray() + prior) / lengths[:, None]
            yield draw, theta, rest / lengths


def _numbers(name: str, given: Sequence[int] | Array, n: int) -> npt.NDArray[np.int64]:
    """Return numbers of terms or documents as an array."""
    numbers = np.asarray(given).reshape(-1)
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= n):
        raise SettingsError(
            f"{name}={given!r}: give whole numbers from 0 to {n - 1}", code="not-a-whole-number"
        )
    return numbers.astype(np.int64)


def _central(numbers: Sequence[int] | Array) -> tuple[int, int]:
    low, high = np.quantile(numbers, _tails(LEVEL), method="inverted_cdf")
    return int(low), int(high)


def _tails(level: float) -> list[float]:
    if not 0.0 < level < 1.0:
        raise SettingsError(f"level={level!r}: give a probability between 0 and 1", code="not-a-probability")
    # Rounded, or 0.025 would be a little more, and the first of 40 draws below it.
    return [round((1.0 - level) / 2.0, 12), round((1.0 + level) / 2.0, 12)]


def _add_rows(total: Array, rows: Array, values: sp.csr_array) -> None:
    """Add sparse rows to rows of a dense array, all different."""
    total[np.repeat(rows, np.diff(values.indptr)), values.indices] += values.data
