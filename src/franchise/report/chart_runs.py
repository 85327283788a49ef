"""The charts of the chains: traces, sizes and number of topics, and the family tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from franchise.report.chart_parts import INK, REST, SOFT, chosen_topic, colour_of_chain, dash_of_chain, data


def family() -> Any:
    """Return a lane for each topic of a chain, from birth to death, and links between lanes."""
    chosen, is_chosen = chosen_topic()
    return alt.layer(_links(), _lives(is_chosen), _passing(), _ends(), *_names()).add_params(chosen)


def _lane() -> Any:
    # Every layer must say that there is no axis, or half of one appears.
    return alt.Y("lane:Q", axis=None, scale=alt.Scale(nice=False, zero=False, reverse=True, padding=14))


def _lives(is_chosen: str) -> Any:
    return (
        data("lives")
        .mark_rule()
        .encode(
            y=_lane(),
            x=alt.X(
                "from:Q",
                title="sweep",
                axis=alt.Axis(grid=False, tickCount=6),
                scale=alt.Scale(nice=False),
            ),
            x2="to:Q",
            strokeWidth=alt.StrokeWidth("width:Q", scale=None),
            color=alt.Color("colour:N", scale=None),
            opacity=alt.condition(is_chosen, alt.value(1.0), alt.value(0.5)),
            tooltip=[
                alt.Tooltip("title:N", title="topic"),
                alt.Tooltip("began:N"),
                alt.Tooltip("ended:N"),
                alt.Tooltip("size:N", title="largest share in a draw"),
            ],
        )
    )


def _links() -> Any:
    dash = alt.condition("datum.kind === 'merged'", alt.value([3, 3]), alt.value([1, 0]))
    lines = data("links").mark_rule(strokeWidth=1.2, color=SOFT)
    return lines.encode(x="sweep:Q", y=_lane(), y2="other:Q", strokeDash=dash)


def _passing() -> Any:
    """Return marks on a lane where a topic without a lane came from it or went into it."""
    up_or_down = alt.condition("datum.kind === 'split'", alt.value("triangle-up"), alt.value("triangle-down"))
    marks = data("passing").mark_point(size=26, filled=True, color=INK, opacity=0.75)
    return marks.encode(x="sweep:Q", y=_lane(), shape=up_or_down)


def _ends() -> Any:
    cross = "M-1,-1L1,1M-1,1L1,-1"
    scale = alt.Scale(
        domain=["born", "split", "merged", "died"], range=["circle", "triangle-up", "triangle-down", cross]
    )
    style = {
        "size": 42,
        "filled": False,
        "strokeWidth": 1.6,
        "color": INK,
        "fill": "var(--card)",
        "opacity": 1,
    }
    marks = data("ends").mark_point(**style)
    return marks.encode(x="sweep:Q", y=_lane(), shape=alt.Shape("kind:N", scale=scale, legend=None))


def _names() -> list[Any]:
    """Return the names of lanes, above their beginning or, of those that begin late, their end."""
    return [
        data("lives")
        .transform_filter(f"datum.side === '{side}'")
        .mark_text(align=side, dx=dx, dy=-11, fontSize=11.5, limit=300)
        .encode(
            x=f"{edge}:Q",
            y=_lane(),
            text="label:N",
            opacity=alt.condition("datum.topic >= 0", alt.value(1.0), alt.value(0.65)),
        )
        for side, dx, edge in (("left", 4, "from"), ("right", -4, "to"))
    ]


def trace(chains: Sequence[str]) -> Any:
    """Return a number of each sweep, the burn-in shaded, accepted splits and merges marked."""
    x = alt.X("sweep:Q", title=None, axis=alt.Axis(grid=False, tickCount=5), scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4, domain=False), scale=alt.Scale(zero=False))
    burn_in = data("burn_in").mark_rect(color=REST, opacity=0.45).encode(x=alt.X("from:Q"), x2="to:Q")
    lines = (
        data("curves")
        .mark_line(strokeWidth=1.4, clip=True)
        .encode(x=x, y=y, color=colour_of_chain(chains), strokeDash=dash_of_chain(chains))
    )
    marks = (
        data("accepted")
        .mark_point(filled=True, size=46, opacity=0.9, clip=True)
        .encode(
            x="sweep:Q",
            y="value:Q",
            color=colour_of_chain(chains),
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["splits", "merges"], range=["triangle-up", "triangle-down"]),
                legend=None,
            ),
            tooltip=[alt.Tooltip("chain:N"), alt.Tooltip("sweep:Q"), alt.Tooltip("what:N", title="accepted")],
        )
    )
    return alt.layer(burn_in, lines, marks).properties(height=150)


def mass() -> Any:
    """Return the sizes of topics: the largest at the bottom, the second on top of it, and so on."""
    return (
        data("bands")
        .mark_area(stroke="var(--card)", strokeWidth=0.6)
        .encode(
            x=alt.X(
                "sweep:Q",
                title="sweep",
                axis=alt.Axis(grid=False, tickCount=4),
                scale=alt.Scale(zero=False, nice=False),
            ),
            y=alt.Y(
                "low:Q",
                title=None,
                axis=alt.Axis(format="%", tickCount=3, grid=False),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y2="high:Q",
            detail="band:O",
            fill=alt.Fill("colour:N", scale=None),
            tooltip=alt.Tooltip("title:N", title="topics by size"),
        )
        .properties(height=150)
    )


def n_topics(chains: Sequence[str]) -> Any:
    """Return the share of the draws by number of topics."""
    return (
        data("counts")
        .mark_bar()
        .encode(
            x=alt.X(
                "from:Q",
                title="number of topics",
                bin="binned",
                axis=alt.Axis(grid=False, tickMinStep=1, format="d"),
                scale=alt.Scale(zero=False, nice=False, padding=8),
            ),
            x2="to:Q",
            y=alt.Y(
                "share:Q", stack="zero", title=None, axis=alt.Axis(format="~%", tickCount=3, domain=False)
            ),
            color=colour_of_chain(chains),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("n:N", title="number of topics"),
                alt.Tooltip("share:Q", title="share of draws", format=".1%"),
                alt.Tooltip("chain:N"),
            ],
        )
        .properties(height=150)
    )
