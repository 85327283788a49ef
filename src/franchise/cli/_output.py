"""How commands print: tables for people, CSV and JSON for programs."""

import json
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

# Names on the command line that differ from those in Python.
_OPTIONS = {
    "address": "ray",
    "checkpoint_dir": "output",
    "document": "like",
    "format": "input-format",
    "level": "interval",
    "terms": "find",
}
_VALUE = r"""'[^']*'|"[^"]*"|\([^)]*\)|\[[^]]*\]|[^\s:;,()]+"""
_IN_PYTHON_ONLY = (
    (", -1 for all cores, or None for one", ", or -1 for all cores"),
    (" to from_anndata", ""),
    (" (None)", ""),
    ("--text-options does not apply", "an option for texts (--min-df, --stop-words ...) does not apply"),
    ("call fit first", "fit it first"),
)


def as_options(text: str) -> str:
    """Return an error or a warning with options in the place of arguments.

    Examples
    --------
    >>> as_options('n_jobs=0: give another; fit with init="apart"')
    '--n-jobs 0: give another; fit with --init apart'
    """
    text = re.sub(r"\b[a-z_]+ \((--[a-z-]+)\)", r"\1", text)  # where both are named
    text = re.sub(r"\b([a-z_]+)(?= does not apply)", lambda match: f"--{match[1].replace('_', '-')}", text)
    text = re.sub(rf"(?<![\w\[.=\"'(?&/-])([a-z][a-z_]+)=({_VALUE})", _as_option, text)
    for python, plain in _IN_PYTHON_ONLY:
        text = text.replace(python, plain)
    return text


def _as_option(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    option = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
    if value == "True":
        return option
    if value[0] in "([":
        return f"{option} {value[1:-1].replace(', ', ' ' if name == 'ngram_range' else ',')}"
    end = "." if value.endswith(".") else ""  # of the sentence
    plain = value.removesuffix(".").strip("'\"").replace("\\\\", "\\")
    return f"{option} {shlex.quote(plain)}{end}"


def print_frame(frames: "pd.DataFrame | Iterable[pd.DataFrame]", format: str, *, digits: int = 3) -> None:
    """Print a data frame, or one that comes in parts; as CSV or JSON, none of them need be kept."""
    import pandas as pd

    parts = [frames] if isinstance(frames, pd.DataFrame) else frames
    if format == "table":
        _print_table(pd.concat(parts), digits)
        return
    if format in ("latex", "markdown"):
        click.echo(_for_paper(pd.concat(parts), format, digits), nl=False)
        return
    for i, frame in enumerate(parts):
        if format == "csv":
            click.echo(frame.to_csv(index=False, header=i == 0), nl=False)
        else:
            rows = frame.to_json(orient="records", indent=1, force_ascii=False)[1:-1].removesuffix("\n")
            click.echo(("," if i else "[") + rows, nl=False)
    if format == "json":
        click.echo("\n]")


def print_facts(facts: dict[str, Any], format: str) -> None:
    """Print names and values on standard output."""
    if format == "json":
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    if format == "csv":
        import csv

        csv.writer(sys.stdout).writerows([("name", "value"), *facts.items()])
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value
        click.echo(f"{name:<{width}}  {shown}")


def _print_table(frame: "pd.DataFrame", digits: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, is_number in zip(frame.columns, _are_numbers(frame)):
        table.add_column(str(name), justify="right" if is_number else "left", no_wrap=is_number)
    for row in _cells(frame, digits):
        table.add_row(*map(Text, row))
    # Outside a terminal there is no width to keep to, and lines are not broken.
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=10_000)
    console.print(table)


def _for_paper(frame: "pd.DataFrame", format: str, digits: int) -> str:
    """Return a table for LaTeX or Markdown, with names of columns as people write them."""
    from franchise._markup import latex_table, markdown_table

    write = latex_table if format == "latex" else markdown_table
    names = [name.replace("_", " ").capitalize() if name.islower() else name for name in frame.columns]
    return write(names, list(_cells(frame, digits)), _are_numbers(frame))


def _are_numbers(frame: "pd.DataFrame") -> list[bool]:
    return [kind.kind in "iuf" for kind in frame.dtypes]


def _cells(frame: "pd.DataFrame", digits: int) -> Iterator[list[str]]:
    for row in frame.itertuples(index=False):
        yield [f"{value:.{digits}f}" if isinstance(value, float) else str(value) for value in row]


def check_figure(path: str | None, overwrite: bool) -> None:
    """Refuse, before work that may take long, a figure that cannot be drawn or written."""
    from franchise.errors import FranchiseError, SettingsError

    if path is None:
        return
    if Path(path).suffix.lower() not in (".svg", ".png", ".pdf"):
        raise SettingsError(
            f"--figure {path}: give a name that ends in .svg, .png or .pdf", code="unknown-figure-format"
        )
    if Path(path).exists() and not overwrite:
        raise FranchiseError(
            f"{path}: the file already exists; give another name, or --overwrite", code="file-exists"
        )
    if not Path(path).resolve().parent.is_dir():
        raise FranchiseError(
            f"{path}: there is no such folder; give a name in one that exists", code="no-such-folder"
        )
    import franchise.report.figures  # noqa: F401  # raises an error if matplotlib is missing


def write_figure(figure: Any, path: str) -> None:
    """Write a figure of Matplotlib's."""
    import io

    from franchise.corpus.files import write_atomically

    content = io.BytesIO()
    figure.savefig(content, format=Path(path).suffix[1:].lower(), dpi=200)
    write_atomically(Path(path), [content.getvalue()])
    click.echo(f"The figure is in {path}", err=True)
