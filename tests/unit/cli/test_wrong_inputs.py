"""A hundred wrong inputs: no traceback, the right exit code, nothing half-written, a line that helps."""

import gzip
import io
import pickle
import shutil
import zipfile

import numpy as np
import pytest
import scipy.sparse
from click.testing import CliRunner

from franchise.cli import main
from franchise.datasets import arxiv_abstracts

# Actions that a message may suggest.
ADVICE = (
    "give", "check", "leave", "lower", "convert", "write", "save", "unpack", "extract", "close", "restore",
    "Try", "run ", "must", "fetch", "correct", "add ", "load ", "rename", "expected", "Did you mean",
    "replace", "change", "Give", "the columns are", "pip install", "counts are", "ids go up",
    "a line starts with", "call ", "put ", "is not a valid", "is not in the range",
    "requires", "is now called", "is not one of", "no such",
)  # fmt: skip
# What belongs to Python and not to a terminal.
PYTHON = (
    "Traceback",
    "Error(",
    "None",
    "resume(",
    "()",
    "checkpoint_dir",
    "overwrite=",
    "n_jobs",
    "address=",
    "random_state",
    "<class",
)


def _zip(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


def _npy():
    file = io.BytesIO()
    np.save(file, np.ones((3, 3)))
    return file.getvalue()


def _npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _sparse(counts):
    file = io.BytesIO()
    scipy.sparse.save_npz(file, scipy.sparse.csr_matrix(counts))
    return file.getvalue()


FILES = {
    "empty.txt": b"",
    "blank.txt": b"\n\n  \n",
    "stops.txt": b"the and of\nof the\n",
    "latin.txt": "café au lait\nthé vert\n".encode("cp1252"),
    "utf16.txt": "the ant and the bee".encode("utf-16"),
    "zeros.txt": b"ant\0bee\n",
    "nothing": b"just words\nand words\n",
    "damaged.txt.gz": gzip.compress(b"ant bee\n" * 1000)[:30],
    "table.csv": b"id,text\n1,ant bee\n2,cat\n",
    "semicolon.csv": b"id;text\n1;ant bee\n2;cat\n",
    "ragged.csv": b"id,text\n1,ant,bee\n",
    "open.csv": b'id,text\n1,"ant\n2,bee\n',
    "twice.csv": b"text,text\nant,bee\n",
    "headless.csv": b"",
    "broken.jsonl": b'{"text": "ant"}\n{"text": \n',
    "array.jsonl": b'[{"text": "ant"}]\n',
    "array.json": b'[{"text": "ant"}]\n',
    "null.jsonl": b'{"text": null}\n',
    "number.jsonl": b'{"text": 3}\n',
    "key.jsonl": b'{"text": "ant"}\n{"body": "bee"}\n',
    "bad.parquet": b"PAR1" + b"\0" * 50,
    "bad.ldac": b"2 0:1 1:1\n1 0-1\n",
    "negative.ldac": b"1 0:-1\n",
    "few.ldac": b"3 0:1 1:1\n",
    "huge.ldac": b"1 4000000000:1\n",
    "terms.ldac": b"2 0:1 1:1\n",
    "short.vocab": b"ant\n",
    "double.vocab": b"ant\nant\n",
    "docword.bad.txt": b"2\n2\n",
    "docword.more.txt": b"1\n1\n1\n5 1 1\n",
    "bad.mtx": b"%%MatrixMarket matrix array real general\n2 2\n1\n",
    "fraction.mtx": b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.5\n",
    "bad.npz": b"PK\x03\x04 not really",
    "dense.npz": _npz(a=np.ones((2, 2))),
    "fraction.npz": _sparse([[0.5, 1.0]]),
    "bad.h5ad": b"\x89HDF\r\n\x1a\n" + bytes(50),
    "line.mallet": b"onlyname\n",
    "book.xlsx": _zip("[Content_Types].xml", "xl/workbook.xml"),
    "book.csv": _zip("[Content_Types].xml", "xl/workbook.xml"),
    "letter.docx": _zip("[Content_Types].xml", "word/document.xml"),
    "paper.pdf": b"%PDF-1.7\n",
    "papers.zip": _zip("a.txt"),
    "counts.npy": _npy(),
    "docs.pkl": pickle.dumps(["ant"]),
    "docs.feather": b"ARROW1\0\0",
    "docs.rds": b"X\n\0\0\0\3",
    "docs.bz2": b"BZh91AY&SY",
    "page.html": b"<!DOCTYPE html><p>ant",
    "typo.toml": b"swepes = 3\n",
    "broken.toml": b"sweeps = \n",
    "prior.toml": b"alpha = [1, 2, 3]\n",
    "old.toml": b"alpha-prior = [1, 1]\n",
    "flag.toml": b'quiet = "no"\n',
    "latin.stop": "été\n".encode("cp1252"),
}

# Something is wrong with a file or a folder: exit code 1.
FAILED = [
    # files, by what is in them
    *(
        f"fit {name} -o new"
        for name in (
            "missing.txt",
            "empty.txt",
            "blank.txt",
            "stops.txt",
            "latin.txt",
            "utf16.txt",
            "zeros.txt",
            "nothing",
            "damaged.txt.gz",
            "table.csv",
            "array.json",
            "bad.parquet",
            "bad.ldac",
            "negative.ldac",
            "few.ldac",
            "huge.ldac",
            "docword.bad.txt",
            "docword.more.txt",
            "bad.mtx",
            "fraction.mtx",
            "bad.npz",
            "dense.npz",
            "fraction.npz",
            "bad.h5ad",
            "book.xlsx",
            "book.csv",
            "letter.docx",
            "paper.pdf",
            "papers.zip",
            "counts.npy",
            "docs.pkl",
            "docs.feather",
            "docs.rds",
            "docs.bz2",
            "page.html",
            "model",
            "hollow",
        )
    ),
    *(
        f"fit {name} --text-column text -o new"
        for name in (
            "semicolon.csv",
            "ragged.csv",
            "open.csv",
            "twice.csv",
            "headless.csv",
            "broken.jsonl",
            "array.jsonl",
            "null.jsonl",
            "number.jsonl",
            "key.jsonl",
        )
    ),
    # how to read them
    "fit table.csv --text-column body -o new",
    "fit table.csv --text-column text --id-column name -o new",
    "fit table.csv --text-column text --delimiter ; -o new",
    "fit texts.txt --encoding utf-16 -o new",
    "fit texts.txt --input-format folder -o new",
    "fit texts.txt --input-format ldac -o new",
    "fit line.mallet --input-format mallet -o new",
    "fit terms.ldac --vocabulary short.vocab -o new",
    "fit terms.ldac --vocabulary double.vocab -o new",
    "fit terms.ldac --vocabulary missing.vocab -o new",
    "fit texts.txt --stop-words latin.stop -o new",
    "fit texts.txt -o model",
    "fit texts.txt -o folder",
    "fit texts.txt -o folder --overwrite",
    "fit texts.txt -o texts.txt",
    # models and new documents
    "topics nowhere",
    "topics folder",
    "topics texts.txt",
    "infer model missing.txt",
    "infer model book.xlsx",
    "infer model table.csv",
    "infer texts.txt texts.txt",
    "infer model blank.txt",
    "infer model texts.txt -o nowhere/out.csv",
    "infer model texts.txt -o table.csv",
    "evaluate model latin.txt",
    "evaluate model blank.txt",
    "resume nowhere",
    "diagnose texts.txt",
    "report model -o folder",
    "report model -o texts.txt",
    "inspect missing.txt",
    "inspect paper.pdf",
    "convert texts.txt texts.txt",
    "convert texts.txt nowhere/out.ldac",
    "hdp --algorithm train --data missing.ldac --directory out",
    "label model texts.txt",
    "label model missing.csv",
    "tune texts.txt --figure nowhere/eta.svg",
]

# An option, or its value, is wrong: exit code 2.
MISUSED = [
    # how to read files
    "fit texts.txt --text-column text -o new",
    "fit table.csv --text-column text --delimiter ;; -o new",
    "fit texts.txt --delimiter ; -o new",
    "fit texts.txt --encoding klingon -o new",
    "fit texts.txt --layer counts -o new",
    "fit texts.txt --input-format word -o new",
    "fit texts.txt --vocabulary short.vocab -o new",
    "fit terms.ldac --min-df 2 -o new",
    # how texts become words
    *(
        f"fit texts.txt -o new {option}"
        for option in (
            "--min-df few",
            "--min-df 0",
            "--min-df 1.5",
            "--max-df -1",
            "--min-df 70",
            "--min-df 9 --max-df 3",
            "--max-features 0",
            "--stop-words klingon",
            "--token-pattern (",
            "--token-pattern (a)(b)",
            "--ngram-range 2 1",
            "--ngram-range 1",
            # settings
            "--sweeps 0",
            "--sweeps -1",
            "--sweeps many",
            "--burn-in 900",
            "--burn-in -1",
            "--thin 0",
            "--chains 0",
            "--n-jobs 0",
            "--downsample 0",
            "--random-state -3",
            "--random-state 1.5",
            "--eta x",
            "--eta -1",
            "--eta 0",
            "--alpha nan",
            "--alpha 0",
            "--gamma -1",
            "--init best",
            "--init 0",
            "--warm-up -1",
            "--warm-up 999",
            "--split-merge never",
            "--time-budget soon",
            "--time-budget -1",
            "--alpha 1,0",
            "--alpha a,b",
            "--gamma 1,2,3",
            "--eta 1,2,3",
            "--seed 3",
            "--jobs 2",
            "--force",
            "--format-in txt",
            "--alpha-prior 1,1",
            "--config old.toml",
            "--swepes 3",
            "--config missing.toml",
            "--config typo.toml",
            "--config broken.toml",
            "--config prior.toml",
            "--config flag.toml",
        )
    ),
    # all commands
    "fit texts.txt",
    "fit",
    "fit texts.txt --dry-run --eta -1",
    "topics model --min-share 2",
    "topics model --n-terms 0",
    "topics model --format xml",
    "topics model --num-top-words 5",
    "convert texts.txt out --format-out ldac",
    "documents model --topic 999",
    "documents model --topic -1",
    "documents model -n 3",
    "documents model --topic 0 -n 0",
    "infer model texts.txt --n-jobs 0",
    "infer model",
    "infer model texts.txt -o out.xlsx",
    "infer model texts.txt -o out.csv --format json",
    "infer model texts.txt --top 0",
    "infer model texts.txt --digits 2",
    "infer model texts.txt --digits 0 -o out.csv",
    "infer model texts.txt --overwrite",
    "evaluate model --method paper",
    "evaluate model texts.txt --measure u_mass",
    "evaluate model texts.txt --method best",
    "resume model --sweeps -1",
    "resume model --burn-in 99",
    "resume model --thin 0",
    "resume model --time-budget never",
    "convert texts.txt out.xlsx",
    "convert texts.txt out.csv",
    "convert texts.txt out --output-format pdf",
    "hdp --algorithm train",
    "hdp --algorithm walk --data terms.ldac --directory out",
    "fitt texts.txt",
    "--swepes",
    "tune texts.txt --folds 0",
    "tune texts.txt --sweeps -1",
    "tune texts.txt --chains 0",
    "tune texts.txt --etas 0,1",
    "tune texts.txt --etas 0.1",
    "tune texts.txt --n-jobs 0",
    "tune texts.txt --figure eta.gif",
    "tune texts.txt --plot eta.svg",
    "evaluate model texts.txt --n-jobs 0",
    "resume model --sweeps 2 --n-jobs 0",
    "resume model --burn-in -1",
    "resume model --workers 3",
    "shard texts.txt -o new --shards 0",
    "shard texts.txt -o new --min-df 0",
    "inspect texts.txt --max-features -3",
    "documents model --like 99999",
    "topics model --find klingon",
    "hdp --algorithm train --data terms.ldac --directory out --eta 0",
]
WRONG = FAILED + MISUSED


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """All the wrong files, some right ones, and a model."""
    folder = tmp_path_factory.mktemp("wrong")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "hollow").mkdir()
    (folder / "folder").mkdir()
    (folder / "folder" / "thesis.doc").write_text("years of work")
    (folder / "texts.txt").write_text("\n".join(arxiv_abstracts()[:60]) + "\n", "utf-8")
    quick = ["--sweeps", "6", "--chains", "1", "--eta", "0.5", "--quiet"]
    done = CliRunner().invoke(main, ["fit", str(folder / "texts.txt"), "-o", str(folder / "model"), *quick])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def here(original, tmp_path, monkeypatch):
    """Be in a folder that has a copy of them."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_a_hundred():
    assert len(WRONG) == len(set(WRONG)) >= 100


@pytest.mark.parametrize("line", WRONG)
def test_wrong_inputs(here, line):
    before = sorted(path.relative_to(here) for path in here.rglob("*"))
    done = CliRunner().invoke(main, line.split())
    told = done.stderr
    assert done.exit_code == (2 if line in MISUSED else 1), done.output
    assert isinstance(done.exception, SystemExit)
    assert not done.stdout
    # Click puts how to call the command before what is wrong.
    lines = [one for one in told.splitlines() if one and not one.startswith(("Usage:", "Try '"))]
    assert 1 <= len(lines) <= 2, told
    assert max(map(len, lines)) <= 400
    assert any(word in told for word in ADVICE), told
    assert not [word for word in PYTHON if word in " ".join(lines)], told
    assert sorted(path.relative_to(here) for path in here.rglob("*")) == before
