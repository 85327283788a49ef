"""Documents in, one immutable :class:`Corpus` of flat arrays out.

``corpus`` holds the class, ``convert`` makes one from words and counts, ``vectorize`` from texts,
``others`` from the objects of other libraries, ``documents`` from any of these, ``readers`` from files in any
of ``formats`` (``writers`` goes back), and ``synthetic`` draws one from a known model. ``spans`` finds the
words of a corpus in its texts; ``metadata`` is what else is known of its documents, and ``groups`` puts them
into groups by that.
"""

from franchise.corpus.convert import from_counts, from_tokens
from franchise.corpus.corpus import Corpus, CorpusArrays
from franchise.corpus.documents import Encoded, as_corpus, encode
from franchise.corpus.formats import FORMATS, Format
from franchise.corpus.groups import Groups, groups_of
from franchise.corpus.metadata import Metadata
from franchise.corpus.others import from_anndata, from_bow
from franchise.corpus.pieces import read_new_in_pieces
from franchise.corpus.readers import read_corpus, read_ldac, read_new
from franchise.corpus.synthetic import HDPDraw, Planted, draw_hdp, five_topics, planted
from franchise.corpus.vectorize import TextOptions, from_texts
from franchise.corpus.writers import write_corpus, write_ldac

__all__ = [
    "FORMATS",
    "Corpus",
    "CorpusArrays",
    "Encoded",
    "Format",
    "Groups",
    "HDPDraw",
    "Metadata",
    "Planted",
    "TextOptions",
    "as_corpus",
    "draw_hdp",
    "encode",
    "five_topics",
    "from_anndata",
    "from_bow",
    "from_counts",
    "from_texts",
    "from_tokens",
    "groups_of",
    "planted",
    "read_corpus",
    "read_ldac",
    "read_new",
    "read_new_in_pieces",
    "write_corpus",
    "write_ldac",
]
