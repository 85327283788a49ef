"""Data that come with the package, to try things out on."""

import gzip
from importlib.resources import files


def arxiv_abstracts() -> list[str]:
    """Return 2,000 arXiv abstracts on all subjects, from April 2007 (CC0).

    Examples
    --------
    >>> len(arxiv_abstracts())
    2000
    """
    content = files("franchise").joinpath("data", "arxiv.txt.gz").read_bytes()
    return gzip.decompress(content).decode("utf-8").splitlines()
