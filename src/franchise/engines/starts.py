"""The first topic of every word, sampled from topics that are known or evenly."""

import numpy as np

from franchise.corpus import CorpusArrays
from franchise.engines.starting_topics import StartingTopics, number_of_topics
from franchise.engines.threads import Range, Threads, falling_ranges
from franchise.model.state import State
from franchise.moves.fit_topics import DrawScratch, draw_fitted_topics, list_topics, new_draw_scratch
from franchise.moves.initialize import draw_topics
from franchise.random import Key


def draw_first_topics(
    key: Key,
    corpus: CorpusArrays,
    state: State,
    start: int | StartingTopics,
    threads: Threads,
    first_document: int = 0,
) -> int:
    """Set t_ji, k_jt and m_j: the topic of each word, one table per topic in each document.

    Returns how many topics there may be. The documents may be some of a larger corpus, in which the first has
    the number `first_document`.
    """
    columns = number_of_topics(start)
    if isinstance(start, int):
        draw_topics(
            key, corpus, state, np.zeros(4, np.uint64), np.full(columns, -1, np.int32), first_document
        )
        return columns
    # What came from another process is read-only, which compiled code would take for another type.
    listed = list_topics(start.phi, start.row.copy(), start.common.copy(), start.steps)

    def draw(one: Range, own: DrawScratch) -> None:
        draw_fitted_topics(key, corpus, state, listed, own, first_document, *one)

    longest = int(np.diff(corpus.doc_ptr).max(initial=0))
    own = [new_draw_scratch(start.phi.shape[1], longest) for _ in range(threads.number)]
    threads.each(draw, falling_ranges(corpus.doc_ptr, threads.number), own)
    return columns
