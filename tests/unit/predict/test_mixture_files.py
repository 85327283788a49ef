"""Mixtures in files: what is in them, the same whatever the blocks, whole or not at all."""

import csv
import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import load_npz

from franchise._arrays import CorpusArrays
from franchise.corpus.documents import Encoded
from franchise.errors import FranchiseError, SettingsError
from franchise.predict import mixture_files
from franchise.predict.mixture_files import (
    SUFFIXES,
    MixtureTable,
    check_target,
    csv_blocks,
    write_mixtures,
)
from tests.raising import raises, warns

N, K = 25, 6
THETA = np.random.default_rng(1).dirichlet(np.full(K, 0.3), N)
LENGTHS = np.arange(N) % 4
NAMES = [f"läng{'e' * (i % 5)},\n{i}" for i in range(N)]
TOPICS = ["cosmology", *(f"topic_{k}" for k in range(1, K))]


def blocks(size, names=NAMES):
    for begin in range(0, N, size):
        here = slice(begin, begin + size)
        doc_ptr = np.concatenate([[0], np.cumsum(LENGTHS[here])])
        words = CorpusArrays(np.zeros(doc_ptr[-1], np.int32), doc_ptr, 3)
        yield Encoded(words, np.arange(N)[here], tuple(names[here])), THETA[here]


TABLES = {
    "all": MixtureTable(TOPICS),
    "digits": MixtureTable(TOPICS, digits=2),
    "top": MixtureTable(TOPICS, top=3),
    "named": MixtureTable(TOPICS, is_named=True, top=2, digits=3),
    "more than there are": MixtureTable(TOPICS, top=99),
}


def expected(table):
    """Return the rows, written plainly."""
    rows = []
    for j, theta in enumerate(THETA.tolist()):
        row = {"document": NAMES[j], "words": int(LENGTHS[j]), "unknown": j}
        shares = theta if table.digits is None else [round(share, table.digits) for share in theta]
        if table.top is None:
            row |= dict(zip(TOPICS, shares, strict=True))
        else:
            for i, k in enumerate(sorted(range(K), key=lambda k: -theta[k])[: table.top], start=1):
                row[f"top_{i}"] = k
                row |= {f"label_{i}": TOPICS[k]} if table.is_named else {}
                row[f"share_{i}"] = shares[k]
        rows.append(row)
    return rows


def read_csv(text):
    return [
        {
            name: value if name == "document" or name.startswith("label") else float(value)
            for name, value in row.items()
        }
        for row in csv.DictReader(io.StringIO(text, newline=""))
    ]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_csv_and_parquet_have_a_row_per_document(tmp_path, table):
    write_mixtures(tmp_path / "m.csv", blocks(7), table)
    write_mixtures(tmp_path / "m.csv.gz", blocks(7), table)
    plain = (tmp_path / "m.csv").read_bytes()
    assert gzip.decompress((tmp_path / "m.csv.gz").read_bytes()) == plain
    assert "".join(csv_blocks(blocks(7), table)).encode() == plain
    assert read_csv(plain.decode()) == expected(table)
    pytest.importorskip("pyarrow")
    write_mixtures(tmp_path / "m.parquet", blocks(7), table)
    frame = pd.read_parquet(tmp_path / "m.parquet")
    assert frame.to_dict("records") == expected(table)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_npz_is_a_sparse_matrix(tmp_path, table):
    write_mixtures(tmp_path / "m.npz", blocks(7), table)
    rows, plain = load_npz(tmp_path / "m.npz"), np.zeros((N, K))
    for j, row in enumerate(expected(table)):
        shares = (
            {k: row[topic] for k, topic in enumerate(TOPICS)}
            if table.top is None
            else {row[f"top_{i}"]: row[f"share_{i}"] for i in range(1, min(table.top, K) + 1)}
        )
        plain[j, list(shares)] = list(shares.values())
    assert rows.format == "csr"
    assert np.array_equal(rows.toarray(), plain)
    assert rows.nnz == np.count_nonzero(plain)
    with np.load(tmp_path / "m.npz") as arrays:
        assert arrays["document_names"].tolist() == NAMES
        assert arrays["topics"].tolist() == TOPICS
        assert arrays["words"].tolist() == LENGTHS.tolist()
        assert arrays["unknown"].tolist() == list(range(N))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".npz"])
def test_the_same_bytes_whatever_the_blocks(tmp_path, suffix):
    found = set()
    for size in (1, 4, N):
        write_mixtures(tmp_path / f"m{suffix}", blocks(size), TABLES["named"])
        found.add((tmp_path / f"m{suffix}").read_bytes())
    assert len(found) == 1


def test_numbers_are_no_names(tmp_path):
    write_mixtures(tmp_path / "m.npz", blocks(4, list(map(str, range(N)))), TABLES["all"])
    assert "document_names.npy" not in zipfile.ZipFile(tmp_path / "m.npz").namelist()


@pytest.mark.parametrize("why", ["long", "zero"])
def test_names_that_do_not_fit_are_left_out_with_a_warning(tmp_path, monkeypatch, why):
    names = NAMES
    if why == "long":
        monkeypatch.setattr(mixture_files, "_MOST_NAMES", 100)
    else:
        names = ["a\0b", *NAMES[1:]]
    with warns("names-left-out", "25 documents"):
        write_mixtures(tmp_path / "m.npz", blocks(4, names), TABLES["top"])
    assert load_npz(tmp_path / "m.npz").shape == (N, K)
    assert "document_names.npy" not in zipfile.ZipFile(tmp_path / "m.npz").namelist()


def failing(error):
    yield from blocks(20)
    raise error


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("there", [False, True])
def test_nothing_half_written_is_left(tmp_path, suffix, there):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"m{suffix}"
    if there:
        path.write_bytes(b"earlier")
    with raises(FranchiseError, "cannot-write", str(path), "No space left"):
        write_mixtures(path, failing(OSError(28, "No space left on device")), TABLES["top"])
    with pytest.raises(KeyboardInterrupt, match="the earlier file" if there else "nothing was written"):
        write_mixtures(path, failing(KeyboardInterrupt()), TABLES["top"])
    with pytest.raises(FranchiseError):
        write_mixtures(path, failing(FranchiseError("a bad line", code="bad-line")), TABLES["top"])
    assert [one.name for one in tmp_path.iterdir()] == ([path.name] if there else [])
    assert not there or path.read_bytes() == b"earlier"


def test_files_that_cannot_be(tmp_path):
    (tmp_path / "there.csv").write_text("x")
    (tmp_path / "folder.csv").mkdir()
    for name in ("m.xlsx", "m", "m.json", "m.gz"):
        with raises(SettingsError, "unknown-format", name, ".csv.gz", ".npz"):
            check_target(tmp_path / name, overwrite=True)
    with raises(FranchiseError, "file-exists", "there.csv", "--overwrite"):
        check_target(tmp_path / "there.csv", overwrite=False)
    with raises(FranchiseError, "is-a-folder", "folder.csv"):
        check_target(tmp_path / "folder.csv", overwrite=True)
    with raises(FranchiseError, "no-such-folder", "nowhere"):
        check_target(tmp_path / "nowhere" / "m.csv", overwrite=False)
    check_target(tmp_path / "there.csv", overwrite=True)
    check_target(tmp_path / "M.NPZ", overwrite=False)
