"""How commands print: tables for people, CSV and JSON for programs."""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "csv", "json")


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format`` to a command."""
    return click.option(
        "--format",
        "format_out",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="How to print: a table for people, or CSV or JSON for programs.",
    )(command)


# What is called otherwise on the command line than in Python.
_OPTIONS = {
    "address": "ray",
    "checkpoint_dir": "output",
    "document": "like",
    "format": "format-in",
    "n_jobs": "jobs",
    "n_terms": "num-top-words",
    "overwrite": "force",
    "random_state": "seed",
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
    '--jobs 0: give another; fit with --init apart'
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


def print_frame(frame: "pd.DataFrame", format_out: str, *, digits: int = 3) -> None:
    """Print a data frame on standard output."""
    if format_out == "csv":
        click.echo(frame.to_csv(index=False), nl=False)
    elif format_out == "json":
        click.echo(frame.to_json(orient="records", indent=1, force_ascii=False))
    else:
        _print_table(frame, digits)


def print_frames(frames: "Iterable[pd.DataFrame]", format_out: str) -> None:
    """Print a data frame that comes in parts; as CSV or JSON, none of them need be kept."""
    if format_out == "table":
        import pandas as pd

        print_frame(pd.concat(frames), format_out)
        return
    for i, frame in enumerate(frames):
        if format_out == "csv":
            click.echo(frame.to_csv(index=False, header=i == 0), nl=False)
        else:
            rows = frame.to_json(orient="records", indent=1, force_ascii=False)
            click.echo(("," if i else "[") + rows.removeprefix("[").removesuffix("\n]"), nl=False)
    if format_out == "json":
        click.echo("\n]")


def print_facts(facts: dict[str, Any], format_out: str) -> None:
    """Print names and values on standard output."""
    if format_out == "json":
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    if format_out == "csv":
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
    for name, kind in frame.dtypes.items():
        is_number = kind.kind in "iuf"
        table.add_column(str(name), justify="right" if is_number else "left", no_wrap=is_number)
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value, digits)) for value in row))
    # Outside a terminal there is no width to keep to, and lines are not broken.
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=10_000)
    console.print(table)


def _cell(value: Any, digits: int) -> str:
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
