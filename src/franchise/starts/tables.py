"""Which documents are a table of counts, such as tumours by kinds of mutations, and not text."""

from franchise.corpus import Corpus, ShardedCorpus

_MOST_TERMS = 1_000
_LEAST_COUNT = 4.0  # mean of the cells that are not 0; words of a text come back less often
_ENOUGH = 1_000  # documents to look at


def is_count_table(corpus: Corpus) -> bool:
    """Return whether documents have few kinds of things and many of each."""
    if corpus.n_terms > _MOST_TERMS:
        return False
    if isinstance(corpus, ShardedCorpus):
        some = corpus.spread(_ENOUGH)  # not all files have to be read
        if not any(corpus.document(j).size for j in some.tolist()):
            return False
        corpus = corpus.select(some)
    return corpus.n_words >= _LEAST_COUNT * corpus.cells.terms.size
