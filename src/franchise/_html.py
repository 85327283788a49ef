"""Small pieces of HTML for notebooks: short, and in the colours of the page."""

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "text-align:left;vertical-align:top;padding:2px 14px 2px 0"
_SHORT = 14  # longest cell that is not broken into lines


def block(*parts: str) -> str:
    """Return parts in lines below each other."""
    return f'<div class="franchise">{"".join(parts)}</div>'


def line(text: str, *, strong: bool = False, soft: bool = False) -> str:
    """Return a line of text."""
    style = "margin:0 0 4px 0" + ";font-weight:600" * strong + ";opacity:0.7" * soft
    return f'<p style="{style}">{escape(text)}</p>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    head = "".join(f'<th style="{_CELL}">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_style(cell)}">{escape(cell)}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return f'<table style="margin:6px 0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _style(cell: str) -> str:
    return _CELL + ";white-space:nowrap" * (len(cell) <= _SHORT)
