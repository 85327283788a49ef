"""The topic of every word, in one state of one chain: as a table, and as MALLET writes it.

Draws keep counts. Which word has which topic is known only of the state in which a chain is now, after its
last sweep. Topics have the numbers that they are listed by (`Posterior.columns`); a topic of the state is the
one that it was in the chain's last draw. Topics of the state that are not listed are -1 in the table. A file
of MALLET has no such thing: there they get numbers after the listed ones.

MALLET's state is text, usually gzipped: a line of names, the weights alpha_k of all topics, beta, then a line
for each word. Here alpha_k is alpha m_k / (m + gamma), 0 for a listed topic that the state does not have, and
beta is eta. Fields are separated by blanks, so those inside a term or a name become underscores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise._arrays import Array, ranges_of
from franchise._text import printable
from franchise.corpus import Corpus, arrays_of_shard, shards_of
from franchise.errors import ModelError
from franchise.model.state import ALPHA, ETA, GAMMA, TOPICS, State
from franchise.sampling import Chain, Draw

if TYPE_CHECKING:
    import pandas as pd

_AT_ONCE = 500_000  # words
_UNLISTED = -1


class Block(NamedTuple):
    """The words of some documents."""

    documents: Array  # of each word
    positions: Array
    terms: Array
    topics: Array


class Assignments:
    """The topic of every word in the present state of a chain.

    Parameters
    ----------
    corpus
        The documents, with the names of their terms.
    chain
        The chain.
    draw, column
        A draw of the chain, the last one, and the listed topic of each of its topics.
    n_topics
        How many topics are listed; `column` has this number for topics that are not.

    Raises
    ------
    ModelError
        If the chain's engine does not keep the topics of single words.
    """

    def __init__(self, corpus: Corpus, chain: Chain, draw: Draw, column: Array, n_topics: int) -> None:
        state: State = chain.state
        if state.t_ji.size != corpus.n_words:
            raise ModelError(
                f"the engine {chain.engine_name!r} draws all words of one term in a document at once, and "
                'does not keep the topic of each; fit with engine="collapsed" or "parallel"',
                code="no-assignments",
            )
        self.corpus, self._state = corpus, state
        live = np.asarray(state.live[: state.totals[TOPICS]])
        listed = dict(zip(draw.names.tolist(), column.tolist(), strict=True))
        known = [listed.get(name, n_topics) for name in state.name_k[live].tolist()]
        self._number = np.zeros(state.name_k.size, np.int64)
        self._number[live] = known
        others = live[self._number[live] == n_topics]
        self._number[others] = n_topics + np.arange(others.size)
        self._n_listed, self._n_topics, self._live = n_topics, n_topics + others.size, live

    def blocks(self) -> Iterator[Block]:
        """Yield all words, in the order of the documents, some at a time; listed topics come first."""
        k_jt, t_ji = self._state.k_jt, self._state.t_ji
        first_document = first_word = 0
        for shard in shards_of(self.corpus, 1):
            x, ends, _ = arrays_of_shard(self.corpus, shard)
            for begin, end in ranges_of(ends, _AT_ONCE):
                lengths = np.diff(ends[begin : end + 1])
                words = slice(int(ends[begin]), int(ends[end]))
                start = np.repeat(ends[begin:end], lengths)
                slots = first_word + start + t_ji[first_word + words.start : first_word + words.stop]
                yield Block(
                    np.repeat(first_document + np.arange(begin, end), lengths),
                    np.arange(words.start, words.stop) - start,
                    x[words],
                    self._number[k_jt[slots]],
                )
            first_document, first_word = first_document + ends.size - 1, first_word + int(ends[-1])

    def frames(self) -> Iterator[pd.DataFrame]:
        """Yield tables of words: number and name of the document, position, term, topic (-1: not listed)."""
        import pandas as pd

        names = np.array([printable(name) for name in self.corpus.document_names], object)
        terms = np.array([printable(term) for term in self.corpus.vocabulary], object)
        for block in self.blocks():
            yield pd.DataFrame(
                {
                    "number": block.documents,
                    "document": names[block.documents],
                    "position": block.positions,
                    "term": terms[block.terms],
                    "topic": np.where(block.topics < self._n_listed, block.topics, _UNLISTED),
                }
            )

    def mallet_state(self) -> Iterator[bytes]:
        """Yield the lines of a state of MALLET."""
        concentrations = self._state.concentrations
        m_k = self._state.m_k[self._live]
        alpha = np.zeros(self._n_topics)
        share = concentrations[ALPHA] / (m_k.sum() + concentrations[GAMMA])
        np.add.at(alpha, self._number[self._live], share * m_k)
        yield b"#doc source pos typeindex type topic\n"
        yield f"#alpha : {' '.join(map(repr, alpha.tolist()))} \n".encode()
        yield f"#beta : {float(concentrations[ETA])!r}\n".encode()
        names = [_one_field(name) for name in self.corpus.document_names]
        terms = [_one_field(term) for term in self.corpus.vocabulary]
        for block in self.blocks():
            rows = zip(*(array.tolist() for array in block), strict=True)
            yield "".join([f"{j} {names[j]} {i} {v} {terms[v]} {k}\n" for j, i, v, k in rows]).encode()


def _one_field(text: str) -> str:
    """Return a text without blanks; NA for none, as in MALLET."""
    return "_".join(printable(text).split()) or "NA"
