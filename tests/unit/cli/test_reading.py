"""Options of the command line that say how files are read, and what it says of doubtful ones."""

import gzip
import subprocess
import sys

import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel
from franchise.cli import demo, main
from franchise.cli._output import as_options
from franchise.corpus import read_corpus
from franchise.datasets import arxiv_abstracts

QUICK = ["--sweeps", "6", "--chains", "1", "--eta", "0.5", "--quiet"]


def call(*arguments, ending=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(arxiv_abstracts()[:60]) + "\n", "utf-8")
    return path


def test_what_the_message_says_helps(tmp_path):
    """A file of Excel's: semicolons, Windows' encoding."""
    path = tmp_path / "docs.csv"
    rows = [f"{i};café crème und Brötchen {text}" for i, text in enumerate(["Tee", "Kaffee", "Tee"] * 9)]
    path.write_bytes("\r\n".join(["nr;inhalt", *rows]).encode("cp1252"))
    fit = ["fit", path, "-o", tmp_path / "m", "--text-column", "inhalt", *QUICK]
    told = call(*fit, ending=1).stderr
    assert "','" in told
    assert "--delimiter ';'" in told
    told = call(*fit, "--delimiter", ";", ending=1).stderr
    assert "--encoding cp1252" in told
    call(*fit, "--delimiter", ";", "--encoding", "cp1252", "--stop-words", "German")
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.corpus_.vocabulary == ("brötchen", "café", "crème", "kaffee", "tee")
    again = ["--config", tmp_path / "m" / "config.toml", "--quiet"]
    call("fit", path, "-o", tmp_path / "again", *again)
    assert HDPTopicModel.load(tmp_path / "again").corpus_ == model.corpus_
    new = ["--text-column", "inhalt", "--delimiter", ";", "--encoding", "cp1252", "--format", "csv"]
    assert call("infer", tmp_path / "m", path, *new).stdout.count("\n") == 28


_EACH = """
import gc, sys
from franchise.cli import main
for line in sys.stdin:
    main(["inspect", *line.split()], standalone_mode=False)
    gc.collect()
"""


def test_an_error_in_a_file_is_one_line(tmp_path):
    """What was being read when the error came is cleaned up in silence."""
    files = {
        "ragged.csv": ("text,year\ncafé crème,1\nBrötchen,2,3,4\n", "--text-column text"),
        "column.csv": ("text,year\ncafé crème,1\n", "--text-column nowhere"),
        "broken.jsonl": ('{"text": "café"}\n{"text": \n', "--text-column text"),
        "zero.txt": ("café\0crème\n", ""),
    }
    lines = []
    for name, (content, options) in files.items():
        for encoding in ("utf-8", "cp1252", "utf-16"):
            (tmp_path / f"{encoding}-{name}").write_bytes(content.encode(encoding))
            (tmp_path / f"{encoding}-{name}.gz").write_bytes(gzip.compress(content.encode(encoding)))
            lines += [f"{encoding}-{name}{end} --encoding {encoding} {options}" for end in ("", ".gz")]
    answer = subprocess.run(
        [sys.executable, "-c", _EACH], input="\n".join(lines), cwd=tmp_path, capture_output=True, text=True
    )
    told = answer.stderr.splitlines()
    assert len(told) == len(lines), answer.stderr
    for line, message in zip(lines, told, strict=True):
        assert message.startswith(f"franchise: {line.split()[0]}:")


def test_a_file_of_mallet(tmp_path):
    path = tmp_path / "docs.txt"
    path.write_text("\n".join(f"doc{i} en {text}" for i, text in enumerate(arxiv_abstracts()[:60])))
    call("convert", path, tmp_path / "docs.jsonl", "--input-format", "mallet")
    assert (
        read_corpus(tmp_path / "docs.jsonl", text_column="text", id_column="id").document_names[7] == "doc7"
    )


def test_priors(texts, tmp_path):
    options = ["--alpha", "2,0.5", "--gamma", "3, 1"]
    call("fit", texts, "-o", tmp_path / "m", *QUICK, *options)
    settings = HDPTopicModel.load(tmp_path / "m").settings_
    assert tuple(settings["alpha"]) == (2.0, 0.5)
    assert tuple(settings["gamma"]) == (3.0, 1.0)
    config = (tmp_path / "m" / "config.toml").read_text()
    assert "alpha = [2.0, 0.5]" in config
    call("fit", texts, "-o", tmp_path / "again", "--config", tmp_path / "m" / "config.toml", "--quiet")
    assert HDPTopicModel.load(tmp_path / "again").gamma == (3.0, 1.0)
    assert "gamma = [3.0, 1.0]" in config
    call("fit", texts, "-o", tmp_path / "fixed", *QUICK, "--gamma", "3")
    assert HDPTopicModel.load(tmp_path / "fixed").gamma == 3.0


def test_a_dry_run_before_anything_is_compiled(texts, monkeypatch):
    monkeypatch.setattr("franchise.estimator.preview.is_compiled", lambda: False)
    told = call("fit", texts, "--dry-run").stdout
    assert "not known before the first fit, which compiles" in told
    assert "documents        60" in told
    assert "--burn-in 900: " in call("fit", texts, "--dry-run", "--burn-in", 900, ending=2).stderr


@pytest.mark.filterwarnings("default")
def test_warnings_are_a_plain_line(tmp_path, texts):
    (tmp_path / "one.txt").write_text("a cat and a dog, a cat, a dog and a bone\n")
    told = call("fit", tmp_path / "one.txt", "-o", tmp_path / "m", *QUICK).stderr
    assert told.startswith("franchise: ")
    assert told.count("\n") == 1
    call("fit", texts, "-o", tmp_path / "n", *QUICK)
    (tmp_path / "new.txt").write_text(arxiv_abstracts()[3] + "\n")
    told = call("evaluate", tmp_path / "n", tmp_path / "new.txt").stderr
    assert told.startswith("franchise: ")
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("burn_in=99: give no more than sweeps=12", "--burn-in 99: give no more than --sweeps 12"),
        (
            "n_jobs=0: give a number, -1 for all cores, or None for one",
            "--n-jobs 0: give a number, or -1 for all cores",
        ),
        ("give another name, or overwrite=True", "give another name, or --overwrite"),
        ("alpha=(1.0, -2.0): no", "--alpha 1.0,-2.0: no"),
        ("ngram_range=(2, 1): no", "--ngram-range 2 1: no"),
        ("Give text_column (--text-column); the", "Give --text-column; the"),
        ("delimiter does not apply to the format txt", "--delimiter does not apply to the format txt"),
        ("token_pattern='\\\\w(': no", "--token-pattern '\\w(': no"),
        ("see https://x.y/?topic=3&eta=4", "see https://x.y/?topic=3&eta=4"),
        ("data/a=b.txt: no such file", "data/a=b.txt: no such file"),
    ],
)
def test_messages_of_the_library_in_the_words_of_the_command_line(said, told):
    assert as_options(said) == told


def test_the_demo_says_how_to_make_it(tmp_path, texts):
    words = demo.AS_FIT.split()
    assert words[:2] == ["franchise", "fit"]
    command = main.get_command(None, "fit")
    values = command.make_context("fit", words[2:]).params
    assert values["min_df"] == demo._MIN_DF
    made = {
        "random_state": values["random_state"],
        **{name: values[name] for name in ("eta", "sweeps", "chains")},
    }
    assert made == demo._SETTINGS


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.ldac"
    path.write_text("".join(f"3 0:{100 + j} 1:{900 - j} 2:{3 * j + 1}\n" for j in range(20)))
    return path


def test_downsampled_fits(counts, tmp_path):
    call("fit", counts, "-o", tmp_path / "m", "--downsample", "50", "--random-state", "5", *QUICK)
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.corpus_ == read_corpus(counts).downsampled(50, random_state=5)
    assert "downsample = 50\n" in (tmp_path / "m" / "config.toml").read_text()
    said = call("inspect", tmp_path / "m").stdout
    assert "at most 50 words per document (seed 5), of 20,590 words; 20 documents lost words" in said
    assert "Down-sampled: at most 50 words" in (tmp_path / "m" / "README.md").read_text("utf-8")
    told = call("fit", counts, "--dry-run", "--downsample", "50", "--sweeps", "3", "--chains", "1").stdout
    assert "down-sampled" in told


def test_downsampled_files(counts, tmp_path):
    call("convert", counts, tmp_path / "few.ldac", "--downsample", "50", "--random-state", "5")
    assert read_corpus(tmp_path / "few.ldac") == read_corpus(counts).downsampled(50, random_state=5)
    assert "words                       1,000" in call("inspect", counts, "--downsample", "50").stdout
    for wrong in ("0", "-3", "many", "1.5"):
        assert "--downsample" in call("inspect", counts, "--downsample", wrong, ending=2).stderr


def test_a_file_of_our_own_is_fitted_as_what_it_was_made_from(texts, tmp_path):
    call("convert", texts, tmp_path / "docs.franchise")
    told = call("convert", texts, tmp_path / "docs.franchise", ending=1).stderr
    assert f"{tmp_path / 'docs.franchise'}: " in told
    assert "--overwrite" in told
    call("fit", texts, "-o", tmp_path / "m", *QUICK)
    call("fit", tmp_path / "docs.franchise", "-o", tmp_path / "own", *QUICK)
    first, own = (HDPTopicModel.load(tmp_path / name) for name in ("m", "own"))
    assert own.corpus_ == first.corpus_
    assert own.corpus_.texts == first.corpus_.texts
    assert own.trace_["log_joint"].tolist() == first.trace_["log_joint"].tolist()
    (tmp_path / "docs.franchise").write_bytes(b"nothing of the kind")
    told = call("inspect", tmp_path / "docs.franchise", ending=1).stderr
    assert "docs.franchise" in told
    assert "`franchise convert`" in told


@pytest.mark.unix
def test_output_that_cannot_be_written(tmp_path):
    (tmp_path / "a.txt").write_text("ant bee\nant cow\n")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "franchise", "inspect", str(tmp_path / "a.txt")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == ["franchise: cannot write the output (No space left on device)"]
