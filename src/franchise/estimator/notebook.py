"""A fitted model in a notebook: the answer in place of the settings, and figures by a call.

scikit-learn's own pictures of pipelines are made without this: there, a model is a box like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from franchise.estimator.searches import Searches
from franchise.posterior.describe import describe_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from franchise._files import Facts


class Notebook(Searches):
    """The part of `HDPTopicModel` that notebooks show, and its figures (`franchise.report.figures`)."""

    @property
    def _repr_html_(self) -> Any:
        # Asked for by programs that do not know bundles; scikit-learn decides where there is none.
        return self._as_html if self._shows_answer() else super()._repr_html_

    def _repr_mimebundle_(self, **options: Any) -> Facts:
        if not self._shows_answer():
            bundle: Facts = super()._repr_mimebundle_(**options)
            return bundle
        return {"text/plain": str(self), "text/html": self._as_html()}

    def _shows_answer(self) -> bool:
        return "posterior_" in vars(self) and get_config()["display"] == "diagram"

    def _as_html(self) -> str:
        return describe_html(str(self), self.topics())

    # ------------------------------------------------------------ figures

    def plot_topics(self, *, n_terms: int = 40, ax: Axes | None = None) -> Figure:
        """Draw topics by terms, with dots as large as the terms are probable."""
        return _figures(self).plot_topics(self, n_terms=n_terms, ax=ax)

    def plot_topic_bars(
        self, topics: Sequence[int] | None = None, *, n_terms: int = 10, axes: Sequence[Axes] | None = None
    ) -> Figure:
        """Draw the most probable terms of some topics, with their intervals; by default of the first six."""
        return _figures(self).plot_topic_bars(self, topics=topics, n_terms=n_terms, axes=axes)

    def plot_n_topics(self, *, ax: Axes | None = None) -> Figure:
        """Draw how probable each number of topics is, with the median and the central 95%."""
        return _figures(self).plot_n_topics(self, ax=ax)

    def plot_trace(self, column: str = "n_topics", *, ax: Axes | None = None) -> Figure:
        """Draw a column of the trace, one line per chain, with the burn-in shaded."""
        return _figures(self).plot_trace(self, column, ax=ax)

    def plot_topic_mass(self, chain: int = 0, *, ax: Axes | None = None) -> Figure:
        """Draw the share of words of the largest topics of a chain, draw by draw."""
        return _figures(self).plot_topic_mass(self, chain=chain, ax=ax)

    def plot_similarity(self, *, ax: Axes | None = None) -> Figure:
        """Draw how similar each topic is to its nearest, and each two topics to each other."""
        return _figures(self).plot_similarity(self, ax=ax)


def _figures(model: Notebook) -> Any:
    check_is_fitted(model)
    from franchise.report import figures

    return figures
