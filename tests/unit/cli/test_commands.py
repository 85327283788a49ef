"""The commands, called in this process: what they print, where, and how they end."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib

import click
import numpy as np
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, __version__, read_ldac
from franchise.cli import _COMMANDS, main
from franchise.cli._model import interruptible
from franchise.cli._options import RENAMED
from franchise.datasets import arxiv_abstracts
from tests.raising import warns

QUICK = ["--sweeps", "8", "--chains", "2", "--eta", "0.5", "--quiet"]


def call(*arguments, ending=0, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exit_code == ending, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts, new texts, and a model."""
    folder = tmp_path_factory.mktemp("cli")
    abstracts = arxiv_abstracts()
    (folder / "texts.txt").write_text("\n".join(abstracts[:80]) + "\n", "utf-8")
    (folder / "new.txt").write_text("\n".join([*abstracts[80:90], ""]) + "\n", "utf-8")
    call("fit", folder / "texts.txt", "-o", folder / "model", *QUICK)
    return folder


@pytest.fixture
def model(folder, tmp_path):
    """Return a copy of the model that may be changed."""
    return shutil.copytree(folder / "model", tmp_path / "model")


def test_the_configuration_has_what_was_used_for_auto(folder, tmp_path):
    """Another version may choose otherwise; the same file of options still makes the same model."""
    options = ["--sweeps", "6", "--chains", "1", "--quiet"]
    said = call("fit", folder / "texts.txt", "-o", tmp_path / "m", *options).stdout
    assert "Chosen for these documents: eta 0.1 (" in said
    config = tomllib.loads((tmp_path / "m" / "config.toml").read_text("utf-8"))
    assert (config["eta"], config["init"], config["engine"]) == (0.1, "fitted", "collapsed")
    again = ["--config", tmp_path / "m" / "config.toml", "--quiet"]
    said = call("fit", folder / "texts.txt", "-o", tmp_path / "n", *again).stdout
    assert "Chosen" not in said
    ours, theirs = (HDPTopicModel.load(tmp_path / name) for name in "mn")
    assert (ours.components_ == theirs.components_).all()
    told = json.loads(call("inspect", tmp_path / "m", "--format", "json").stdout)
    assert (told["eta"], told["init"]) == (0.1, "fitted")
    assert told["chosen"].startswith("eta 0.1 (")


@pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")
def test_the_configuration_follows_resume(folder, model, tmp_path):
    said = call("resume", model, "--sweeps", "4", "--burn-in", "6", "--quiet").stderr
    assert "burn-in of 4 sweeps" in said
    config = tomllib.loads((model / "config.toml").read_text("utf-8"))
    assert [config[name] for name in ("sweeps", "burn-in", "warm-up", "eta")] == [12, 6, 2, 0.5]
    call("fit", folder / "texts.txt", "-o", tmp_path / "n", "--config", model / "config.toml", "--quiet")
    ours, theirs = (HDPTopicModel.load(one).chains_[0].schedule for one in (model, tmp_path / "n"))
    assert (ours.sweeps, ours.burn_in, ours.thin, ours.warm_up) == (
        theirs.sweeps,
        theirs.burn_in,
        theirs.thin,
        theirs.warm_up,
    )
    HDPTopicModel.load(model).resume(4)  # from Python too
    assert tomllib.loads((model / "config.toml").read_text("utf-8"))["sweeps"] == 16


# ---------------------------------------------------------------- help


def test_help_lists_every_command():
    listed = call("--help").stdout
    assert all(f"\n  {name} " in listed for name in _COMMANDS)


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_has_help_with_an_example(name):
    text = call(name, "--help").stdout
    assert "Example" in text
    assert f"franchise {name}" in text


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_of_options_is_terse(name):
    ctx = click.Context(main, info_name="franchise", show_default=True)
    command = main.get_command(ctx, name)
    own = click.Context(command, ctx)
    for option in command.params:
        if isinstance(option, click.Option):
            told = option.get_help_record(own)[1]
            assert told[0].isupper() or told[0] == "1"
            assert not told.partition("  [")[0].endswith(".") or told.partition("  [")[0].endswith(" ...")
            assert "<=" not in told


def test_an_old_name_names_the_new():
    for old, new in RENAMED.items():
        names = [name for name in _COMMANDS if name != "hdp" and f"{new} " in call(name, "--help").stdout]
        assert names
        for name in names:
            told = call(name, old, "1", ending=2).stderr
            assert f"{old} is now called {new}" in told
    assert "now called" not in call("topics", "m", "--seed", "1", ending=2).stderr  # has no seed


def test_version():
    assert call("--version").stdout == f"franchise {__version__}\n"


def test_a_typo_names_the_nearest():
    assert "Did you mean 'fit'?" in call("fitt", ending=2).stderr
    assert "--sweeps" in call("fit", "x.txt", "--swepes", "3", ending=2).stderr


# ---------------------------------------------------------------- fit and resume


def test_fit_says_what_it_found_and_where(folder, tmp_path):
    result = call("fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK)
    assert "HDPTopicModel of 80 documents" in result.stdout
    assert f"The model is in {tmp_path / 'm'}" in result.stdout
    assert (tmp_path / "m" / "README.md").exists()


def test_fit_needs_a_place(folder):
    assert "-o MODEL" in call("fit", folder / "texts.txt", ending=2).stderr


def test_nothing_is_overwritten_without_force(folder, model):
    before = (model / "model.json").read_bytes()
    result = call("fit", folder / "texts.txt", "-o", model, *QUICK, ending=1)
    assert "franchise resume" in result.stderr
    assert (model / "model.json").read_bytes() == before
    call("fit", folder / "texts.txt", "-o", model, *QUICK, "--random-state", "5", "--overwrite")
    assert HDPTopicModel.load(model).random_state == 5


@pytest.mark.unix
def test_two_processes_do_not_fit_into_one_folder(folder, tmp_path):
    command = [sys.executable, "-m", "franchise", "fit", str(folder / "texts.txt"), "-o", str(tmp_path / "m")]
    with subprocess.Popen([*command, "--sweeps", "1000000", "--chains", "1", "--quiet"]) as first:
        try:
            while not (tmp_path / "m" / "chains" / ".lock").exists():
                time.sleep(0.05)
                assert first.poll() is None
            again = ["fit", folder / "texts.txt", "-o", tmp_path / "m", "--overwrite"]
            for arguments in (again, ["resume", tmp_path / "m"]):
                assert f"{tmp_path / 'm'}: " in call(*arguments, ending=1).stderr
        finally:
            first.terminate()
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK, "--overwrite")
    assert HDPTopicModel.load(tmp_path / "m").sweeps == 8
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_something_else_is_never_replaced(folder, tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert (
        f"{tmp_path}: " in call("fit", folder / "texts.txt", "-o", tmp_path, "--overwrite", ending=1).stderr
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_resume_is_a_longer_fit(folder, model, tmp_path):
    call("resume", model, "--sweeps", "4", "--quiet")
    # The warm-up stays as it was begun: half of the first burn-in.
    longer = ["--sweeps", "12", "--chains", "2", "--eta", "0.5", "--warm-up", "2", "--quiet"]
    call("fit", folder / "texts.txt", "-o", tmp_path / "longer", *longer)
    one, other = HDPTopicModel.load(model), HDPTopicModel.load(tmp_path / "longer")
    assert one.trace_.drop(columns="seconds").equals(other.trace_.drop(columns="seconds"))
    assert np.array_equal(one.components_, other.components_)


def test_resume_takes_another_burn_in_and_thinning(model):
    call("resume", model, "--sweeps", "4", "--burn-in", "5", "--thin", "3", "--quiet")
    schedule = HDPTopicModel.load(model).chains_[0].schedule
    assert (schedule.sweeps, schedule.burn_in, schedule.thin) == (12, 5, 3)
    told = call("resume", model, "--burn-in", "99", ending=2).stderr
    assert "--burn-in 99" in told
    assert "--sweeps 12" in told


def test_what_to_do_is_said_in_commands(folder, tmp_path):
    told = call("fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK).stdout
    assert f"Run longer: franchise resume {tmp_path / 'm'} --sweeps 500." in told  # four sweeps are few
    assert f"Next: franchise topics {tmp_path / 'm'}, franchise documents" in told
    assert "()" not in told


@pytest.mark.parametrize(
    ("options", "starts", "warm_up"),
    [
        ([], ["fitted", "fitted"], 2),
        (["--init", "fitted", "--warm-up", "4"], ["fitted", "fitted"], 4),
        (["--init", "fitted", "--warm-up", "0"], ["fitted", "fitted"], 0),
        (["--init", "apart"], ["one", "sequential"], 0),
        (["--init", "3", "--warm-up", "1"], [3, 3], 1),
    ],
    ids=str,
)
def test_where_chains_start(folder, tmp_path, options, starts, warm_up):
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK, *options)
    chains = HDPTopicModel.load(tmp_path / "m").chains_
    assert [chain.init for chain in chains] == starts
    assert {chain.schedule.warm_up for chain in chains} == {warm_up}
    again = ["--config", tmp_path / "m" / "config.toml", "--quiet"]
    call("fit", folder / "texts.txt", "-o", tmp_path / "again", *again)
    same = HDPTopicModel.load(tmp_path / "again").chains_
    assert [chain.trace.last["log_joint"] for chain in chains] == [x.trace.last["log_joint"] for x in same]


def test_what_an_interrupt_leaves_in_the_folder(model, tmp_path):
    """Nothing yet, or an earlier model; the rest needs signals (tests/integration/test_interrupt.py)."""
    for folder, kept in (
        (tmp_path / "new", "nothing was saved"),
        (model, f"the model in {model} is the earlier"),
    ):
        with pytest.raises(KeyboardInterrupt) as caught, interruptible(str(folder), anew=True):
            raise KeyboardInterrupt
        assert kept in str(caught.value)


def test_starts_that_do_not_exist(folder, tmp_path):
    wrong = ["fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK]
    for value in ("automatic", "best"):
        told = call(*wrong, "--init", value, ending=2).stderr
        assert f"'{value}'" in told
        assert "auto, consensus, counts, documents, fitted, apart, sequential, one" in told
    told = call(*wrong, "--init", "0", ending=2).stderr
    assert "--init 0" in told
    assert "'fitted', 'apart'" in told
    told = call(*wrong, "--warm-up", "99", ending=2).stderr
    assert "--warm-up 99" in told
    assert "--burn-in 4" in told
    told = call(*wrong, "--warm-up", "long", ending=2).stderr
    assert "--warm-up" in told
    assert "'long'" in told
    assert not (tmp_path / "m").exists()


def test_inspect_says_on_what_the_chains_agree(folder, tmp_path):
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", *QUICK, "--sweeps", "40")
    facts = json.loads(call("inspect", tmp_path / "m", "--format", "json").stdout)
    model = HDPTopicModel.load(tmp_path / "m")
    found = model.diagnose()
    assert facts["the chains"] == found.verdict
    assert facts["topics found by every chain"] == len(found.solid_topics)
    assert facts["share of the words in them"] == pytest.approx(found.shared, abs=0.001)
    ranges = [facts[f"topics, 95%, chain {i}"] for i in range(2)]
    assert ranges == [
        f"{low} to {high}" if low < high else str(low) for low, high in model.posterior_.n_topics_by_chain
    ]
    assert (facts["topics, 95%"] == "differs by chain") == (not found.agree)


def test_a_time_budget_ends_a_fit_that_resume_goes_on_with(folder, tmp_path):
    many = ["--sweeps", "1000000", "--chains", "2", "--quiet", "--time-budget", "1s"]
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", *many)
    before = HDPTopicModel.load(tmp_path / "m").trace_["sweep"].max()
    call("resume", tmp_path / "m", "--time-budget", "1", "--quiet")
    assert HDPTopicModel.load(tmp_path / "m").trace_["sweep"].max() > before


def test_a_dry_run_only_tells(folder, tmp_path):
    told = call("fit", folder / "texts.txt", "-o", tmp_path / "m", "--dry-run").stdout
    assert "documents        80" in told
    assert "memory" in told
    assert "time" in told
    for fact in (
        r"eta +0\.1 \(25 words per document or more\)",
        r"init +fitted \(fewer than 100 documents\)",
    ):
        assert re.search(fact, told)
    assert not (tmp_path / "m").exists()


def test_a_configuration_equals_its_options(folder, tmp_path):
    config = tmp_path / "fit.toml"
    config.write_text('sweeps = 8\nchains = 2\neta = 0.5\nmin-df = 3\nstop-words = "none"\n')
    call(
        "fit",
        folder / "texts.txt",
        "-o",
        tmp_path / "a",
        "--config",
        config,
        "--quiet",
        "--random-state",
        "3",
    )
    options = [*QUICK, "--min-df", "3", "--stop-words", "none", "--random-state", "3"]
    call("fit", folder / "texts.txt", "-o", tmp_path / "b", *options)
    one, other = HDPTopicModel.load(tmp_path / "a"), HDPTopicModel.load(tmp_path / "b")
    assert one.corpus_ == other.corpus_
    assert np.array_equal(one.components_, other.components_)


def test_the_options_of_a_model_make_it_again(folder, tmp_path):
    call(
        "fit",
        folder / "texts.txt",
        "-o",
        tmp_path / "m",
        "--config",
        folder / "model" / "config.toml",
        "--quiet",
    )
    one, other = HDPTopicModel.load(folder / "model"), HDPTopicModel.load(tmp_path / "m")
    assert one.corpus_.text_options == other.corpus_.text_options
    assert np.array_equal(one.components_, other.components_)
    assert (tmp_path / "m" / "config.toml").read_text() == (folder / "model" / "config.toml").read_text()


def test_stop_words_in_a_configuration(folder, tmp_path):
    (tmp_path / "fit.toml").write_text('stop-words = ["model", "the"]\n')
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", "--config", tmp_path / "fit.toml", *QUICK)
    assert HDPTopicModel.load(tmp_path / "m").corpus_.text_options.stop_words == ("model", "the")


@pytest.mark.parametrize(
    "text",
    [
        "swepes = 3",
        "sweeps = ",
        "[fit]\nsweeps = 3",
        "sweeps = 2.7",
        "sweeps = true",
        "sweeps = [2]",
        'sweeps = "2"',
        "random-state = 1.9",
        "alpha = true",
        "eta = [1, 2, 3]",
        "seed = 1",
        "alpha = []",
        "metadata = [1]",
        "init = true",
        "init = 2.5",
        "min-df = [1]",
        "max-df = true",
        'quiet = "no"',
        "lowercase = 3",
        "ngram-range = [1.5, 2]",
        "stop-words = 3",
        'stop-words = ["a", 3]',
        "token-pattern = 3",
        "time-budget = [1]",
        "split-merge = true",
    ],
)
def test_a_configuration_that_cannot_be(folder, tmp_path, text):
    (tmp_path / "fit.toml").write_text(text)
    call("fit", folder / "texts.txt", "-o", tmp_path / "m", "--config", tmp_path / "fit.toml", ending=2)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "option",
    [
        ["--eta", "x"],
        ["--eta", "-1"],
        ["--sweeps", "0"],
        ["--burn-in", "900"],
        ["--chains", "0"],
        ["--n-jobs", "0"],
        ["--random-state", "-3"],
        ["--init", "many"],
        ["--min-df", "few"],
        ["--token-pattern", "("],
        ["--time-budget", "soon"],
        ["--time-budget", "inf"],
        ["--random-state", "9223372036854775808"],
        ["--alpha", "nan"],
        ["--stop-words", "nowhere.txt"],
    ],
)
def test_settings_that_cannot_be(folder, tmp_path, option):
    result = CliRunner().invoke(main, ["fit", str(folder / "texts.txt"), "-o", str(tmp_path / "m"), *option])
    assert result.exit_code in (1, 2)
    assert result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "m").exists()


# ---------------------------------------------------------------- input


@pytest.mark.parametrize("name", ["missing.txt", "", "empty.txt", "bad.jsonl", "broken.csv"])
def test_files_that_cannot_be_read(tmp_path, name):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "\xff"}\n')
    (tmp_path / "broken.csv").write_text("a,b\n1,2\n")
    options = ["--text-column", "text"] if name.endswith(("jsonl", "csv")) else []
    result = call("fit", tmp_path / name, "-o", tmp_path / "m", *options, ending=1)
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_standard_input(folder, tmp_path):
    lines = [json.dumps({"body": text}) for text in arxiv_abstracts()[:80]]
    options = ["--input-format", "jsonl", "--text-column", "body", *QUICK]
    call("fit", "-", "-o", tmp_path / "m", *options, input="\n".join(lines).encode())
    topics = call("topics", tmp_path / "m", "--format", "csv").stdout
    assert topics == call("topics", folder / "model", "--format", "csv").stdout


# ---------------------------------------------------------------- answers


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_topics(folder):
    table = call("topics", folder / "model").stdout.splitlines()
    model = HDPTopicModel.load(folder / "model")
    assert len(table) == 1 + model.n_topics_
    as_csv = rows(call("topics", folder / "model", "--format", "csv").stdout)
    as_json = json.loads(call("topics", folder / "model", "--format", "json").stdout)
    assert [row["terms"] for row in as_csv] == [row["terms"] for row in as_json]
    assert float(as_csv[0]["weight"]) == model.topic_weights_[0]
    large = call("topics", folder / "model", "--min-share", "0.1", "--format", "csv").stdout
    assert len(rows(large)) == (model.topic_weights_ >= 0.1).sum()


def test_documents(folder):
    assert len(rows(call("documents", folder / "model", "--format", "csv").stdout)) == 80
    about = rows(call("documents", folder / "model", "--topic", "0", "-n", "3", "--format", "csv").stdout)
    assert len(about) == 3
    assert len(about[0]["text"]) > 50
    assert "--topic 999" in call("documents", folder / "model", "--topic", "999", ending=2).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "model", "--min-share", "nan"],
        ["topics", "model", "--min-share", "2"],
        ["documents", "model", "-n", "3"],
        ["evaluate", "model", "--method", "paper"],
        ["evaluate", "model", "--by-chain"],
        ["evaluate", "model", "new.txt", "--by-chain", "--method", "paper"],
        ["evaluate", "model", "new.txt", "--measure", "u_mass"],
    ],
    ids=" ".join,
)
def test_options_that_cannot_be_or_have_no_use(folder, monkeypatch, arguments):
    monkeypatch.chdir(folder)
    assert "Error:" in call(*arguments, ending=2).stderr


@pytest.mark.filterwarnings("default::franchise.errors.FranchiseWarning")
def test_infer(folder):
    model = HDPTopicModel.load(folder / "model")
    new = rows(call("infer", folder / "model", folder / "new.txt", "--format", "csv").stdout)
    with warns("unknown-words", "vocabulary"):
        theta = model.transform((folder / "new.txt").read_text("utf-8").split("\n")[:-1])
    found = np.array([[float(row[f"topic_{k}"]) for k in range(model.n_topics_)] for row in new])
    assert np.array_equal(found, theta)
    assert int(new[0]["unknown"]) > 0
    assert len(call("infer", folder / "model", folder / "new.txt").stdout.splitlines()) == 12


def test_evaluate(folder):
    told = json.loads(call("evaluate", folder / "model", folder / "new.txt", "--format", "json").stdout)
    assert -10 < told["nats per word"] < 0
    for method in ("left-to-right", "paper"):
        answer = call("evaluate", folder / "model", folder / "new.txt", "--method", method)
        assert "nats per word" in answer.stdout
    assert "c_npmi" in call("evaluate", folder / "model").stdout
    by_chain = ["evaluate", folder / "model", folder / "new.txt", "--by-chain"]
    rows = json.loads(call(*by_chain, "--format", "json").stdout)
    assert [row["chain"] for row in rows] == [0, 1]
    assert sum(row["weight"] for row in rows) == pytest.approx(1.0)
    assert "All chains, these weights" in call(*by_chain).stdout
    assert "u_mass" in call("evaluate", folder / "model", "--measure", "u_mass").stdout


def test_diagnose_and_inspect(folder):
    assert "number of topics" in call("diagnose", folder / "model").stdout
    assert "r_hat" in call("diagnose", folder / "model", "--format", "csv").stdout
    facts = json.loads(call("inspect", folder / "model", "--format", "json").stdout)
    assert (facts["documents"], facts["sweeps made"], facts["eta"]) == (80, 8, 0.5)
    assert (
        json.loads(call("inspect", folder / "texts.txt", "--format", "json").stdout)["words"]
        == facts["words"]
    )


def test_report(folder, tmp_path):
    page = tmp_path / "page.html"
    assert call("report", folder / "model", "-o", page, "--title", "Fish & chips").stdout == f"{page}\n"
    assert "Fish &amp; chips" in page.read_text("utf-8")
    told = call("report", folder / "model", "-o", page, ending=1).stderr
    assert f"{page}: " in told
    assert "--overwrite" in told
    call("report", folder / "model", "-o", page, "--overwrite")


@pytest.mark.parametrize("name", ["topics", "documents", "diagnose", "resume", "evaluate", "report"])
def test_what_is_no_model(name, tmp_path):
    assert f"{tmp_path / 'nowhere'}: " in call(name, tmp_path / "nowhere", ending=1).stderr
    told = call(name, tmp_path, ending=1).stderr
    assert f"{tmp_path}: " in told
    assert "model.json" in told


@pytest.mark.parametrize(
    "arguments",
    [
        "topics FILE", "documents FILE", "label FILE", "prevalence FILE --by year", "diagnose FILE",
        "report FILE", "resume FILE", "infer FILE FILE", "evaluate FILE", "evaluate FILE FILE",
        "compare FILE other/ FILE",
    ],
)  # fmt: skip
def test_a_file_in_the_place_of_a_model(arguments, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    told = call(*arguments.replace("FILE", "texts.txt").split(), ending=1).stderr
    assert "texts.txt: " in told
    assert "franchise fit texts.txt -o model/" in told


# ---------------------------------------------------------------- other formats


@pytest.mark.parametrize("ending", ["ldac", "npz", "mtx", "ldac.gz"])
def test_convert_and_fit_on_counts(folder, tmp_path, ending):
    target = tmp_path / f"counts.{ending}"
    call("convert", folder / "texts.txt", target)
    told = call("convert", folder / "texts.txt", target, ending=1).stderr
    assert f"{target}: " in told
    assert "--overwrite" in told
    call("fit", target, "-o", tmp_path / "m", *QUICK)
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.corpus_.vocabulary == HDPTopicModel.load(folder / "model").corpus_.vocabulary
    call("infer", tmp_path / "m", target)


@pytest.mark.slow
def test_in_the_place_of_the_paper_s_program(folder, tmp_path):
    call("convert", folder / "texts.txt", tmp_path / "t.ldac")
    options = ["--data", tmp_path / "t.ldac", "--max_iter", "3", "--random_seed", "1"]
    call("hdp", "--algorithm", "train", *options, "--directory", tmp_path / "out", "--split_merge", "yes")
    call(
        "hdp",
        "--algorithm",
        "test",
        *options,
        "--directory",
        tmp_path / "test",
        "--saved_model",
        tmp_path / "out" / "mode.bin",
    )
    assert (tmp_path / "test" / "test.log").exists()
    call("infer", tmp_path / "out" / "mode.bin", tmp_path / "t.ldac")
    told = call("evaluate", tmp_path / "out" / "mode.bin", tmp_path / "t.ldac", "--format", "json").stdout
    assert json.loads(told)["documents"] == read_ldac(tmp_path / "t.ldac").n_documents
    call("hdp", "--algorithm", "train", ending=2)
    call("hdp", "--algorithm", "train", "--data", "nowhere", "--directory", tmp_path / "x", ending=1)
    (tmp_path / "bad.ldac").write_text("2 0:1 1:1\n1 0-1\n")
    bad = call(
        "hdp",
        "--algorithm",
        "train",
        "--data",
        tmp_path / "bad.ldac",
        "--directory",
        tmp_path / "x",
        ending=1,
    )
    assert "bad.ldac:2" in bad.stderr
