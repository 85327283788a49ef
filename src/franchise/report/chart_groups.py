"""The charts of topics by groups of documents: lines over numbers and dates, bars over categories."""

from __future__ import annotations

from typing import Any

import altair as alt

from franchise.report.chart_parts import INK, data

_PERCENT = alt.Axis(format="~%", tickCount=4, domain=False)
_TOOLTIP = [
    alt.Tooltip("label:N", title="group"),
    alt.Tooltip("topic:N"),
    alt.Tooltip("share:Q", title="share of words", format=".1%"),
    alt.Tooltip("low:Q", title="95% from", format=".1%"),
    alt.Tooltip("high:Q", title="to", format=".1%"),
    alt.Tooltip("documents:Q", format=","),
]


def over_numbers() -> Any:
    """Return shares of topics over numbers, such as years; the page says how near ticks may be."""
    nearest = alt.param(name="nearest_ticks", value=0)
    axis = alt.Axis(grid=False, format="~f", tickMinStep=nearest, tickCount=8)
    lines = _lines(alt.X("at:Q", title=None, axis=axis, scale=alt.Scale(zero=False, nice=False)))
    return lines.add_params(nearest)


def over_dates() -> Any:
    """Return shares of topics over dates."""
    axis = alt.Axis(grid=False, tickCount=8)
    return _lines(alt.X("at:T", title=None, axis=axis, scale=alt.Scale(type="utc", nice=False)))


def _lines(x: Any) -> Any:
    base = data("shares").encode(x=x, detail="topic:N", tooltip=_TOOLTIP)
    share = alt.Y("share:Q", title="share of words", axis=_PERCENT, scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.22).encode(y="low:Q", y2="high:Q", fill=alt.Fill("colour:N", scale=None))
    line = base.mark_line(strokeWidth=2.2).encode(y=share, stroke=alt.Stroke("colour:N", scale=None))
    points = base.mark_circle(size=42, opacity=1).encode(y=share, fill=alt.Fill("colour:N", scale=None))
    return alt.layer(band, line, points).properties(height=260)


def over_categories() -> Any:
    """Return shares of topics in categories, with their intervals."""
    axis = alt.Axis(ticks=False, domain=False, labelColor=INK, labelLimit=180, labelPadding=6)
    order = alt.EncodingSortField("rank", op="min")
    base = data("shares").encode(
        y=alt.Y("label:N", sort=order, title=None, axis=axis),
        yOffset=alt.YOffset("order:O"),
        tooltip=_TOOLTIP,
    )
    bars = base.mark_bar(opacity=0.75).encode(
        x=alt.X("share:Q", title="share of words", axis=_PERCENT), fill=alt.Fill("colour:N", scale=None)
    )
    intervals = base.mark_rule(color=INK, strokeWidth=1.4).encode(x="low:Q", x2="high:Q")
    return alt.layer(bars, intervals)
