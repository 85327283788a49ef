"""Files of counts: UCI, Matrix Market and npz; small ones made by hand or by SciPy, and bad ones."""

import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from franchise.corpus import Corpus, from_counts, read_corpus, write_corpus
from franchise.errors import CorpusError

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


def fault(path, **options):
    """Return what an error says after the path."""
    with pytest.raises(CorpusError) as caught:
        read_corpus(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}:")
    assert "\n" not in message
    return message.removeprefix(f"{path}:").strip()


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
    message = "the vocabulary has 2 terms, but the file has 4; check that the vocabulary belongs to this file"
    assert fault(path) == f"{message} (the vocabulary is in {terms})"
    assert fault(path, vocabulary=terms) == message
    path.write_text(UCI + "x")
    terms.write_text("\n".join(TERMS))
    assert "(the vocabulary is in" not in fault(path)
    terms.write_text("ant\nant\n")
    with pytest.raises(CorpusError, match=r"vocab\.x\.txt:2: 'ant' is already on line 1"):
        read_corpus(path)


def test_a_transposed_matrix(write):
    path = write(MM.replace("3 4 3", "4 3 3"), "docs.mtx")
    assert "looks transposed" in fault(path, vocabulary=TERMS)


# ---------------------------------------------------------------- lines of three numbers

LINES = [
    ("1 1", "the line has 2 fields; expected three numbers"),
    ("1 1 1 1", "the line has 4 fields"),
    ("x 1 1", "'x' is not the number of a document; they count from 1"),
    ("-1 1 1", "'-1' is not the number of a document"),
    ("1 1.0 1", "'1.0' is not the number of a term"),
    ("0 1 1", "document 0 is outside 1 to 3, the range in the header of the file; correct"),
    ("4 1 1", "document 4 is outside 1 to 3"),
    ("1 0 1", "term 0 is outside 1 to 4"),
    ("1 5 1", "term 5 is outside 1 to 4"),
    ("1 " + "9" * 30 + " 1", "term " + "9" * 30 + " is outside"),
    ("1 1 -2", "the count -2 is negative; counts are 0 or more"),
    ("1 1 1.5", "the count 1.5 is fractional; give raw counts"),
    ("1 1 1e30", "the count 1e30 is too large; counts go up to 2,147,483,647"),
    ("1 1 1e999", "the count 1e999 is too large"),
    ("1 1 2147483648", "the count 2147483648 is too large"),
    ("1 1 " + "9" * 30, "the count " + "9" * 30 + " is too large"),
    ("1 1 nan", "'nan' is not a number; counts are whole numbers"),
    ("1 1 1_0", "'1_0' is not a number"),
    ("1 1 ٣", "'٣' is not a number"),
    (b"1 1 \xff", "'\ufffd' is not a number"),
    (b"1 1\x001", "the line has 2 fields"),
]


@pytest.mark.parametrize(("line", "message"), LINES, ids=[str(line)[:20] for line, _ in LINES])
@pytest.mark.parametrize(("name", "content"), [("docword.x.txt", UCI), ("docs.mtx", MM)])
def test_a_bad_line_is_named(write, name, content, line, message):
    line = line if isinstance(line, bytes) else line.encode()
    for before in (b"", b"\n", b"1 1 1.0\n"):  # what is plain so far, and what is not
        path = write(content.encode() + before + line + b"\n1 1 1\n", name)
        number = content.count("\n") + (2 if before else 1)
        assert fault(path).startswith(f"{number}: {message}")


@pytest.mark.parametrize(("name", "content"), [("docword.x.txt", UCI), ("docs.mtx", MM)])
def test_a_wrong_number_of_entries(write, name, content):
    message = (
        "the header of the file says 3 entries, but {} follow; get the whole file, or correct the number"
    )
    assert fault(write(content[:-6], name)) == message.format(2)
    assert fault(write(content + "1 1 1\n", name)) == message.format(4)


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
        message = f"{line}: {size[:40]} is too many for the number of {what}, which go up to 2,147,483,647"
        assert fault(path) == message


@pytest.mark.parametrize("name", ["docword.x.txt", "docs.mtx"])
def test_sizes_that_the_entries_cannot_fill(write, name):
    def with_sizes(n_documents, n_terms):
        if name == "docs.mtx":
            return write(MM.replace("3 4 3", f"{n_documents} {n_terms} 3"), name)
        return write(f"{n_documents}\n{n_terms}\n3\n" + UCI[6:], name)

    assert fault(with_sizes(2_000_000_000, 4)).startswith("2,000,000,000 documents for 3 counts are too many")
    assert fault(with_sizes(3, 2_000_000_000)).startswith("2,000,000,000 terms for 3 counts are too many")
    assert read_corpus(with_sizes(3, 2**20)).n_terms == 2**20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "1: expected the number of documents, alone on its line; check that this is a UCI file"),
        ("3\n", "2: expected the number of terms"),
        ("3 4 3\n1 1 1\n", "1: expected the number of documents"),
        ("3\nx\n1\n", "2: 'x' is not a number; expected the number of terms there"),
        ("3\n4\n-1\n", "3: '-1' is not a number"),
        ("3\n4\n0\n", "there are no words at all"),
    ],
)
def test_a_bad_head_of_uci(write, content, message):
    assert fault(write(content, "docword.x.txt")).startswith(message)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "1: not a Matrix Market file; expected '%%MatrixMarket matrix coordinate integer general'"),
        ("%%Matrix", "1: not a Matrix Market file"),
        ("%%MatrixMarket", "1: nothing where matrix is expected"),
        ("%%MatrixMarket vector coordinate integer general", "1: 'vector' where matrix is expected"),
        ("%%MatrixMarket matrix array integer general", "1: 'array' where coordinate is expected"),
        ("%%MatrixMarket matrix coordinate pattern general", "1: 'pattern' where integer or real is"),
        ("%%MatrixMarket matrix coordinate complex general", "1: 'complex' where integer or real is"),
        ("%%MatrixMarket matrix coordinate integer symmetric", "1: 'symmetric' where general is expected"),
        ("%%matrixmarket MATRIX Coordinate Real General", "2: expected the numbers of documents"),
        ("%%MatrixMarket matrix coordinate real general\n% x\n3 4\n", "3: expected the numbers of documents"),
        ("%%MatrixMarket matrix coordinate real general\n3 4 x\n", "2: 'x' is not a number; expected"),
    ],
)
def test_a_bad_head_of_matrix_market(write, head, message):
    assert fault(write(head, "docs.mtx")).startswith(message)


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
    assert fault(path).startswith("200004: document 301 is outside 1 to 300")


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
    ("changed", "message"),
    [
        ({"data": None}, "there is no array 'data' in it; write it with scipy.sparse.save_npz, as CSR"),
        ({"format": np.array(b"csc")}, "the matrix is in the format b'csc'; save it as CSR"),
        ({"data": np.array([2, 1])}, "'data', 'indices' and 'indptr' do not fit together"),
        ({"indices": np.array([0, 1])}, "'data', 'indices' and 'indptr' do not fit together"),
        ({"indptr": np.array([0, 2, 2, 4])}, "'data', 'indices' and 'indptr' do not fit together"),
        ({"indptr": np.array([1, 2, 2, 3])}, "'data', 'indices' and 'indptr' do not fit together"),
        ({"indptr": np.array([0, 3, 2, 3])}, "'indptr' decreases"),
        ({"indptr": np.array([0, 3])}, "3 rows, but 'indptr' has 2 numbers"),
        ({"indptr": np.array([], int)}, "3 rows, but 'indptr' has 0 numbers"),
        ({"indptr": np.array([0.0, 2, 2, 3])}, "'indptr' is not a flat array of whole numbers"),
        ({"indices": np.array([0, 4, 1])}, "column 4 is outside the 4 columns"),
        ({"indices": np.array([0, -1, 1])}, "column -1 is outside the 4 columns"),
        ({"indices": np.array([[0, 2, 1]])}, "'indices' is not a flat array of whole numbers"),
        ({"shape": np.array([3])}, "the shape is [3]; expected documents by terms"),
        ({"shape": np.array([-3, 4])}, "the shape is [-3, 4]; expected"),
        ({"shape": np.array([10**12, 4])}, "1,000,000,000,000 rows, but 'indptr' has 4 numbers"),
        ({"shape": np.array([3, 10**12])}, "1,000,000,000,000 terms for 3 counts are too many"),
        ({"shape": np.array([3, 10**12]), "vocabulary": np.array(TERMS)}, "the vocabulary has 4 terms, but"),
        ({"data": np.array(["2", "1", "3"])}, "'data' is not a flat array of numbers"),
        ({"data": np.array([2, 1, 3j])}, "not a whole npz file (data.npy has dtype complex128"),
        ({"data": np.array([2, None, 3])}, "not a whole npz file (data.npy has dtype object"),
        ({"data": np.array([2, 1.5, 3])}, "the count at row 0, column 2 is 1.5"),
        ({"data": np.array([2, -1, 3])}, "the count at row 0, column 2 is -1"),
        ({"data": np.array([2, 1e30, 3])}, "the count at row 0, column 2 is 1e+30"),
        ({"data": np.array([2, np.nan, 3])}, "the count at row 0, column 2 is NaN"),
        ({"data": np.array([0, 0, 0])}, "there are no words at all"),
        ({"vocabulary": np.array(["a", "b", "a", "c"])}, "the vocabulary has 'a' twice"),
        ({"vocabulary": np.array(["a", "b"])}, "the vocabulary has 2 terms, but the file has 4"),
        ({"vocabulary": np.array([1, 2, 3, 4])}, "'vocabulary' is not a flat array of strings"),
        (
            {"vocabulary": np.array(["a", "b", "c", "\ud800"])},
            "'vocabulary' has U+D800, which is not a character; write it again",
        ),
        (
            {"vocabulary": np.array([97, 98, 99, 0x110000], "u4").view("U1")},
            "'vocabulary' has U+110000, which",
        ),
        ({"format": np.array([0x110000], "u4").view("U1")}, "not a whole npz file (invalid maximum char"),
        ({"document_names": np.array(["a"])}, "1 document names for 3 documents"),
    ],
)
def test_bad_npz(save, changed, message):
    assert fault(save(**changed)).startswith(message)


def test_an_array_that_claims_more_than_there_is(save):
    path = save()
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"data.npy": file.getvalue()}).items():
            archive.writestr(name, content)
    assert fault(path) == "not a whole npz file (data.npy is cut off); write it again"


@pytest.mark.parametrize("keep", [0, 4, 100, -30])
def test_npz_cut_off(save, keep):
    path = save()
    path.write_bytes(path.read_bytes()[:keep])
    assert fault(path).startswith("not a whole npz file (")


def test_strings_too_wide_for_npz_go_beside(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.corpus.formats.npz._MAX_STRINGS", 100)
    corpus = Corpus([0, 1], [0, 2], ["a", "b" * 50], ["name"])
    path, terms = tmp_path / "docs.npz", tmp_path / "docs.vocab.txt"
    assert write_corpus(corpus, path) == [path, terms]
    assert read_corpus(path) == corpus
