"""The installed command in a terminal: progress while it runs, Ctrl-C, kill -9, pipes."""

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest

from franchise import HDPTopicModel
from franchise.datasets import arxiv_abstracts

pytestmark = pytest.mark.slow

FRANCHISE = shutil.which("franchise", path=str(Path(sys.executable).parent)) or "franchise"
LONG = ["--sweeps", "100000", "--burn-in", "10", "--thin", "10", "--chains", "2", "--eta", "0.5"]


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal") / "texts.txt"
    path.write_text("\n".join(arxiv_abstracts()[:150]) + "\n", "utf-8")
    return path


def run(*arguments, **options):
    return subprocess.run(
        [FRANCHISE, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False, **options
    )


def trace_of(folder):
    return HDPTopicModel.load(folder).trace_.drop(columns="seconds")


def assert_never_interrupted(folder, texts, tmp_path):
    """Compare with a fit of as many sweeps that was left alone."""
    made = HDPTopicModel.load(folder)
    sweeps = made.trace_.groupby("chain")["sweep"].max()
    options = [*LONG]
    options[1] = str(sweeps.max())
    assert run("fit", texts, "-o", tmp_path / "whole", *options, "--quiet").returncode == 0
    whole = trace_of(tmp_path / "whole").set_index(["chain", "sweep"])
    mine = trace_of(folder).set_index(["chain", "sweep"])
    assert mine.equals(whole.loc[mine.index])


def test_help_is_there_at_once():
    """In time of the processor, as others may be using it."""
    run("--help")  # bytecode is written the first time
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run("--help").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


def test_ctrl_c_saves_the_model_and_resume_goes_on(texts, tmp_path):
    folder = tmp_path / "m"
    child = pexpect.spawn(
        FRANCHISE, ["fit", str(texts), "-o", str(folder), *LONG], dimensions=(30, 80), timeout=120
    )
    child.expect("joint/word")
    child.expect("sampling")
    child.sendintr()
    child.expect("interrupted after")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    before = trace_of(folder)
    assert run("resume", folder, "--time-budget", "2s", "--quiet").returncode == 0
    after = trace_of(folder)
    assert len(after) > len(before) > 4
    assert_never_interrupted(folder, texts, tmp_path)


def test_kill_and_resume(texts, tmp_path):
    folder = tmp_path / "m"
    child = subprocess.Popen(
        [FRANCHISE, "fit", str(texts), "-o", str(folder), *LONG],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (folder / "model.json").exists():
        time.sleep(0.1)
    time.sleep(3.0)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert run("resume", folder, "--time-budget", "2s", "--quiet").returncode == 0
    assert_never_interrupted(folder, texts, tmp_path)


def test_no_colour_and_no_bars_off_a_terminal(texts, tmp_path):
    told = run("fit", texts, "-o", tmp_path / "m", "--sweeps", "20", "--chains", "2")
    assert told.returncode == 0
    assert "\x1b" not in told.stdout + told.stderr


def test_a_pipe(texts, tmp_path):
    program, file, folder = map(shlex.quote, (FRANCHISE, str(texts), str(tmp_path)))
    fit = f"{program} fit - --input-format txt -o {folder}/m --sweeps 5 --quiet > {folder}/out"
    command = f"cat {file} | {fit} && {program} topics {folder}/m --format csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.startswith("topic,label,weight,terms,")
    assert "Traceback" not in done.stderr
    assert "HDPTopicModel of 150 documents" in (tmp_path / "out").read_text()


def test_completion_of_commands():
    environment = os.environ | {
        "_FRANCHISE_COMPLETE": "bash_complete",
        "COMP_WORDS": "franchise to",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [FRANCHISE], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert "topics" in done.stdout
