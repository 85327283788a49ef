"""How far new documents are, where that takes a while: a bar on standard error, on terminals alone."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

_PATIENCE = 2.0  # seconds before a bar is shown


class DocumentsBar(NamedTuple):
    """What to tell a bar."""

    share: Callable[[int, int | None], None]  # how much there is of how much, None if that is not known
    done: Callable[[int], None]  # so many more documents


@contextmanager
def documents_bar(shown: bool = True) -> Iterator[DocumentsBar]:
    """Show how many documents are done, once it has taken a moment; what goes wrong with it harms nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    is_seen = shown and (console.is_terminal or console.is_jupyter)
    columns = TextColumn("{task.fields[n]:,} documents"), BarColumn(bar_width=None), TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True, disable=not is_seen)
    task = bar.add_task("documents", n=0, total=None)
    began, n, started = time.monotonic(), 0, False

    def start() -> None:
        nonlocal started
        if is_seen and not started and time.monotonic() - began > _PATIENCE:
            bar.start()
            started = True

    def share(part: int, whole: int | None) -> None:
        with suppress(Exception):
            start()
            bar.update(task, completed=part, total=whole)

    def done(documents: int) -> None:
        nonlocal n
        n += documents
        with suppress(Exception):
            start()
            bar.update(task, n=n)

    try:
        yield DocumentsBar(share, done)
    finally:
        if started:
            with suppress(Exception):
                bar.stop()


@contextmanager
def progress_of(n_documents: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show how many of so many documents are done."""
    so_far = 0
    with documents_bar(shown) as bar:

        def done(more: int) -> None:
            nonlocal so_far
            so_far += more
            bar.done(more)
            bar.share(so_far, n_documents)

        yield done
