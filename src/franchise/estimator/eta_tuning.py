"""How fits with several values of eta compare, and what to recommend.

eta decides how many topics there are, and prediction alone does not choose it: on many texts it prefers ever
more topics, more than anyone reads. So the number of topics, how coherent they are and how many of them all
chains find stand beside the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise import _html as html
from franchise._arrays import Array
from franchise.posterior.agreement import SHARED_GOOD
from franchise.predict.heldout import HeldOut, put_together

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
class EtaTuning:
    """How fits with several values of eta compare; what `tune_eta` returns.

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
    def table(self) -> pd.DataFrame:
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

    def plot(self) -> Figure:
        """Draw score, number of topics, shared topics and coherence over eta."""
        from franchise.report.figures import plot_eta

        return plot_eta(self.table, recommended=self.recommended)

    def __str__(self) -> str:
        shown = self._rounded().to_string(index=False)
        return f"{shown}\n\n{self.recommendation}"

    __repr__ = __str__  # a session shows the answer

    def _repr_html_(self) -> str:
        shown = self._rounded()
        sentences = map(html.line, self.recommendation.splitlines())
        return html.block(html.table(list(shown.columns), shown.to_numpy().tolist()), *sentences)

    def _rounded(self) -> pd.DataFrame:
        """Return the table as it is read: texts, with a dash where nothing is known."""
        shown = self.table.drop(columns="seconds").astype(object)
        digits = {"eta": "{:g}", "n_topics": "{:,.0f}", "shared": "{:.0%}", "coherence": "{:.3f}"}
        for name in shown.columns:
            form = digits.get(name, "{:.4f}").format
            shown[name] = ["-" if x != x else form(x) for x in shown[name]]
        return shown
