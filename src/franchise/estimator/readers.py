"""What a fitted model says to readers: the page for the browser, and paragraphs for a paper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from franchise._version import versions_here
from franchise.posterior.methods import Made, methods
from franchise.storage import model as store

if TYPE_CHECKING:
    from franchise._files import Facts
    from franchise.corpus import Corpus
    from franchise.posterior.diagnostics import Diagnosis
    from franchise.posterior.estimates import Posterior
    from franchise.sampling import Chain


class ForReaders:
    """The part of `HDPTopicModel` that writes for readers of a paper or report."""

    corpus_: Corpus
    posterior_: Posterior
    chains_: list[Chain]
    named_topics_: dict[int, str]
    _kept: dict[Path, str]

    if TYPE_CHECKING:

        @property
        def settings_(self) -> Facts:
            """Those of `Answers`."""

        def diagnose(self) -> Diagnosis:
            """Check whether the answer can be trusted."""

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, overwrite: bool = False
    ) -> Path:
        """Write a page for the browser, one file that needs no network: topics, documents, traces.

        Parameters
        ----------
        path
            Where to write it, such as ``"report.html"``.
        title
            The heading.
        overwrite
            Replace an existing file.
        """
        check_is_fitted(self)
        from franchise.report import write_report

        made = self._made()
        return write_report(
            path,
            *made[:5],
            labels=self.named_topics_,
            title=title,
            versions=made.versions,
            overwrite=overwrite,
        )

    def methods(self, format: str = "text") -> str:
        """Return paragraphs for the Methods section of a paper, to be pasted and edited.

        They say what the documents are and which words were left out, the model with its priors, how it was
        sampled, whether chains agree, and with which versions and seed.

        Parameters
        ----------
        format
            ``"text"``, ``"markdown"``, ``"latex"``, which cites by key, or ``"bibtex"``, the entries of these
            keys.

        Returns
        -------
        str
            The paragraphs; as text and Markdown with a list of references.

        Examples
        --------
        >>> from franchise import HDPTopicModel
        >>> texts = ["The cat drinks milk", "A dog and a cat", "Stocks and bonds fell", "Bonds rose"]
        >>> model = HDPTopicModel(sweeps=50, chains=2, random_state=0, verbose=0).fit(texts)
        >>> model.methods().splitlines()[0][:60]
        'The collection has 4 documents with 10 words of 8 different '
        """
        check_is_fitted(self)
        return methods(self._made(), format)

    def _made(self) -> Made:
        # A model that was loaded says with what it was fitted, not with what it is looked at.
        folders = [folder for folder in self._kept if store.is_model(folder)]
        versions = store.versions_of(folders[0]) if folders else versions_here()
        started = [chain for chain in self.chains_ if len(chain.trace)]
        return Made(self.posterior_, self.corpus_, started, self.diagnose(), self.settings_, versions)
