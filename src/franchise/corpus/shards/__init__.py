"""Corpora larger than memory: contiguous ranges of documents, each in its own files.

``files`` defines the folder, ``corpus`` opens it as a `ShardedCorpus`, and ``writing`` writes it.
"""

from franchise.corpus.shards.files import Shard, read_shard, shards_of

__all__ = ["Shard", "read_shard", "shards_of"]
