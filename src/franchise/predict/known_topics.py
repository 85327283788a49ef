"""The topics of a fitted model, for mixtures and scores of new documents."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._draws import Draw
from franchise._extras import needed
from franchise._settings import whole_number
from franchise._threads import threads
from franchise.corpus import Corpus
from franchise.corpus.data_warnings import held_out_warnings
from franchise.corpus.documents import Encoded
from franchise.errors import SettingsError
from franchise.predict.fixed_topics import mixtures_with
from franchise.predict.heldout import densities, left_to_right_densities
from franchise.predict.largest import blocks_of, sparse_rows
from franchise.predict.stacking import OfChain, Stacked, mixture_weights, stacked

if TYPE_CHECKING:
    import xarray as xr
    from scipy.sparse import csr_array


class LogPByDraw(NamedTuple):
    """The log probabilities of new documents by single draws."""

    log_p: Array  # (chain, draw, document), by left to right
    chains: list[int]  # the numbers of the chains
    sweeps: Array  # (chain, draw)
    n_j: Array  # words of each document
    document_names: tuple[str, ...]

    def as_dataset(self) -> "xr.Dataset":
        """Return the log probabilities as an xarray Dataset."""
        with needed("a DataTree", "arviz"):
            import xarray as xr

        return xr.Dataset(
            {
                "documents": (("chain", "draw", "document"), self.log_p),
                "n_words": ("document", self.n_j),
            },
            {
                "chain": self.chains,
                "draw": np.arange(self.sweeps.shape[1]),
                "sweep": (("chain", "draw"), self.sweeps),
                "document": list(self.document_names),
            },
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KnownTopics:
    """Topics from several draws, for new documents.

    Parameters
    ----------
    corpus
        The corpus with the terms into which new documents are encoded (`franchise.corpus.documents.encode`).
    draws
        Draws of the topics.
    columns
        For each draw, the column of each of its topics; -1 if it is not listed.
    n_topics
        Number of listed topics.
    paper
        A function that computes the number of the paper's program for new documents; None if the model's own
        documents are missing.
    chains
        The draws of each chain, to compare chains.
    """

    corpus: Corpus
    draws: Sequence[Draw]
    columns: Sequence[Array]
    n_topics: int
    paper: Callable[..., Any] | None = None
    chains: Sequence[OfChain] = ()

    def mixtures(self, new: Encoded, jobs: int | None = -1) -> Array:
        """Return the proportions of the listed topics, one row per document; each row sums to one."""
        ((_, theta),) = self.mixtures_of_blocks([new], jobs)
        return theta

    def mixtures_of_blocks(
        self, blocks: Iterable[Encoded], jobs: int | None = -1
    ) -> Iterator[tuple[Encoded, Array]]:
        """Yield each block of documents with its `mixtures`, which do not depend on the blocks."""
        find = mixtures_with(self.draws, self.columns, self.n_topics + 1)
        for block in blocks:
            listed = find(block.arrays, _threads(block, jobs))[:, :-1]  # without the share of unlisted topics
            yield block, listed / listed.sum(axis=1, keepdims=True)

    def sparse_mixtures(self, new: Encoded, top: int | None = None, jobs: int | None = -1) -> "csr_array":
        """Return the `mixtures` as a CSR matrix; with `top`, only the largest topics of each document."""
        from scipy.sparse import csr_array, vstack

        parts = [csr_array((0, self.n_topics))]
        if top is not None:
            whole_number("top", top, 1)
        for _, theta in self.mixtures_of_blocks(blocks_of(new), jobs):
            parts.append(sparse_rows(theta, top))
        return csr_array(vstack(parts, format="csr"))

    def held_out(
        self,
        new: Encoded,
        method: str = "completion",
        jobs: int | None = -1,
        chain_weights: object = None,
        **options: Any,
    ) -> Any:
        """Return the held-out log-likelihood per word, as `HeldOut`, or `PaperHeldOut` for ``"paper"``.

        Parameters
        ----------
        new
            The documents.
        method
            ``"completion"``, ``"left-to-right"`` (`franchise.predict.heldout`), or ``"paper"``
            (`franchise.sampling.paper_heldout`), which needs the model's own documents.
        jobs
            Threads; -1 for all cores, None for one.
        chain_weights
            Weights of the chains; None weights each chain by its number of draws.
        options
            More options of the method.
        """
        _warn_of(new.arrays.doc_ptr)
        if chain_weights is None and method == "paper":
            if self.paper is None:
                raise SettingsError(
                    "method='paper' needs the model's own documents; give a model folder, or for a .bin use "
                    "`franchise hdp`",
                    code="incomplete-model",
                )
            return self.paper(new, **options)
        groups, weights = [self.draws], np.ones(1)
        if chain_weights is not None:
            groups = [chain.draws for chain in self.chains]
            weights = mixture_weights(chain_weights, len(groups))
        found = densities(groups, new.arrays, method, jobs=_threads(new, jobs), **options)
        return found.held_out(weights)

    def stacked(
        self, new: Encoded, method: str = "completion", jobs: int | None = -1, **options: Any
    ) -> Stacked:
        """Return the score of each chain, and weights of the chains (`predict.stacking`)."""
        if not self.chains:
            raise SettingsError(
                "there are no chains to compare: give a model folder", code="incomplete-model"
            )
        _warn_of(new.arrays.doc_ptr)
        groups = [chain.draws for chain in self.chains]
        found = densities(groups, new.arrays, method, jobs=_threads(new, jobs), **options)
        return stacked(self.chains, found)

    def log_p_by_draw(self, new: Encoded, jobs: int | None = -1, **options: Any) -> LogPByDraw:
        """Return the log probability of each document given each of a few draws of each chain."""
        n_draws = min(len(chain.draws) for chain in self.chains)
        draws = [draw for chain in self.chains for draw in chain.draws[:n_draws]]
        found = left_to_right_densities(
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


def _warn_of(doc_ptr: Array) -> None:
    for doubt in held_out_warnings(doc_ptr):
        warnings.warn(doubt, stacklevel=4)  # the user's call, which goes through the estimator


def _threads(new: Encoded, jobs: int | None) -> int:
    return threads(jobs, new.arrays.doc_ptr.size - 1)
