"""This library as one of the peers: one chain with the default settings, and the average over its draws."""

import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers.interface import Array, Checkpoint, Settings, Training, counted, paced

if TYPE_CHECKING:
    from franchise import Chain, Corpus
    from franchise.sampling import Draw

SECONDS_A_DRAW, MOST_DRAWS = 0.1, 20


class Franchise:
    """One chain of `HDPTopicModel` with its defaults but eta; the topics of its current state."""

    name, compiles = "franchise", True

    def available(self) -> str | None:
        """It is here."""
        return None

    def version(self) -> str:
        """Return the version of the library."""
        try:
            return version("franchise")
        except PackageNotFoundError:  # run from its source
            from franchise import __version__

            return __version__

    def load(self) -> None:
        """Import what a fit imports."""
        import franchise.estimator

        assert "franchise.sampling.chain" in sys.modules, franchise.estimator

    def fit(self, training: Training, settings: Settings) -> Iterator[Checkpoint]:
        """Sample; kernels are loaded, or compiled, before the clock starts."""
        corpus, chain = self._chain(training, settings)
        self._begin()

        def step(sweeps: int) -> None:
            for _ in range(sweeps):
                chain.sweep()  # the first one starts the chain as well
                self._keep(chain)

        for seconds, sweeps, _ in paced(step, settings.moments):
            yield Checkpoint(seconds, sweeps, *self._answer(corpus, chain))

    def _chain(self, training: Training, settings: Settings) -> "tuple[Corpus, Chain]":
        from franchise import Chain, Corpus
        from franchise.sampling.settings import Settings as OwnSettings

        words, doc_ptr, n_terms = training
        corpus = Corpus(words, doc_ptr, [str(v) for v in range(n_terms)])
        # As many sweeps as fit into the time: draws are kept here, not by the chain.
        enough = OwnSettings(
            eta=settings.eta, sweeps=10**6, burn_in=10**6, chains=1, init="fitted", seed=settings.seed
        )
        plan = enough.plan()
        tiny = Corpus([0, 1, 0, 1], [0, 2, 4], ["a", "b"])
        Chain(tiny, plan.priors, plan.schedule, init="fitted", random_state=0).run(2)
        (chain,) = plan.chains(corpus)
        return corpus, chain

    def _begin(self) -> None:
        pass

    def _keep(self, chain: "Chain") -> None:
        pass

    def _answer(self, corpus: "Corpus", chain: "Chain") -> tuple[Array, Array, float, Array]:
        draw = chain.draw()
        alpha, gamma, eta = draw.concentrations
        words = draw.topic_terms.toarray()
        scale = alpha / (draw.m_k.sum() + gamma)
        return counted(words, eta), scale * draw.m_k, scale * gamma, words.sum(axis=1)


class FranchiseAveraged(Franchise):
    """The topics matched over the draws of the later half of the same chain, at most twenty of them."""

    name = "franchise, average"

    def _begin(self) -> None:
        self._draws: list[Draw] = []
        self._kept = time.process_time()

    def _keep(self, chain: "Chain") -> None:
        if time.process_time() - self._kept >= SECONDS_A_DRAW:
            self._draws.append(chain.draw())
            self._kept = time.process_time()

    def _answer(self, corpus: "Corpus", chain: "Chain") -> tuple[Array, Array, float, Array]:
        from benchmarks.completion import prior_of
        from franchise.posterior.estimates import Posterior

        later = self._draws[len(self._draws) // 2 :] or [chain.draw()]
        chosen = np.unique(np.linspace(0, len(later) - 1, MOST_DRAWS).astype(int))
        posterior = Posterior(corpus, [[later[i] for i in chosen]], [])
        return posterior.phi, *prior_of(posterior), posterior.weights * corpus.n_words
