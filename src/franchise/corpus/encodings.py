"""Encodings other than UTF-8: the one that the user names, and a guess for messages."""

from __future__ import annotations

import codecs

from franchise.errors import SettingsError

# Without a choice, rarer relatives of these are found in short texts.
_CANDIDATES = [
    "cp1252", "cp850", "cp1251", "koi8_r", "cp932", "euc_jp", "euc_kr", "gb18030", "big5",
    "utf_16", "utf_16_le", "utf_16_be", "utf_32",
]  # fmt: skip


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
    return None if name in ("utf-8", "utf-8-sig") else name


def likely_encoding(sample: bytes) -> str | None:
    """Return the encoding that a piece of a text probably has; None where nothing speaks for any.

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
