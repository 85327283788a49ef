"""The files of the paper's program, to the byte.

=========================  =======================================================================
``*-topics.dat``           one line per topic: its words of each term, at least five digits, then a blank
``*-word-assignments.dat``  ``d w z t``, then one line per word: document, term, topic, table
``*.bin``                  sizes, concentrations, tables and counts of each topic; little-endian, no mark
=========================  =======================================================================

The logs are in `compat.logs`. Reading believes nothing: what cannot have been written by the program, or
by this library, is an error that names the file and the place.
"""

import re
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from franchise._files import write_pieces
from franchise.compat.saved import DOCUMENT, TABLE, TOPIC, SavedModel, SavedState, contradictions
from franchise.errors import ModelError
from franchise.model.state import Array

_HEADER = struct.Struct("<4i3d")  # terms, words, topics, tables; eta, gamma, alpha
_COUNT = np.dtype("<i4")
_LARGEST = 2**31 - 1  # the program counts in 32 bits

_TOPIC_LINE = re.compile(rb"(?:\d{5} |[1-9]\d{5,9} )+")
_ASSIGNMENTS_HEADER = b"d w z t\n"
_ASSIGNMENT = rb"\d{1,10} \d{1,10} \d{1,10} \d{1,10}\n"
_ASSIGNMENTS = re.compile(rb"(?:%s)+" % _ASSIGNMENT)
_ROWS_A_PIECE = 100_000


def write_state(directory: Path, name: str, state: SavedState) -> None:
    """Write the three files of a state, ``<name>-topics.dat`` and so on; each is whole or not there."""
    write_topics(directory / f"{name}-topics.dat", state.model.topic_terms)
    write_assignments(directory / f"{name}-word-assignments.dat", state.assignments)
    write_bin(directory / f"{name}.bin", state.model)


def read_state(directory: Path, name: str) -> SavedState:
    """Read the three files of a state.

    Raises
    ------
    ModelError
        If one is missing or damaged, or they are not of one state.
    """
    path = directory / f"{name}.bin"
    model = read_bin(path)
    topics = directory / f"{name}-topics.dat"
    counts = read_topics(topics)
    if counts.shape != model.topic_terms.shape or (counts != model.topic_terms).nnz:
        raise ModelError(
            f"{topics}: its counts are not those of {path.name}; {_AGAIN}", code="files-disagree"
        )
    assignments = directory / f"{name}-word-assignments.dat"
    state = SavedState(model=model, assignments=read_assignments(assignments))
    for complaint in contradictions(state):
        raise ModelError(
            f"{assignments}: it does not fit {path.name}: {complaint}; {_AGAIN}", code="files-disagree"
        )
    return state


# ---------------------------------------------------------------- topics


def write_topics(path: Path, topic_terms: sp.csr_array) -> None:
    """Write the words of each term in each topic as text."""
    write_pieces(path, _topic_lines(topic_terms))


def read_topics(path: Path) -> sp.csr_array:
    """Read the words of each term in each topic.

    Raises
    ------
    ModelError
        With the line, if the file does not hold such counts.
    """
    lines = _read(path).split(b"\n")
    if lines.pop() or not lines:
        raise ModelError(
            f"{path}: the last line is incomplete, the file is cut short; {_AGAIN}", code="file-cut-short"
        )
    rows: list[sp.csr_array] = []
    for number, line in enumerate(lines, start=1):
        if not _TOPIC_LINE.fullmatch(line):
            raise ModelError(
                f"{path}:{number}: not a line of counts such as '00000 00012 '; {_AGAIN}", code="bad-line"
            )
        counts = np.fromstring(line, dtype=np.int64, sep=" ")
        if rows and counts.size != rows[0].shape[1]:
            raise ModelError(
                f"{path}:{number}: {counts.size} counts, but {rows[0].shape[1]} on line 1; {_AGAIN}",
                code="bad-line",
            )
        if counts.max() > _LARGEST:
            raise ModelError(
                f"{path}:{number}: the count {counts.max()} is too large; {_AGAIN}", code="number-too-large"
            )
        rows.append(sp.csr_array(counts[None, :].astype(np.int32)))
    return sp.vstack(rows, format="csr")


def _topic_lines(topic_terms: sp.csr_array) -> Iterator[bytes]:
    """Yield the lines of the topics; only counts above 0 are turned into digits."""
    n_terms = topic_terms.shape[1]
    for terms, counts in _rows(topic_terms):
        if counts.max(initial=0) > 99_999:  # wider than the rest
            dense = np.zeros(n_terms, np.int64)
            dense[terms] = counts
            yield b"%05d " * n_terms % tuple(dense.tolist()) + b"\n"
            continue
        line = np.tile(np.frombuffer(b"00000 ", np.uint8), (n_terms, 1))
        for digit in range(5):
            line[terms, 4 - digit] += (counts // 10**digit % 10).astype(np.uint8)
        yield line.tobytes() + b"\n"


def _rows(topic_terms: sp.csr_array) -> Iterator[tuple[Array, Array]]:
    """Yield terms and counts of each topic."""
    for first, end in zip(topic_terms.indptr[:-1], topic_terms.indptr[1:], strict=True):
        yield topic_terms.indices[first:end], topic_terms.data[first:end]


# ---------------------------------------------------------------- word assignments


def write_assignments(path: Path, assignments: Array) -> None:
    """Write document, term, topic and table of each word as text."""
    write_pieces(path, _assignment_lines(assignments))


def read_assignments(path: Path) -> Array:
    """Read document, term, topic and table of each word, rows in the order of the file.

    Raises
    ------
    ModelError
        With the line, if the file is not such a list, or gives one table two topics.
    """
    content = _read(path)
    if not content.startswith(_ASSIGNMENTS_HEADER):
        raise ModelError(
            f"{path}:1: a file of word assignments begins with 'd w z t'; {_AGAIN}", code="unknown-format"
        )
    body = content[len(_ASSIGNMENTS_HEADER) :]
    if not _ASSIGNMENTS.fullmatch(body):
        raise ModelError(
            f"{path}:{_first_bad_line(body)}: not a line 'd w z t' of four numbers; {_AGAIN}", code="bad-line"
        )
    rows = np.fromstring(body, dtype=np.int64, sep=" ").reshape(-1, 4)
    if rows.max() > _LARGEST:
        number = int(np.argmax(rows.max(axis=1) > _LARGEST)) + 2
        raise ModelError(
            f"{path}:{number}: the number {rows[number - 2].max()} is too large; {_AGAIN}",
            code="number-too-large",
        )
    _check_tables(path, rows)
    return rows


def _first_bad_line(body: bytes) -> int:
    """Return the number, in the file, of the first line that is not an assignment."""
    good = re.compile(_ASSIGNMENT)
    for number, line in enumerate(body.splitlines(keepends=True), start=2):
        if not good.fullmatch(line):
            return number
    return 2  # there are no lines


def _check_tables(path: Path, rows: Array) -> None:
    order = np.lexsort((rows[:, TABLE], rows[:, DOCUMENT]))  # words of one table keep their order
    before, after = rows[order[:-1]], rows[order[1:]]
    one_table = np.all(before[:, [DOCUMENT, TABLE]] == after[:, [DOCUMENT, TABLE]], axis=1)
    wrong = np.flatnonzero(one_table & (before[:, TOPIC] != after[:, TOPIC]))
    if wrong.size:
        line = int(order[1:][wrong].min())
        document, _, topic, table = rows[line].tolist()
        raise ModelError(
            f"{path}:{line + 2}: table {table} of document {document} has topic {topic} here and another "
            f"before, but a table has one; {_AGAIN}",
            code="damaged-file",
        )


def _assignment_lines(assignments: Array) -> Iterator[bytes]:
    yield _ASSIGNMENTS_HEADER
    for first in range(0, len(assignments), _ROWS_A_PIECE):
        piece = assignments[first : first + _ROWS_A_PIECE]
        yield b"%d %d %d %d\n" * len(piece) % tuple(piece.ravel().tolist())


# ---------------------------------------------------------------- binary


def write_bin(path: Path, model: SavedModel) -> None:
    """Write the topics as the binary file that a test starts from."""
    write_pieces(path, _bin_pieces(model))


def read_bin(path: Path) -> SavedModel:
    """Read the binary file of a state.

    Raises
    ------
    ModelError
        If the file is missing, cut short, or its numbers do not add up.
    """
    content = _read(path)
    if len(content) < _HEADER.size:
        raise _damaged(path, f"it has {len(content)} bytes, fewer than its header of {_HEADER.size}")
    n_terms, n_words, n_topics, n_tables, eta, gamma, alpha = _HEADER.unpack_from(content)
    if min(n_terms, n_words, n_topics, n_tables) < 1:
        raise _damaged(
            path, f"it says {n_terms} terms, {n_words} words, {n_topics} topics, {n_tables} tables"
        )
    expected = _HEADER.size + n_topics * (2 + n_terms) * _COUNT.itemsize
    if len(content) != expected:
        raise _damaged(
            path,
            f"{n_topics} topics over {n_terms} terms take {expected:,} bytes, but it has {len(content):,}",
        )
    for name, value in (("eta", eta), ("gamma", gamma), ("alpha", alpha)):
        if not 0 < value < float("inf"):
            raise _damaged(path, f"{name} is {value}, not a positive number")
    rows = np.frombuffer(content, _COUNT, offset=_HEADER.size).reshape(n_topics, 2 + n_terms)
    _check_topics(path, rows, n_words, n_tables)
    counts = sp.csr_array(rows[:, 2:].astype(np.int32))
    return SavedModel(topic_terms=counts, m_k=rows[:, 0].astype(np.int64), alpha=alpha, gamma=gamma, eta=eta)


def _check_topics(path: Path, rows: Array, n_words: int, n_tables: int) -> None:
    m_k, n_k = rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)
    sums = rows[:, 2:].sum(axis=1, dtype=np.int64)
    checks = {
        "has a count below 0": rows.min(axis=1) >= 0,
        "does not have as many words as its counts add up to": n_k == sums,
        "has more tables than words": m_k <= n_k,
        "has words but no table": (m_k > 0) | (n_k == 0),
    }
    for complaint, passes in checks.items():
        if not np.all(passes):
            raise _damaged(path, f"topic {np.argmin(passes)} {complaint}")
    if m_k.sum() != n_tables or n_k.sum() != n_words:
        raise _damaged(
            path,
            f"it says {n_tables} tables and {n_words} words, but its topics have {m_k.sum()} and {n_k.sum()}",
        )


def _bin_pieces(model: SavedModel) -> Iterator[bytes]:
    n_k, m_k = model.n_k.tolist(), model.m_k.tolist()
    sizes = (model.n_terms, sum(n_k), model.n_topics, sum(m_k))
    yield _HEADER.pack(*sizes, model.eta, model.gamma, model.alpha)
    for k, (terms, counts) in enumerate(_rows(model.topic_terms)):
        row = np.zeros(2 + model.n_terms, _COUNT)
        row[:2] = m_k[k], n_k[k]
        row[2 + terms] = counts
        yield row.tobytes()


# ---------------------------------------------------------------- bytes

_AGAIN = "the file is damaged or from another program: save it again, or give another"


def _damaged(path: Path, complaint: str) -> ModelError:
    return ModelError(f"{path}: {complaint}; {_AGAIN}", code="damaged-file")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file; check the path", code="no-such-file") from None
    except OSError as error:
        raise ModelError(
            f"{path}: cannot read it ({error.strerror}); check its permissions", code="cannot-read"
        ) from error
