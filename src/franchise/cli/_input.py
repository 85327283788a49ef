"""Options that several commands share: which file, how to read it, how texts become words."""

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from franchise.corpus import Corpus, TextOptions

_FORMATS = ("txt", "folder", "csv", "tsv", "jsonl", "parquet", "ldac", "uci", "mm", "npz")
_PATIENCE = 2.0  # seconds of reading before a bar is shown

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read documents from a file."""
    return _all(
        click.option(
            "--format-in", type=click.Choice(_FORMATS), help="Input format, if the name does not show it."
        ),
        click.option(
            "--text-column",
            metavar="NAME",
            help="Column that holds the texts, for csv, tsv, jsonl and parquet.",
        ),
        click.option("--id-column", metavar="NAME", help="Column that holds the documents' names."),
        click.option(
            "--vocabulary",
            type=click.Path(),
            metavar="FILE",
            help="File of terms, one per line, for formats that hold only numbers.",
        ),
    )(command)


def metadata_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says which other columns stay with the documents."""
    return click.option(
        "--metadata",
        type=NAMES,
        metavar="NAMES",
        help="Columns to keep with the documents, such as year,category; 'none' for none.  [default: all "
        "without long values]",
    )(command)


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how texts become words, in scikit-learn's words."""
    return _all(
        click.option(
            "--min-df",
            type=NUMBER_OR_SHARE,
            help="Leave out terms in fewer documents: a number, or a share like 0.01.  [default: 2]",
        ),
        click.option(
            "--max-df",
            type=NUMBER_OR_SHARE,
            help="Leave out terms in more documents: a number, or a share.  [default: 0.5]",
        ),
        click.option("--max-features", type=int, metavar="N", help="Keep only the N most frequent terms."),
        click.option(
            "--stop-words",
            type=_StopWords(),
            default="english",
            metavar="WORDS",
            show_default=True,
            help="Words to leave out: 'english', 'none', or a file with one per line.",
        ),
        click.option(
            "--ngram-range",
            type=(int, int),
            default=(1, 1),
            show_default=True,
            metavar="MIN MAX",
            help="Words per term; 1 2 takes single words and pairs.",
        ),
        click.option(
            "--token-pattern",
            default=r"(?u)\b\w\w+\b",
            show_default=True,
            metavar="REGEX",
            help="What counts as a word.",
        ),
        click.option(
            "--lowercase/--no-lowercase", default=True, show_default=True, help="Convert texts to lower case."
        ),
    )(command)


class _NumberOrShare(click.ParamType):  # type: ignore[type-arg]
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | int:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        try:
            return float(value) if "." in value else int(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a number of documents (5) nor a share (0.05)", param, ctx)


class _Share(click.ParamType):  # type: ignore[type-arg]
    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            if 0 <= float(value) <= 1:
                return float(value)
        except ValueError:
            pass
        self.fail(f"{value!r} is not a share; give a number from 0 to 1", param, ctx)


class _Names(click.ParamType):  # type: ignore[type-arg]
    """Names with commas between them on the command line, or a list in a configuration file."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        if value == "none":
            return []
        # A name that has a comma is put into quotes, as in a line of CSV.
        names = next(csv.reader([value], skipinitialspace=True), []) if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) and name.strip() for name in names):
            self.fail(f"{value!r}: give names of columns with commas between them, or 'none'", param, ctx)
        return [name.strip() for name in names]


class _StopWords(click.ParamType):  # type: ignore[type-arg]
    """A word or a file on the command line, or a list in a configuration file."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words = value if isinstance(value, list) else [value]
        if not all(isinstance(word, str) for word in words):
            self.fail(f"{value!r}: give 'english', 'none', a file, or a list of words", param, ctx)
        return value


NUMBER_OR_SHARE, SHARE, NAMES = _NumberOrShare(), _Share(), _Names()


def options_of(values: dict[str, Any]) -> "TextOptions":
    """Return the TextOptions of a command's values."""
    from franchise.corpus import TextOptions

    names = ("min_df", "max_df", "max_features", "ngram_range", "token_pattern", "lowercase")
    return TextOptions(**{name: values[name] for name in names}, stop_words=_stop_words(values["stop_words"]))


def _stop_words(given: str | list[str]) -> str | list[str] | None:
    from franchise.corpus.files import read_lines

    if not isinstance(given, str):
        return given  # a list in a configuration file
    if given in ("english", "none"):
        return None if given == "none" else given
    return [line.decode("utf-8", "replace").strip() for line in read_lines(given) if line.strip()]


def read(
    path: str, values: dict[str, Any], text_options: "TextOptions", *, keep_texts: bool | int
) -> "Corpus":
    """Read the documents of a file, with a bar if it takes long."""
    from franchise.corpus import read_corpus

    with reading_bar(path) as progress:
        return read_corpus(
            path,
            format=values["format_in"],
            text_column=values["text_column"],
            id_column=values["id_column"],
            metadata=values.get("metadata"),
            vocabulary=values["vocabulary"],
            text_options=text_options,
            keep_texts=keep_texts,
            progress=progress,
        )


@contextmanager
def reading_bar(path: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how much of a file has been read, once it has taken a moment."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    bar = Progress(
        TextColumn("reading {task.fields[path]}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("reading", path=path, total=None)
    began, started = time.monotonic(), False

    def progress(done: int, total: int | None) -> None:
        nonlocal started
        if not started and time.monotonic() - began > _PATIENCE:
            bar.start()
            started = True
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if started:
            bar.stop()


def _all(*options: Decorator) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
