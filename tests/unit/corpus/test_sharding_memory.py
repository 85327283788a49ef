"""Memory does not grow with the number of documents: for a shard, not for all of them, there is room."""

import tracemalloc

import numpy as np
import scipy.sparse as sp

from franchise._draws import Draw, PartsOfDraw, write_part
from franchise.corpus import Corpus, open_shards, shard
from franchise.storage.draws import read_draw, write_draw

N_DOCUMENTS, LENGTH, N_TERMS = 1000, 50, 100
TERMS = tuple(f"term {v}" for v in range(N_TERMS))


def piece(number):
    x = np.random.default_rng(number).integers(0, N_TERMS, N_DOCUMENTS * LENGTH)
    names = [f"document {number * N_DOCUMENTS + j}" for j in range(N_DOCUMENTS)]
    return Corpus(x, np.arange(0, x.size + 1, LENGTH), TERMS, names)


def peak(do, *arguments):
    tracemalloc.start()
    try:
        do(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_writing_takes_room_for_a_shard(tmp_path):
    shard((piece(i) for i in range(2)), tmp_path / "first", 2)  # imports do not count
    few = peak(shard, (piece(i) for i in range(3)), tmp_path / "few", 3)
    many = peak(shard, (piece(i) for i in range(24)), tmp_path / "many", 24)
    assert many < 1.2 * few
    assert open_shards(tmp_path / "many").n_documents == 24 * N_DOCUMENTS


def test_opening_takes_no_room_for_documents(tmp_path):
    def look(folder):
        corpus = open_shards(folder)
        assert corpus.n_words == corpus.term_counts.sum()
        assert corpus.documents_of_length.sum() == corpus.n_documents
        assert corpus.fingerprint()

    for name, n in (("few", 2), ("many", 20)):
        shard((piece(i) for i in range(n)), tmp_path / name, 2)
    look(tmp_path / "few")
    assert peak(look, tmp_path / "many") < 1.1 * peak(look, tmp_path / "few")


def test_a_draw_in_parts_takes_no_room_for_documents(tmp_path):
    def made(folder, n):
        counts = sp.csr_array(np.ones((n, 3), np.int32))
        cut = n // 2
        parts = [write_part(folder, 5, 0, counts[:cut]), write_part(folder, 5, cut, counts[cut:])]
        topics = sp.csr_array(np.ones((3, N_TERMS), np.int32))
        draw = Draw(5, np.arange(3), topics, PartsOfDraw(folder, 5, parts, 3), np.ones(3, int), np.ones(3))
        write_draw(folder, draw)
        return Corpus([0], [0, *[1] * n], TERMS)

    corpora = {n: made(tmp_path / str(n), n) for n in (1000, 20_000)}
    few, many = (
        peak(lambda n=n: read_draw(tmp_path / str(n), 5, corpora[n]).of_documents(slice(3, 9)))
        for n in corpora
    )
    assert many < few + 20_000  # a byte for each document would be about as much
