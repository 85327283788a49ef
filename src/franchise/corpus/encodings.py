"""Which encoding a file has that is not UTF-8: a guess for messages. What is read is what the user names."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from franchise.errors import SettingsError

UTF_8 = "utf-8"

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_LETTER = re.compile(rb"[A-Za-z]")
_HIGH = re.compile(rb"[\x80-\xff]")


class _Candidate(NamedTuple):
    """An encoding, with the characters that most of a text have in the languages that it is used for."""

    name: str
    typical: str  # a class of a regular expression
    share: float  # of the characters beyond ASCII that must be typical


# In this order: what fits an earlier one, with its kana or small letters, is hardly ever text of a later one.
_CANDIDATES = (
    _Candidate("cp932", "[\u3040-\u30ff]", 0.15),  # Japanese has kana in every sentence
    _Candidate("euc_jp", "[\u3040-\u30ff]", 0.15),
    _Candidate("cp1251", "[\u0430-\u044f]", 0.7),
    _Candidate("koi8_r", "[\u0430-\u044f]", 0.7),
    _Candidate("euc_kr", "[\uac00-\ud7a3]", 0.8),
    _Candidate("gb18030", "[\u4e00-\u9fa5\u3001\u3002\uff0c]", 0.8),
    _Candidate("big5", "[\u4e00-\u9fa5\u3001\u3002\uff0c]", 0.8),
)


def checked_encoding(given: object) -> str | None:
    """Return the name of an encoding as Python spells it, None for UTF-8.

    Raises
    ------
    SettingsError
        If there is no such encoding of texts.
    """
    if given is None:
        return None
    try:
        name = codecs.lookup(given).name  # type: ignore[arg-type]
        "a".encode(name)  # what turns bytes into bytes is no encoding of texts
    except (LookupError, TypeError, ValueError):
        raise SettingsError(
            f"encoding={given!r}: there is no such encoding; give 'utf-8', 'utf-16', 'cp1252' (Western "
            "European) or another that Python knows",
            code="unknown-encoding",
        ) from None
    return None if name in (UTF_8, "utf-8-sig") else name


def likely_encoding(sample: bytes) -> str | None:
    """Return the encoding that a piece of a text probably has; None where nothing speaks for any.

    Examples
    --------
    >>> likely_encoding("naïve café, déjà vu".encode("cp1252"))
    'cp1252'
    """
    for mark, name in _MARKS:
        if sample.startswith(mark):
            return name
    if b"\0" in sample:
        # ASCII in UTF-16 has a zero in every second place.
        odd, even = sample[1::2].count(0), sample[::2].count(0)
        is_utf_16 = max(odd, even) > 0.5 * len(sample[::2]) and min(odd, even) == 0
        return None if not is_utf_16 else "utf-16-le" if odd else "utf-16-be"
    n_high = len(_HIGH.findall(sample))
    if not n_high or _CONTROL.search(sample):
        return None
    if n_high < 0.4 * (n_high + len(_LETTER.findall(sample))):
        return next((name for name in ("cp1252", "cp850") if _decoded(sample, name) is not None), None)
    for candidate in _CANDIDATES:
        text = _decoded(sample, candidate.name)
        beyond = [letter for letter in text or "" if ord(letter) > 127]
        if beyond and len(re.findall(candidate.typical, "".join(beyond))) >= candidate.share * len(beyond):
            return candidate.name
    return None


def _decoded(sample: bytes, name: str) -> str | None:
    try:
        # The sample may end within a character.
        return codecs.getincrementaldecoder(name)().decode(sample, final=False)
    except UnicodeDecodeError:
        return None
