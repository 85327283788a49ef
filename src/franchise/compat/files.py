"""The files of the paper's program, byte for byte.

=========================  =======================================================================
``*-topics.dat``           one line per topic: its count of each term, at least five digits, then a blank
``*-word-assignments.dat``  ``d w z t``, then one line per word: document, term, topic, table
``*.bin``                  sizes, concentrations, tables and counts of each topic; little-endian, no magic
=========================  =======================================================================

The logs are in `compat.logs`. Only the binary file is read back. Reading checks everything: content that
neither the program nor this library can have written is an error that names the file and the place.
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._files import write_pieces
from franchise.compat.saved import SavedModel, SavedState
from franchise.errors import ModelError

_HEADER = struct.Struct("<4i3d")  # terms, words, topics, tables; eta, gamma, alpha
_COUNT = np.dtype("<i4")
_ASSIGNMENTS_HEADER = b"d w z t\n"
_ROWS_A_PIECE = 100_000


def write_state(directory: Path, name: str, state: SavedState) -> None:
    """Write the three files of a state, ``<name>-topics.dat`` and so on, each whole or not at all."""
    write_topics(directory / f"{name}-topics.dat", state.model.topic_terms)
    write_assignments(directory / f"{name}-word-assignments.dat", state.assignments)
    write_bin(directory / f"{name}.bin", state.model)


# ---------------------------------------------------------------- topics


def write_topics(path: Path, topic_terms: sp.csr_array) -> None:
    """Write the count of each term in each topic as text."""
    write_pieces(path, _topic_lines(topic_terms))


def _topic_lines(topic_terms: sp.csr_array) -> Iterator[bytes]:
    """Yield the lines of the topics; only counts above 0 are converted to digits."""
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


def _assignment_lines(assignments: Array) -> Iterator[bytes]:
    yield _ASSIGNMENTS_HEADER
    for first in range(0, len(assignments), _ROWS_A_PIECE):
        piece = assignments[first : first + _ROWS_A_PIECE]
        yield b"%d %d %d %d\n" * len(piece) % tuple(piece.ravel().tolist())


# ---------------------------------------------------------------- binary


def write_bin(path: Path, model: SavedModel) -> None:
    """Write the topics as the binary file from which a test starts."""
    write_pieces(path, _bin_pieces(model))


def read_bin(path: Path) -> SavedModel:
    """Read the binary file of a state.

    Raises
    ------
    ModelError
        If the file is missing or truncated, or if its numbers do not add up.
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


# ---------------------------------------------------------------- a run


class Saver:
    """Saves states at intervals, the best so far as the mode, and the last.

    Parameters
    ----------
    directory
        The folder for the files.
    prefix
        The beginning of file names: ``""`` in training, ``"test-"`` in a test.
    save_lag
        Iterations 0, save_lag, 2 save_lag, ... are saved; -1 for none.
    likelihood
        The likelihood of the start: a state must exceed it to become the mode.
    """

    def __init__(self, directory: Path, prefix: str, save_lag: int, likelihood: float) -> None:
        self._directory = directory
        self._prefix = prefix
        self._save_lag = save_lag
        self._best = likelihood

    def save(self, iteration: int, likelihood: float, gather: Callable[[], SavedState]) -> None:
        """Save the state after an iteration, if it is due or the best; only then call `gather`."""
        names = []
        if self._save_lag > 0 and iteration % self._save_lag == 0:
            names.append(f"{iteration:05d}")
        if likelihood > self._best:
            self._best = likelihood
            names.append("mode")
        if names:
            state = gather()
            for name in names:
                write_state(self._directory, self._prefix + name, state)

    def save_last(self, state: SavedState) -> None:
        """Save the last state of the run."""
        write_state(self._directory, f"{self._prefix}final", state)


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
