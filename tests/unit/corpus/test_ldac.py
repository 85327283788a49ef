import gzip
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from franchise.corpus import Corpus, from_counts, read_ldac, write_corpus
from franchise.errors import CorpusError
from tests.raising import raises


@pytest.fixture
def write(tmp_path):
    def write(content, name="docs.ldac"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_lines_become_documents(write):
    corpus = read_ldac(write("2 0:1 3:2\n\n0\n1 1:1\n"))
    assert [corpus.document(j).tolist() for j in range(4)] == [[0, 3, 3], [], [], [1]]
    assert corpus.vocabulary == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    "content",
    ["2 0:1 3:2\n1 1:1", "2 0:1 3:2\r\n1 1:1\r\n", " 2\t0:1  3:02 \n01 1:1\n", "2 3:2 0:1\n1 1:1\n"],
    ids=["no last line end", "carriage returns", "blanks and leading zeros", "terms out of order"],
)
def test_variants_read_alike(write, content):
    assert read_ldac(write(content)) == read_ldac(write("2 0:1 3:2\n1 1:1\n", "plain.ldac"))


def test_a_term_given_twice_adds_up(write):
    corpus = read_ldac(write("3 1:2 0:1 1:3\n"))
    assert corpus.x.tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("name", ["docs.ldac.gz", "docs.ldac"])
def test_gzip_is_seen_through_whatever_the_name(write, name):
    assert read_ldac(write(gzip.compress(b"1 0:2\n"), name)).n_words == 2


def test_vocabulary_from_a_file_or_a_list(write):
    path = write("1 1:2\n")
    terms = write("\ufeffant\r\nnew york\r\nça\r\n", "vocab.txt")
    expected = ("ant", "new york", "ça")
    for vocabulary in (terms, str(terms), list(expected), expected):
        assert read_ldac(path, vocabulary=vocabulary).vocabulary == expected


@pytest.mark.parametrize(
    ("line", "code", "facts"),
    [
        ("x 0:1", "bad-line", ("'x'",)),
        ("-1 0:1", "bad-line", ("'-1'",)),
        ("1 a:1", "bad-line", ("'a' in 'a:1'",)),
        ("1 0:b", "not-a-count", ("'b' in '0:b'",)),
        ("1 0:", "not-a-count", ("'' in '0:'",)),
        ("1 0:1:2", "not-a-count", ("'1:2' in '0:1:2'",)),
        ("1 0", "bad-line", ("'0'", "term:count")),
        ("2 0:1", "bad-line", ("2 pairs", "has 1")),
        ("1 0:1 1:1", "bad-line", ("1 pairs", "has 2")),
        ("0 0:1", "bad-line", ("0 pairs", "has 1")),
        ("1 -3:1", "term-out-of-range", ("term id -3", "'-3:1'")),
        ("1 1.0:1", "bad-line", ("'1.0' in '1.0:1'",)),
        ("1 ٣:1", "bad-line", ("'٣' in '٣:1'",)),
        ("1 99999999999:1", "term-out-of-range", ("99999999999",)),
        ("1 0:0", "not-a-count", ("'0:0'",)),
        ("1 0:-2", "negative-count", ("'0:-2'",)),
        ("1 0:1.5", "fractional-count", ("'0:1.5'",)),
        ("1 0:nan", "not-a-count", ("'0:nan'",)),
        ("1 0:99999999999", "count-too-large", ("'0:99999999999'",)),
        ("1 0:2147483648", "count-too-large", ("'0:2147483648'", "2,147,483,647")),
        ("1 0:1e30", "count-too-large", ("'0:1e30'",)),
        ("99999999999 0:1", "bad-line", ("99999999999 pairs", "has 1")),
        ("9" * 5000, "bad-line", ("has 0",)),
        ("1 0:" + "9" * 5000, "count-too-large", ()),
        ("1 0:1\x00", "not-a-count", (r"'1\x00' in '0:1\x00'",)),
        ("\u2003", "bad-line", ()),
        ("1\x0b0:1", "bad-line", ("'M term:count",)),
        (b"1 \xff:1", "wrong-encoding", ("UTF-8",)),
        ("1 3:1", "term-out-of-range", ("term id 3", "3 terms")),
    ],
)
def test_a_malformed_line_is_named(write, line, code, facts):
    line = line if isinstance(line, bytes) else line.encode()
    path = write(b"1 0:1\n\n" + line + b"\n1 2:1\n")
    with raises(CorpusError, code, f"{path}:3: ", *facts):
        read_ldac(path, vocabulary=["ant", "bee", "cat"])


def test_a_huge_id_needs_a_vocabulary(write):
    path = write("1 0:1\n1 2000000000:1\n")
    with raises(CorpusError, "implausible-size", ":2:", "term id 2000000000", "2,000,002"):
        read_ldac(path)


def test_the_columns_of_feature_hashing_need_no_vocabulary(write):
    assert read_ldac(write("1 1048575:1\n")).n_terms == 2**20


def test_too_many_words(write):
    path = write("2 0:2147483647 1:1\n")
    with raises(CorpusError, "too-many-words", "docs.ldac", "2,147,483,648"):
        read_ldac(path)


@pytest.mark.parametrize("lines", [100_000, 250_000])
def test_lines_that_do_not_fit_in_one_block(write, lines):
    text = "".join(f"1 {i % 7}:{1 + i % 2}\n" for i in range(lines))
    corpus = read_ldac(write(text))
    assert corpus.n_documents == lines
    assert [corpus.document(j)[0] for j in (0, lines // 2, lines - 1)] == [
        j % 7 for j in (0, lines // 2, lines - 1)
    ]
    with raises(CorpusError, "bad-line", f":{lines + 1}:", "2 pairs", "has 1"):
        read_ldac(write(text + "2 0:1"))


@pytest.mark.parametrize("content", ["", "\n\n", "0\n0\n"])
def test_no_words(write, content):
    path = write(content)
    with raises(CorpusError, "empty-corpus", "docs.ldac"):
        read_ldac(path)


def test_a_missing_file_and_a_directory(tmp_path):
    with raises(CorpusError, "no-such-file", "no.ldac"):
        read_ldac(tmp_path / "no.ldac")
    with raises(CorpusError, "is-a-folder", tmp_path):
        read_ldac(tmp_path)


@pytest.mark.parametrize("keep", [3, 15, -3])
def test_damaged_gzip(write, keep):
    with raises(CorpusError, "damaged-file", "docs.ldac.gz", "gzip"):
        read_ldac(write(gzip.compress(b"1 0:2\n" * 50)[:keep], "docs.ldac.gz"))


@pytest.mark.parametrize(
    ("content", "code", "facts"),
    [
        ("ant\nbee\nant\n", "duplicate-term", (":3:", "'ant'", "line 1")),
        ("ant\n\nbee\n", "bad-line", (":2:",)),
        ("ant\n  \nbee\n", "bad-line", (":2:",)),
        (b"ant\n\xff\n", "wrong-encoding", (":2:", "UTF-8")),
    ],
)
def test_a_bad_vocabulary_file_is_named(write, content, code, facts):
    vocabulary = write(content, "vocab.txt")
    with raises(CorpusError, code, f"{vocabulary}{facts[0]}", *facts[1:]):
        read_ldac(write("1 0:1\n"), vocabulary=vocabulary)


def test_a_missing_vocabulary_file(write, tmp_path):
    with raises(CorpusError, "no-such-file", "no.txt"):
        read_ldac(write("1 0:1\n"), vocabulary=tmp_path / "no.txt")


# ---------------------------------------------------------------- writing


@given(
    hnp.arrays(
        np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 12)
    ).filter(np.any),
    st.sampled_from(["docs.ldac", "docs.ldac.gz"]),
)
def test_what_is_written_is_read(counts, name):
    corpus = from_counts(counts, vocabulary=[f"term {v}" for v in range(counts.shape[1])])
    with tempfile.TemporaryDirectory() as folder:
        path, terms = Path(folder) / name, Path(folder) / "vocab.txt"
        write_corpus(corpus, path, vocabulary=terms)
        assert read_ldac(path, vocabulary=terms) == corpus
        assert sorted(Path(folder).iterdir()) == [path, terms]  # no temporary file is left


def test_the_format_written(tmp_path):
    path = tmp_path / "docs.ldac"
    write_corpus(Corpus([2, 0, 2], [0, 3, 3], ["a", "b", "c"]), path)
    assert path.read_text() == "2 0:1 2:2\n0\n"


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "docs.ldac"
    path.write_text("old")

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with raises(CorpusError, "cannot-write", tmp_path, "No space left"):
        write_corpus(Corpus([0], [0, 1], ["a"]), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_writing_into_a_missing_folder(tmp_path):
    with raises(CorpusError, "cannot-write", "docs."):
        write_corpus(Corpus([0], [0, 1], ["a"]), tmp_path / "no" / "docs.ldac")


def test_writing_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with raises(CorpusError, "cannot-write", "docs."):
        write_corpus(Corpus([0], [0, 1], ["a"]), tmp_path / "file" / "docs.ldac")


@pytest.mark.parametrize("term", ["", " ", "a\nb", "a\r", "a\0", "\ud800"])
def test_a_term_that_is_no_line(tmp_path, term):
    with raises(CorpusError, "not-a-character" if term == "\ud800" else "unwritable-term", "term 1"):
        write_corpus(
            Corpus([0], [0, 1], ["a", term]), tmp_path / "docs.ldac", vocabulary=tmp_path / "vocab.txt"
        )
    assert not list(tmp_path.iterdir())
