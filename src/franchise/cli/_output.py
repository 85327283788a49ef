"""How commands print: tables for people, CSV and JSON for programs."""

import json
import re
import shlex
import sys
from collections.abc import Callable
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


def as_commands(text: str, model: str) -> str:
    """Return words for people with commands in the place of Python calls.

    Examples
    --------
    >>> as_commands("Run longer: resume(sweeps=150, burn_in=100).", "model/")
    'Run longer: franchise resume model/ --sweeps 150 --burn-in 100.'
    """
    model = shlex.quote(model)

    def command(match: re.Match[str]) -> str:
        options = re.findall(r"(\w+)=(\w+)", match[1])
        return " ".join([f"franchise resume {model}", *(f"--{n.replace('_', '-')} {x}" for n, x in options)])

    text = re.sub(r"\bresume\(([^)]*)\)", command, text)
    text = text.replace("chain_weights(new_documents)", f"franchise evaluate {model} NEW.txt --by-chain")
    text = text.replace("fit with chains=4", "fit with --chains 4")
    text = text.replace('fit with init="apart"', "fit with --init apart")
    text = text.replace("tune_eta(documents)", "franchise tune INPUT")
    shown = ", ".join(f"franchise {name} {model}" for name in ("topics", "documents", "diagnose", "report"))
    return re.sub(r"Next: topics\(\).*", f"Next: {shown}", text)


def print_frame(frame: "pd.DataFrame", format_out: str, *, digits: int = 3) -> None:
    """Print a data frame on standard output."""
    if format_out == "csv":
        click.echo(frame.to_csv(index=False), nl=False)
    elif format_out == "json":
        click.echo(frame.to_json(orient="records", indent=1, force_ascii=False))
    else:
        _print_table(frame, digits)


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
