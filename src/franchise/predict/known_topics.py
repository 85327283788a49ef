"""The topics of a fitted model for new documents: the one way to their mixtures and scores."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from franchise._ray import OnRay
from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.corpus.corpus import offsets_of
from franchise.corpus.documents import Encoded
from franchise.corpus.doubts import doubts_about_held_out
from franchise.errors import SettingsError
from franchise.model.state import Array
from franchise.predict import heldout
from franchise.predict.fixed_topics import mixtures
from franchise.predict.on_ray import (
    Done,
    densities_on_ray,
    in_pieces,
    mixtures_on_ray,
    scores_on_ray,
    words_a_piece,
)
from franchise.predict.paper_heldout import PaperHeldOut, paper_held_out
from franchise.predict.stacking import OfChain, Stacked, check_to_compare, densities, mixture_weights, stacked
from franchise.sampling import Chain, Draw
from franchise.sampling.run import threads

_PAPER_SWEEPS = 50
_METHODS: dict[str, Any] = {
    "completion": heldout.document_completion,
    "left-to-right": heldout.left_to_right,
}


class LogPByDraw(NamedTuple):
    """What single draws say of new documents."""

    log_p: Array  # (chain, draw, document), by left to right
    chains: list[int]  # their numbers
    sweeps: Array  # (chain, draw)
    n_j: Array  # words of each document
    document_names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KnownTopics:
    """Topics that new documents can be compared with, from several draws.

    Parameters
    ----------
    corpus
        Whose terms new documents are brought into (`franchise.corpus.documents.encode`).
    draws
        Draws of the topics.
    columns
        For each draw the column of each of its topics, -1 for one that is not listed.
    n_topics
        How many topics are listed.
    chain
        A chain with its documents, for the number of the paper's program; None where there is none.
    chains
        The draws of each chain, to compare the chains.
    """

    corpus: Corpus
    draws: Sequence[Draw]
    columns: Sequence[Array]
    n_topics: int
    chain: Chain | None = None
    chains: Sequence[OfChain] = ()

    def mixtures(
        self, new: Encoded, jobs: int | None = None, ray: OnRay | None = None, done: Done | None = None
    ) -> Array:
        """Return the proportions of the listed topics, one row per document, summing to one.

        On a cluster, if one is given, which changes no bit; `done` is then called with how many more
        documents are done.
        """
        if ray is None:
            n_columns = self.n_topics + 1
            return _listed(
                mixtures(self.draws, new.arrays, self.columns, n_columns, jobs=_threads(new, jobs))
            )
        pieces = in_pieces(new, self.words_a_piece())
        return np.concatenate([theta for _, theta in self.mixtures_of_pieces(pieces, ray, done)])

    def mixtures_of_pieces(
        self, pieces: Iterable[Encoded], ray: OnRay, done: Done | None = None
    ) -> Iterator[tuple[Encoded, Array]]:
        """Yield pieces of the documents, in their order, with their proportions, found on a cluster."""
        n_columns = self.n_topics + 1
        found = mixtures_on_ray(ray, self.draws, self.columns, n_columns, pieces, done)
        return ((piece, _listed(theta)) for piece, theta in found)

    def words_a_piece(self, method: str = "completion") -> int:
        """Return about how many words a piece for a cluster should have."""
        return words_a_piece(self.draws, method)

    def held_out(
        self,
        new: Encoded,
        method: str = "completion",
        jobs: int | None = None,
        chain_weights: object = None,
        ray: OnRay | None = None,
        done: Done | None = None,
        **options: Any,
    ) -> heldout.HeldOut | PaperHeldOut:
        """Return the held-out log-likelihood per word.

        Parameters
        ----------
        new
            The documents.
        method
            ``"completion"``, ``"left-to-right"`` (`franchise.predict.heldout`), or ``"paper"``
            (`franchise.predict.paper_heldout`), which needs the chain.
        jobs
            Threads; None or -1 for all cores.
        chain_weights
            How much each chain counts; None: as much as it has draws.
        ray
            The cluster to find it on, if any; it changes no bit.
        done
            Called, with a cluster, with how many more documents are done.
        options
            More options of the method.
        """
        if ray is not None:
            pieces = in_pieces(new, self.words_a_piece(method))
            return self.held_out_of_pieces(pieces, method, ray, chain_weights, done, 5, **options)
        _warn_of(new.arrays.doc_ptr)
        if chain_weights is not None:
            weights = mixture_weights(chain_weights, len(self.chains))
            found = densities(self.chains, new.arrays, method, jobs=_threads(new, jobs), **options)
            return found.held_out(weights)
        if method == "paper":
            return self._paper_held_out(new, **options)
        return _METHODS[_known(method)](self.draws, new.arrays, jobs=_threads(new, jobs), **options)

    def held_out_of_pieces(
        self,
        pieces: Iterable[Encoded],
        method: str,
        ray: OnRay,
        chain_weights: object = None,
        done: Done | None = None,
        stacklevel: int = 4,
        **options: Any,
    ) -> heldout.HeldOut:
        """Return the held-out log-likelihood of documents that come in pieces, found on a cluster.

        Of a document nothing stays here but its score.
        """
        if method == "paper":
            raise SettingsError(
                "method='paper': it goes through the documents one after the other, which no cluster makes "
                "faster; leave out the cluster, or give another method",
                code="conflicting-settings",
            )
        chains, weights = [OfChain(0, self.n_topics, self.draws)], np.ones(1)
        if chain_weights is not None:
            chains, weights = list(self.chains), mixture_weights(chain_weights, len(self.chains))
        log_p, n_j, lengths = [], [], []
        name = ""
        scores = scores_on_ray(ray, chains, weights, _known(method), pieces, done, **options)
        for piece, found in scores:
            name = found.method
            log_p.append(found.log_p)
            n_j.append(found.n_j)
            lengths.append(np.diff(piece.arrays.doc_ptr))
        _warn_of(offsets_of(np.concatenate(lengths)), stacklevel)
        return heldout.put_together(name, np.concatenate(log_p), np.concatenate(n_j))

    def stacked(
        self,
        new: Encoded,
        method: str = "completion",
        jobs: int | None = None,
        ray: OnRay | None = None,
        done: Done | None = None,
        **options: Any,
    ) -> Stacked:
        """Return how well each chain predicts, and weights of the chains (`predict.stacking`)."""
        if not self.chains:
            raise SettingsError(
                "there are no chains to compare: give a model folder", code="incomplete-model"
            )
        _warn_of(new.arrays.doc_ptr)
        if ray is None:
            found = densities(self.chains, new.arrays, method, jobs=_threads(new, jobs), **options)
        else:
            check_to_compare(method)
            pieces = in_pieces(new, self.words_a_piece(method))
            found = densities_on_ray(ray, self.chains, method, pieces, done, **options)
        return stacked(self.chains, found)

    def log_p_by_draw(self, new: Encoded, jobs: int | None = None, **options: Any) -> LogPByDraw:
        """Return the log probability of each document given each of a few draws of each chain."""
        n_draws = min(len(chain.draws) for chain in self.chains)
        draws = [draw for chain in self.chains for draw in chain.draws[:n_draws]]
        found = heldout.left_to_right_densities(
            [[draw] for draw in draws], new.arrays, jobs=_threads(new, jobs), **options
        )
        shape = len(self.chains), n_draws
        return LogPByDraw(
            log_p=found.log_p.reshape(*shape, -1),
            chains=[chain.number for chain in self.chains],
            sweeps=np.array([draw.sweep for draw in draws]).reshape(shape),
            n_j=found.n_j,
            document_names=new.document_names,
        )

    def _paper_held_out(self, new: Encoded, sweeps: int = _PAPER_SWEEPS, **options: Any) -> PaperHeldOut:
        if self.chain is None:
            raise SettingsError(
                "method='paper' needs the model's own documents; give a model folder, or for a .bin use "
                "`franchise hdp`",
                code="incomplete-model",
            )
        chain = self.chain
        test = Corpus(new.arrays.x, new.arrays.doc_ptr, chain.corpus.vocabulary, new.document_names)
        return paper_held_out(chain.corpus, chain.state, chain.priors, test, sweeps=sweeps, **options)


def _listed(theta: Array) -> Array:
    """Return the proportions without what no listed topic has."""
    listed = theta[:, :-1]
    return listed / listed.sum(axis=1, keepdims=True)


def _known(method: str) -> str:
    if not is_one_of(method, _METHODS):
        raise SettingsError(
            f"method={method!r}: give 'completion', 'left-to-right' or 'paper'", code="unknown-choice"
        )
    return method


def _warn_of(doc_ptr: Array, stacklevel: int = 4) -> None:
    for doubt in doubts_about_held_out(doc_ptr):
        warnings.warn(doubt, stacklevel=stacklevel)  # where the user's call is, by way of the estimator


def _threads(new: Encoded, jobs: int | None) -> int:
    return threads(jobs, new.arrays.doc_ptr.size - 1)
