"""Helpers for text that people read, so that it is the same everywhere."""


def counted(n: int, thing: str) -> str:
    """Return a number with the thing that it counts, in the plural unless it is one.

    Examples
    --------
    >>> counted(1, "word"), counted(2_000, "word")
    ('1 word', '2,000 words')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"


def printable(text: str) -> str:
    """Return a text that any file can hold: surrogate halves are joined, or replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shortened(text: str, most: int) -> str:
    """Return a text of at most this many characters; a longer one ends in an ellipsis.

    Examples
    --------
    >>> shortened("galaxy", 6), shortened("galaxies", 6)
    ('galaxy', 'galax…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
