"""Files of noise, and good files damaged in small ways: read, or refused in words, and nothing else."""

import gzip
import io
import json
import resource
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franchise.corpus import FORMATS, Corpus, TextOptions, read_corpus
from franchise.corpus.stored import content_of
from franchise.errors import CorpusError, SettingsError

pytestmark = pytest.mark.slow

WORDS = TextOptions(token_pattern=r"\S+", stop_words=None, lowercase=False, min_df=1, max_df=1.0)
HAS_ANNDATA = find_spec("anndata") is not None
FORMS = [form for form in FORMATS if form != "folder" and (form != "h5ad" or HAS_ANNDATA)]


def _npz():
    file = io.BytesIO()
    parts = {"data": [2, 1, 3], "indices": [0, 2, 1], "indptr": [0, 2, 2, 3], "shape": [3, 4]}
    strings = {"vocabulary": ["a", "b", "c", "d"], "document_names": ["x", "y", "z"], "format": b"csr"}
    arrays = {name: np.array(part) for name, part in (parts | strings).items()}
    # In one byte, so that no damage makes it a good file of a billion words.
    np.savez(file, **arrays | {"data": arrays["data"].astype(np.uint8)})
    return file.getvalue()


def _parquet():
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"id": ["x", "y"], "text": ["bee ant", "ça"]}), file)
    return file.getvalue()


def _h5ad():
    import anndata

    with tempfile.TemporaryDirectory() as folder:
        anndata.AnnData(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])).write_h5ad(f"{folder}/cells.h5ad")
        return Path(folder, "cells.h5ad").read_bytes()


def _franchise():
    return b"".join(content_of(Corpus([0, 2, 2], [0, 2, 2, 3], ["ant", "bee", "çat"])))


def good_file(form):
    if form in ("npz", "parquet", "h5ad", "franchise"):
        return {"npz": _npz, "parquet": _parquet, "h5ad": _h5ad, "franchise": _franchise}[form]()
    return {
        "txt": "bee ant\n\nça bee\n",
        "csv": 'id,text\nx,"bee, ""ant"""\ny,"two\nlines"\n',
        "tsv": 'id\ttext\nx\tbee ant\ny\t"two\nlines"\n',
        "jsonl": "".join(json.dumps({"id": j, "text": text}) + "\n" for j, text in enumerate(["bee", "ça"])),
        "mallet": "x en bee ant\ny en\n\nz en ça bee\n",
        "ldac": "2 0:1 3:2\n0\n\n1 11:1\n",
        "uci": "3\n4\n3\n1 1 2\n1 3 1\n3 2 3\n",
        "mm": "%%MatrixMarket matrix coordinate real general\n% x\n3 4 3\n1 1 2.0\n1 3 1e0\n3 2 3\n",
    }[form].encode()


def attempt(content, form):
    """Read; say whether it went well. Any other error than ours fails the test."""
    options = {"text_options": WORDS} if form and FORMATS[form].rows else {}
    if form and FORMATS[form].has_columns:
        options |= {"text_column": "text", "id_column": "id"}
    try:
        corpus = read_corpus(io.BytesIO(content), format=form, **options)
    except (CorpusError, SettingsError) as error:
        message, code = str(error), error.code
    else:
        assert corpus.n_words
        return True
    assert message
    assert "\n" not in message
    assert code not in ("unspecified", "out-of-memory")
    return False


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("form", FORMS)
def test_the_files_are_good_before_they_are_damaged(form):
    assert attempt(good_file(form), form)
    assert attempt(gzip.compress(good_file(form)), form)


@pytest.mark.parametrize("form", [*FORMS, None])
@settings(max_examples=60)
@given(content=st.binary(max_size=200), packed=st.booleans())
def test_noise(form, content, packed):
    attempt(gzip.compress(content) if packed else content, form)


NUMBERS = st.sampled_from(
    ["0", "1", "3", "-1", "1.5", "1e30", "99999999999999999999", "nan", ":", "x", "%", ""]
)


@pytest.mark.parametrize("form", ["ldac", "uci", "mm"])
@settings(max_examples=100)
@given(
    lines=st.lists(st.lists(NUMBERS, max_size=4), max_size=6),
    sep=st.sampled_from([" ", ":", "\t", "\r", "\f"]),
)
def test_noise_that_is_nearly_right(form, lines, sep):
    body = "\n".join(sep.join(line) for line in lines)
    head = good_file(form).decode()
    attempt(body.encode(), form)
    attempt((head + body).encode(), form)


@st.composite
def damages(draw):
    """Draw changes of a file: where (as a share of its length), how, and with which bytes."""
    kinds = st.sampled_from(["truncate", "change", "insert", "delete", "repeat"])
    return draw(
        st.lists(st.tuples(st.floats(0, 1), kinds, st.binary(min_size=1, max_size=3)), min_size=1, max_size=3)
    )


def damage(content, changes):
    for share, kind, new in changes:
        at = round(share * len(content))
        before, after = content[:at], content[at:]
        content = {
            "truncate": before,
            "change": before + new + after[len(new) :],
            "insert": before + new + after,
            "delete": before + after[len(new) :],
            "repeat": before + before[-10:] + after,
        }[kind]
    return content


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
@settings(max_examples=100)
@given(changes=damages())
def test_good_files_damaged(form, packed, changes):
    before = peak_memory()
    content = good_file(form)
    content = damage(gzip.compress(content, mtime=0) if packed else content, changes)
    attempt(content, form)
    attempt(content, None)
    assert peak_memory() - before < 2**29


@settings(max_examples=200)
@given(
    changes=damages(), name=st.sampled_from(["data", "indices", "indptr", "shape", "vocabulary", "format"])
)
def test_arrays_damaged_before_they_are_packed(changes, name):
    before = peak_memory()
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good_file("npz"))) as good, zipfile.ZipFile(file, "w") as damaged:
        for member in good.namelist():
            content = good.read(member)
            damaged.writestr(member, damage(content, changes) if member == f"{name}.npy" else content)
    attempt(file.getvalue(), "npz")
    assert peak_memory() - before < 2**29
