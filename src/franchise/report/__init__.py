"""What people look at: one page in a browser (`write_report`), and figures for papers (`figures`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from franchise._extras import needed
from franchise._files import write_text
from franchise._progress import advance
from franchise._version import versions_here
from franchise.corpus import Corpus
from franchise.errors import FranchiseError
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.posterior.methods import Made
from franchise.report.data import page_data
from franchise.sampling import Chain

__all__ = ["write_report"]

STEPS = 6  # of writing a report, which `franchise._progress.advance` counts


def write_report(
    path: str | PathLike[str],
    posterior: Posterior,
    corpus: Corpus,
    chains: Sequence[Chain],
    diagnosis: Diagnosis,
    settings: dict[str, Any],
    *,
    labels: Mapping[int, str] | None = None,
    title: str | None = None,
    versions: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report: one HTML file, which any current browser opens.

    Parameters
    ----------
    path
        Where to write it, such as ``"report.html"``.
    posterior
        What is known after the run.
    corpus
        The documents that it was fitted to.
    chains
        The chains of the run.
    diagnosis
        Whether they agree.
    settings
        The settings of the model, to be listed.
    labels
        Names that were given to topics, by the topic's number.
    title
        The heading; by default, the number of topics and documents.
    versions
        Versions of the libraries that the model was fitted with; by default the present ones.
    overwrite
        Replace an existing file.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    FranchiseError
        If the file already exists, or a package of the extra ``report`` is missing.
    """
    target = Path(path)
    if target.is_dir():
        raise FranchiseError(
            f"{target}: this is a folder; give the name of a file, such as report.html", code="is-a-folder"
        )
    if target.exists() and not overwrite:
        raise FranchiseError(
            f"{target}: the file already exists; give another name, or overwrite=True", code="file-exists"
        )
    with needed("the report", "report"):
        from franchise.report.render import render
    made = Made(posterior, corpus, chains, diagnosis, settings, versions or versions_here())
    data = page_data(made, title, labels or {})
    write_text(target, render(data, [f"chain {chain.number}" for chain in chains]))
    advance()
    return target
