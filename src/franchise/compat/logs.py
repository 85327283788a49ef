"""The logs of the paper's program, one line per iteration: ``state.log`` (training), ``test.log`` (test)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from franchise._files import cannot_write


class TrainLine(NamedTuple):
    """One line of ``state.log``, for one iteration.

    All fields except the last three describe the state before the split-merge trials of the iteration.
    """

    seconds: float  # since the first iteration began
    iteration: int  # from 0
    n_topics: int
    n_tables: int
    likelihood: float  # the log joint, with the log prior densities of gamma and alpha if these are drawn
    gamma: float
    alpha: float
    splits: int  # accepted
    merges: int  # accepted
    trials: int


class HeldOutLine(NamedTuple):
    """One line of ``test.log``, for one iteration. Topics and tables include training and test documents."""

    seconds: float
    iteration: int
    n_topics: int
    n_tables: int
    likelihood: float  # log p(test words, their tables, the tables' topics | training counts)


_COMMON = "time iter num.topics num.tables likelihood"
_HEADERS: dict[type, str] = {TrainLine: f"{_COMMON} gamma alpha split merge trial", HeldOutLine: _COMMON}
_TEMPLATES: dict[type, str] = {
    TrainLine: "%8.2f %05d %04d %05d %.5f %.5f %.5f %d %d %d",
    HeldOutLine: "%8.2f %05d %04d %05d %.5f",
}


def format_line(line: TrainLine | HeldOutLine) -> str:
    """Return a line of the log, without the line end."""
    return _TEMPLATES[type(line)] % line


@contextmanager
def log_file(path: Path, kind: type[Any]) -> Iterator[Callable[[TrainLine | HeldOutLine], None]]:
    """Begin a log; yield a function that adds a line and writes it to disk at once."""
    try:
        with open(path, "w", encoding="ascii", newline="\n") as file:

            def add(line: TrainLine | HeldOutLine) -> None:
                file.write(f"{format_line(line)}\n")
                file.flush()

            file.write(f"{_HEADERS[kind]}\n")
            file.flush()
            yield add
    except OSError as error:
        raise cannot_write(path, error) from error
