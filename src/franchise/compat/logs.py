"""The logs of the paper's program, one line per iteration: ``state.log`` (training), ``test.log`` (test)."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from franchise._files import cannot_write
from franchise.errors import ModelError


class TrainLine(NamedTuple):
    """What ``state.log`` says of an iteration.

    All but the last three is of the state before the iteration's split-merge trials.
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
    """What ``test.log`` says of an iteration; topics and tables are of training and test together."""

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
# What each place of a template can give.
_PLACES = {
    "%8.2f": r" *(\d+\.\d\d)",
    "%05d": r"(\d{5,})",
    "%04d": r"(\d{4,})",
    "%.5f": r"(-?\d+\.\d{5})",
    "%d": r"(\d+)",
}


def format_line(line: TrainLine | HeldOutLine) -> str:
    """Return a line of the log, without its end."""
    return _TEMPLATES[type(line)] % line


def read_train_log(path: Path) -> list[TrainLine]:
    """Read ``state.log``; a ModelError names the line that is malformed."""
    return _read(path, TrainLine)


def read_test_log(path: Path) -> list[HeldOutLine]:
    """Read ``test.log``; a ModelError names the line that is malformed."""
    return _read(path, HeldOutLine)


@contextmanager
def log_file(path: Path, kind: type[Any]) -> Iterator[Callable[[TrainLine | HeldOutLine], None]]:
    """Begin a log; what is yielded adds a line, which is in the file from then on."""
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


def _read(path: Path, kind: Any) -> list[Any]:
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not plain text"
        raise ModelError(f"{path}: cannot read it ({reason}); check the path", code="cannot-read") from error
    if lines[0] != _HEADERS[kind]:
        raise ModelError(
            f"{path}:1: the log must begin with '{_HEADERS[kind]}'; give another file", code="unknown-format"
        )
    if lines.pop():
        raise ModelError(
            f"{path}:{len(lines) + 1}: the last line is incomplete; remove it", code="file-cut-short"
        )
    pattern = re.compile(" ".join(_PLACES[place] for place in _TEMPLATES[kind].split(" ")))
    types = kind.__annotations__.values()
    parsed = []
    for number, line in enumerate(lines[1:], start=2):
        match = pattern.fullmatch(line)
        if match is None:
            raise ModelError(
                f"{path}:{number}: {line!r} is not a line of this log; remove it", code="bad-line"
            )
        parsed.append(kind(*(read(text) for read, text in zip(types, match.groups(), strict=True))))
    return parsed
