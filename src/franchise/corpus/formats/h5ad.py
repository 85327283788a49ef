"""AnnData's file (``.h5ad``), cells by genes, through anndata: cells are documents, genes are terms."""

from __future__ import annotations

from collections.abc import Sequence

from franchise._extras import needed
from franchise.corpus.corpus import Corpus
from franchise.corpus.files import Source
from franchise.corpus.formats.entries import check_width
from franchise.corpus.others import from_anndata
from franchise.errors import CorpusError


def read(source: Source, vocabulary: Sequence[str] | None, layer: str | None = None) -> Corpus:
    """Read a corpus; a vocabulary that is given takes the place of the names of the genes."""
    with needed("reading .h5ad", "anndata"):
        from anndata import read_h5ad
    try:
        data = read_h5ad(source.random_access())
    except Exception as error:  # a damaged file fails in a dozen ways
        reason = " ".join(str(error).split())[:200]
        raise source.fault(
            f"not a whole .h5ad file ({reason}); make or fetch it again", code="damaged-file"
        ) from error
    source.report(1.0)
    check_width(source, vocabulary, *data.shape)
    try:
        corpus = from_anndata(data, layer=layer)
        return corpus if vocabulary is None else corpus.with_vocabulary(vocabulary)
    except CorpusError as error:
        raise source.fault(str(error), code=error.code) from None
