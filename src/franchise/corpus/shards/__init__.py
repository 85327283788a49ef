"""Corpora larger than memory: contiguous ranges of documents, each in files of its own.

``files`` says how their folder looks, ``corpus`` opens it as a `ShardedCorpus`, ``writing`` writes it.
"""

from franchise.corpus.shards.files import Shard, read_shard, shards_of

__all__ = ["Shard", "read_shard", "shards_of"]
