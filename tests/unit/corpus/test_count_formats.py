"""Files of counts: UCI, Matrix Market and npz; small ones made by hand or by SciPy, and bad ones."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from franchise.corpus import Corpus, from_counts, read_corpus, write_corpus
from franchise.errors import CorpusError
from tests.raising import check, raises

COUNTS = np.array([[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 0]])
TERMS = ["ant", "bee", "new york", "ça"]

# The same corpus in both formats; the last term and the second document have no words.
UCI = "3\n4\n3\n1 1 2\n1 3 1\n3 2 3\n"
MM = "%%MatrixMarket matrix coordinate integer general\n% note\n\n3 4 3\n1 1 2\n1 3 1\n3 2 3\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path, code, *facts, **options):
    """Check that a file is refused with this code, and with these facts after its path."""
    with pytest.raises(CorpusError) as caught:
        read_corpus(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    check(CorpusError(message.removeprefix(str(path)), code=caught.value.code), code, *facts)


@pytest.mark.parametrize(("name", "content"), [("docword.x.txt", UCI), ("docs.mtx", MM)])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \t\n"])
def test_a_file_made_by_hand(write, name, content, line_end):
    path = write(content.replace("\n", line_end), name)
    assert read_corpus(path) == from_counts(COUNTS)
    assert read_corpus(path, vocabulary=TERMS) == from_counts(COUNTS, vocabulary=TERMS)


def test_entries_in_any_order_add_up(write):
    shuffled = write("3\n4\n5\n3 2 1\n1 3 1\n\n3 2 2\n1 1 2\n2 1 0\n", "docword.x.txt")
    assert read_corpus(shuffled) == from_counts(COUNTS)


def test_the_vocabulary_beside_is_found(write):
    docs = [write(UCI, "docword.x.txt"), write(MM, "docs.mtx"), write("1 3:2\n", "ap.ldac")]
    terms = "\n".join(TERMS)
    for name in ("vocab.x.txt", "docs.vocab.txt", "ap.vocab.txt"):
        write(terms, name)
    assert [read_corpus(path).vocabulary for path in docs] == [tuple(TERMS)] * 3
    other = write("a\nb\nc\nd\n", "other.txt")
    assert read_corpus(docs[0], vocabulary=other).vocabulary == ("a", "b", "c", "d")


def test_a_vocabulary_found_beside_is_named_when_it_is_wrong(write):
    path, terms = write(UCI, "docword.x.txt"), write("ant\nbee\n", "vocab.x.txt")
    refused(path, "vocabulary-mismatch", "2 terms", "file has 4", terms)
    with raises(CorpusError, "vocabulary-mismatch", "2 terms", "file has 4") as caught:
        read_corpus(path, vocabulary=terms)
    assert str(terms) not in str(caught.value)
    path.write_text(UCI + "x")
    terms.write_text("\n".join(TERMS))
    with raises(CorpusError, "bad-line", path) as caught:
        read_corpus(path)
    assert str(terms) not in str(caught.value)
    terms.write_text("ant\nant\n")
    with raises(CorpusError, "duplicate-term", "vocab.x.txt:2", "'ant'", "line 1"):
        read_corpus(path)


def test_a_transposed_matrix(write):
    path = write(MM.replace("3 4 3", "4 3 3"), "docs.mtx")
    refused(path, "vocabulary-mismatch", "4 terms", "file has 3", "transposed", vocabulary=TERMS)


# ---------------------------------------------------------------- lines of three numbers

LINES = [
    ("1 1", "bad-line", ("2 fields",)),
    ("1 1 1 1", "bad-line", ("4 fields",)),
    ("x 1 1", "bad-line", ("'x'", "document")),
    ("-1 1 1", "bad-line", ("'-1'", "document")),
    ("1 1.0 1", "bad-line", ("'1.0'", "term")),
    ("0 1 1", "document-out-of-range", ("document 0", "1 to 3")),
    ("4 1 1", "document-out-of-range", ("document 4", "1 to 3")),
    ("1 0 1", "term-out-of-range", ("term 0", "1 to 4")),
    ("1 5 1", "term-out-of-range", ("term 5", "1 to 4")),
    ("1 " + "9" * 30 + " 1", "term-out-of-range", ("term " + "9" * 30,)),
    ("1 1 -2", "negative-count", ("-2",)),
    ("1 1 1.5", "fractional-count", ("1.5",)),
    ("1 1 1e30", "count-too-large", ("1e30", "2,147,483,647")),
    ("1 1 1e999", "count-too-large", ("1e999",)),
    ("1 1 2147483648", "count-too-large", ("2147483648",)),
    ("1 1 " + "9" * 30, "count-too-large", ("9" * 30,)),
    ("1 1 nan", "not-a-count", ("'nan'",)),
    ("1 1 1_0", "not-a-count", ("'1_0'",)),
    ("1 1 ٣", "not-a-count", ("'٣'",)),
    (b"1 1 \xff", "not-a-count", ("'�'",)),
    (b"1 1\x001", "bad-line", ("2 fields",)),
]


@pytest.mark.parametrize(("line", "code", "facts"), LINES, ids=[str(line)[:20] for line, *_ in LINES])
@pytest.mark.parametrize(("name", "content"), [("docword.x.txt", UCI), ("docs.mtx", MM)])
def test_a_bad_line_is_named(write, name, content, line, code, facts):
    line = line if isinstance(line, bytes) else line.encode()
    for before in (b"", b"\n", b"1 1 1.0\n"):  # what is plain so far, and what is not
        path = write(content.encode() + before + line + b"\n1 1 1\n", name)
        number = content.count("\n") + (2 if before else 1)
        refused(path, code, f":{number}: ", *facts)


@pytest.mark.parametrize(("name", "content"), [("docword.x.txt", UCI), ("docs.mtx", MM)])
def test_a_wrong_number_of_entries(write, name, content):
    refused(write(content[:-6], name), "entries-mismatch", "3 entries", "2 follow")
    refused(write(content + "1 1 1\n", name), "entries-mismatch", "3 entries", "4 follow")


@pytest.mark.parametrize(("number", "line"), [(0, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("name", ["docword.x.txt", "docs.mtx"])
def test_absurd_sizes_allocate_nothing(write, name, number, line):
    what = ["documents", "terms", "entries"][number]
    for size in ("1000000000000", "9" * 5000):
        sizes = ["3", "4", "3"]
        sizes[number] = size
        if name == "docs.mtx":
            path, line = write(MM.replace("3 4 3", " ".join(sizes)), name), 4
        else:
            path = write("\n".join(sizes) + UCI[5:], name)
        refused(path, "number-too-large", f":{line}: {size[:40]} ", f"number of {what}", "2,147,483,647")


@pytest.mark.parametrize("name", ["docword.x.txt", "docs.mtx"])
def test_sizes_that_the_entries_cannot_fill(write, name):
    def with_sizes(n_documents, n_terms):
        if name == "docs.mtx":
            return write(MM.replace("3 4 3", f"{n_documents} {n_terms} 3"), name)
        return write(f"{n_documents}\n{n_terms}\n3\n" + UCI[6:], name)

    refused(with_sizes(2_000_000_000, 4), "implausible-size", "2,000,000,000 documents", "3 counts")
    refused(with_sizes(3, 2_000_000_000), "implausible-size", "2,000,000,000 terms", "3 counts")
    assert read_corpus(with_sizes(3, 2**20)).n_terms == 2**20


@pytest.mark.parametrize(
    ("content", "code", "facts"),
    [
        ("", "bad-line", (":1: ", "documents")),
        ("3\n", "bad-line", (":2: ", "terms")),
        ("3 4 3\n1 1 1\n", "bad-line", (":1: ", "documents")),
        ("3\nx\n1\n", "bad-line", (":2: ", "'x'", "terms")),
        ("3\n4\n-1\n", "bad-line", (":3: ", "'-1'")),
        ("3\n4\n0\n", "empty-corpus", ()),
    ],
)
def test_a_bad_head_of_uci(write, content, code, facts):
    refused(write(content, "docword.x.txt"), code, *facts)


@pytest.mark.parametrize(
    ("head", "code", "facts"),
    [
        ("", "wrong-format", (":1: ", "'%%MatrixMarket matrix coordinate integer general'")),
        ("%%Matrix", "wrong-format", (":1: ",)),
        ("%%MatrixMarket", "unsupported-format", (":1: ", "matrix")),
        (
            "%%MatrixMarket vector coordinate integer general",
            "unsupported-format",
            (":1: ", "'vector'", "matrix"),
        ),
        (
            "%%MatrixMarket matrix array integer general",
            "unsupported-format",
            (":1: ", "'array'", "coordinate"),
        ),
        (
            "%%MatrixMarket matrix coordinate pattern general",
            "unsupported-format",
            (":1: ", "'pattern'", "integer or real"),
        ),
        (
            "%%MatrixMarket matrix coordinate complex general",
            "unsupported-format",
            (":1: ", "'complex'", "integer or real"),
        ),
        (
            "%%MatrixMarket matrix coordinate integer symmetric",
            "unsupported-format",
            (":1: ", "'symmetric'", "general"),
        ),
        ("%%matrixmarket MATRIX Coordinate Real General", "bad-line", (":2: ",)),
        ("%%MatrixMarket matrix coordinate real general\n% x\n3 4\n", "bad-line", (":3: ",)),
        ("%%MatrixMarket matrix coordinate real general\n3 4 x\n", "bad-line", (":2: ", "'x'")),
    ],
)
def test_a_bad_head_of_matrix_market(write, head, code, facts):
    refused(write(head, "docs.mtx"), code, *facts)


def test_blocks_of_a_long_file(write):
    rng = np.random.default_rng(0)
    triples = np.column_stack([np.sort(rng.integers(1, 301, 200_000)), rng.integers(1, 50, (200_000, 2))])
    body = "".join(f"{j} {v} {n}\n" for j, v, n in triples)
    expected = np.zeros((300, 49), dtype=np.int64)
    np.add.at(expected, (triples[:, 0] - 1, triples[:, 1] - 1), triples[:, 2])
    path = write("300\n49\n200000\n" + body, "docword.x.txt")
    assert path.stat().st_size > 1.5 * 2**20
    assert read_corpus(path) == from_counts(expected)
    path = write("300\n49\n200001\n" + body + "301 1 1", "docword.x.txt")
    refused(path, "document-out-of-range", ":200004: ", "document 301", "1 to 300")


# ---------------------------------------------------------------- against SciPy


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_matrix_market_written_by_scipy(tmp_path, dtype, form):
    path = tmp_path / "docs.mtx"
    counts = scipy.sparse.coo_array(np.random.default_rng(0).poisson(0.4, (30, 20)).astype(dtype))
    scipy.io.mmwrite(path, counts.asformat(form), comment="a comment")
    assert read_corpus(path) == from_counts(counts)


def test_scipy_reads_what_we_write(tmp_path):
    corpus = from_counts(
        np.random.default_rng(0).poisson(0.4, (30, 20)), vocabulary=list("abcdefghijklmnopqrst")
    )
    expected = corpus.to_counts().toarray()
    write_corpus(corpus, tmp_path / "docs.mtx")
    assert (scipy.io.mmread(tmp_path / "docs.mtx").toarray() == expected).all()
    write_corpus(corpus, tmp_path / "docs.npz")
    assert (scipy.sparse.load_npz(tmp_path / "docs.npz").toarray() == expected).all()
    with np.load(tmp_path / "docs.npz", allow_pickle=False) as arrays:
        assert tuple(arrays["vocabulary"]) == corpus.vocabulary
        assert tuple(arrays["document_names"]) == corpus.document_names


@pytest.mark.parametrize("dtype", ["bool", "u1", ">i4", ">f8", "f8", "u8"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz_written_by_scipy(tmp_path, dtype, kind, compressed):
    counts = np.random.default_rng(0).poisson(0.4, (30, 20)).astype(dtype)
    matrix = kind(counts.astype(np.dtype(dtype).newbyteorder("=")))
    matrix.data = matrix.data.astype(dtype)
    scipy.sparse.save_npz(tmp_path / "docs.npz", matrix, compressed=compressed)
    assert read_corpus(tmp_path / "docs.npz") == from_counts(counts)


# ---------------------------------------------------------------- npz

PARTS = {
    "data": np.array([2, 1, 3]),
    "indices": np.array([0, 2, 1]),
    "indptr": np.array([0, 2, 2, 3]),
    "shape": np.array([3, 4]),
}


@pytest.fixture
def save(tmp_path):
    def save(**changed):
        path = tmp_path / "docs.npz"
        np.savez(path, **{name: part for name, part in (PARTS | changed).items() if part is not None})
        return path

    return save


def test_npz_made_by_hand(save, write):
    assert read_corpus(save()) == from_counts(COUNTS)
    for dtype in ("f2", "u2", "g"):
        unusual = {name: part.astype("u4") for name, part in PARTS.items()}
        assert read_corpus(save(**unusual | {"data": PARTS["data"].astype(dtype)})) == from_counts(COUNTS)
    terms, names = np.array(TERMS), np.array(["x", "y", "x"])
    corpus = read_corpus(save(vocabulary=terms, document_names=names))
    assert corpus == from_counts(COUNTS, vocabulary=TERMS, document_names=["x", "y", "x"])
    write("a\nb\nc\nd\n", "docs.vocab.txt")
    assert read_corpus(save(vocabulary=terms)).vocabulary == tuple(TERMS)
    assert read_corpus(save()).vocabulary == ("a", "b", "c", "d")
    assert read_corpus(save(vocabulary=terms), vocabulary=["e", "f", "g", "h"]).vocabulary == (
        "e",
        "f",
        "g",
        "h",
    )


@pytest.mark.parametrize(
    ("changed", "code", "facts"),
    [
        ({"data": None}, "missing-array", ("'data'", "scipy.sparse.save_npz")),
        ({"format": np.array(b"csc")}, "unsupported-format", ("b'csc'", "scipy.sparse.save_npz")),
        ({"data": np.array([2, 1])}, "wrong-array", ("'data'", "'indices'", "'indptr'")),
        ({"indices": np.array([0, 1])}, "wrong-array", ("'data'", "'indices'", "'indptr'")),
        ({"indptr": np.array([0, 2, 2, 4])}, "wrong-array", ("'data'", "'indices'", "'indptr'")),
        ({"indptr": np.array([1, 2, 2, 3])}, "wrong-array", ("'data'", "'indices'", "'indptr'")),
        ({"indptr": np.array([0, 3, 2, 3])}, "wrong-array", ("'indptr'",)),
        ({"indptr": np.array([0, 3])}, "wrong-array", ("'indptr'",)),
        ({"indptr": np.array([], int)}, "wrong-array", ("'indptr'",)),
        ({"indptr": np.array([0.0, 2, 2, 3])}, "wrong-array", ("'indptr'",)),
        ({"indices": np.array([0, 4, 1])}, "term-out-of-range", ("column 4", "4 columns")),
        ({"indices": np.array([0, -1, 1])}, "term-out-of-range", ("column -1", "4 columns")),
        ({"indices": np.array([[0, 2, 1]])}, "wrong-array", ("'indices'",)),
        ({"shape": np.array([3])}, "wrong-array", ("'shape'",)),
        ({"shape": np.array([-3, 4])}, "wrong-array", ("'shape'",)),
        (
            {"shape": np.array([10**12, 4])},
            "wrong-array",
            ("'indptr'", "'shape'"),
        ),
        ({"shape": np.array([3, 10**12])}, "implausible-size", ("1,000,000,000,000 terms", "3 counts")),
        (
            {"shape": np.array([3, 10**12]), "vocabulary": np.array(TERMS)},
            "vocabulary-mismatch",
            ("4 terms",),
        ),
        ({"data": np.array(["2", "1", "3"])}, "wrong-array", ("'data'",)),
        ({"data": np.array([2, 1, 3j])}, "wrong-array", ("'data'",)),
        ({"data": np.array([2, None, 3])}, "damaged-file", ("npz",)),
        ({"data": np.array([2, 1.5, 3])}, "fractional-count", ("row 0", "column 2", "1.5")),
        ({"data": np.array([2, -1, 3])}, "negative-count", ("row 0", "column 2", "-1")),
        ({"data": np.array([2, 1e30, 3])}, "count-too-large", ("row 0", "column 2", "1e+30")),
        ({"data": np.array([2, np.nan, 3])}, "count-not-finite", ("row 0", "column 2", "NaN")),
        ({"data": np.array([0, 0, 0])}, "empty-corpus", ()),
        ({"vocabulary": np.array(["a", "b", "a", "c"])}, "duplicate-term", ("'a'",)),
        ({"vocabulary": np.array(["a", "b"])}, "vocabulary-mismatch", ("2 terms", "file has 4")),
        ({"vocabulary": np.array([1, 2, 3, 4])}, "wrong-array", ("'vocabulary'",)),
        (
            {"vocabulary": np.array(["a", "b", "c", "\ud800"])},
            "not-a-character",
            ("'vocabulary'", "U+D800"),
        ),
        (
            {"vocabulary": np.array([97, 98, 99, 0x110000], "u4").view("U1")},
            "not-a-character",
            ("'vocabulary'", "U+110000"),
        ),
        ({"format": np.array([0x110000], "u4").view("U1")}, "damaged-file", ()),
        ({"document_names": np.array(["a"])}, "wrong-length", ("1 document names", "3 documents")),
    ],
)
def test_bad_npz(save, changed, code, facts):
    refused(save(**changed), code, *facts)


def test_an_array_that_claims_more_than_there_is(save):
    path = save()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"data.npy": file.getvalue()}).items():
            archive.writestr(name, content)
    refused(path, "damaged-file", "npz")


@pytest.mark.parametrize("keep", [0, 4, 100, -30])
def test_npz_cut_off(save, keep):
    path = save()
    path.write_bytes(path.read_bytes()[:keep])
    refused(path, "damaged-file", "npz")


def test_strings_too_wide_for_npz_go_beside(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.corpus.formats.matrices._MAX_STRINGS", 100)
    corpus = Corpus([0, 1], [0, 2], ["a", "b" * 50], ["name"])
    path, terms = tmp_path / "docs.npz", tmp_path / "docs.vocab.txt"
    assert write_corpus(corpus, path) == [path, terms]
    assert read_corpus(path) == corpus
