"""Corpora that are too large for memory: gathered in a file, mapped, and the same as if they were small."""

import io
import json
import mmap
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import HDPTopicModel
from franchise.corpus import (
    Corpus,
    TextOptions,
    cells,
    counts,
    from_counts,
    from_texts,
    from_tokens,
    large_arrays,
    read_corpus,
    texts,
    write_corpus,
)
from franchise.corpus.large_arrays import (
    Growing,
    GrowingTexts,
    PackedTexts,
    handed_over,
    let_go,
    texts_length,
)
from franchise.corpus.texts import drop_unknown
from franchise.datasets import arxiv_abstracts
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(large_arrays, "MOST_IN_MEMORY", 100)
    for module in (large_arrays, cells, texts, counts):
        monkeypatch.setattr(module, "BLOCK", 64)
    monkeypatch.setattr("franchise.corpus.stored.LARGE", 100)


def is_on_disk(array):
    """Return whether an array is, at bottom, a file that is mapped."""
    owner = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, "base", None)
    return owner is not None


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=9)), st.integers(0, 60))
def test_what_grows_is_what_was_added(pieces, most):
    whole = np.array([one for piece in pieces for one in piece], dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "MOST_IN_MEMORY", most)
        numbers = Growing()
        for piece in pieces:
            numbers.extend(np.array(piece, dtype=np.int32))
        found = numbers.array()
    np.testing.assert_array_equal(found, whole)
    assert isinstance(found, np.memmap) == (whole.nbytes > most)
    found[:] = 7  # it can be changed, until it is handed over
    final = handed_over(found)
    assert not final.flags.writeable or not final.size
    assert (final == 7).all()


def test_memory_that_is_let_go_keeps_its_numbers(everything_is_large):
    numbers = Growing()
    numbers.extend(np.arange(10_000))
    found = numbers.array()
    found *= 2
    let_go(found, np.arange(3))
    np.testing.assert_array_equal(found, 2 * np.arange(10_000))


def test_no_room_on_the_disk(monkeypatch, everything_is_large):
    numbers = Growing()
    numbers.extend(np.arange(50))

    numbers._file.close()

    class Full:
        def close(self):
            pass

        def write(self, content):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(numbers, "_file", Full())
    with raises(CorpusError, "cannot-write", "No space left on device", "TMPDIR"):
        numbers.extend(np.arange(50))


@given(st.lists(st.lists(st.integers(-1, 3), max_size=12), max_size=30), st.integers(1, 40))
def test_words_are_dropped_in_place(documents, piece):
    doc_ptr = np.cumsum([0, *map(len, documents)])
    ids = np.array([word for document in documents for word in document], dtype=np.int32)
    known = [[word for word in document if word >= 0] for document in documents]
    expected = (
        [word for document in known for word in document],
        np.cumsum([0, *map(len, known)]),
        [len(document) - len(left) for document, left in zip(documents, known)],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "BLOCK", piece)
        found = drop_unknown(ids, doc_ptr)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8), st.integers(1, 7), st.data())
def test_documents_are_gathered_in_pieces(documents, piece, data):
    words = np.array([v for one in documents for v in one], np.int32)
    doc_ptr = np.cumsum([0, *map(len, documents)])
    order = data.draw(st.lists(st.integers(0, len(documents) - 1), max_size=9) if documents else st.just([]))
    order = np.array(order, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_arrays, "BLOCK", piece)
        x = large_arrays.ranges_of(words, doc_ptr[order], np.diff(doc_ptr)[order])
    assert x.tolist() == [v for j in order for v in documents[j]]


@pytest.mark.parametrize("options", [{}, {"min_df": 5, "max_features": 40}, {"ngram_range": (1, 2)}])
def test_many_texts(request, options):
    small = from_texts(arxiv_abstracts()[:150], **options)
    assert not is_on_disk(small.x)
    request.getfixturevalue("everything_is_large")
    large = from_texts(iter(arxiv_abstracts()[:150]), **options)
    assert is_on_disk(large.x)
    assert large == small
    assert large.fingerprint() == small.fingerprint()
    assert isinstance(large.texts, PackedTexts)
    assert is_on_disk(large.texts.content)
    assert large.texts == small.texts
    assert not large.x.flags.writeable


TEXTS = ["", "ant", "Zoë", "\ud800 half", "", "a\0b\n"]


def test_packed_texts_are_a_sequence():
    grown = GrowingTexts()
    for text in TEXTS:
        grown.append(text)
    texts = grown.packed()
    assert list(texts) == TEXTS
    assert (len(texts), texts[2], texts[-1], texts[np.int64(1)]) == (6, "Zoë", "a\0b\n", "ant")
    assert texts[1:3] == ("ant", "Zoë")
    assert texts == tuple(TEXTS)
    assert texts != TEXTS[:5]
    assert texts != 3
    assert texts_length(texts) >= texts_length(TEXTS)
    assert pickle.loads(pickle.dumps(texts)) == texts
    with pytest.raises(IndexError):
        texts[6]


def test_a_corpus_with_packed_texts(everything_is_large):
    texts = arxiv_abstracts()[:20]
    corpus = from_texts(texts)
    assert corpus.select([3, 1]).texts == (texts[3], texts[1])
    assert pickle.loads(pickle.dumps(corpus)).texts == texts
    assert from_texts(texts, keep_texts=100).texts is None
    with raises(CorpusError, "wrong-length", "20 texts", "2 documents"):
        Corpus([0, 0], [0, 1, 2], ["ant"], texts=corpus.texts)


def test_many_tokens(everything_is_large):
    documents = [text.split() for text in arxiv_abstracts()[:20]]
    corpus = from_tokens(documents)
    assert is_on_disk(corpus.x)
    assert [[corpus.vocabulary[v] for v in corpus.document(j)] for j in range(20)] == documents
    assert from_tokens(documents, vocabulary=corpus.vocabulary) == corpus


COUNTS = np.random.default_rng(0).poisson(0.7, (40, 30)) * np.random.default_rng(1).integers(0, 2, (40, 1))


@pytest.mark.parametrize("name", ["docs.ldac", "docword.docs.txt", "docs.mtx"])
@pytest.mark.parametrize("times", [1, 100])
def test_many_counts(tmp_path, everything_is_large, name, times):
    corpus = from_counts(COUNTS * times, vocabulary=[f"t{v}" for v in range(30)])
    write_corpus(corpus, tmp_path / name)
    read = read_corpus(tmp_path / name)
    assert read == corpus
    assert read.keeps_cells == (times == 100)
    assert is_on_disk(read.cells.counts if times == 100 else read.x)


def test_many_counts_in_any_order(everything_is_large):
    rows, columns = COUNTS.nonzero()
    order = np.random.default_rng(2).permutation(rows.size)
    lines = [f"{j + 1} {v + 1} {COUNTS[j, v]}" for j, v in zip(rows[order], columns[order])]
    shuffled = "\n".join([f"40\n30\n{rows.size + 1}", *lines, "1 1 3"])
    within = "\n".join(
        f"{(row > 0).sum()} " + " ".join(f"{v}:{row[v]}" for v in np.flatnonzero(row)[::-1]) for row in COUNTS
    )
    expected = COUNTS.copy()
    np.testing.assert_array_equal(read_corpus(io.BytesIO(within.encode())).to_counts().toarray(), COUNTS)
    expected[0, 0] += 3
    np.testing.assert_array_equal(read_corpus(io.BytesIO(shuffled.encode())).to_counts().toarray(), expected)


def test_more_words_than_can_be_counted(everything_is_large):
    file = "2\n1\n3\n" + "1 1 2000000000\n" * 2 + "2 1 1\n"
    with raises(CorpusError, "too-many-words", "4,000,000,001"):
        read_corpus(io.BytesIO(file.encode()))
    many = "40\n1\n40\n" + "".join(f"{j} 1 2000000000\n" for j in range(1, 41))
    with raises(CorpusError, "too-many-words", "80,000,000,000"):
        read_corpus(io.BytesIO(many.encode()))


# ---------------------------------------------------------------- our own file


@pytest.fixture
def corpus():
    texts = arxiv_abstracts()[:60]
    return from_texts(texts, document_names=[f"d{j}" for j in range(60)], metadata={"year": list(range(60))})


@pytest.mark.parametrize("kept", ["words", "cells"])
def test_a_file_of_our_own_has_everything(tmp_path, everything_is_large, corpus, kept):
    if kept == "cells":
        corpus = Corpus.from_cells(corpus.cells, corpus.vocabulary, corpus.document_names, **corpus.about())
    corpus = corpus.downsampled(50)
    (written,) = write_corpus(corpus, tmp_path / "docs.franchise")
    read = read_corpus(written)
    assert read == corpus
    assert read.texts == corpus.texts
    assert read.text_options == corpus.text_options
    assert read.downsampling == corpus.downsampling
    assert read.metadata["year"].tolist() == list(range(60))
    assert is_on_disk(read.cells.counts if read.keeps_cells else read.x)
    assert is_on_disk(read.texts.content)
    assert read_corpus(written, keep_texts=False).texts is None
    assert read_corpus(written, keep_texts=10).texts is None
    assert read_corpus(written, keep_texts=10**6).texts == corpus.texts
    with open(written, "rb") as file:
        assert read_corpus(file) == corpus


def test_small_files_are_read(tmp_path, corpus):
    (written,) = write_corpus(corpus, tmp_path / "docs.franchise")
    assert not is_on_disk(read_corpus(written).x)


def test_other_names_for_the_terms(tmp_path, corpus):
    (written,) = write_corpus(corpus, tmp_path / "docs.franchise")
    names = [f"t{v}" for v in range(corpus.n_terms)]
    assert read_corpus(written, vocabulary=names) == corpus.with_vocabulary(names)
    with raises(CorpusError, "vocabulary-mismatch", "docs.franchise", "2 names"):
        read_corpus(written, vocabulary=["a", "b"])
    with raises(SettingsError, "does-not-apply", "text_options", "franchise"):
        read_corpus(written, text_options=TextOptions(min_df=3))


def test_a_damaged_file(tmp_path, corpus):
    (written,) = write_corpus(corpus, tmp_path / "docs.franchise")
    content = written.read_bytes()
    written.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with raises(CorpusError, "damaged-file", "docs.franchise", "`franchise convert`"):
        read_corpus(written)
    written.write_bytes(content[:-1])
    with raises(CorpusError, "damaged-file", "docs.franchise", "`franchise convert`"):
        read_corpus(written)


def test_a_model_is_mapped(tmp_path, everything_is_large, corpus):
    model = HDPTopicModel(sweeps=4, chains=1, random_state=0, verbose=0).fit(corpus)
    model.save(tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert is_on_disk(loaded.corpus_.x)
    assert loaded.corpus_ == corpus
    loaded.save(tmp_path / "model", overwrite=True)  # the file that is mapped is replaced meanwhile
    assert loaded.corpus_ == corpus
    assert HDPTopicModel.load(tmp_path / "model").resume(2).chains_[0].sweeps_done == 6


MEASURE = """
import ctypes, json, sys
from franchise.corpus import read_corpus

def anonymous():
    ctypes.CDLL(None).malloc_trim(0)  # what has been freed does not count
    return 1024 * next(int(line.split()[1]) for line in open("/proc/self/status") if "RssAnon" in line)

small, large = sys.argv[1:]
read_corpus(small)  # libraries are loaded, and do not count
before = anonymous()
corpus = read_corpus(large)
print(json.dumps({"held": anonymous() - before, "words": corpus.n_words, "cells": corpus.keeps_cells}))
"""


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_what_a_large_file_of_counts_leaves_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    with open(tmp_path / "docs.ldac", "w") as file:
        for _ in range(200_000):
            terms = np.unique(rng.integers(0, 50_000, 150))
            file.write(f"{terms.size} " + " ".join(f"{v}:1" for v in terms) + "\n")
    (tmp_path / "small.ldac").write_text("2 0:1 7:3\n")
    command = [sys.executable, "-c", MEASURE, tmp_path / "small.ldac", tmp_path / "docs.ldac"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    measured = json.loads(run.stdout)
    assert measured["words"] > 25_000_000
    # Names of documents and terms stay in memory; the words, 100 MB or more, do not.
    assert measured["held"] < 60_000_000, measured
