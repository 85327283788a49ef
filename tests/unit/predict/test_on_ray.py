"""New documents in pieces; what a cluster makes of them is in tests/integration/cluster/test_predict.py."""

import numpy as np
import pytest

from franchise import Chain, Schedule
from franchise.corpus import CorpusArrays, Encoded, planted
from franchise.corpus.documents import encode
from franchise.predict.known_topics import KnownTopics
from franchise.predict.on_ray import _topics_alone, in_pieces, words_a_piece


def encoded(*lengths):
    """Return documents of these lengths, whose words are all different."""
    doc_ptr = np.cumsum([0, *lengths])
    x = np.arange(doc_ptr[-1], dtype=np.int32)
    names = tuple(f"d{j}" for j in range(len(lengths)))
    return Encoded(CorpusArrays(x, doc_ptr, max(x.size, 1)), np.arange(len(lengths)), names)


@pytest.mark.parametrize("lengths", [[5, 0, 3, 100, 1], [0, 0, 0], [7], [], [50] * 40])
@pytest.mark.parametrize("words", [1, 60, 10_000])
def test_pieces_are_the_documents(lengths, words):
    new = encoded(*lengths)
    pieces = list(in_pieces(new, words))
    assert pieces  # nothing is a piece too
    assert [name for piece in pieces for name in piece.document_names] == list(new.document_names)
    assert np.array_equal(np.concatenate([piece.arrays.x for piece in pieces]), new.arrays.x)
    assert np.array_equal(np.concatenate([piece.unknown for piece in pieces]), new.unknown)
    assert [n for piece in pieces for n in np.diff(piece.arrays.doc_ptr)] == lengths
    for piece in pieces:
        assert piece.arrays.doc_ptr[0] == 0
        assert len(piece.document_names) == 1 or piece.arrays.x.size <= words + max(lengths, default=0)


def test_documents_without_words_are_cut_too():
    assert len(list(in_pieces(encoded(*[0] * 1000), 1000))) == 20


def test_a_piece_has_work_enough_for_what_it_takes_to_lay_out_the_topics():
    corpus = planted(n_topics=4, n_terms=30, n_documents=20, document_length=30, seed=3).corpus
    chain = Chain(corpus, schedule=Schedule(sweeps=3, burn_in=1, thin=1), seed=1)
    chain.run()
    few, many = words_a_piece(chain.draws), words_a_piece(list(chain.draws) * 10_000)
    assert few == 100_000
    assert many > few
    assert words_a_piece(chain.draws, "left-to-right") < few


def test_the_documents_of_a_fit_are_not_sent():
    corpus = planted(n_topics=4, n_terms=30, n_documents=20, document_length=30, seed=3).corpus
    chain = Chain(corpus, schedule=Schedule(sweeps=3, burn_in=1, thin=1), seed=1)
    chain.run()
    bare = _topics_alone(chain.draws)
    assert all(draw.document_topics.shape[0] == 0 for draw in bare)
    columns = [np.arange(draw.names.size) for draw in chain.draws]
    n_topics = max(own.size for own in columns)
    new = encode(corpus, corpus)
    one, other = (
        KnownTopics(corpus=corpus, draws=draws, columns=columns, n_topics=n_topics).mixtures(new)
        for draws in (chain.draws, bare)
    )
    assert np.array_equal(one, other)
