"""New documents read in pieces are those that are read at once."""

import numpy as np
import pytest

from franchise.corpus import from_texts, read_new, read_new_in_pieces, shard
from franchise.errors import CorpusError
from tests.raising import raises

LIKE = from_texts(["cats drink milk", "dogs drink water", "cats chase dogs"])
TEXTS = ["cats and dogs", "", "milk", "a whale drinks water", "dogs dogs dogs"] * 5


def put_together(pieces):
    x = np.concatenate([piece.arrays.x for piece in pieces])
    lengths = np.concatenate([np.diff(piece.arrays.doc_ptr) for piece in pieces])
    unknown = np.concatenate([piece.unknown for piece in pieces])
    return (
        x.tolist(),
        lengths.tolist(),
        unknown.tolist(),
        [n for piece in pieces for n in piece.document_names],
    )


@pytest.fixture
def files(tmp_path):
    (tmp_path / "new.txt").write_text("\n".join(TEXTS) + "\n")
    rows = "\n".join(f'n{i},"{text}"' for i, text in enumerate(TEXTS))
    (tmp_path / "new.csv").write_text(f"name,body\n{rows}\n")
    (tmp_path / "new.ldac").write_text("2 0:1 1:2\n0\n1 2:1\n")
    (tmp_path / "folder").mkdir()
    for i, text in enumerate(TEXTS):
        (tmp_path / "folder" / f"{i:02d}.txt").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("new.txt", {}),
        ("new.csv", {"text_column": "body"}),
        ("new.csv", {"text_column": "body", "id_column": "name"}),
        ("folder", {}),
        ("new.ldac", {}),
    ],
)
@pytest.mark.parametrize("characters", [1, 400, 10**9])
def test_pieces_are_the_whole(files, name, options, characters):
    whole = read_new(files / name, LIKE, **options)
    pieces = list(read_new_in_pieces(files / name, LIKE, characters=characters, **options))
    assert put_together(pieces) == put_together([whole])
    if name == "new.ldac" or characters > 10_000:
        assert len(pieces) == 1
    elif characters == 1:
        assert len(pieces) == len(TEXTS)
    else:
        assert 1 < len(pieces) < len(TEXTS)


@pytest.mark.parametrize("names", [None, [f"n{i}" for i in range(25)]])
def test_a_corpus_in_shards_comes_shard_by_shard(tmp_path, names):
    corpus = from_texts(TEXTS, document_names=names, min_df=1)
    shard(corpus, tmp_path / "shards", 4)
    whole = read_new(tmp_path / "shards", LIKE)
    pieces = list(read_new_in_pieces(tmp_path / "shards", LIKE, characters=1))
    assert len(pieces) > 2
    assert put_together(pieces) == put_together([whole])
    assert list(whole.document_names) == (names or [str(i) for i in range(25)])


def test_pieces_come_before_all_is_read(files):
    with (files / "new.csv").open("ab") as file:
        file.write(b"only one field\n")
    pieces = read_new_in_pieces(files / "new.csv", LIKE, characters=1, text_column="body")
    assert next(pieces).document_names == ("0",)
    with raises(CorpusError, "bad-line", "new.csv:27", "1 fields"):
        list(pieces)
    with raises(CorpusError, "bad-line", "new.csv:27", "1 fields"):
        read_new(files / "new.csv", LIKE, text_column="body")
