"""Reading documents as the options of a command say."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise._text import counted, shortened

if TYPE_CHECKING:
    from franchise.corpus import Corpus, ReadOptions, TextOptions

MOST_TEXT = 64_000_000  # characters of the documents that are kept with a corpus, for the report
_LONGEST_NAME = 20


def read_options(values: dict[str, Any], **more: Any) -> "ReadOptions":
    """Return the ReadOptions of a command's values."""
    from franchise.corpus import ReadOptions

    names = (
        "text_column", "counts", "transpose", "id_column", "vocabulary", "encoding", "delimiter", "layer",
    )  # fmt: skip
    reading = {name: values[name] for name in names}
    reading |= {name: values.get(name) for name in ("metadata", "metadata_file")}
    return ReadOptions(format=values["input_format"], **reading, **more)


def options_of(values: dict[str, Any]) -> "TextOptions":
    """Return the TextOptions of a command's values."""
    from franchise.corpus import TextOptions

    names = ("min_df", "max_df", "max_features", "ngram_range", "token_pattern", "lowercase", "strip_html")
    return TextOptions(**{name: values[name] for name in names}, stop_words=_stop_words(values["stop_words"]))


def _stop_words(given: str | list[str]) -> str | list[str] | None:
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


def read(path: str, values: dict[str, Any], *, keep_texts: bool | int) -> "Corpus":
    """Read the documents of a file, with a bar if it takes long; down-sample them if asked to."""
    from franchise.corpus import drop_duplicates, read_corpus

    with reading_bar(path) as progress:
        options = read_options(values, text_options=options_of(values), keep_texts=keep_texts)
        corpus = read_corpus(path, options, progress=progress)
    if values.get("drop_duplicates"):
        n_before, corpus = corpus.n_documents, drop_duplicates(corpus)
        click.echo(f"{counted(n_before - corpus.n_documents, 'duplicate document')} left out", err=True)
    words = values.get("downsample")
    return corpus if words is None else corpus.downsampled(words, random_state=values["random_state"])


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
