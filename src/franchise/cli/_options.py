"""The options that several commands share, each defined once, and what all options have in common.

Options have the names of Python's parameters. Help lists them under headings, and so does the page of the
site (`docs/_ext/command_line.py`). Options that only one command has are in the file of that command.
"""

import csv
import math
import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from franchise.errors import FranchiseWarning

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

# Old names, for an error that says the new one.
RENAMED = {
    "--alpha-prior": "--alpha",
    "--force": "--overwrite",
    "--format-in": "--input-format",
    "--format-out": "--output-format",
    "--gamma-prior": "--gamma",
    "--jobs": "--n-jobs",
    "--num-top-words": "--n-terms",
    "--plot": "--figure",
    "--seed": "--random-state",
}


class Command(click.Command):
    """A command whose help lists options under headings, and whose errors say how an option was renamed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            new = RENAMED.get(error.option_name)
            if not any(new in param.opts for param in self.params):
                raise
            raise click.UsageError(f"{error.option_name} is now called {new}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of this command, then the shared ones."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)) is not None:
                groups.setdefault(getattr(param, "group", "Options"), []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class Option(click.Option):
    """An option with a heading for help, and a default that people can read."""

    def __init__(self, *names: Any, group: str = "Options", **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group

    def make_metavar(self, ctx: click.Context) -> str:
        """Return the placeholder of the value in help."""
        kinds = {"integer": "N", "integer range": "N", "path": "FILE", "text": "NAME"}
        kind = self.type.name if isinstance(self.type, Value) else kinds.get(self.type.name)
        return self.metavar or kind or super().make_metavar(ctx)

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return what help adds in brackets."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)  # errors say it; 0<=x<=9223372036854775807 is no help
        if isinstance(self.show_default, str):
            extra["default"] = self.show_default
        return extra


def option(names: str, help: str, type: Any = None, **attributes: Any) -> Decorator:
    """Return a decorator that adds an option; several names are separated by commas."""
    return click.option(*names.split(", "), cls=Option, help=help, type=type, **attributes)


def together(*options: Decorator) -> Decorator:
    """Return a decorator that adds several options."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for one in reversed(options):
            command = one(command)
        return command

    return decorate


# ---------------------------------------------------------------- kinds of values


class Value(click.ParamType):  # type: ignore[type-arg]
    """A value that a function reads: a string of the command line, or what a configuration file has."""

    def __init__(self, name: str, read: Callable[[Any], Any], give: str) -> None:
        self.name, self._read, self._give = name, read, give

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value, or say what to give instead."""
        try:
            return self._read(value)
        except (AttributeError, TypeError, ValueError):
            self.fail(f"{value!r}: give {self._give}", param, ctx)


class Whole(click.IntRange):
    """A whole number in a range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value, or say what to give instead."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r}: give a whole number from {self.min} to {self.max:,}", param, ctx)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _count_or_share(value: Any) -> float | int:
    is_count = isinstance(value, int) or (isinstance(value, str) and "." not in value)
    return int(value) if is_count and not isinstance(value, bool) else _number(value)


def _share(value: Any) -> float:
    if not 0 <= (share := _number(value)) <= 1:
        raise ValueError
    return share


def _seconds(value: Any) -> float:
    text = str(value)
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    seconds = float(text) if unit is None else float(text[:-1]) * unit
    if not 0 < seconds < math.inf:
        raise ValueError
    return seconds


def _concentration(value: Any) -> float | tuple[float, ...]:
    """Read a number, which fixes a parameter, or the shape and rate of its Gamma prior."""
    parts = value.split(",") if isinstance(value, str) else value
    numbers = tuple(map(_number, parts if isinstance(parts, list) else [parts]))
    if len(numbers) not in (1, 2) or not all(0 < number < math.inf for number in numbers):
        raise ValueError
    return numbers if len(numbers) == 2 else numbers[0]


def _names(value: Any) -> list[str]:
    # A name that has a comma is put into quotes, as in a line of CSV.
    names = next(csv.reader([value], skipinitialspace=True), []) if isinstance(value, str) else value
    if not names or not all(name.strip() for name in names):
        raise ValueError
    return [name.strip() for name in names]


def _etas(value: Any) -> list[float]:
    return [float(part) for part in value.split(",") if part.strip()]


def _columns(value: Any) -> list[str]:
    return [] if value in ("none", []) else _names(value)


def _stop_words(value: Any) -> str | list[str]:
    if not all(isinstance(word, str) for word in (value if isinstance(value, list) else [value])):
        raise TypeError
    return value


_STARTS = ("auto", "consensus", "counts", "documents", "fitted", "apart", "sequential", "one")


def _start(value: Any) -> str | int:
    if value in _STARTS or (isinstance(value, str) and Path(value).is_dir()):
        return str(value)
    if isinstance(value, bool | float):
        raise TypeError
    return int(value)


COUNT_OR_SHARE = Value("NUMBER", _count_or_share, "a number of documents (5) or a share of them (0.05)")
SHARE = Value("SHARE", _share, "a number from 0 to 1")
DURATION = Value("TIME", _seconds, "seconds (90), minutes (10m) or hours (2h)")
CONCENTRATION = Value(
    "NUMBER|SHAPE,RATE", _concentration, "a positive number, or shape and rate of a Gamma prior, such as 1,1"
)
ETA = Value(
    "NUMBER|SHAPE,RATE|auto",
    lambda value: value if value == "auto" else _concentration(value),
    "auto, a positive number, or shape and rate of a Gamma prior, such as 1,1",
)
ETAS = Value("NUMBERS", _etas, "numbers separated by commas, such as 0.05,0.1,0.3")
START = Value("START", _start, f"{', '.join(_STARTS)}, a number of random topics, or the folder of a model")
TOPICS = Value("TOPICS", _names, "numbers or names of topics separated by commas, such as 1,cosmology")
NAMES = Value("NAMES", _names, "names separated by commas; a name with a comma in quotes")
COLUMNS = Value("NAMES", _columns, "names of columns separated by commas, or none")
CODES = Value("CODES", _names, "codes of warnings separated by commas, such as few-documents, or all")
STOP_WORDS = Value("LANGUAGE|FILE", _stop_words, "a language, none, a file, or a list of words")
FILE = click.Path()
_FORMATS = (
    "txt", "folder", "csv", "tsv", "jsonl", "parquet", "mallet", "ldac", "uci", "mm", "npz", "h5ad",
    "franchise",
)  # fmt: skip

# ---------------------------------------------------------------- what is read


def _ignore(ctx: click.Context, param: click.Parameter, codes: list[str] | None) -> None:
    """Leave out warnings until the command ends."""
    if codes is None:
        return
    ctx.with_resource(warnings.catch_warnings())
    for code in codes:
        pattern = "" if code == "all" else rf".*\[{re.escape(code)}\]$"
        warnings.filterwarnings("ignore", pattern, FranchiseWarning)


_input = partial(option, group="Input options")
reading = together(
    _input(
        "--ignore",
        "Warnings to leave out, by the code that each ends in, such as few-documents; all for all",
        CODES,
        callback=_ignore,
        expose_value=False,
    ),
    _input(
        "--input-format",
        f"Format of the documents: {', '.join(_FORMATS)}",
        click.Choice(_FORMATS),
        metavar="FORMAT",
        show_default="from name and content",
    ),
    _input(
        "--text-column",
        "Column of the texts, for csv, tsv, jsonl and parquet; doc.body is a key within another of jsonl",
    ),
    _input(
        "--counts",
        "Table of counts (csv, tsv, parquet) with a column for each term; known by itself where all columns "
        "but the first are whole numbers",
        is_flag=True,
    ),
    _input(
        "--transpose",
        "Rows are terms and columns documents, in a table of counts or a matrix (mm, npz, uci, ldac)",
        is_flag=True,
    ),
    _input("--id-column", "Column of the documents' names"),
    _input("--vocabulary", "File of terms, one per line, for formats that hold only numbers", FILE),
    _input("--encoding", "Encoding of the texts, such as cp1252 or utf-16", show_default="utf-8"),
    _input(
        "--delimiter",
        "Separator of columns in csv and tsv: ';', '|', tab ...",
        metavar="CHARACTER",
        show_default="from the format",
    ),
    _input("--layer", "Layer of the counts in h5ad", show_default="X"),
)
metadata = together(
    _input(
        "--metadata",
        "Columns to keep with the documents, such as year,category; none for none",
        COLUMNS,
        show_default="all without long values",
    ),
    _input(
        "--metadata-file",
        "Table of more columns (csv, tsv, parquet), joined by the documents' names, or else row by row",
        FILE,
    ),
)

_text = partial(option, group="Text options")
text = together(
    _text(
        "--min-df",
        "Fewest documents that a term must be in: a number, or a share such as 0.01",
        COUNT_OR_SHARE,
        show_default="2, or 1 with fewer than 50 documents",
    ),
    _text(
        "--max-df",
        "Most documents that a term may be in: a number, or a share",
        COUNT_OR_SHARE,
        show_default="0.5, or 1.0 with fewer than 50 documents",
    ),
    _text("--max-features", "Number of most frequent terms to keep", int, show_default="all"),
    _text(
        "--stop-words",
        "Words to leave out: english, dutch, french, german, italian, portuguese, spanish, none, or a file "
        "with one per line",
        STOP_WORDS,
        default="english",
    ),
    _text(
        "--ngram-range",
        "Words per term; 1 2 for single words and pairs",
        (int, int),
        default=(1, 1),
        metavar="MIN MAX",
        show_default="1 1",
    ),
    _text("--token-pattern", "Regular expression of a word", default=r"(?u)\b\w\w+\b", metavar="REGEX"),
    _text("--lowercase/--no-lowercase", "Conversion of texts to lower case", default=True),
    _text("--strip-html", "Take tags and entities (&amp;) of HTML out of the texts first", is_flag=True),
)
drop_duplicates = _input(
    "--drop-duplicates", "Keep one of several documents that have the same words equally often", is_flag=True
)

_count = partial(option, group="Count options")
downsample = _count(
    "--downsample",
    "Most words to keep of a document, drawn without replacement; for counts in the thousands",
    Whole(1, 2**31 - 1),
    show_default="all",
)
effective_counts = _count(
    "--effective-counts/--all-counts",
    "Counts of count tables scaled down where they vary more than topics explain, or all as they are",
    default=True,
)

# ---------------------------------------------------------------- how it is done, and what is written

_run = partial(option, group="Run options")
random_state = _run(
    "--random-state",
    "Random seed; the same seed gives the same result",
    Whole(0, 2**63 - 1),
    default=0,
)
n_jobs = _run("--n-jobs", "Number of threads, -1 for all cores; does not change the result", int, default=-1)
cluster = together(
    _run(
        "--ray",
        "Ray cluster to run on: one that runs, this machine alone, or the one at an address",
        metavar="auto|local|HOST:PORT",
    ),
    _run(
        "--workers",
        "Number of workers on the cluster; does not change the result",
        Whole(1, 99_999),
        show_default="one per machine, or one per GPU with engine ray-gpu",
    ),
)
time_budget = _run(
    "--time-budget",
    "Time after which to stop (90, 10m, 2h), but not before chains have started; `resume` continues",
    DURATION,
)
quiet = _run("--quiet", "No display of progress", is_flag=True)

_output = partial(option, group="Output options")
printing = _output(
    "--format",
    "Format of the answer: a table for people, csv or json for programs",
    click.Choice(["table", "csv", "json"]),
    default="table",
)
printing_for_papers = _output(
    "--format",
    "Format of the answer: a table for people, csv or json for programs, latex or markdown for papers",
    click.Choice(["table", "csv", "json", "latex", "markdown"]),
    default="table",
)
overwrite = _output("--overwrite", "Replace existing output", is_flag=True)
figure = together(
    _output("--figure", "Figure to write as well, .svg, .png or .pdf; needs matplotlib", FILE), overwrite
)
