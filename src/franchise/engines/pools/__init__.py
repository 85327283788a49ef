"""What holds the partitions of a chain: this process, or workers on a cluster."""

from franchise.corpus import Corpus, ShardedCorpus
from franchise.engines.kinds import Kind
from franchise.engines.pools import ranges
from franchise.engines.pools.cluster import ClusterPool
from franchise.engines.pools.local import LocalPool
from franchise.engines.pools.pool import Pool
from franchise.engines.pools.ranges import assigned, local_job


def pool_for(kind: Kind, corpus: Corpus, threads: int) -> Pool:
    """Return the pool for the partitions of a chain."""
    if kind.pool == "ray":
        return ClusterPool(corpus)
    return LocalPool(kind.partition, assigned(local_job(corpus, kind.has_counts)), threads)


def lives_apart(kind: Kind, corpus: Corpus) -> bool:
    """Return whether the documents may be too large for one place."""
    is_large = isinstance(corpus, ShardedCorpus) and corpus.n_words > ranges.MOST_WORDS
    return kind.pool == "ray" or (is_large and not kind.has_counts)
