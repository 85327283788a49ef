"""Ctrl-C strikes between sweeps and leaves a chain that goes on as if it had never been struck."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

_STRUCK = """
import os, signal, sys, threading
from franchise import Chain, from_tokens

corpus = from_tokens([["a", "b", "a", "c"], ["b", "c"], ["a", "a", "d"]] * 40)
struck, whole = Chain(corpus, seed=3), Chain(corpus, seed=3)
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
