"""The charts of the page, as Vega-Lite specifications without data: the page fills the named data sets.

Colours are names of the page's style sheet (``var(--ink)``), which works because charts are drawn as SVG. So
light, dark and print need no second drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from franchise.report import chart_groups, chart_runs, chart_topics
from franchise.report.chart_parts import INK, LINE, SOFT

Spec = dict[str, Any]

FONT = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'


def charts(chains: Sequence[str]) -> dict[str, Spec]:
    """Return all charts of a page, by name.

    Parameters
    ----------
    chains
        What chains are called in the data.
    """
    drawn: dict[str, Any] = {
        "map": chart_topics.topic_map(),
        "bars": chart_topics.term_bars(),
        "terms": chart_topics.term_intervals(),
        "prevalence": chart_topics.prevalence(),
        "by_draw": chart_topics.by_draw(chains),
        "over_numbers": chart_groups.over_numbers(),
        "over_dates": chart_groups.over_dates(),
        "over_categories": chart_groups.over_categories(),
        "family": chart_runs.family(),
        "trace": chart_runs.trace(chains),
        "mass": chart_runs.mass(),
        "n_topics": chart_runs.n_topics(chains),
    }
    return {name: _themed(chart) for name, chart in drawn.items()}


def _themed(chart: Any) -> Spec:
    spec: Spec = chart.properties(width="container").to_dict()
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    spec["config"] = {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": SOFT,
            "labelFontSize": 12,
            "titleColor": SOFT,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": LINE,
            "domainColor": LINE,
            "tickColor": LINE,
        },
        "text": {"color": INK, "fontSize": 12},
    }
    return spec
