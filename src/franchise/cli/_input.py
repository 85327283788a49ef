"""Options that several commands share: which file, how to read it, how texts become words."""

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise._text import shortened

if TYPE_CHECKING:
    from franchise.corpus import Corpus, ReadOptions, TextOptions

_FORMATS = (
    "txt", "folder", "csv", "tsv", "jsonl", "parquet", "mallet", "ldac", "uci", "mm", "npz", "h5ad",
    "franchise",
)  # fmt: skip
MOST_TEXT = 64_000_000  # characters of the documents that are kept with a corpus, for the report
_LONGEST_NAME = 20

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
        click.option(
            "--encoding",
            metavar="NAME",
            help="Encoding of texts: cp1252, utf-16 ...  [default: utf-8]",
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            help="What separates the columns of csv and tsv: ';', '|', tab ...  [default: by the format]",
        ),
        click.option("--layer", metavar="NAME", help="Layer that holds the counts, for h5ad.  [default: X]"),
    )(command)


def read_options(values: dict[str, Any], **more: Any) -> "ReadOptions":
    """Return the ReadOptions of a command's values."""
    from franchise.corpus import ReadOptions

    names = ("text_column", "id_column", "vocabulary", "encoding", "delimiter", "layer")
    reading = {name: values[name] for name in names}
    return ReadOptions(format=values["format_in"], metadata=values.get("metadata"), **reading, **more)


def metadata_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says which other columns stay with the documents."""
    return click.option(
        "--metadata",
        type=NAMES,
        metavar="NAMES",
        help="Columns to keep with the documents, such as year,category; 'none' for none.  [default: all "
        "without long values]",
    )(command)


def effective_counts_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--effective-counts/--all-counts`` to a command."""
    return click.option(
        "--effective-counts/--all-counts",
        default=True,
        show_default=True,
        help="For count tables: whether documents whose counts vary more than topics explain keep only as "
        "many as they are worth independent ones.",
    )(command)


def downsample_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that limits the words per document."""
    return click.option(
        "--downsample",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        help="Keep at most N words of each document, drawn without replacement; for counts in the thousands.",
    )(command)


def downsample_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add this option to a command that has no other use for a seed."""
    seed = click.option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        metavar="INTEGER",
        default=0,
        show_default="0",
        help="Of --downsample: the same seed keeps the same words.",
    )
    return downsample_option(seed(command))


def text_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how texts become words, in scikit-learn's words."""
    return _all(
        click.option(
            "--min-df",
            type=NUMBER_OR_SHARE,
            help="Leave out terms in fewer documents: a number, or a share like 0.01.  [default: 2, "
            "or 1 with fewer than 50 documents]",
        ),
        click.option(
            "--max-df",
            type=NUMBER_OR_SHARE,
            help="Leave out terms in more documents: a number, or a share.  [default: 0.5, or 1.0 "
            "with fewer than 50 documents]",
        ),
        click.option("--max-features", type=int, metavar="N", help="Keep only the N most frequent terms."),
        click.option(
            "--stop-words",
            type=_StopWords(),
            default="english",
            metavar="LANGUAGE|FILE",
            show_default=True,
            help="Words to leave out: english, dutch, french, german, italian, portuguese, spanish, none, or "
            "a file with one per line.",
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
    from pathlib import Path

    from franchise.corpus.files import open_source
    from franchise.corpus.stop_words import LANGUAGES
    from franchise.errors import SettingsError

    if not isinstance(given, str):
        return given  # a list in a configuration file
    if given.lower() in (*LANGUAGES, "none"):
        return None if given.lower() == "none" else given.lower()
    if not Path(given).exists():
        raise SettingsError(
            f"--stop-words {given}: neither a file nor a language that has a list; give "
            f"{', '.join(LANGUAGES)}, none, or a file with one word per line",
            code="unknown-stop-words",
        )
    with open_source(given) as source:
        return [word for line in source.text_lines() if (word := line.strip())]


def read(
    path: str, values: dict[str, Any], text_options: "TextOptions", *, keep_texts: bool | int
) -> "Corpus":
    """Read the documents of a file, with a bar if it takes long; down-sample them if asked to."""
    from franchise.corpus import read_corpus

    with reading_bar(path) as progress:
        options = read_options(values, text_options=text_options, keep_texts=keep_texts)
        corpus = read_corpus(path, options, progress=progress)
    words = values.get("downsample")
    return corpus if words is None else corpus.downsampled(words, seed=values["seed"])


@contextmanager
def reading_bar(path: str, verb: str = "reading") -> Iterator[Callable[[int, int | None], None]]:
    """Show how much of a file has been read, or written, once it has taken a moment."""
    from franchise._progress import Bar

    name = shortened(Path(path).name or path, _LONGEST_NAME)
    with Bar(f"{verb} {name}", in_bytes=True) as bar:

        def progress(done: int, total: int | None) -> None:
            # What has been read is still to be put in order, which of many words takes a while too.
            now = "sorting" if total is not None and done >= total and verb == "reading" else verb
            bar.update(done, total, f"{now} {name}")

        yield progress


def _all(*options: Decorator) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
