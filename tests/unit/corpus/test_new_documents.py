"""New documents read in blocks are those that are read at once."""

import io

import numpy as np
import pytest

from franchise.corpus import (
    ReadOptions,
    from_texts,
    new_documents,
    read_corpus,
    read_new,
    shard,
    write_corpus,
)
from franchise.corpus.new_documents import read_new_in_blocks
from franchise.errors import CorpusError
from tests.raising import raises

LIKE = from_texts(["cats drink milk", "dogs drink water", "cats chase dogs"])
TEXTS = ["cats and dogs", "", "milk", "a whale drinks water", "dogs dogs dogs"] * 5


def put_together(blocks):
    x = np.concatenate([block.arrays.x for block in blocks])
    lengths = np.concatenate([np.diff(block.arrays.doc_ptr) for block in blocks])
    unknown = np.concatenate([block.unknown for block in blocks])
    names = [name for block in blocks for name in block.document_names]
    return x.tolist(), lengths.tolist(), unknown.tolist(), names


@pytest.fixture
def files(tmp_path):
    (tmp_path / "new.txt").write_text("\n".join(TEXTS) + "\n")
    rows = "\n".join(f'n{i},"{text}"' for i, text in enumerate(TEXTS))
    (tmp_path / "new.csv").write_text(f"name,body\n{rows}\n")
    (tmp_path / "new.jsonl").write_text("".join(f'{{"body": "{text}"}}\n' for text in TEXTS))
    (tmp_path / "new.ldac").write_text("2 0:1 1:2\n0\n1 2:1\n" * 5)
    (tmp_path / "folder").mkdir()
    for i, text in enumerate(TEXTS):
        (tmp_path / "folder" / f"{i:02d}.txt").write_text(text)
    corpus = from_texts(TEXTS, min_df=1)
    write_corpus(corpus, tmp_path / "new.npz")
    write_corpus(corpus, tmp_path / "new.franchise")
    shard(corpus, tmp_path / "shards", 4)
    shard(from_texts(TEXTS, document_names=[f"n{i}" for i in range(25)], min_df=1), tmp_path / "named", 4)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("new.txt", {}),
        ("new.csv", {"text_column": "body"}),
        ("new.csv", {"text_column": "body", "id_column": "name"}),
        ("new.jsonl", {"text_column": "body"}),
        ("folder", {}),
        ("new.ldac", {}),
        ("new.npz", {}),
        ("new.franchise", {}),
        ("shards", {}),
        ("named", {}),
    ],
)
@pytest.mark.parametrize("documents", [1, 4, 10_000])
def test_blocks_are_the_whole(files, name, options, documents):
    whole = read_new(files / name, LIKE, **options)
    blocks = list(read_new_in_blocks(files / name, LIKE, ReadOptions(**options), documents=documents))
    assert put_together(blocks) == put_together([whole])
    assert max(len(block.unknown) for block in blocks) == min(documents, len(blocks[0].unknown))
    if documents == 1:
        assert len(blocks) == len(whole.unknown)


def test_lists_of_words_in_blocks(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lists = [text.split() for text in TEXTS]
    parquet.write_table(pa.table({"body": lists}), tmp_path / "new.parquet")
    options = ReadOptions(text_column="body")
    whole = read_new(tmp_path / "new.parquet", LIKE, options)
    blocks = list(read_new_in_blocks(tmp_path / "new.parquet", LIKE, options, documents=4))
    assert len(blocks) == 7
    assert put_together(blocks) == put_together([whole])
    ids = [[0, 1]] * 6 + [[999]]
    parquet.write_table(pa.table({"body": ids}), tmp_path / "ids.parquet")
    with raises(CorpusError, "term-out-of-range", "ids.parquet", "from 4 on", "document 2"):
        list(read_new_in_blocks(tmp_path / "ids.parquet", LIKE, options, documents=4))


def test_long_documents_make_small_blocks(files, monkeypatch):
    monkeypatch.setattr(new_documents, "_CHARACTERS", 30)
    blocks = list(read_new_in_blocks(files / "new.txt", LIKE))
    assert 5 < len(blocks) < 25
    assert put_together(blocks) == put_together([read_new(files / "new.txt", LIKE)])


def test_blocks_come_before_all_is_read(files):
    with (files / "new.csv").open("ab") as file:
        file.write(b"only one field\n")
    options = ReadOptions(text_column="body")
    blocks = read_new_in_blocks(files / "new.csv", LIKE, options, documents=1)
    assert next(blocks).document_names == ("0",)
    with raises(CorpusError, "bad-line", "new.csv:27", "1 fields"):
        list(blocks)


def test_a_stream_is_read_as_it_comes():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            buffer[:] = (b"cats drink\n" * (len(buffer) // 11 + 1))[: len(buffer)]
            return len(buffer)

    blocks = read_new_in_blocks(io.BufferedReader(Endless()), LIKE, ReadOptions(format="txt"), documents=50)
    assert [len(next(blocks).unknown) for _ in range(3)] == [50] * 3


def test_progress_is_told_before_each_block(files):
    said = []
    blocks = read_new_in_blocks(
        files / "shards", LIKE, documents=10_000, progress=lambda done, total: said.append((done, total))
    )
    sizes = [len(block.unknown) for block in blocks]
    assert len(sizes) == 4
    assert said == [(done, 25) for done in np.cumsum(sizes).tolist()]
    assert read_corpus(files / "shards").n_documents == 25


def test_nothing_at_all(tmp_path):
    (tmp_path / "nothing.txt").write_text("")
    assert list(read_new_in_blocks(tmp_path / "nothing.txt", LIKE)) == []
