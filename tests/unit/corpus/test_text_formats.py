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


def fault(path, **options):
    """Return what an error says after the path."""
    with pytest.raises(CorpusError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message.removeprefix(f"{path}:").strip()


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
    assert fault(path) == (
        f"2: not UTF-8 text: the byte at offset {at} is 0xff; convert the file to UTF-8, or give its "
        "encoding (--encoding)"
    )
    first = write(mark + b"bee\xfe\n", "first.txt")
    assert fault(first).startswith(f"1: not UTF-8 text: the byte at offset {len(mark) + 3} is 0xfe")


def test_zero_bytes(write):
    assert fault(write(b"bee\nan\0t\n", "docs.txt")).startswith("2: the byte at offset 6 is zero")
    utf16 = write("bee\nant\n".encode("utf-16"), "utf16.txt")
    assert fault(utf16).endswith("convert the file to UTF-8")


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
    assert fault(path) == "2: the line is longer than 100 bytes; check that this is a text file"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("docs.txt", "", "there are no texts; give at least one"),
        ("docs.txt", "\n\n", "no word was found in 2 texts"),
        ("docs.csv", "", "1: there is no line of column names; add one at the top"),
        ("docs.csv", "id,text\n", "there are no texts"),
        ("docs.jsonl", "\n", "there are no texts"),
    ],
)
def test_nothing_in_the_file(write, name, content, message):
    path = write(content, name)
    assert fault(path, **({} if name == "docs.txt" else {"text_column": "text"})).startswith(message)


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
    expected = "which column holds the texts? Give text_column (--text-column); the columns are 'id', 'text'"
    assert fault(path) == expected
    assert fault(path, text_column="body").endswith("there is no column 'body'; the columns are 'id', 'text'")
    assert "there is no column 'name'" in fault(path, text_column="text", id_column="name")


def test_many_columns_are_not_all_listed(write):
    path = write(",".join(f"c{i}" for i in range(1000)) + "\n", "docs.csv")
    assert fault(path, text_column="text").endswith("'c19' and 980 more")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_is_not_a_text(tmp_path, kind):
    path = tmp_path / f"docs.{kind}"
    _table(kind, [("a", "bee"), ("b", None)], path)
    assert fault(path, text_column="text").startswith("2: 'text' is missing (null), not a text; give")
    _table(kind, [("a", 3), ("b", 4)], path)
    assert fault(path, text_column="text").startswith("1: 'text' is 3 (int), not a text")
    _table(kind, [(1.5, "bee")], path)
    message = "1: 'id' is 1.5 (float); names are texts or whole numbers"
    assert fault(path, text_column="text", id_column="id") == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": 1}', "2: there is no column 'text'; the columns are 'id'"),
        ("{}", "2: there is no column 'text'; the file has no columns"),
        ("[1]", "2: a JSON list, not an object; write one JSON object per line"),
        ('"bee"', "2: a JSON str, not an object"),
        ('{"text": "bee"', "2: not JSON at column "),
        ("bee", "2: not JSON at column 1: Expecting value"),
        ('{"text": "bee"} {"text": "ant"}', "2: not JSON at column 17: Extra data"),
        ('{"text": "a\tb"}', "2: not JSON at column 12: Invalid control character"),
        ("[" * 100_000, "2: JSON that cannot be read"),
        ('{"text": "bee", "n": ' + "9" * 10_000 + "}", "2: JSON that cannot be read"),
        ('{"text": ["bee"]}', "2: 'text' is ['bee'] (list), not a text"),
        ('{"text": NaN}', "2: 'text' is nan (float), not a text"),
        ('{"text": "bee \\ud83d"}', "2: 'text' has half a character, '\\ud83d', at position 4; take it out"),
        ('{"text": "bee", "id": true}', "2: 'id' is True (bool); names are"),
        ('{"text": "bee", "id": "\\udc00"}', "2: 'id' has half a character"),
    ],
)
def test_bad_json_lines(write, content, message):
    options = {"id_column": "id"} if '"id": ' in content and "text" in content else {}
    first = '{"text": "bee", "id": 1}'
    path = write(f"{first}\n{content}\n{first}\n", "docs.jsonl")
    assert fault(path, text_column="text", **options).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1,bee,2\n", "4: the row has 3 fields, but the first line has 2 column names"),
        ("1\n", "4: the row has 1 fields"),
        ('1,"bee\n2,ant\n', "4: not a row of fields (unexpected end of data); close every quote"),
        ('1,"bee"s\n', "4: not a row of fields (',' expected after '\"')"),
        ("1,bee\r2,ant\n", "4: not a row of fields (new-line character seen"),
    ],
)
def test_bad_rows(write, content, message):
    path = write('id,text\n0,"be\ne"\n' + content, "docs.csv")
    assert fault(path, text_column="text").startswith(message)


def test_columns_of_one_name(write):
    path = write("text,text\na,b\n", "docs.csv")
    assert fault(path, text_column="text") == "1: there are several columns 'text'; rename all but one"


def test_lines_of_nothing_in_a_table_are_no_documents(write):
    corpus = read(write('text\nbee\n\n""\n\n', "docs.csv"), text_column="text")
    assert corpus.texts == ("bee", "")


def test_parquet_without_pyarrow(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = write(b"PAR1", "docs.parquet")
    assert 'pip install "franchise[parquet]"' in fault(path, text_column="text")


@pytest.mark.parametrize("keep", [0, 4, 30, 200, -1])
def test_a_parquet_file_cut_off(tmp_path, keep):
    path = _table("parquet", [(f"d{j}", f"bee {j}") for j in range(100)], tmp_path / "docs.parquet")
    path.write_bytes(path.read_bytes()[:keep])
    assert fault(path, text_column="text").startswith("not a whole Parquet file (")


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
    assert fault(path.parent / "b.txt").startswith("2: not UTF-8")
    with pytest.raises(CorpusError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(f"{path}:2: not UTF-8 text: the byte at offset 4")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorpusError, match=r"^b\.txt:2: not UTF-8"):
        read(".")


def test_a_folder_without_texts(write, tmp_path):
    write("bee", "docs.md")
    assert fault(tmp_path) == "there are no text files (*.txt) in this folder; give one with some"


def test_a_file_name_that_is_not_utf8(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("bee")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert read(tmp_path).document_names == ("caf\ufffd",)
