"""Documents in, one immutable :class:`Corpus` of flat arrays out.

``corpus`` holds the class. Documents come from files (``reading``, in any of the ``formats``, which are also
written), from texts and lists of words (``batches``), counts (``counts``), objects of other libraries
(``other_libraries``) or any of these (``documents``); ``synthetic`` draws a corpus from a known model.
``metadata`` holds further columns about documents, and ``groups`` groups documents by them. Corpora larger
than memory are in ``shards``.
"""

from franchise.corpus.batches import from_texts, from_tokens
from franchise.corpus.corpus import Corpus
from franchise.corpus.counts import from_counts
from franchise.corpus.documents import Encoded, as_corpus, encode
from franchise.corpus.duplicates import drop_duplicates
from franchise.corpus.formats import FORMATS, Format, write_corpus
from franchise.corpus.groups import Groups, groupings_of, groups_of
from franchise.corpus.new_documents import read_new
from franchise.corpus.other_libraries import from_anndata, from_bow
from franchise.corpus.read_options import ReadOptions
from franchise.corpus.reading import read_corpus, read_ldac
from franchise.corpus.shards import Shard, read_shard, shards_of
from franchise.corpus.shards.corpus import ShardedCorpus, arrays_of_shard, open_shards
from franchise.corpus.shards.writing import shard
from franchise.corpus.synthetic import HDPDraw, Planted, draw_hdp, five_topics, planted
from franchise.corpus.text_options import TextOptions

__all__ = [
    "FORMATS",
    "Corpus",
    "Encoded",
    "Format",
    "Groups",
    "HDPDraw",
    "Planted",
    "ReadOptions",
    "Shard",
    "ShardedCorpus",
    "TextOptions",
    "arrays_of_shard",
    "as_corpus",
    "draw_hdp",
    "drop_duplicates",
    "encode",
    "five_topics",
    "from_anndata",
    "from_bow",
    "from_counts",
    "from_texts",
    "from_tokens",
    "groupings_of",
    "groups_of",
    "open_shards",
    "planted",
    "read_corpus",
    "read_ldac",
    "read_new",
    "read_shard",
    "shard",
    "shards_of",
    "write_corpus",
]
