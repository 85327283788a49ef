"""Which eta suits some documents: short runs with several values, and what they come to.

Every value is fitted to the same documents and predicts the same words of the others, so that scores can be
compared document by document (`predict.compare` says why that matters). eta decides how many topics there
are, and prediction alone does not choose it: on many texts it prefers ever more topics, more than anyone
reads. So the number of topics, how coherent they are and how many of them all chains find stand beside it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise import _html as html
from franchise._progress import Bar
from franchise._text import counted
from franchise._threads import threads
from franchise.corpus import Corpus
from franchise.errors import CorpusError
from franchise.model.state import Array
from franchise.posterior.agreement import SHARED_GOOD, agreement
from franchise.posterior.coherence import coherence
from franchise.posterior.estimates import Posterior
from franchise.predict.heldout import HeldOut, completion_densities, put_together
from franchise.sampling import Chain, Draw
from franchise.sampling.plan import Plan
from franchise.sampling.run import run_chains

if TYPE_CHECKING:
    import pandas as pd

_HELD_OUT = 5  # one document in so many, where there is one split
_DRAWS = 5  # of each chain, that predict
_TERMS = 10  # of a topic, whose coherence is measured


class Split(NamedTuple):
    """Documents to fit to, and documents to predict."""

    train: Array
    test: Array


def splits_of(corpus: Corpus, folds: int, seed: int) -> list[Split]:
    """Deal the documents that have words out at random.

    Into as many parts as there are folds, each of which is predicted once; with one fold, a fifth of the
    documents is predicted.
    """
    documents = np.flatnonzero(corpus.document_lengths)
    parts = folds if folds > 1 else _HELD_OUT
    if documents.size < 2 * parts:
        raise CorpusError(
            f"there are {counted(documents.size, 'document')} with words, too few to leave out one in "
            f"{parts}; give {2 * parts} or more",
            code="too-few-documents",
        )
    shuffled = np.random.default_rng(seed).permutation(documents)
    tests = [np.sort(part) for part in np.array_split(shuffled, parts)][:folds]
    return [Split(np.setdiff1d(documents, test), test) for test in tests]


class AtEta(NamedTuple):
    """What fits with one eta have come to, means over the splits."""

    eta: float
    score: HeldOut
    n_j: Array  # scored words of each document
    n_topics: float  # mean over chains of the median
    coherence: float  # of the topics, each weighed by its share of the words
    shared: float  # of the words, in topics that every chain has; NaN for one chain
    seconds: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuning:
    """How fits with several values of eta compare.

    Attributes
    ----------
    found
        What was found for each value, in their order.
    n_planned
        How many values there were to be; more than there are if the search was interrupted.
    """

    found: Sequence[AtEta]
    n_planned: int

    @property
    def best(self) -> float:
        """The eta that predicts best."""
        return self._best.eta

    @property
    def recommended(self) -> float:
        """The eta of the fewest topics of those within one standard error, paired, of the best."""
        return self._fewest.eta

    @property
    def table(self) -> "pd.DataFrame":
        """A row for each eta.

        Columns eta, per_word (held-out score, nats; higher is better), standard_error, behind (nats per word
        behind the best), behind_error (the standard error of that, paired by document), n_topics, coherence,
        shared and seconds.
        """
        import pandas as pd

        rows = []
        for one in self.found:
            behind, error = self.behind(one)
            scores = {"per_word": one.score.per_word, "standard_error": one.score.standard_error}
            rest = {name: getattr(one, name) for name in ("n_topics", "coherence", "shared", "seconds")}
            rows.append({"eta": one.eta, **scores, "behind": behind, "behind_error": error, **rest})
        return pd.DataFrame(rows)

    @property
    def to_read(self) -> float | None:
        """The eta that predicts best of those whose topics all chains find; None where that is not known.

        That is, topics that all chains have hold 95% of the words; where no value gets there, the one that
        comes nearest.
        """
        return self._steadiest.eta if self._steadiest else None

    def behind(self, one: AtEta) -> tuple[float, float]:
        """Return by how many nats per word a value is behind the best, and the paired standard error."""
        if one is self._best:
            return 0.0, 0.0
        found = put_together("", self._best.score.log_p - one.score.log_p, one.n_j)
        return found.per_word, found.standard_error

    @property
    def _best(self) -> AtEta:
        return max(self.found, key=lambda one: one.score.per_word)

    @property
    def _fewest(self) -> AtEta:
        near = [one for one in self.found if self.behind(one)[0] <= self.behind(one)[1]]
        return min(near, key=lambda one: one.n_topics)

    @property
    def recommendation(self) -> str:
        """What to do, in words."""
        best, fewest = self._best, self._fewest
        said = [
            f"Best prediction: eta={best.eta:g}, {best.score.per_word:.4f} nats per word, with "
            f"{best.n_topics:,.0f} topics."
        ]
        if fewest is best:
            said.append("No value with fewer topics comes within one standard error of it.")
        else:
            behind, error = self.behind(fewest)
            said.append(
                f"Fewest topics within one standard error of it: eta={fewest.eta:g}, with "
                f"{fewest.n_topics:,.0f} topics ({behind:.4f} behind, paired standard error {error:.4f})."
            )
        said += [*self._to_read(), *self._beyond()]
        if len(self.found) < self.n_planned:
            said.append(f"Interrupted: only {len(self.found)} of {self.n_planned} values were tried.")
        return "\n".join(said)

    def _to_read(self) -> list[str]:
        """Name the values whose topics can be relied on, and whose terms go together."""
        said, steadiest = [], self._steadiest
        if steadiest is not None and steadiest.n_topics < self._fewest.n_topics:
            behind, error = self.behind(steadiest)
            said.append(
                f"To read topics rather than to predict: eta={steadiest.eta:g}, with "
                f"{steadiest.n_topics:,.0f} topics; those that all chains have hold {steadiest.shared:.0%} "
                f"of the words instead of {self._fewest.shared:.0%} ({behind:.4f} behind, paired standard "
                f"error {error:.4f})."
            )
        clearest = max(self.found, key=lambda one: -np.inf if np.isnan(one.coherence) else one.coherence)
        if not np.isnan(clearest.coherence):
            said.append(f"The most coherent topics: eta={clearest.eta:g} (c_npmi {clearest.coherence:.3f}).")
        return said

    @property
    def _steadiest(self) -> AtEta | None:
        """The best prediction of those whose shared topics hold most words; the most words if none do."""
        known = [one for one in self.found if not np.isnan(one.shared)]
        enough = [one for one in known if one.shared >= SHARED_GOOD]
        if enough:
            return max(enough, key=lambda one: one.score.per_word)
        return max(known, key=lambda one: one.shared, default=None)

    def _beyond(self) -> list[str]:
        etas = [one.eta for one in self.found]
        if len(etas) < 2 or min(etas) < self.best < max(etas):
            return []
        smallest = self.best == min(etas)
        which, more = ("smallest", "smaller") if smallest else ("largest", "larger")
        return [
            f"The best value is the {which} that was tried; {more} ones may predict better still"
            + (", with more topics: decide by how many you want to read." if smallest else ": try some.")
        ]

    def __str__(self) -> str:
        shown = self._rounded().to_string(index=False)
        return f"{shown}\n\n{self.recommendation}"

    __repr__ = __str__  # a session shows the answer

    def _repr_html_(self) -> str:
        shown = self._rounded()
        sentences = map(html.line, self.recommendation.splitlines())
        return html.block(html.table(list(shown.columns), shown.to_numpy().tolist()), *sentences)

    def _rounded(self) -> "pd.DataFrame":
        """Return the table as it is read: texts, with a dash where nothing is known."""
        shown = self.table.drop(columns="seconds").astype(object)
        digits = {"eta": "{:g}", "n_topics": "{:,.0f}", "shared": "{:.0%}", "coherence": "{:.3f}"}
        for name in shown.columns:
            form = digits.get(name, "{:.4f}").format
            shown[name] = ["-" if x != x else form(x) for x in shown[name]]
        return shown


def tune(
    corpus: Corpus,
    etas: Sequence[float],
    splits: Sequence[Split],
    plan_at: Callable[[float], Plan],
    *,
    jobs: int | None = -1,
    monitor: Bar,
) -> list[AtEta]:
    """Fit with every eta, and score it; Ctrl-C leaves the values that are done.

    Parameters
    ----------
    corpus
        The documents.
    etas
        The values.
    splits
        Which documents to fit to, and which to predict.
    plan_at
        Returns the plan of the chains for an eta.
    jobs
        Threads; -1 for all cores, None for one.
    monitor
        What shows how far it is.

    Raises
    ------
    KeyboardInterrupt
        If nothing is done.
    """
    found: list[AtEta] = []
    parts = [(corpus.select(split.train), corpus.select(split.test)) for split in splits]
    try:
        for some in _together(etas, len(splits) * len(plan_at(etas[0]).starts), jobs):
            runs = {eta: [plan_at(eta).chains(train) for train, _ in parts] for eta in some}
            chains = [chain for run in runs.values() for own in run for chain in own]
            if run_chains(chains, jobs=jobs, monitor=monitor) != "complete":
                break
            for eta, run in runs.items():
                found.append(_at(eta, corpus, splits, parts, run, jobs))
                last = found[-1]
                monitor.note(
                    f"eta {eta:g}: {last.n_topics:,.0f} topics, {last.score.per_word:.4f} nats per word"
                )
    except KeyboardInterrupt:
        pass
    if not found:
        raise KeyboardInterrupt
    return found


def _together(etas: Sequence[float], chains: int, jobs: int | None) -> Iterator[Sequence[float]]:
    """Return values to run at once: as many as keep all threads at work."""
    step = max(1, threads(jobs, chains * len(etas)) // chains)
    for first in range(0, len(etas), step):
        yield etas[first : first + step]


def _at(
    eta: float,
    corpus: Corpus,
    splits: Sequence[Split],
    parts: Sequence[tuple[Corpus, Corpus]],
    run: Sequence[Sequence[Chain]],
    jobs: int | None,
) -> AtEta:
    """Put together what the chains of one eta have come to."""
    log_p, n_j = np.zeros(corpus.n_documents), np.zeros(corpus.n_documents, np.int64)
    facts = []
    for split, (train, test), chains in zip(splits, parts, run, strict=True):
        draws = [draw for chain in chains for draw in _some(chain.draws)]
        found = completion_densities([draws], test, jobs=threads(jobs, test.n_documents))
        log_p[split.test], n_j[split.test] = found.held_out([1.0]).log_p, found.n_j
        posterior = Posterior(train, [chain.draws for chain in chains], [chain.trace for chain in chains])
        medians = [np.median([draw.names.size for draw in chain.draws]) for chain in chains]
        of_topics = coherence(posterior.phi, train, measure="c_npmi", n_terms=_TERMS)
        shared = agreement(posterior).shared if len(chains) > 1 else np.nan
        facts.append([np.mean(medians), _weighed(of_topics, posterior.weights), shared])
    seconds = sum(float(chain.trace["seconds"].sum()) for chains in run for chain in chains)
    n_topics, cohere, shared = np.mean(facts, axis=0).tolist()
    score = put_together("document completion", log_p, n_j)
    return AtEta(eta, score, n_j, n_topics, cohere, shared, seconds)


def _some(draws: Sequence[Draw]) -> list[Draw]:
    chosen = np.unique(np.linspace(0, len(draws) - 1, min(len(draws), _DRAWS)).round().astype(int))
    return [draws[i] for i in chosen]


def _weighed(values: Array, weights: Array) -> float:
    is_known = ~np.isnan(values)
    return float(np.average(values[is_known], weights=weights[is_known])) if is_known.any() else np.nan
