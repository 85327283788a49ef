"""Reading documents as the options of a command say."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from franchise._text import shortened

if TYPE_CHECKING:
    from franchise.corpus import Corpus, TextOptions

# How a file is read, with the names that `read_corpus` has for them.
_READING = {
    "input_format": "format",
    "text_column": "text_column",
    "id_column": "id_column",
    "vocabulary": "vocabulary",
    "encoding": "encoding",
    "delimiter": "delimiter",
    "layer": "layer",
}
MOST_TEXT = 64_000_000  # characters of the documents that are kept with a corpus, for the report
_PATIENCE = 2.0  # seconds of reading before a bar is shown
_LONGEST_NAME = 20


def how_to_read(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options that say how to read a file, as `read_corpus` and `read_new` take them."""
    return {name: values[option] for option, name in _READING.items()}


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


def read(path: str, values: dict[str, Any], *, keep_texts: bool | int) -> "Corpus":
    """Read the documents of a file, with a bar if it takes long; down-sample them if asked to."""
    from franchise.corpus import read_corpus

    with reading_bar(path) as progress:
        corpus = read_corpus(
            path,
            **how_to_read(values),
            metadata=values.get("metadata"),
            text_options=options_of(values),
            keep_texts=keep_texts,
            progress=progress,
        )
    words = values.get("downsample")
    return corpus if words is None else corpus.downsampled(words, seed=values["random_state"])


@contextmanager
def reading_bar(path: str, verb: str = "reading") -> Iterator[Callable[[int, int | None], None]]:
    """Show how much of a file has been read, or written, once it has taken a moment."""
    import time
    from pathlib import Path

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    bar = Progress(
        TextColumn("{task.fields[verb]} {task.fields[path]}"),
        BarColumn(bar_width=None),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(
        "reading", verb=verb, path=shortened(Path(path).name or path, _LONGEST_NAME), total=None
    )
    began, started = time.monotonic(), False

    def progress(done: int, total: int | None) -> None:
        nonlocal started
        if console.is_terminal and not started and time.monotonic() - began > _PATIENCE:
            bar.start()
            started = True
        # What has been read is still to be put in order, which of many words takes a while too.
        now = "sorting" if total is not None and done >= total and verb == "reading" else verb
        bar.update(task, completed=done, total=total, verb=now)

    try:
        yield progress
    finally:
        if started:
            bar.stop()
