"""What the charts of the page have in common: named data, colours, and how chains are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

N_COLOURS = 7  # of chains and topics in the style sheet
INK, SOFT, LINE = "var(--ink)", "var(--soft)", "var(--line)"
TOPIC, REST = "var(--topic)", "var(--rest)"  # of the chosen topic, of all others
_DASHES: list[list[int]] = [[1, 0], [6, 2], [2, 2], [8, 2, 2, 2]]  # where colours repeat


def data(name: str) -> Any:
    """Return a chart of data that the page fills in."""
    return alt.Chart(alt.NamedData(name=name))


def chosen_topic() -> tuple[Any, str]:
    """Return the parameter that the page sets to the chosen topic, and the test for its rows."""
    return alt.param(name="selected", value=-1), "datum.topic === selected"


def colour_of_chain(chains: Sequence[str]) -> Any:
    """Return one colour per chain; the legend is in the page."""
    colours = [f"var(--c{i % N_COLOURS})" for i in range(len(chains))]
    return alt.Color("chain:N", scale=alt.Scale(domain=list(chains), range=colours), legend=None)


def dash_of_chain(chains: Sequence[str]) -> Any:
    """Return one dash pattern per chain, where there are more chains than colours."""
    dashes = [_DASHES[i // N_COLOURS % len(_DASHES)] for i in range(len(chains))]
    return alt.StrokeDash("chain:N", scale=alt.Scale(domain=list(chains), range=dashes), legend=None)
