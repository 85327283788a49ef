"""The charts of the topics: the map, and those of the chosen topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from franchise.report.chart_parts import INK, REST, TOPIC, chosen_topic, colour_of_chain, dash_of_chain, data


def topic_map() -> Any:
    """Return circles where the page puts them, in pixels: it knows the room that there is."""
    chosen, is_chosen = chosen_topic()
    circles = (
        data("topics")
        .mark_circle()
        .encode(
            **_place(),
            size=alt.Size("area:Q", scale=None),
            fill=alt.Fill("colour:N", scale=None),
            stroke=alt.condition(is_chosen, alt.value(INK), alt.Stroke("colour:N", scale=None)),
            strokeWidth=alt.condition(is_chosen, alt.value(2.5), alt.value(1.2)),
            fillOpacity=alt.condition(is_chosen, alt.value(0.85), alt.value(0.38)),
            strokeOpacity=alt.value(0.9),
        )
    )
    # A halo in the colour of the paper keeps labels legible on any circle.
    halo = _labels(stroke="var(--card)", strokeWidth=3, strokeJoin="round")
    return alt.layer(circles, *halo, *_labels(color=INK), _targets()).add_params(chosen)


def _place() -> dict[str, Any]:
    return {"x": alt.X("px:Q", scale=None, axis=None), "y": alt.Y("py:Q", scale=None, axis=None)}


def _labels(**style: Any) -> list[Any]:
    lines = (("title", -1, 13, "bold"), ("terms", 12, 11, "normal"))
    return [
        data("labels")
        .mark_text(dy=dy, fontSize=size, fontWeight=weight, **style)
        .encode(**_place(), text=f"{field}:N")
        for field, dy, size, weight in lines
    ]


def _targets() -> Any:
    """Return what is clicked: a circle may be smaller than a finger."""
    tooltip = [
        alt.Tooltip("title:N", title="topic"),
        alt.Tooltip("share:N", title="share of words"),
        alt.Tooltip("terms:N", title="terms"),
    ]
    marks = data("topics").mark_circle(opacity=0, cursor="pointer")
    return marks.encode(**_place(), size=alt.Size("target:Q", scale=None), tooltip=tooltip)


def term_bars() -> Any:
    """Return how often terms occur, and how much of that is of the topic."""
    base = data("bars").encode(
        y=_terms_by_rank(_term_axis()),
        tooltip=[
            alt.Tooltip("term:N"),
            alt.Tooltip("inside:Q", title="in this topic, about", format=",.0f"),
            alt.Tooltip("total:Q", title="in the collection", format=",.0f"),
        ],
    )
    total = base.mark_bar(color=REST, height={"band": 0.72}).encode(
        x=alt.X(
            "total:Q", title="words in the collection", axis=alt.Axis(tickCount=4, format=",d", domain=False)
        )
    )
    inside = base.mark_bar(color=TOPIC, height={"band": 0.72}).encode(x="inside:Q")
    return alt.layer(total, inside)


def term_intervals() -> Any:
    """Return probabilities of a topic's terms with their intervals."""
    base = data("terms").encode(
        y=_terms_by_rank(_term_axis(grid=True)),
        tooltip=[
            alt.Tooltip("term:N"),
            alt.Tooltip("phi:Q", title="probability", format=".2%"),
            alt.Tooltip("low:Q", title="95% from", format=".2%"),
            alt.Tooltip("high:Q", title="to", format=".2%"),
        ],
    )
    axis = alt.Axis(format="~%", tickCount=5, domain=False, grid=False)
    interval = base.mark_rule(color=TOPIC, strokeWidth=5, opacity=0.3, strokeCap="round").encode(
        x=alt.X("low:Q", title="probability of the term in the topic", axis=axis), x2="high:Q"
    )
    point = base.mark_circle(color=TOPIC, size=55, opacity=1).encode(x="phi:Q")
    return alt.layer(interval, point)


def _terms_by_rank(axis: Any) -> Any:
    # The order of the rows would do at first, but not when the page passes other ones.
    return alt.Y("term:N", sort=alt.EncodingSortField("rank", op="min"), title=None, axis=axis)


def _term_axis(*, grid: bool = False) -> Any:
    return alt.Axis(ticks=False, domain=False, grid=grid, labelColor=INK, labelLimit=150, labelPadding=6)


def prevalence() -> Any:
    """Return documents by the share that a topic has of them."""
    return (
        data("bins")
        .mark_bar(color=TOPIC, opacity=0.85)
        .encode(
            x=alt.X(
                "from:Q",
                title="share of the document",
                bin="binned",
                axis=alt.Axis(format="%", tickCount=5, grid=False),
                scale=alt.Scale(domain=[0, 1], nice=False),
            ),
            x2="to:Q",
            y=alt.Y("documents:Q", title="documents", axis=alt.Axis(tickCount=4, format="~s", domain=False)),
            tooltip=[
                alt.Tooltip("from:Q", title="share from", format=".0%"),
                alt.Tooltip("to:Q", title="to", format=".0%"),
                alt.Tooltip("documents:Q", format=","),
            ],
        )
        .properties(height=170)
    )


def by_draw(chains: Sequence[str]) -> Any:
    """Return a topic's share of the words in each draw; a gap where it is absent."""
    base = data("draws").encode(
        x=alt.X(
            "sweep:Q", title="sweep", axis=alt.Axis(tickCount=5, grid=False), scale=alt.Scale(zero=False)
        ),
        y=alt.Y("share:Q", title="share of words", axis=alt.Axis(format="~%", tickCount=4, domain=False)),
        color=colour_of_chain(chains),
        tooltip=[
            alt.Tooltip("chain:N"),
            alt.Tooltip("sweep:Q"),
            alt.Tooltip("share:Q", title="share of words", format=".1%"),
        ],
    )
    line = base.mark_line(strokeWidth=1.5, invalid="break-paths-show-domains").encode(
        strokeDash=dash_of_chain(chains)
    )
    points = base.mark_circle(size=22, opacity=1, invalid="filter")
    return alt.layer(line, points).properties(height=170)
