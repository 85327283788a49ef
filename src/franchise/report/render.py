"""One page of HTML that holds everything: data, charts, style and scripts; it needs no network and no server.

What comes from documents never becomes markup. It is in the page as JSON, in which no ``<`` is left, and the
scripts put it on screen as text. A content security policy lets the browser run the page's own scripts, known
by their hashes, and nothing else, and lets it fetch nothing at all.

The charts and their library come with the package; `tools/report_assets.py` builds them. Loaded only to write
a report, as it needs the extra ``report``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from franchise import __version__
from franchise._text import printable

_SCRIPTS = ("page", "charts", "table", "peek", "topic", "map", "groups", "documents", "runs", "start")
_N_COLOURS = 7  # of chains, in the style sheet
_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2])  # of chains, where colours repeat


def render(data: dict[str, Any], chain_names: Sequence[str]) -> str:
    """Return the page.

    Parameters
    ----------
    data
        What `franchise.report.data.page_data` has gathered.
    chain_names
        What chains are called in the data.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("franchise.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"percent": percent, "number": number}
    own = "\n".join(_source(templates, f"{name}.js") for name in _SCRIPTS)
    scripts = [_inline(_shipped("vega.min.js")), _inline(f'"use strict";\n(() => {{\n{own}\n}})();\n')]
    blocks = {
        "report-data": as_json(data["page"]),
        "report-documents": as_json(data["documents"]),
        "report-charts": as_json(charts(chain_names)),
    }
    return templates.get_template("page.html").render(
        **plain(data["words"]),
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        style=Markup(_source(templates, "style.css")),
        scripts=scripts,
        hashes=[_hash(script) for script in scripts],
        blocks=blocks,
    )


def _shipped(name: str) -> str:
    return files("franchise.report").joinpath("vega", name).read_text(encoding="utf-8")


def charts(chain_names: Sequence[str]) -> dict[str, Any]:
    """Return all charts of a page, by name: Vega-Lite specifications without data, which the page fills in.

    Parameters
    ----------
    chain_names
        What chains are called in the data.
    """
    n, text = len(chain_names), _shipped("charts.json")
    filled: dict[str, list[Any]] = {
        "chains": list(chain_names),
        "colours": [f"var(--c{i % _N_COLOURS})" for i in range(n)],
        "dashes": [_DASHES[i // _N_COLOURS % len(_DASHES)] for i in range(n)],
    }
    for name, values in filled.items():
        text = text.replace(f'"${name}"', json.dumps(values)[1:-1])
    specifications: dict[str, Any] = json.loads(text)
    return specifications


def _source(templates: jinja2.Environment, name: str) -> str:
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0]


def _inline(script: str) -> Markup:
    """Return a script that nothing in it can end; in JavaScript, both spellings are the same."""
    return Markup(script.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def as_json(value: Any) -> Markup:
    """Return JSON for a ``<script>`` block, which nothing in it can end."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def plain(value: Any) -> Any:
    """Return what JSON can hold: no arrays, no NaN, no half characters, numbers of four digits."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.tolist()
    if isinstance(value, float | np.floating):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, dict):
        return {plain(name): plain(one) for name, one in value.items()}
    return [plain(one) for one in (value.tolist() if isinstance(value, np.ndarray) else value)]


def percent(share: float | None) -> str:
    """Write a share such that a small one does not read as zero."""
    if share is None:
        return "-"
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}"


def number(value: float | None, digits: int = 0) -> str:
    """Write a number with thousands separated; a dash for none."""
    return "-" if value is None else f"{value:,.{digits}f}"
