"""Documents in, one immutable :class:`Corpus` of flat arrays out.

``corpus`` holds the class, ``convert`` makes one from words (numbered by ``tokens``) and counts,
``vectorize`` from texts, ``others`` from the objects of other libraries, ``documents`` from any of these,
``readers`` from files in any of ``formats`` (``writers`` goes back), and ``synthetic`` draws one from a known
model. ``spans`` finds the words of a corpus in its texts; ``metadata`` is what else is known of its
documents, and ``groups`` puts them into groups by that. ``sharded`` is a corpus whose documents lie in
several files, ``sharding`` writes one.
"""

from franchise.corpus.convert import from_counts, from_tokens
from franchise.corpus.corpus import Corpus, CorpusArrays
from franchise.corpus.documents import Encoded, as_corpus, encode
from franchise.corpus.formats import FORMATS, Format
from franchise.corpus.groups import Groups, groups_of
from franchise.corpus.others import from_anndata, from_bow
from franchise.corpus.readers import read_corpus, read_ldac, read_new
from franchise.corpus.sharded import ShardedCorpus, arrays_of_shard, open_shards
from franchise.corpus.sharding import shard
from franchise.corpus.shards import Shard, read_shard, shards_of
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
    "Planted",
    "Shard",
    "ShardedCorpus",
    "TextOptions",
    "arrays_of_shard",
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
    "open_shards",
    "planted",
    "read_corpus",
    "read_ldac",
    "read_new",
    "read_shard",
    "shard",
    "shards_of",
    "write_corpus",
    "write_ldac",
]
