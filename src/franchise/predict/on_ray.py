"""New documents on a cluster: pieces of them as Ray's tasks, with the topics sent once.

A document's numbers depend on its own words, the draws and the seed alone, so pieces change no bit. What a
worker needs of a draw is its topics, not the documents that they were fitted to.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise._ray import OnRay, in_tasks
from franchise.corpus import CorpusArrays, Encoded
from franchise.model.state import Array
from franchise.predict.fixed_topics import mixtures
from franchise.predict.heldout import Densities
from franchise.predict.stacking import OfChain, densities
from franchise.sampling import Draw

Done = Callable[[int], None]  # is told how many more documents are done

_WORDS_A_PIECE = 100_000  # a second or two, of which the topics' share is small
_ENTRIES_A_WORD = 4  # of topics: to lay these out takes a task about as long as this share of its words
_AS_A_DOCUMENT = 20  # words: what an empty document costs


def words_a_piece(draws: Sequence[Draw], method: str = "completion") -> int:
    """Return about how many words to do at a time, so that the time goes into these."""
    entries = sum(draw.topic_terms.nnz for draw in draws)
    words = max(_WORDS_A_PIECE, entries // _ENTRIES_A_WORD)
    return words // 10 if method == "left-to-right" else words  # whose time grows with the square of lengths


def in_pieces(new: Encoded, words: int) -> Iterator[Encoded]:
    """Cut documents into pieces of about so many words; the last piece may be small."""
    doc_ptr = new.arrays.doc_ptr
    n = doc_ptr.size - 1
    work = doc_ptr + _AS_A_DOCUMENT * np.arange(n + 1)
    begin = 0
    while begin < n or begin == 0:
        end = min(max(int(np.searchsorted(work, work[begin] + words)), begin + 1), n)
        own = doc_ptr[begin : end + 1]
        arrays = CorpusArrays(new.arrays.x[own[0] : own[-1]], own - own[0], new.arrays.n_terms)
        yield Encoded(arrays, new.unknown[begin:end], new.document_names[begin:end])
        begin = max(end, 1)


# ---------------------------------------------------------------- mixtures


class _Mixtures(NamedTuple):
    """What all pieces need."""

    draws: list[Draw]
    columns: list[Array]
    n_columns: int


def mixtures_on_ray(
    where: OnRay,
    draws: Sequence[Draw],
    columns: Sequence[Array],
    n_columns: int,
    pieces: Iterable[Encoded],
    done: Done | None = None,
) -> Iterator[tuple[Encoded, Array]]:
    """Yield the documents of each piece and their mixtures (`predict.fixed_topics.mixtures`)."""
    shared = _Mixtures(_topics_alone(draws), [np.array(own) for own in columns], n_columns)
    return _told(done, in_tasks(where, _mixtures_of, shared, ((piece, piece.arrays) for piece in pieces)))


def _mixtures_of(shared: _Mixtures, arrays: CorpusArrays) -> Array:
    return mixtures(shared.draws, arrays, shared.columns, shared.n_columns)


# ---------------------------------------------------------------- scores


class _Scores(NamedTuple):
    """What all pieces need."""

    chains: list[OfChain]
    method: str
    options: dict[str, Any]
    weights: Array | None  # of the chains; None for what each says by itself


class Scored(NamedTuple):
    """What a mixture of chains says of documents."""

    method: str
    log_p: Array  # of each document's scored words
    n_j: Array  # how many these are


def scores_on_ray(
    where: OnRay,
    chains: Sequence[OfChain],
    weights: Array,
    method: str,
    pieces: Iterable[Encoded],
    done: Done | None = None,
    **options: Any,
) -> Iterator[tuple[Encoded, Scored]]:
    """Yield the documents of each piece and their log probabilities by a mixture of chains."""
    return _scores(where, chains, method, options, weights, pieces, done)


def densities_on_ray(
    where: OnRay,
    chains: Sequence[OfChain],
    method: str,
    pieces: Iterable[Encoded],
    done: Done | None = None,
    **options: Any,
) -> Densities:
    """Return what each chain says of documents (`predict.stacking.densities`)."""
    each = _scores(where, chains, method, options, None, pieces, done)
    found: list[Densities] = [one for _, one in each]
    begins = np.cumsum([0, *(one.n_j.size for one in found)])
    return Densities(
        found[0].method,
        np.concatenate([one.log_p for one in found], axis=1),
        np.concatenate([one.document + begin for one, begin in zip(found, begins)]),
        np.concatenate([one.n_j for one in found]),
    )


def _scores(
    where: OnRay,
    chains: Sequence[OfChain],
    method: str,
    options: dict[str, Any],
    weights: Array | None,
    pieces: Iterable[Encoded],
    done: Done | None,
) -> Iterator[tuple[Encoded, Any]]:
    bare = [chain._replace(draws=_topics_alone(chain.draws)) for chain in chains]
    shared = _Scores(bare, method, options, weights)
    return _told(done, in_tasks(where, _scores_of, shared, ((piece, piece.arrays) for piece in pieces)))


def _scores_of(shared: _Scores, arrays: CorpusArrays) -> Densities | Scored:
    found = densities(shared.chains, arrays, shared.method, **shared.options)
    if shared.weights is None:
        return found
    return Scored(found.method, found.by_document(shared.weights), found.n_j)


def _told(done: Done | None, found: Iterator[tuple[Encoded, Any]]) -> Iterator[tuple[Encoded, Any]]:
    for piece, result in found:
        if done is not None:
            done(len(piece.document_names))
        yield piece, result


def _topics_alone(draws: Sequence[Draw]) -> list[Draw]:
    """Return draws without the documents that they were fitted to, and in memory."""
    return [
        Draw(
            sweep=draw.sweep,
            names=np.array(draw.names),
            topic_terms=sp.csr_array(draw.topic_terms, copy=True),
            document_topics=sp.csr_array((0, draw.names.size), dtype=np.int32),
            m_k=np.array(draw.m_k),
            concentrations=np.array(draw.concentrations),
        )
        for draw in draws
    ]
