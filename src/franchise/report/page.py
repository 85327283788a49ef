"""One page of HTML that holds everything: data, charts, style and scripts; it needs no network and no server.

What comes from documents never becomes markup. It is in the page as JSON, in which no ``<`` is left, and the
scripts put it on screen as text. A content security policy lets the browser run the page's own scripts, known
by their hashes, and nothing else, and lets it fetch nothing at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
from markupsafe import Markup

from franchise import __version__
from franchise._files import write_text
from franchise._text import printable
from franchise.corpus import Corpus
from franchise.errors import FranchiseError
from franchise.report.data import page_data

if TYPE_CHECKING:
    from franchise.posterior.diagnostics import Diagnosis
    from franchise.posterior.estimates import Posterior
    from franchise.sampling import Chain

_SCRIPTS = ("page.js", "charts.js", "table.js", "topic.js", "map.js", "documents.js", "runs.js", "start.js")
_LIBRARIES = ("franchise", "numpy", "scipy", "numba", "scikit-learn", "pandas")


def write_report(
    path: str | PathLike[str],
    posterior: Posterior,
    corpus: Corpus,
    chains: Sequence[Chain],
    diagnosis: Diagnosis,
    settings: dict[str, Any],
    *,
    title: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report: one HTML file, to be opened in any browser of today.

    Parameters
    ----------
    path
        Where to write it, such as ``"report.html"``.
    posterior
        What is known after the run.
    corpus
        The documents that it was fitted to.
    chains
        The chains of the run.
    diagnosis
        Whether they agree.
    settings
        The settings of the model, to be listed.
    title
        The heading; by default, the number of topics and documents.
    overwrite
        Replace a file that is there.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    FranchiseError
        If there is a file already, or a library for the charts is missing.
    """
    target = Path(path)
    if target.is_dir():
        raise FranchiseError(f"{target}: this is a folder; give the name of a file, such as report.html")
    if target.exists() and not overwrite:
        raise FranchiseError(f"{target}: there is a file already; give another name, or overwrite=True")
    library, specifications = _charting([f"chain {chain.number}" for chain in chains])
    data = page_data(posterior, corpus, chains, diagnosis, settings, title)
    write_text(target, _render(data, library, specifications))
    return target


def _charting(chain_names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the library that draws charts in a browser, and the charts."""
    try:
        import vl_convert  # noqa: F401 (to know that it is there)

        from franchise.report.charts import charts
    except ImportError as error:
        raise FranchiseError(
            f'the report needs {error.name}, which is not installed: pip install "franchise[report]"'
        ) from None
    return _library(), charts(chain_names)


@cache
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; putting them together takes seconds."""
    import vl_convert

    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _render(data: dict[str, Any], library: str, specifications: dict[str, Any]) -> str:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("franchise.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"percent": percent, "number": number}
    own = "\n".join(_source(templates, name) for name in _SCRIPTS)
    scripts = [_inline(library), _inline(f'"use strict";\n(() => {{\n{own}\n}})();\n')]
    blocks = {
        "report-data": as_json(data["page"]),
        "report-documents": as_json(data["documents"]),
        "report-charts": as_json(specifications),
    }
    return templates.get_template("page.html").render(
        **plain(data["words"]),
        version=__version__,
        versions={"python": platform.python_version(), **{name: version(name) for name in _LIBRARIES}},
        made=datetime.now(UTC).strftime("%Y-%m-%d"),
        style=Markup(_source(templates, "style.css")),
        scripts=scripts,
        hashes=[_hash(script) for script in scripts],
        blocks=blocks,
    )


def _source(templates: jinja2.Environment, name: str) -> str:
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0]


def _inline(script: str) -> Markup:
    """Return a script that does not end before its end; in JavaScript, both ways of writing are the same."""
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
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float | np.floating):
        return float(f"{value:.4g}") if np.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, dict):
        return {plain(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return [plain(one) for one in value]


def percent(share: float | None) -> str:
    """Write a share such that a small one is not called none."""
    if share is None:
        return "-"
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{share:.1%}"


def number(value: float | None, digits: int = 0) -> str:
    """Write a number with its thousands apart; a dash for none."""
    return "-" if value is None else f"{value:,.{digits}f}"
