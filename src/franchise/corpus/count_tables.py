"""What a count table is, such as tumours by kinds of mutations: other starts suit it than suit texts."""

from franchise.corpus.corpus import Corpus
from franchise.corpus.shards.corpus import ShardedCorpus

FEW_TERMS = 1_000  # up to these, whether counts vary too much is measured (`engines.starts.tables`)
_FEWEST_DOCUMENTS = 5  # that can tell how many topics there are, about
_LEAST_COUNT = 4.0  # mean of the cells that are not 0; words of a text come back less often
_ENOUGH = 1_000  # documents of a corpus in shards to look at


def is_count_table(corpus: Corpus) -> bool:
    """Return whether documents have few kinds of things and many of each."""
    if corpus.n_terms > FEW_TERMS or corpus.documents_of_length[1:].sum() < _FEWEST_DOCUMENTS:
        return False
    if isinstance(corpus, ShardedCorpus):
        some = corpus.spread(_ENOUGH)  # not all files have to be read
        if not any(corpus.document(j).size for j in some.tolist()):
            return False
        corpus = corpus.select(some)
    return corpus.n_words >= _LEAST_COUNT * corpus.cells.terms.size
