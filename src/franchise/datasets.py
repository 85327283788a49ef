"""Data that come with the package, for first tries."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def arxiv_abstracts() -> list[str]:
    """Return 2,000 arXiv abstracts on all subjects, from April 2007 (CC0).

    Examples
    --------
    >>> len(arxiv_abstracts())
    2000
    """
    return _lines("arxiv.txt.gz")


def arxiv_months() -> pd.DataFrame:
    """Return 1,280 arXiv abstracts, 80 of each month from March 2025 to June 2026, as words (CC0).

    Most are on computer vision, language and artificial intelligence. Only the counts of words of an abstract
    were kept, so its words are in alphabetical order.

    Returns
    -------
    pandas.DataFrame
        Columns id (of arXiv), month (``"2025-03"``), category (``"cs.CV"``) and words (one text).

    Examples
    --------
    >>> list(arxiv_months().columns)
    ['id', 'month', 'category', 'words']
    """
    import pandas as pd

    return pd.DataFrame(map(json.loads, _lines("arxiv_months.jsonl.gz")))


def _lines(name: str) -> list[str]:
    content = files("franchise").joinpath("data", name).read_bytes()
    return gzip.decompress(content).decode("utf-8").splitlines()
