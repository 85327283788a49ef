"""Reading and writing bytes: transparent gzip, clear errors, writes whole or not at all, encodings.

The meaning of the bytes is in ``formats``.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from franchise._files import whole_file
from franchise.errors import CorpusError, SettingsError

StrPath = str | os.PathLike[str]


class Readable(Protocol):
    """An open binary file that can be read to its end."""

    def read(self, size: int, /) -> Any:
        """Return at most `size` bytes, none at the end."""


# Bytes read so far, and in all if known. For a gzipped file, these are compressed bytes.
Progress = Callable[[int, int | None], object]

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 2**20

_GIVE = "give the encoding of the file"

# Longer than any document, and short enough to protect the memory from a file without lines.
MAX_LINE = 2**28


class Source:
    """A file to read from its current position, unzipped, with messages about it.

    `name` is its name in messages. `path` is None for standard input and other streams, `encoding` is None
    for UTF-8.
    """

    HEAD = 2**16  # bytes that decide the format

    def __init__(
        self,
        file: Readable,
        name: str,
        path: Path | None = None,
        progress: Progress | None = None,
        encoding: str | None = None,
    ) -> None:
        self.name = name
        self.path = path
        self.encoding = encoding
        self._file = file
        self._progress = progress
        self._size = _size_of(file)
        packed = io.BufferedReader(_Passage(_counted(file, self._size, progress), self._cannot_read), _BUFFER)
        self._is_packed = packed.peek()[:2] == _GZIP_MAGIC
        self.stream = packed
        if self._is_packed:
            unpacked = gzip.GzipFile(fileobj=packed)
            self.stream = io.BufferedReader(_Passage(unpacked.read, self._is_damaged), _BUFFER)

    def head(self) -> bytes:
        """Return the first bytes of the file, without consuming them."""
        return self.stream.peek()[: self.HEAD]

    def lines(self) -> Iterator[bytes]:
        """Yield lines with their line ends."""
        for number, line in enumerate(iter(lambda: self.stream.readline(MAX_LINE), b""), start=1):
            self._check_length(line, number)
            yield line

    def blocks(self, number: int = 1) -> Iterator[tuple[int, bytes]]:
        """Yield blocks of whole lines, about a megabyte each, with the number of their first line."""
        while block := self.stream.read(_BUFFER):
            rest = self.stream.readline(MAX_LINE)
            n_lines = block.count(b"\n")
            self._check_length(rest, number + n_lines)
            whole = block + rest
            yield number, whole if whole.endswith(b"\n") else whole + b"\n"
            number += n_lines + 1

    def text_lines(self) -> Iterator[str]:
        """Yield lines of text with their line ends; drop a byte order mark at the start."""
        return self._utf_8_lines() if self.encoding is None else self._lines_in(self.encoding)

    def _utf_8_lines(self) -> Iterator[str]:
        start = 0
        for number, line in enumerate(self.lines(), start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                # The position refers to the decoded bytes, which exclude the mark.
                i = error.start + len(line) - len(error.object)
                found = f"not UTF-8 text: the byte at offset {start + i:,} is 0x{line[i]:02x}"
                raise self._not_utf_8(line, number, found) from None
            if "\0" in text:
                found = f"the byte at offset {start + line.index(0):,} is zero, so this is not UTF-8 text"
                raise self._not_utf_8(line, number, found)
            start += len(line)
            yield text

    def _lines_in(self, encoding: str) -> Iterator[str]:
        reader = io.TextIOWrapper(self.stream, encoding, newline="\n")
        number = 1
        try:
            for number, line in enumerate(iter(lambda: reader.readline(MAX_LINE), ""), start=1):
                if "\0" in line:
                    raise self.fault(
                        f"a character is zero, so this is not {encoding} text; {_GIVE}",
                        number,
                        code="wrong-encoding",
                    )
                yield line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError:
            raise self.fault(
                f"not {encoding} text, here or in the lines after it; {_GIVE}", number, code="wrong-encoding"
            ) from None
        finally:
            # Otherwise it would close the stream, which an error may already have closed.
            if not self.stream.closed:
                reader.detach()

    def _not_utf_8(self, line: bytes, number: int, found: str) -> CorpusError:
        guess = likely_encoding((line + self.stream.peek())[: self.HEAD])
        advice = "convert the file to UTF-8, or give its encoding (--encoding)"
        if guess is not None:
            given = f"give encoding={guess!r} (--encoding)"
            advice = f"it is probably {guess}: {given}, or convert the file to UTF-8"
        return self.fault(f"{found}; {advice}", number, code="wrong-encoding")

    def random_access(self) -> BinaryIO:
        """Return the unzipped file for random access; nothing may have been read before."""
        if self._is_plain_file():
            file = cast(BinaryIO, self._file)
            file.seek(0)
            return file
        return io.BytesIO(self.stream.read())

    def plain_path(self) -> Path | None:
        """Return the path of the file; None if it is compressed or a stream."""
        return self.path if self._is_plain_file() else None

    def report(self, share: float) -> None:
        """Report the progress of reading, if the stream does not show it."""
        if self._progress is not None and self._size is not None and self._is_plain_file():
            self._progress(round(share * self._size), self._size)

    def fault(self, message: str, line: int | None = None, *, code: str) -> CorpusError:
        """Return an error that names the file and the line."""
        where = self.name if line is None else f"{self.name}:{line}"
        return CorpusError(f"{where}: {message}", code=code)

    @contextmanager
    def whole(self, what: str, advice: str) -> Iterator[None]:
        """Turn any error that a library raises for a damaged file into one message."""
        try:
            yield
        except CorpusError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise self.fault(f"not a whole {what} ({reason}); {advice}", code="damaged-file") from error

    def _is_plain_file(self) -> bool:
        return self.path is not None and self._size is not None and not self._is_packed

    def _check_length(self, line: bytes, number: int) -> None:
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            raise self.fault(
                f"the line is longer than {MAX_LINE:,} bytes; check that this is a text file",
                number,
                code="line-too-long",
            )

    def _cannot_read(self, error: Exception) -> CorpusError:
        return self.fault(
            f"cannot read it ({_reason(error)}); check its permissions and the disk", code="cannot-read"
        )

    def _is_damaged(self, error: Exception) -> CorpusError:
        return self.fault(f"the gzip data are damaged ({error}); fetch the file again", code="damaged-file")


@contextmanager
def open_source(
    path: StrPath | Readable, progress: Progress | None = None, encoding: str | None = None
) -> Iterator[Source]:
    """Open a file for reading; ``"-"`` is standard input, and an open binary file is used directly."""
    name = source_name(path)
    if path == "-":
        yield Source(sys.stdin.buffer, name, None, progress, encoding)
    elif isinstance(path, str | os.PathLike):
        with _open(Path(path)) as file:
            yield Source(file, name, Path(path), progress, encoding)
    else:
        yield Source(path, name, None, progress, encoding)


def source_name(path: StrPath | Readable) -> str:
    """Return the name of a file for messages."""
    if isinstance(path, str | os.PathLike):
        return "standard input" if path == "-" else str(path)
    name = getattr(path, "name", None)
    return name if isinstance(name, str) else "the open file"


def write_atomically(path: StrPath, content: Iterable[bytes | memoryview]) -> Path:
    """Write blocks, whole or not at all; gzip them if the name ends in ``.gz``."""
    target = Path(path)
    try:
        with whole_file(target) as file:
            if target.suffix != ".gz":
                file.writelines(content)
            else:
                # No time and no name in the file: equal corpora give equal bytes. Level 6 is gzip's own
                # default; Python's default of 9 takes several times as long.
                with gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
                    zipped.writelines(content)
    except OSError as error:
        raise CorpusError(
            f"{target}: cannot write it ({_reason(error)}); check the folder and its permissions",
            code="cannot-write",
        ) from error
    return target


class _Passage(io.RawIOBase):
    """A stream over a function that reads, with full reads and clear errors."""

    def __init__(self, read: Callable[[int], bytes], explain: Callable[[Exception], CorpusError]) -> None:
        self._read = read
        self._explain = explain

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        done = 0
        try:
            # A pipe may return less than requested, too little for recognising the format.
            while done < len(buffer) and (data := self._read(len(buffer) - done)):
                buffer[done : done + len(data)] = data
                done += len(data)
        except (OSError, EOFError, zlib.error) as error:
            raise self._explain(error) from error
        return done


def _counted(file: Readable, size: int | None, progress: Progress | None) -> Callable[[int], bytes]:
    done = 0

    def read(n: int) -> bytes:
        nonlocal done
        data = file.read(n)
        if not isinstance(data, bytes):
            raise CorpusError(
                f"the open file returns {type(data).__name__}, not bytes; open it with open(path, 'rb')",
                code="wrong-type",
            )
        done += len(data)
        if progress is not None:
            progress(done, size)
        return data

    return read


def _size_of(file: Readable) -> int | None:
    """Return the number of bytes of a file on disk; None for a pipe and other streams."""
    # Other file objects, such as those of the gzip module, have the descriptor of a file of another size.
    if not isinstance(file, io.FileIO | io.BufferedReader):
        return None
    try:
        status = os.fstat(file.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _open(path: Path) -> BinaryIO:
    if os.path.isdir(path):  # unlike Path.is_dir, it accepts any name
        raise CorpusError(f"{path}: this is a directory; give the file in it", code="is-a-folder")
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no such file; check the path", code="no-such-file") from None
    except (OSError, ValueError) as error:
        raise CorpusError(
            f"{path}: cannot read it ({_reason(error)}); check the path and its permissions",
            code="cannot-read",
        ) from error


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


# ---------------------------------------------------------------- encodings other than UTF-8

# Without this list, rare related encodings would be found in short texts.
_CANDIDATES = [
    "cp1252", "cp850", "cp1251", "koi8_r", "cp932", "euc_jp", "euc_kr", "gb18030", "big5",
    "utf_16", "utf_16_le", "utf_16_be", "utf_32",
]  # fmt: skip


def checked_encoding(given: object) -> str | None:
    """Return Python's name of an encoding, or None for UTF-8."""
    if given is None:
        return None
    try:
        name = codecs.lookup(given).name  # type: ignore[arg-type]
        "a".encode(name)  # refuses codecs from bytes to bytes
    except (LookupError, TypeError, ValueError):
        raise SettingsError(
            f"encoding={given!r}: no such encoding; give 'utf-8', 'utf-16', 'cp1252' (Western "
            "European) or another that Python knows",
            code="unknown-encoding",
        ) from None
    return None if name in ("utf-8", "utf-8-sig") else name


def likely_encoding(sample: bytes) -> str | None:
    """Return the probable encoding of a piece of text, or None.

    Examples
    --------
    >>> likely_encoding("naïve café, déjà vu".encode("cp1252"))
    'cp1252'
    """
    from charset_normalizer import from_bytes

    if sample.isascii() and b"\0" not in sample:
        return None
    for cut in range(4):  # the sample may end within a character
        best = from_bytes(sample[: len(sample) - cut], cp_isolation=_CANDIDATES).best()
        if best is not None:
            return best.encoding
    return None
