"""Ctrl-C takes effect between sweeps and leaves a chain that continues as if nothing had happened."""

import subprocess
import sys

import pytest

from franchise import HDPTopicModel

pytestmark = pytest.mark.slow

_STRUCK = """
import os, signal, sys, threading
from franchise import Chain, from_tokens

corpus = from_tokens([["a", "b", "a", "c"], ["b", "c"], ["a", "a", "d"]] * 40)
struck, whole = Chain(corpus, random_state=3), Chain(corpus, random_state=3)
struck.run(1)  # compiles
for _ in range(10):
    threading.Timer(float(sys.argv[1]), os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        struck.run(10**6)
    except KeyboardInterrupt:
        assert len(struck.trace) == struck.sweeps_done + 1
whole.run(struck.sweeps_done)
assert struck.sweeps_done > 10
assert struck.state.t_ji.tolist() == whole.state.t_ji.tolist()
assert struck.trace["log_joint"].tolist() == whole.trace["log_joint"].tolist()
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print("the same")
"""


@pytest.mark.parametrize("delay", ["0.05", "0.0713"])
def test_struck_ten_times(delay):
    answer = subprocess.run(
        [sys.executable, "-c", _STRUCK, delay], capture_output=True, text=True, timeout=300, check=False
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "the same\n"


# Struck for the first time in a sweep, and for the second time where the test says.
_STRUCK_TWICE = """
import os, signal, sys
import franchise.estimator.model as estimator
from franchise.cli import main
from franchise._progress import Monitor
from franchise.storage.checkpoints import Checkpoints

def strike():
    os.kill(os.getpid(), signal.SIGINT)

def struck_before(function):
    def call(*arguments, **options):
        if options.get("now", True):
            strike()
        return function(*arguments, **options)
    return call

second = sys.argv.pop(1)
if second == "at the start":
    Monitor.begin = lambda self, chains: (strike(), strike())
else:
    Monitor.swept = lambda self, chain: chain.sweeps_done == 3 and strike()
if second == "while saving":
    Checkpoints.save = struck_before(Checkpoints.save)
if second == "after saving":
    estimator.posterior_of = struck_before(estimator.posterior_of)
main(prog_name="franchise")
"""


@pytest.fixture
def strike_twice(tmp_path):
    """Return a function that strikes a command twice, and returns the lines that it says."""
    (tmp_path / "texts.txt").write_text("a cat drank milk\ncats and dogs\nmilk for a dog\na dog and a cat\n")

    def call(second, *arguments):
        answer = subprocess.run(
            [sys.executable, "-c", _STRUCK_TWICE, second, *arguments, "--quiet"],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert answer.returncode == 130, answer.stderr
        return answer.stdout, answer.stderr.splitlines()

    return call


FIT = ["fit", "texts.txt", "-o", "my model", "--sweeps", "1000000", "--chains", "1", "--min-df", "1"]
FIT += ["--ignore", "few-documents"]


@pytest.mark.unix
def test_struck_twice_says_what_is_kept(strike_twice, tmp_path):
    shown, told = strike_twice("after saving", *FIT)
    assert not shown
    (line,) = told
    assert line.startswith("franchise: interrupted; ")
    assert "of 1000000 sweeps are saved in my model" in line
    assert line.endswith("continue with `franchise resume 'my model'`")
    sweeps = HDPTopicModel.load(tmp_path / "my model").chains_[0].sweeps_done
    assert f" {sweeps} of" in line
    assert sweeps >= 3
    # The folder has the same sweeps when `resume` is struck as it looks at them.
    assert strike_twice("after saving", "resume", "my model") == ("", [line])


@pytest.mark.unix
def test_struck_while_saving_loses_nothing(strike_twice, tmp_path):
    shown, told = strike_twice("while saving", *FIT)
    assert "The model is in my model\n" in shown
    assert "`franchise resume 'my model'`" in shown
    assert "resume" in told[-1]
    assert HDPTopicModel.load(tmp_path / "my model").chains_[0].sweeps_done >= 3


@pytest.mark.unix
def test_struck_before_the_first_sweep(strike_twice, tmp_path):
    _, (line,) = strike_twice("at the start", *FIT)
    assert (
        line == "franchise: interrupted; no sweep was saved; start again with `franchise resume 'my model'`"
    )
    model = HDPTopicModel.load(tmp_path / "my model")
    assert model.resume(time_budget=0.1).n_topics_ > 0
