"""Documents in, one immutable :class:`Corpus` of flat arrays out.

``corpus`` holds the class, ``convert`` makes one from data in memory, ``readers`` from files, and
``synthetic`` draws one from a known model. Turning raw text into words is not here.
"""

from franchise.corpus.convert import from_counts, from_tokens
from franchise.corpus.corpus import Corpus, CorpusArrays
from franchise.corpus.readers import read_ldac, write_ldac
from franchise.corpus.synthetic import HDPDraw, Planted, draw_hdp, five_topics, planted

__all__ = [
    "Corpus",
    "CorpusArrays",
    "HDPDraw",
    "Planted",
    "draw_hdp",
    "five_topics",
    "from_counts",
    "from_tokens",
    "planted",
    "read_ldac",
    "write_ldac",
]
