"""Files that are not UTF-8, not separated by commas, or not documents at all: what is said then."""

import gzip
import io
import pickle
import tarfile
import zipfile

import numpy as np
import pytest

from franchise.corpus import TextOptions, read_corpus, read_new
from franchise.corpus.files import checked_encoding, likely_encoding
from franchise.errors import CorpusError, SettingsError
from tests.raising import raises

WORDS = TextOptions(token_pattern=r"\S+", stop_words=None, lowercase=False, min_df=1, max_df=1.0)

TEXTS = {
    "cp1252": "Der Müller fährt über die Brücke – “schön”, sagt die Frau; le café coûte 5 €",
    "cp850": "Der M\u00fcller f\u00e4hrt \u00fcber die Br\u00fccke nach K\u00f6ln",
    "cp1251": "Модель находит темы в документах и говорит, сколько их и насколько можно им верить",
    "koi8_r": "Модель находит темы в документах и говорит, сколько их и насколько можно им верить",
    "cp932": "このモデルは文書の中の話題を見つけて、いくつあるかを教えてくれます。",
    "euc_jp": "このモデルは文書の中の話題を見つけて、いくつあるかを教えてくれます。",
    "euc_kr": "이 모형은 문서에서 주제를 찾고 몇 개인지 알려 줍니다",
    "gb18030": "这个模型在文档中寻找主题，并说明有多少个主题以及可以信任哪些主题。",
    "utf-16": "The model finds topics, déjà vu",
    "utf-16-le": "The model finds topics",
    "utf-16-be": "The model finds topics",
    "utf-32": "The model finds topics",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_likely_encoding(name):
    assert likely_encoding((TEXTS[name] + "\n").encode(name) * 20) == name.replace("-", "_")


@pytest.mark.parametrize("sample", [b"plain", b"\x00\x01\x02\xff" * 9, bytes(range(256))])
def test_what_looks_like_no_text(sample):
    assert likely_encoding(sample) is None


@pytest.mark.parametrize("name", ["euc_jp", "gb18030", "utf-16"])
def test_a_sample_may_end_within_a_character(name):
    assert likely_encoding((TEXTS[name] * 20).encode(name)[:-1]) == name.replace("-", "_")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("form", ["txt", "csv", "tsv", "jsonl", "folder", "mallet"])
def test_texts_in_other_encodings(tmp_path, name, form):
    text = TEXTS[name].replace(",", "").replace(";", "")
    lines = {
        "txt": f"{text}\nant\n",
        "csv": f"text,n\n{text},1\nant,2\n",
        "tsv": f"text\tn\n{text}\t1\nant\t2\n",
        "jsonl": f'{{"text": "{text}"}}\n{{"text": "ant"}}\n'.replace("“", "").replace("”", ""),
        "mallet": f"a x {text}\nb x ant\n",
    }
    columns = {"text_column": "text"} if form in ("csv", "tsv", "jsonl") else {}
    path = tmp_path / f"docs.{form}"
    if form == "folder":
        path.mkdir()
        (path / "a.txt").write_bytes(text.encode(name))
    else:
        path.write_bytes(gzip.compress(lines[form].encode(name)))
    with raises(CorpusError, "wrong-encoding", path, "UTF-8"):
        read_corpus(path, format=form, text_options=WORDS, **columns)
    corpus = read_corpus(path, format=form, encoding=name, text_options=WORDS, **columns)
    assert set(corpus.vocabulary) >= set(text.replace("“", "").replace("”", "").split()) - {"schön"}
    if form != "folder":
        new = read_new(path, corpus, format=form, encoding=name, **columns)
        assert new.unknown.sum() == 0


def test_the_message_names_the_encoding_to_give(tmp_path):
    path = tmp_path / "docs.txt"
    path.write_bytes("plain\ncafé crème brûlée\n".encode("cp1252"))
    with raises(
        CorpusError, "wrong-encoding", f"{path}:2: ", "offset 9 ", "0xe9", "encoding='cp1252'", "UTF-8"
    ):
        read_corpus(path)
    assert read_corpus(path, encoding="Windows-1252").n_terms == 4


def test_a_wrong_encoding_names_the_line(tmp_path):
    path = tmp_path / "docs.txt"
    path.write_bytes("bee\n\nça\n".encode("cp1252"))
    with raises(CorpusError, "wrong-encoding", "docs.txt:1", "utf-16"):
        read_corpus(path, encoding="utf-16")
    with raises(CorpusError, "wrong-encoding", "ascii"):
        read_corpus(path, encoding="ascii")


@pytest.mark.parametrize("given", ["klingon", "base64", "rot13", "", 3, "a\0b"])
def test_there_is_no_such_encoding(given):
    with raises(SettingsError, "unknown-encoding", f"encoding={given!r}", "'utf-8'"):
        checked_encoding(given)


def test_a_vocabulary_in_another_encoding(tmp_path):
    (tmp_path / "a.ldac").write_text("2 0:1 1:1\n")
    (tmp_path / "a.vocab.txt").write_bytes("café\nthé\n".encode("latin-1"))
    assert read_corpus(tmp_path / "a.ldac", encoding="latin-1").vocabulary == ("café", "thé")
    with raises(CorpusError, "wrong-encoding", "vocab.txt:1", "UTF-8"):
        read_corpus(tmp_path / "a.ldac")


# ---------------------------------------------------------------- delimiters


@pytest.mark.parametrize(("delimiter", "given"), [(x, x) for x in ";|:"] + [("\t", "tab"), ("\t", "\\t")])
def test_other_delimiters(tmp_path, delimiter, given):
    path = tmp_path / "docs.csv"
    path.write_text(f'id{delimiter}text\n1{delimiter}"ant{delimiter} bee"\n2{delimiter}cat\n')
    corpus = read_corpus(path, text_column="text", id_column="id", delimiter=given)
    assert corpus.vocabulary == ("ant", "bee", "cat")
    assert corpus.document_names == ("1", "2")
    if delimiter != ":":
        with raises(CorpusError, "wrong-delimiter", "','", repr(delimiter), "delimiter="):
            read_corpus(path, text_column="text")


@pytest.mark.parametrize("given", ["", ";;", "a", '"', " ", "\n", 3])
def test_delimiters_that_cannot_be(tmp_path, given):
    with raises(SettingsError, "not-a-delimiter", f"delimiter={given!r}", "';'"):
        read_corpus(tmp_path / "docs.csv", text_column="text", delimiter=given)


def test_a_table_of_one_column_needs_no_delimiter(tmp_path):
    (tmp_path / "docs.csv").write_text("text\nant\nbee\n")
    assert read_corpus(tmp_path / "docs.csv", text_column="text").n_documents == 2


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.txt", {"delimiter": ";"}), ("a.ldac", {"layer": "counts"}), ("a.parquet", {"encoding": "cp1252"})],
)
def test_options_without_effect(tmp_path, name, options):
    (tmp_path / name).write_text("1 0:1\n")
    with raises(SettingsError, "does-not-apply", next(iter(options))):
        read_corpus(tmp_path / name, **options)


# ---------------------------------------------------------------- MALLET's text


def test_mallet(tmp_path):
    path = tmp_path / "docs.mallet.txt"
    path.write_text("a en The ant, the bee\n\nb\tX\ttwo  bees\r\nc en\n")
    corpus = read_corpus(path, format="mallet")
    assert corpus.document_names == ("a", "b", "c")
    assert corpus.texts == ("The ant, the bee", "two  bees", "")
    assert corpus.metadata["label"].tolist() == ["en", "X", "en"]
    assert read_corpus(path, format="mallet", metadata=["label"]).metadata.columns.tolist() == ["label"]
    assert read_corpus(path, format="mallet", metadata=[]).metadata is None
    with raises(CorpusError, "unknown-column", "'year'", "'label'"):
        read_corpus(path, format="mallet", metadata=["year"])
    path.write_text("a en ant\nbroken\n")
    with raises(CorpusError, "bad-line", "txt:2"):
        read_corpus(path, format="mallet")


# ---------------------------------------------------------------- formats that are not supported


def _zip(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, "x" * 50)
    return file.getvalue()


def _tar():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


def _npy():
    file = io.BytesIO()
    np.save(file, np.ones((2, 2)))
    return file.getvalue()


UNSUPPORTED = {
    "a.xlsx": (_zip("[Content_Types].xml", "xl/workbook.xml"), "a workbook"),
    "a.xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "old Microsoft Office"),
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3", "a PDF; extract the text first"),
    "a.tar": (_tar(), "an archive"),
    "a.bz2": (b"BZh91AY", "unpack it"),
    "a.npy": (_npy(), "a NumPy array"),
    "a.pkl": (pickle.dumps(["ant"]), "a Python pickle"),
    "a.arrow": (b"ARROW1\x00\x00", "as Parquet"),
    "a.h5": (b"\x89HDF\r\n\x1a\n" + bytes(99), "an HDF5 file; if it is AnnData's, give format='h5ad'"),
    "a.rds": (b"X\n\x00\x00\x00\x03", "data file of R"),
    "a.sav": (b"$FL2@(#) IBM", "statistics program"),
    "a.sqlite": (b"SQLite format 3\x00", "as CSV"),
    "a.json": (b' [\n {"text": "ant"}]', "jq -c '.[]'"),
    "a.html": (b"<!DOCTYPE html><p>", "a web page"),
    "a.png": (b"\x89PNG\r\n\x1a\n", "an image"),
    "a.mallet": (b"\xac\xed\x00\x05sr", "a binary MALLET file"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_formats_are_named(tmp_path, name):
    content, what = UNSUPPORTED[name]
    path = tmp_path / name
    for data in (content, gzip.compress(content)):
        path.write_bytes(data)
        with raises(CorpusError, "unsupported-format", path, what) as caught:
            read_corpus(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("disguise", ["a.csv", "a.txt", "a"])
def test_the_content_goes_before_the_name(tmp_path, disguise):
    for name in UNSUPPORTED.keys() - {"a.json", "a.html"}:
        content, what = UNSUPPORTED[name]
        (tmp_path / disguise).write_bytes(content)
        with raises(CorpusError, "unsupported-format", disguise, what):
            read_corpus(tmp_path / disguise, text_column="text" if "csv" in disguise else None)


@pytest.mark.parametrize("text", ["[[Ant]] a page of a wiki", "<html>ant</html>", '["ant"]'])
def test_text_that_looks_like_something_else(tmp_path, text):
    (tmp_path / "a.txt").write_text(text)
    assert "ant" in read_corpus(tmp_path / "a.txt").vocabulary


def test_an_unsupported_format_by_its_name_alone(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"old")
    with raises(CorpusError, "unsupported-format", "Feather"):
        read_corpus(tmp_path / "a.feather")


def test_a_model_is_no_folder_of_documents(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    (tmp_path / "vocabulary.txt").write_text("ant")
    with raises(CorpusError, "is-a-model", tmp_path):
        read_corpus(tmp_path)
