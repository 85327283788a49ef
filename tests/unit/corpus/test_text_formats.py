"""Files of texts: small ones made by hand or by other programs, and bad ones."""

import csv
import gzip
import io
import json
import os
import sys

import pytest

from franchise.corpus import TextOptions, read_corpus
from franchise.errors import CorpusError
from tests.raising import check, raises

WORDS = TextOptions(token_pattern=r"\S+", stop_words=None, lowercase=False, min_df=1, max_df=1.0)


def words(corpus):
    return [[corpus.vocabulary[v] for v in corpus.document(j)] for j in range(corpus.n_documents)]


def read(path, **options):
    return read_corpus(path, text_options=WORDS, **options)


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, code, *facts, **options):
    """Check that a file is refused with this code, and with these facts after its path."""
    with pytest.raises(CorpusError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    check(CorpusError(message.removeprefix(str(path)), code=caught.value.code), code, *facts)


# ---------------------------------------------------------------- one document a line


def test_txt(write):
    corpus = read(write("bee ant\r\n\n \nça va\u2028bee\x85x", "docs.txt"))
    assert words(corpus) == [["bee", "ant"], [], [], ["ça", "va", "bee", "x"]]
    assert corpus.texts == ("bee ant", "", " ", "ça va\u2028bee\x85x")
    assert corpus.document_names == ("0", "1", "2", "3")
    assert corpus.text_options == WORDS


def test_texts_are_dropped_on_request(write):
    assert read(write("bee ant\n", "docs.txt"), keep_texts=False).texts is None


def test_default_options_drop_stop_words_and_case(write):
    assert words(read_corpus(write("The Bee and the ant\n", "docs.txt"))) == [["bee", "ant"]]


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("docs.txt", "bee\nant\n", {}),
        ("docs.csv", "text\nbee\nant\n", {"text_column": "text"}),
        ("docs.tsv", "text\nbee\nant\n", {"text_column": "text"}),
        ("docs.jsonl", '{"text": "bee"}\n{"text": "ant"}\n', {"text_column": "text"}),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_dropped(write, name, content, options, packed):
    marked = ("\ufeff" + content).encode()
    path = write(gzip.compress(marked) if packed else marked, name)
    assert words(read(path, **options)) == [["bee"], ["ant"]]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bad_utf8_is_located(write, mark):
    path = write(mark + b"bee\n\xc3\xa7a bc\xff\n", "docs.txt")
    at = path.read_bytes().index(0xFF)
    refused(path, "wrong-encoding", ":2: ", f"offset {at} ", "0xff", "UTF-8", "--encoding")
    first = write(mark + b"bee\xfe\n", "first.txt")
    refused(first, "wrong-encoding", ":1: ", f"offset {len(mark) + 3} ", "0xfe")


def test_zero_bytes(write):
    refused(write(b"bee\nan\0t\n", "docs.txt"), "wrong-encoding", ":2: ", "offset 6 ", "zero")
    utf16 = write("bee\nant\n".encode("utf-16"), "utf16.txt")
    refused(utf16, "wrong-encoding", ":1: ", "UTF-8")


def test_a_line_of_ten_megabytes(write):
    long = ("b" * 99 + " ") * 100_000
    assert read(write(f"{long}\nant\n", "docs.txt")).n_words == 100_001
    record = json.dumps({"text": long})
    assert read(write(f"{record}\n", "docs.jsonl"), text_column="text").n_words == 100_000
    assert read(write(f'text\n"{long}"\n', "docs.csv"), text_column="text").n_words == 100_000


def test_a_line_without_end(monkeypatch, write):
    monkeypatch.setattr("franchise.corpus.files.MAX_LINE", 100)
    assert read(write("bee " * 24 + "\n", "docs.txt")).n_words == 24
    path = write("bee\n" + "ant" * 100, "docs.txt")
    refused(path, "line-too-long", ":2: ", "100 bytes")


@pytest.mark.parametrize(
    ("name", "content", "code", "facts"),
    [
        ("docs.txt", "", "empty-corpus", ()),
        ("docs.txt", "\n\n", "no-words-found", ("2 texts",)),
        ("docs.csv", "", "missing-header", (":1: ",)),
        ("docs.csv", "id,text\n", "empty-corpus", ()),
        ("docs.jsonl", "\n", "empty-corpus", ()),
    ],
)
def test_nothing_in_the_file(write, name, content, code, facts):
    path = write(content, name)
    refused(path, code, *facts, **({} if name == "docs.txt" else {"text_column": "text"}))


# ---------------------------------------------------------------- tables

HARD_TEXTS = [
    "plain",
    "",
    'comma, tab\tand "quotes"',
    "two\nlines",
    "three\r\nlines\n",
    "çà ünï 🐝",
    " blanks ",
]


@pytest.mark.parametrize(("name", "delimiter"), [("docs.csv", ","), ("docs.tsv", "\t")])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_tables_written_by_the_csv_module(write, name, delimiter, line_end):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=line_end)
    writer.writerow(["the id", "year", "text"])
    writer.writerows([f"d{j}", 1900 + j, text] for j, text in enumerate(HARD_TEXTS))
    path = write(file.getvalue(), name)
    corpus = read(path, text_column="text", id_column="the id")
    assert corpus.texts == tuple(HARD_TEXTS)
    assert corpus.document_names == tuple(f"d{j}" for j in range(len(HARD_TEXTS)))
    assert read(path, text_column="text").document_names[1] == "1"


def test_names_need_not_differ(write):
    corpus = read(write("id,text\na,bee\na,ant\n", "docs.csv"), text_column="text", id_column="id")
    assert corpus.document_names == ("a", "a")


def test_json_lines(write):
    lines = [json.dumps({"id": j, "text": text, "more": [1]}) for j, text in enumerate(HARD_TEXTS)]
    path = write("\r\n\n".join(lines), "docs.ndjson")
    corpus = read(path, text_column="text", id_column="id")
    assert corpus.texts == tuple(HARD_TEXTS)
    assert corpus.document_names == tuple(map(str, range(len(HARD_TEXTS))))
    assert read(path, text_column="text", id_column="text").document_names == tuple(HARD_TEXTS)


@pytest.mark.parametrize("packed", [False, True])
def test_parquet(tmp_path, packed):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    texts = [f"{text} {j}" for j in range(500) for text in HARD_TEXTS]
    columns = {
        "text": pa.array(texts).dictionary_encode(),
        "large": pa.array(texts, pa.large_string()),
        "id": list(range(len(texts))),
    }
    path = tmp_path / "docs.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=1000)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for column in ("text", "large"):
        corpus = read(path, text_column=column, id_column="id")
        assert corpus.texts == tuple(texts)
        assert corpus.document_names == tuple(map(str, range(len(texts))))
    assert read(path, text_column="text", id_column="text").document_names == tuple(texts)


def _table(kind, rows, path):
    """Write rows of (id, text) as a table of some kind."""
    if kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        ids, texts = zip(*rows)
        parquet.write_table(pa.table({"id": list(ids), "text": list(texts)}), path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in rows))
    else:
        delimiter = "," if kind == "csv" else "\t"
        path.write_text("".join(delimiter.join(row) + "\n" for row in [("id", "text"), *rows]))
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_the_columns_are_listed(tmp_path, kind):
    path = _table(kind, [("a", "bee")], tmp_path / f"docs.{kind}")
    refused(path, "missing-setting", "text_column (--text-column)", "'id', 'text'")
    refused(path, "unknown-column", "'body'", "'id', 'text'", text_column="body")
    refused(path, "unknown-column", "'name'", text_column="text", id_column="name")


def test_many_columns_are_not_all_listed(write):
    path = write(",".join(f"c{i}" for i in range(1000)) + "\n", "docs.csv")
    refused(path, "unknown-column", "'c19' and 980 more", text_column="text")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_is_not_a_text(tmp_path, kind):
    path = tmp_path / f"docs.{kind}"
    _table(kind, [("a", "bee"), ("b", None)], path)
    refused(path, "not-a-text", ":2: ", "'text'", "(null)", text_column="text")
    _table(kind, [("a", 3), ("b", 4)], path)
    refused(path, "not-a-text", ":1: ", "'text'", "3 (int)", text_column="text")
    _table(kind, [(1.5, "bee")], path)
    refused(path, "not-a-name", ":1: ", "'id'", "1.5 (float)", text_column="text", id_column="id")


@pytest.mark.parametrize(
    ("content", "code", "facts"),
    [
        ('{"id": 1}', "unknown-column", (":2: ", "'text'", "'id'")),
        ("{}", "unknown-column", (":2: ", "'text'")),
        ("[1]", "bad-line", (":2: ", "list")),
        ('"bee"', "bad-line", (":2: ", "str")),
        ('{"text": "bee"', "bad-line", (":2: ", "column")),
        ("bee", "bad-line", (":2: ", "column 1:", "Expecting value")),
        ('{"text": "bee"} {"text": "ant"}', "bad-line", (":2: ", "column 17", "Extra data")),
        ('{"text": "a\tb"}', "bad-line", (":2: ", "column 12", "Invalid control character")),
        ("[" * 100_000, "bad-line", (":2: ", "JSON")),
        ('{"text": "bee", "n": ' + "9" * 10_000 + "}", "bad-line", (":2: ", "JSON")),
        ('{"text": ["bee"]}', "not-a-text", (":2: ", "'text'", "['bee'] (list)")),
        ('{"text": NaN}', "not-a-text", (":2: ", "'text'", "nan (float)")),
        ('{"text": "bee \\ud83d"}', "not-a-character", (":2: ", "'text'", "\\ud83d", "position 4")),
        ('{"text": "bee", "id": true}', "not-a-name", (":2: ", "'id'", "True (bool)")),
        ('{"text": "bee", "id": "\\udc00"}', "not-a-character", (":2: ", "'id'")),
    ],
)
def test_bad_json_lines(write, content, code, facts):
    options = {"id_column": "id"} if '"id": ' in content and "text" in content else {}
    first = '{"text": "bee", "id": 1}'
    path = write(f"{first}\n{content}\n{first}\n", "docs.jsonl")
    refused(path, code, *facts, text_column="text", **options)


@pytest.mark.parametrize(
    ("content", "code", "facts"),
    [
        ("1,bee,2\n", "bad-line", (":4: ", "3 fields", "2 column names")),
        ("1\n", "bad-line", (":4: ", "1 fields")),
        ('1,"bee\n2,ant\n', "bad-line", (":4: ", "unexpected end of data")),
        ('1,"bee"s\n', "bad-line", (":4: ", "',' expected after '\"'")),
        ("1,bee\r2,ant\n", "bad-line", (":4: ", "new-line character")),
    ],
)
def test_bad_rows(write, content, code, facts):
    path = write('id,text\n0,"be\ne"\n' + content, "docs.csv")
    refused(path, code, *facts, text_column="text")


def test_columns_of_one_name(write):
    path = write("text,text\na,b\n", "docs.csv")
    refused(path, "duplicate-column", ":1: ", "'text'", text_column="text")


def test_lines_of_nothing_in_a_table_are_no_documents(write):
    corpus = read(write('text\nbee\n\n""\n\n', "docs.csv"), text_column="text")
    assert corpus.texts == ("bee", "")


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = write(b"PAR1", "docs.parquet")
    refused(path, "missing-package", 'pip install "franchise[parquet]"', text_column="text")


@pytest.mark.parametrize("keep", [0, 4, 30, 200, -1])
def test_a_parquet_file_cut_off(tmp_path, keep):
    path = _table("parquet", [(f"d{j}", f"bee {j}") for j in range(100)], tmp_path / "docs.parquet")
    path.write_bytes(path.read_bytes()[:keep])
    refused(path, "damaged-file", "Parquet", text_column="text")


# ---------------------------------------------------------------- folders


def test_a_folder(write, tmp_path):
    write("bee\r\nant", "b.txt")
    write("\ufeffçat", "a/z.TXT")
    write(gzip.compress(b"dog\n"), "a/c.txt.gz")
    write(gzip.compress(b"eel"), "a/b/d.txt")
    write("", "c.empty.txt")
    for ignored in (".hidden.txt", "._b.txt", "notes.md", "txt"):
        write(b"\0\xff", ignored)
    (tmp_path / "d.txt.d").mkdir()
    seen = []
    corpus = read(tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert corpus.document_names == ("a/b/d", "a/c", "a/z", "b", "c.empty")
    assert words(corpus) == [["eel"], ["dog"], ["çat"], ["bee", "ant"], []]
    assert corpus.texts[3] == "bee\r\nant"
    assert len(seen) == 5
    assert (
        seen[-1][0] == seen[-1][1] == sum(path.stat().st_size for path in tmp_path.rglob("[a-z]*.[tT]*[!d]"))
    )
    assert read(str(tmp_path), format="folder") == corpus


def test_the_fault_in_a_folder_is_located(write, tmp_path, monkeypatch):
    path = write(b"bee\n\xff\n", "b.txt")
    write("ant", "a.txt")
    refused(path.parent / "b.txt", "wrong-encoding", ":2: ", "UTF-8")
    with raises(CorpusError, "wrong-encoding", f"{path}:2: ", "UTF-8", "offset 4 "):
        read(tmp_path)
    monkeypatch.chdir(tmp_path)
    with raises(CorpusError, "wrong-encoding", "b.txt:2:", "UTF-8"):
        read(".")


def test_a_folder_without_texts(write, tmp_path):
    write("bee", "docs.md")
    refused(tmp_path, "no-text-files", "*.txt")


def test_a_file_name_that_is_not_utf8(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("bee")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert read(tmp_path).document_names == ("caf\ufffd",)


# ---------------------------------------------------------------- keys within others

NESTED = [
    {"id": 1, "doc": {"body": "ant bee", "year": 1990, "by": {"name": "x"}}},
    {"id": 2, "doc": {"body": "bee", "year": 1991}},
]


def test_keys_within_others(write):
    path = write("\n".join(map(json.dumps, NESTED)), "docs.jsonl")
    corpus = read(path, text_column="doc.body", id_column="doc.year", metadata=["id", "doc.by.name"])
    assert words(corpus) == [["ant", "bee"], ["bee"]]
    assert corpus.document_names == ("1990", "1991")
    assert corpus.metadata["doc.by.name"].tolist()[0] == "x"
    assert corpus.metadata["doc.by.name"].isna().tolist() == [False, True]
    assert list(read(path, text_column="doc.body").metadata) == ["id"]
    flat = write('{"doc.body": "ant", "doc": {"body": "bee"}}\n', "flat.jsonl")
    assert words(read(flat, text_column="doc.body")) == [["ant"]]


def test_errors_name_keys_within_others(write):
    path = write("\n".join(map(json.dumps, NESTED)), "docs.jsonl")
    keys = ("'doc.body'", "'doc.year'", "'doc.by.name'")
    refused(path, "missing-setting", *keys)
    refused(path, "unknown-column", "'doc.text'", *keys, text_column="doc.text")
    refused(path, "not-a-text", "'doc'", *keys, text_column="doc")
    refused(path, "unknown-column", "'doc.body.x'", text_column="doc.body.x")
