"""What all formats have in common: telling them apart, options, streams, progress, writing and reading."""

import gzip
import io
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franchise.corpus import (
    FORMATS,
    Corpus,
    ReadOptions,
    TextOptions,
    from_texts,
    from_tokens,
    read_corpus,
    read_new,
    write_corpus,
)
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

WORDS = TextOptions(token_pattern=r"\S+", stop_words=None, lowercase=False, min_df=1, max_df=1.0)

CORPUS = from_tokens([["bee", "ant", "bee"], [], ["çat", "bee"]], document_names=["a", "b", "ç"])
DOCUMENTS = [["bee", "ant", "bee"], [], ["çat", "bee"]]

NAMES = {
    "txt": "docs.txt",
    "csv": "docs.csv",
    "tsv": "docs.tsv",
    "jsonl": "docs.jsonl",
    "parquet": "docs.parquet",
    "ldac": "docs.ldac",
    "uci": "docword.docs.txt",
    "mm": "docs.mtx",
    "npz": "docs.npz",
    "franchise": "docs.franchise",
}
TABLES = ("csv", "tsv", "jsonl", "parquet")
TOLD_BY_CONTENT = ("jsonl", "parquet", "ldac", "uci", "mm", "npz", "franchise")


def options_of(form):
    options = {"text_options": WORDS} if FORMATS[form].rows else {}
    return options | ({"text_column": "text"} if form in TABLES else {})


def make(form, folder):
    """Write the corpus in a format, by our writer where there is one."""
    path = Path(folder) / NAMES[form]
    if FORMATS[form].write:
        write_corpus(CORPUS, path)
    elif form == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pa.table({"text": [" ".join(words) for words in DOCUMENTS]}), path)
    else:
        path.write_text("\n".join(["text", *(" ".join(words) or '""' for words in DOCUMENTS)]), "utf-8")
    return path


def sorted_words(corpus):
    return [sorted(corpus.vocabulary[v] for v in corpus.document(j)) for j in range(corpus.n_documents)]


def is_the_corpus(corpus):
    return sorted_words(corpus) == [sorted(words) for words in DOCUMENTS]


# ---------------------------------------------------------------- which format


def test_every_format_is_listed():
    assert set(FORMATS) == {*NAMES, "folder", "mallet", "h5ad"}
    for facts in FORMATS.values():
        assert facts.description
        assert "\n" not in facts.description
    extensions = [end for facts in FORMATS.values() for end in facts.extensions]
    assert len(set(extensions)) == len(extensions)


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("packed", [False, True])
def test_by_name_packed_or_not(tmp_path, form, packed):
    path = make(form, tmp_path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
        assert is_the_corpus(read_corpus(path, **options_of(form)))
        path = path.rename(f"{path}.gz")
    assert is_the_corpus(read_corpus(path, **options_of(form)))
    assert is_the_corpus(read_corpus(str(path), **options_of(form)))


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("packed", [False, True])
def test_by_content(tmp_path, form, packed):
    content = make(form, tmp_path).read_bytes()
    options = options_of(form) | ({"vocabulary": CORPUS.vocabulary} if form in ("ldac", "uci", "mm") else {})
    for path in (tmp_path / "docs", tmp_path / "docs.dat"):
        path.write_bytes(gzip.compress(content) if packed else content)
        if form in TOLD_BY_CONTENT:
            assert is_the_corpus(read_corpus(path, **options))
        else:
            with raises(CorpusError, "unknown-format", f"{path}: ", "--input-format", *NAMES):
                read_corpus(path)
        assert is_the_corpus(read_corpus(path, format=form, **options))


@pytest.mark.parametrize("content", [b"", b"\n", b"0\n0\n", b"1 0:1\nsome text\n", b"3\n4\n", b"\0"])
def test_content_that_tells_nothing(content):
    with raises(CorpusError, "unknown-format", "--input-format"):
        read_corpus(io.BytesIO(content))


def test_a_head_that_ends_within_a_line():
    line = b"2 0:1 12:3\n"
    assert read_corpus(io.BytesIO(line * 10_000)).n_documents == 10_000


def test_options_for_several_files(tmp_path):
    (tmp_path / "a.csv").write_text("t,n\nbee ant,x\n")
    options = ReadOptions(
        text_column="t", id_column="n", delimiter="tab", encoding="UTF8", metadata=["u", "u"]
    )
    assert (options.delimiter, options.encoding, options.metadata) == ("\t", None, ("u",))
    options = ReadOptions(text_column="t", id_column="n")
    corpus = read_corpus(tmp_path / "a.csv", options)
    assert corpus == read_corpus(tmp_path / "a.csv", text_column="t", id_column="n")
    assert read_new(tmp_path / "a.csv", corpus, options).document_names == ("x",)
    with raises(SettingsError, "conflicting-settings", "id_column"):
        read_corpus(tmp_path / "a.csv", options, id_column="n")
    with raises(SettingsError, "unknown-option", "text_colum", "text_column"):
        read_corpus(tmp_path / "a.csv", text_colum="t")


def test_the_format_given_goes_before_the_name(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("text\nbee\n")
    assert read_corpus(path, format="txt").texts == ("text", "bee")


def test_there_is_no_such_format(tmp_path):
    with raises(SettingsError, "unknown-format", "format='xml'", "txt, folder, csv"):
        read_corpus(tmp_path, format="xml")
    with raises(SettingsError, "unknown-format", "format='xml'"):
        write_corpus(CORPUS, tmp_path / "docs", format="xml")


# ---------------------------------------------------------------- options and paths


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("txt", {"text_column": "text"}),
        ("ldac", {"text_column": "text"}),
        ("txt", {"id_column": "id"}),
        ("txt", {"vocabulary": ["a"]}),
        ("ldac", {"text_options": WORDS}),
    ],
)
def test_an_option_without_effect_is_refused(tmp_path, form, options):
    path = make(form, tmp_path)
    with raises(SettingsError, "does-not-apply", next(iter(options)), f"the format {form}"):
        read_corpus(path, **options)


def test_default_options_of_texts_say_nothing(tmp_path):
    assert is_the_corpus(read_corpus(make("ldac", tmp_path), text_options=TextOptions()))


@pytest.mark.parametrize("form", NAMES)
def test_a_missing_file_and_a_directory(tmp_path, form):
    path = tmp_path / NAMES[form]
    with raises(CorpusError, "no-such-file", f"{path}: "):
        read_corpus(path, **options_of(form))
    with raises(CorpusError, "is-a-folder", f"{tmp_path}: "):
        read_corpus(tmp_path, format=form, **options_of(form))


def test_a_file_is_not_a_folder(tmp_path):
    with raises(CorpusError, "not-a-folder", "docs.txt"):
        read_corpus(make("txt", tmp_path), format="folder")


@pytest.mark.parametrize(
    ("name", "code"),
    [("a\0b", "cannot-read"), ("a" * 5000, "cannot-read"), ("a" * 250 + ".ldac", "no-such-file")],
)
def test_names_that_cannot_be(tmp_path, name, code):
    with raises(CorpusError, code, tmp_path / name):
        read_corpus(tmp_path / name)


def test_min_df_applies(tmp_path):
    path = make("txt", tmp_path)
    options = TextOptions(**WORDS.as_dict() | {"min_df": 2})
    assert read_corpus(path, text_options=options).vocabulary == ("bee",)


def test_too_large_for_memory(tmp_path, monkeypatch):
    def fail(source, vocabulary):
        raise MemoryError

    facts = FORMATS["ldac"]._replace(counts=fail)
    monkeypatch.setattr("franchise.corpus.reading.FORMATS", dict(FORMATS) | {"ldac": facts})
    with raises(CorpusError, "out-of-memory", "docs.ldac"):
        read_corpus(make("ldac", tmp_path))


# ---------------------------------------------------------------- streams and progress


class Trickle(io.RawIOBase):
    """A pipe that gives one byte at a time."""

    def __init__(self, content):
        self.file = io.BytesIO(content)

    def read(self, size=-1):
        return self.file.read(min(size, 1) if size > 0 else size)


@pytest.mark.parametrize("form", NAMES)
def test_streams(tmp_path, monkeypatch, form):
    """Every format from standard input, an open file, a pipe that trickles and memory, packed or not."""
    path = make(form, tmp_path)
    options = options_of(form) | ({"vocabulary": CORPUS.vocabulary} if form in ("ldac", "uci", "mm") else {})
    plain = path.read_bytes()
    for content in (plain, gzip.compress(plain)):
        path.write_bytes(content)
        for stream in (Trickle(content), io.BytesIO(content)):
            assert is_the_corpus(read_corpus(stream, format=form, **options))
        with open(path, "rb") as file:
            assert is_the_corpus(read_corpus(file, format=form, **options))
            assert not file.closed
        with open(path, "rb") as file:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
            assert is_the_corpus(read_corpus("-", format=form, **options))
            assert not file.closed


def test_a_real_pipe(tmp_path):
    code = "from franchise.corpus import read_corpus; print(read_corpus('-'))"
    lines = b"2 0:1 3:2\n" * 50_000
    run = subprocess.run([sys.executable, "-c", code], input=lines, capture_output=True, check=True)
    assert run.stdout.decode().strip() == "Corpus(50,000 documents, 4 terms, 150,000 words)"
    read_end, write_end = os.pipe()

    def feed():
        with open(write_end, "wb") as pipe:
            pipe.write(lines)

    thread = threading.Thread(target=feed)
    thread.start()
    with open(read_end, "rb") as pipe:
        assert read_corpus(pipe).n_documents == 50_000
    thread.join()


def test_faults_of_streams_are_named(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1 0:1\nx\n")))
    with raises(CorpusError, "bad-line", "standard input:2:", "'x'"):
        read_corpus("-", format="ldac")
    with raises(CorpusError, "bad-line", "the open file:1:", "'x'"):
        read_corpus(io.BytesIO(b"x"), format="ldac")
    with raises(CorpusError, "wrong-type", "the open file", "str", "open(path, 'rb')"):
        read_corpus(io.StringIO("1 0:1\n"))


def test_an_error_of_the_disk():
    class Broken:
        def read(self, size):
            raise OSError(5, "Input/output error")

    with raises(CorpusError, "cannot-read", "the open file", "Input/output error"):
        read_corpus(Broken())


@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("packed", [False, True])
def test_progress_counts_the_bytes_on_disk(tmp_path, form, packed):
    path = make(form, tmp_path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    seen = []
    read_corpus(path, progress=lambda done, total: seen.append((done, total)), **options_of(form))
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {total for _, total in seen} == {size}


def test_progress_is_told_now_and_then(tmp_path):
    path = tmp_path / "docs.txt"
    path.write_bytes((b"b" * 99 + b"\n") * 80_000)
    seen = []
    with open(path, "rb") as file:
        text = TextOptions(max_df=1.0)
        read_corpus(file, format="txt", text_options=text, progress=lambda *now: seen.append(now))
    assert len(seen) >= 8
    assert seen[0][0] < 2**21
    seen.clear()
    content = io.BytesIO(b"1 0:1\n")
    read_corpus(content, progress=lambda *now: seen.append(now))
    assert seen[-1] == (6, None)
    seen.clear()
    path.write_bytes(gzip.compress(b"1 0:1\n"))
    with gzip.open(path) as packed:
        read_corpus(packed, format="ldac", progress=lambda *now: seen.append(now))
    assert seen[-1] == (6, None)  # of the unpacked bytes, as someone else unpacks them


# ---------------------------------------------------------------- written and read again

WRITABLE = [form for form in NAMES if FORMATS[form].write]


@st.composite
def corpora(draw, terms):
    vocabulary = draw(st.lists(terms, min_size=1, max_size=6, unique=True))
    words = st.lists(st.sampled_from(range(len(vocabulary))), max_size=8)
    documents = draw(st.lists(words, min_size=1, max_size=6).filter(any))
    name = st.text(st.characters(exclude_categories=["Cs"]), max_size=5).filter(lambda text: "\0" not in text)
    names = draw(st.lists(name, min_size=len(documents), max_size=len(documents)))
    return from_tokens(documents, vocabulary=vocabulary, document_names=names)


LINES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), min_size=1, max_size=5
).filter(str.strip)
NO_BLANKS = LINES.filter(lambda term: not any(letter.isspace() for letter in term))


@pytest.mark.parametrize("form", ["ldac", "uci", "mm", "npz"])
@pytest.mark.parametrize("end", ["", ".gz"])
@settings(max_examples=25)
@given(corpus=corpora(LINES))
def test_counts_come_back(form, end, corpus):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (NAMES[form] + end)
        written = write_corpus(corpus, path)
        assert sorted(Path(folder).iterdir()) == sorted(written)
        again = read_corpus(path)
    assert again.vocabulary == corpus.vocabulary
    assert (again.to_counts() != corpus.to_counts()).nnz == 0
    if form == "npz":
        assert again.document_names == corpus.document_names


@pytest.mark.parametrize("form", ["txt", "jsonl"])
@pytest.mark.parametrize("end", ["", ".gz"])
@settings(max_examples=25)
@given(corpus=corpora(NO_BLANKS))
def test_words_come_back(form, end, corpus):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (NAMES[form] + end)
        assert write_corpus(corpus, path) == [path]
        again = read_corpus(path, **options_of(form) | ({"id_column": "id"} if form == "jsonl" else {}))
    words = [[one.vocabulary[v] for v in one.x] for one in (corpus, again)]
    assert words[0] == words[1]
    assert again.doc_ptr.tolist() == corpus.doc_ptr.tolist()
    if form == "jsonl":
        assert again.document_names == corpus.document_names


@pytest.mark.parametrize("form", ["txt", "jsonl", "ldac", "npz"])
def test_a_byte_order_mark_can_be_part_of_a_term(tmp_path, form):
    path = tmp_path / NAMES[form]
    write_corpus(Corpus([0, 1], [0, 2], ["\ufeffbee", "\ufeff"]), path)
    assert sorted_words(read_corpus(path, **options_of(form))) == [["\ufeff", "\ufeffbee"]]


EXPECTED = {
    "txt": b"bee ant bee\n\n\xc3\xa7at bee\n",
    "jsonl": b'{"id": "a", "text": "bee ant bee"}\n{"id": "b", "text": ""}\n'
    b'{"id": "\xc3\xa7", "text": "\xc3\xa7at bee"}\n',
    "ldac": b"2 0:1 1:2\n0\n2 1:1 2:1\n",
    "uci": b"3\n3\n4\n1 1 1\n1 2 2\n3 2 1\n3 3 1\n",
    "mm": b"%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 1\n1 2 2\n3 2 1\n3 3 1\n",
}


@pytest.mark.parametrize("form", EXPECTED)
def test_the_text_written(tmp_path, form):
    path = tmp_path / NAMES[form]
    terms = {"ldac": "docs.vocab.txt", "uci": "vocab.docs.txt", "mm": "docs.vocab.txt"}.get(form)
    written = [path] if terms is None else [path, tmp_path / terms]
    assert write_corpus(CORPUS, path) == written
    assert path.read_bytes() == EXPECTED[form]
    assert all(other.read_text("utf-8") == "ant\nbee\nçat\n" for other in written[1:])


@pytest.mark.parametrize("form", WRITABLE)
def test_the_same_corpus_gives_the_same_bytes(tmp_path, form):
    paths = [tmp_path / name / f"{NAMES[form]}.gz" for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        write_corpus(CORPUS, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # without a name and a time


def test_the_vocabulary_goes_where_it_is_told(tmp_path):
    path, terms = tmp_path / "docs", tmp_path / "terms"
    assert write_corpus(CORPUS, path, format="ldac", vocabulary=terms) == [path, terms]
    assert is_the_corpus(read_corpus(path, vocabulary=terms))
    assert write_corpus(CORPUS, tmp_path / "docs.npz", vocabulary=terms) == [tmp_path / "docs.npz", terms]


def test_what_cannot_be_written(tmp_path):
    with raises(SettingsError, "unknown-format", "docs.dat", "--output-format", "txt, jsonl, ldac, uci"):
        write_corpus(CORPUS, tmp_path / "docs.dat")
    with raises(SettingsError, "unsupported-format", "format='csv'", "txt"):
        write_corpus(CORPUS, tmp_path / "docs.csv")
    for form in ("txt", "jsonl"):
        for term in ("new york", "", "a\tb", "a\u2003b", "a\x1cb"):
            with raises(CorpusError, "unwritable-term", "term 0", form, "ldac"):
                write_corpus(Corpus([0], [0, 1], [term]), tmp_path / NAMES[form])
    with raises(CorpusError, "unwritable-term", "document 0"):
        write_corpus(Corpus([0], [0, 1], ["a\0b"]), tmp_path / "docs.txt")
    for name in ("docs.txt", "docs.jsonl", "docs.ldac"):
        with raises(CorpusError, "not-a-character", repr("\ud800")[1:-1]):
            write_corpus(Corpus([0], [0, 1], ["a\ud800"]), tmp_path / name)
    with raises(CorpusError, "not-a-character", repr("\ud800")[1:-1]):
        write_corpus(Corpus([0], [0, 1], ["a"], ["\ud800"]), tmp_path / "docs.jsonl")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["ldac", "mm"])
def test_writing_in_several_pieces(tmp_path, form, monkeypatch):
    module = "coordinates" if form == "mm" else form
    monkeypatch.setattr(f"franchise.corpus.formats.{module}.AT_ONCE", 3)
    rng = np.random.default_rng(0)
    corpus = Corpus(rng.integers(0, 9, 60), [0, 0, 7, 7, 7, 30, 31, 60, 60], list("abcdefghi"))
    write_corpus(corpus, tmp_path / NAMES[form])
    again = read_corpus(tmp_path / NAMES[form])
    assert (again.to_counts() != corpus.to_counts()).nnz == 0
    assert again.doc_ptr.tolist() == corpus.doc_ptr.tolist()


# ---------------------------------------------------------------- new documents


def test_new_texts_are_read_in_the_terms_of_a_corpus(tmp_path):
    like = from_texts(["Ants and bees", "bees, cats"])
    (tmp_path / "new.jsonl").write_text('{"t": "BEES zebra bees", "n": "x"}\n{"t": "", "n": "y"}\n')
    new = read_new(tmp_path / "new.jsonl", like, text_column="t", id_column="n")
    assert [like.vocabulary[v] for v in new.arrays.x] == ["bees", "bees"]
    assert (new.unknown.tolist(), new.document_names) == ([1, 0], ("x", "y"))
    (tmp_path / "empty.txt").write_text("zebra\n")
    assert read_new(tmp_path / "empty.txt", like).arrays.x.size == 0


def test_new_counts_have_the_names_or_the_numbers_of_the_terms(tmp_path):
    like = from_texts(["ants bees cats"])
    (tmp_path / "new.ldac").write_text("2 0:1 2:2\n")
    assert read_new(tmp_path / "new.ldac", like).arrays.x.tolist() == [0, 2, 2]
    named = read_new(tmp_path / "new.ldac", like, vocabulary=["cats", "dogs", "ants"])
    assert (named.arrays.x.tolist(), named.unknown.tolist()) == ([2, 0, 0], [0])
    (tmp_path / "more.ldac").write_text("1 3:1\n")
    with raises(CorpusError, "term-out-of-range", "more.ldac", "number 3", "3 are known", "--vocabulary"):
        read_new(tmp_path / "more.ldac", like)


def test_new_texts_need_a_corpus_of_texts(tmp_path):
    (tmp_path / "new.txt").write_text("ants\n")
    with raises(CorpusError, "cannot-split-texts", "from_texts"):
        read_new(tmp_path / "new.txt", from_tokens([["ants"]]))
