"""Build what the charts of the report are made of, which the package ships: specifications and the library.

    python tools/report_assets.py            # write them to src/franchise/report/vega
    python tools/report_assets.py --check    # say whether they are up to date

`charts.json` holds each chart as a Vega-Lite specification without data: the page fills the named data sets.
`vega.min.js` is Vega, Vega-Lite and Vega-Embed in one file, below the notices of `licences.txt`. Colours are
names of the page's style sheet (``var(--ink)``), which works because charts are drawn as SVG. So light, dark
and print need no second drawing.

It needs altair and vl-convert-python, which the extra `dev` installs. A report needs neither.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import altair as alt

FOLDER = Path(__file__).resolve().parent.parent / "src" / "franchise" / "report" / "vega"
FONT = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
TOPIC, REST = "var(--topic)", "var(--rest)"  # of the chosen topic, of all others
# The page sets this parameter to the chosen topic.
CHOSEN, IS_CHOSEN = alt.param(name="selected", value=-1), "datum.topic === selected"
# Filled in for the chains of a report, by `franchise.report.render`.
CHAINS, COLOURS, DASHES = ["$chains"], ["$colours"], ["$dashes"]


def data(name: str) -> Any:
    """Return a chart of data that the page fills in."""
    return alt.Chart(alt.NamedData(name=name))


def colour_of_chain() -> Any:
    """Return one colour per chain; the legend is in the page."""
    return alt.Color("chain:N", scale=alt.Scale(domain=CHAINS, range=COLOURS), legend=None)


def dash_of_chain() -> Any:
    """Return one dash pattern per chain, for more chains than colours."""
    return alt.StrokeDash("chain:N", scale=alt.Scale(domain=CHAINS, range=DASHES), legend=None)


# ---------------------------------------------------------------- topics


def topic_map() -> Any:
    """Return circles where the page puts them, in pixels: which knows the available space."""
    circles = (
        data("topics")
        .mark_circle()
        .encode(
            **_place(),
            size=alt.Size("area:Q", scale=None),
            fill=alt.Fill("colour:N", scale=None),
            stroke=alt.condition(IS_CHOSEN, alt.value(INK), alt.Stroke("colour:N", scale=None)),
            strokeWidth=alt.condition(IS_CHOSEN, alt.value(2.5), alt.value(1.2)),
            fillOpacity=alt.condition(IS_CHOSEN, alt.value(0.85), alt.value(0.38)),
            strokeOpacity=alt.value(0.9),
        )
    )
    # A halo in the colour of the paper keeps labels legible on any circle.
    halo = _labels(stroke="var(--card)", strokeWidth=3, strokeJoin="round")
    return alt.layer(circles, *halo, *_labels(color=INK), _targets()).add_params(CHOSEN)


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
            "total:Q",
            title="words in the collection",
            axis=alt.Axis(tickCount=4, tickMinStep=1, format=",d", domain=False),
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
            y=alt.Y(
                "documents:Q",
                title="documents",
                axis=alt.Axis(tickCount=4, tickMinStep=1, format=",d", domain=False),
            ),
            tooltip=[
                alt.Tooltip("from:Q", title="share from", format=".0%"),
                alt.Tooltip("to:Q", title="to", format=".0%"),
                alt.Tooltip("documents:Q", format=","),
            ],
        )
        .properties(height=170)
    )


def by_draw() -> Any:
    """Return a topic's share of the words in each draw; a gap where it is absent."""
    base = data("draws").encode(
        x=alt.X(
            "sweep:Q", title="sweep", axis=alt.Axis(tickCount=5, grid=False), scale=alt.Scale(zero=False)
        ),
        y=alt.Y("share:Q", title="share of words", axis=alt.Axis(format="~%", tickCount=4, domain=False)),
        color=colour_of_chain(),
        tooltip=[
            alt.Tooltip("chain:N"),
            alt.Tooltip("sweep:Q", format=","),
            alt.Tooltip("share:Q", title="share of words", format=".1%"),
        ],
    )
    line = base.mark_line(strokeWidth=1.5, invalid="break-paths-show-domains").encode(
        strokeDash=dash_of_chain()
    )
    points = base.mark_circle(size=22, opacity=1, invalid="filter")
    return alt.layer(line, points).properties(height=170)


# ---------------------------------------------------------------- chains


def family() -> Any:
    """Return a lane for each topic of a chain, from birth to death, and links between lanes."""
    return alt.layer(_links(), _lives(), _passing(), _ends(), *_names()).add_params(CHOSEN)


def _lane() -> Any:
    # Every layer must switch its axis off, or half of one appears.
    return alt.Y("lane:Q", axis=None, scale=alt.Scale(nice=False, zero=False, reverse=True, padding=14))


def _lives() -> Any:
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
            opacity=alt.condition(IS_CHOSEN, alt.value(1.0), alt.value(0.5)),
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


def trace() -> Any:
    """Return a number of each sweep, the burn-in shaded, accepted splits and merges marked."""
    x = alt.X("sweep:Q", title=None, axis=alt.Axis(grid=False, tickCount=5), scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title=None, axis=alt.Axis(tickCount=4, domain=False), scale=alt.Scale(zero=False))
    burn_in = data("burn_in").mark_rect(color=REST, opacity=0.45).encode(x=alt.X("from:Q"), x2="to:Q")
    lines = (
        data("curves")
        .mark_line(strokeWidth=1.4, clip=True)
        .encode(x=x, y=y, color=colour_of_chain(), strokeDash=dash_of_chain())
    )
    marks = (
        data("accepted")
        .mark_point(filled=True, size=46, opacity=0.9, clip=True)
        .encode(
            x="sweep:Q",
            y="value:Q",
            color=colour_of_chain(),
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["splits", "merges"], range=["triangle-up", "triangle-down"]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("chain:N"),
                alt.Tooltip("sweep:Q", format=","),
                alt.Tooltip("what:N", title="accepted"),
            ],
        )
    )
    return alt.layer(burn_in, lines, marks).properties(height=150)


def ranks() -> Any:
    """Return ranks of each chain in bins, a lane per chain, with a line where chains that agree are."""
    x = alt.X(
        "from:Q",
        title="rank among the numbers of all chains",
        axis=alt.Axis(grid=False, format="%", values=[0, 0.5, 1]),
        scale=alt.Scale(domain=[0, 1], nice=False),
    )
    y = alt.Y("base:Q", axis=None, scale=alt.Scale(nice=False, zero=True))
    bars = (
        data("bins")
        .mark_rect()
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="top:Q",
            color=colour_of_chain(),
            tooltip=[
                alt.Tooltip("chain:N"),
                alt.Tooltip("times:Q", title="times as many as expected", format=".2f"),
            ],
        )
    )
    expected = data("expected").mark_rule(color=INK, strokeWidth=1, strokeDash=[4, 3])
    return alt.layer(bars, expected.encode(y=alt.Y("at:Q", axis=None)))


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


def n_topics() -> Any:
    """Return the share of the draws by number of topics."""
    return (
        data("counts")
        .mark_bar()
        .encode(
            x=alt.X(
                "from:Q",
                title="number of topics",
                bin="binned",
                axis=alt.Axis(grid=False, tickMinStep=1, format=",d"),
                scale=alt.Scale(zero=False, nice=False, padding=8),
            ),
            x2="to:Q",
            y=alt.Y(
                "share:Q", stack="zero", title=None, axis=alt.Axis(format="~%", tickCount=3, domain=False)
            ),
            color=colour_of_chain(),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("n:N", title="number of topics"),
                alt.Tooltip("share:Q", title="share of draws", format=".1%"),
                alt.Tooltip("chain:N"),
            ],
        )
        .properties(height=150)
    )


# ---------------------------------------------------------------- groups of documents

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


# ---------------------------------------------------------------- all of it


def charts() -> dict[str, Any]:
    """Return the specifications of all charts of a page, by name."""
    drawn = {
        "map": topic_map(),
        "bars": term_bars(),
        "terms": term_intervals(),
        "prevalence": prevalence(),
        "by_draw": by_draw(),
        "over_numbers": over_numbers(),
        "over_dates": over_dates(),
        "over_categories": over_categories(),
        "family": family(),
        "trace": trace(),
        "ranks": ranks(),
        "mass": mass(),
        "n_topics": n_topics(),
    }
    return {name: _themed(chart) for name, chart in drawn.items()}


def _themed(chart: Any) -> dict[str, Any]:
    spec = chart.properties(width="container").to_dict()
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


def library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, below the notices of what is in it."""
    import vl_convert

    notices = (FOLDER / "licences.txt").read_text(encoding="utf-8")
    return f"/*!\n{notices}*/\n{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}"


def assets() -> dict[str, str]:
    """Return the files that the package ships, by name."""
    specs = json.dumps(charts(), ensure_ascii=False, indent=1, sort_keys=True)
    return {"charts.json": f"{specs}\n", "vega.min.js": library()}


def main() -> int:
    """Write the files, or compare them with what is there."""
    parser = argparse.ArgumentParser(description="Build the charts and the chart library of the report.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    check = parser.parse_args().check
    stale = []
    for name, content in assets().items():
        path = FOLDER / name
        if not check:
            path.write_text(content, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            stale.append(name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run python tools/report_assets.py")
    return len(stale)


if __name__ == "__main__":
    raise SystemExit(main())
