"""The same seed gives the same chain, to the bit, however it is run."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

from franchise import Chain, Priors
from franchise.corpus import planted
from tests.golden.fingerprint import METHODS, fixed_chain, fixed_runs, in_bits

ROOT = Path(__file__).resolve().parents[2]
STARTS = ("sequential", "one", 7)


def run_in_one_piece(sweeps=20, **options):
    chain = fixed_chain(**options)
    chain.run(sweeps)
    return chain


@pytest.mark.nojit
@pytest.mark.parametrize("start", STARTS)
def test_same_seed_same_chain(start):
    assert in_bits(run_in_one_piece(init=start)) == in_bits(run_in_one_piece(init=start))


@pytest.mark.nojit
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", STARTS)
def test_sweep_by_sweep_or_in_one_piece(start, method):
    chain = fixed_chain(method, init=start)
    chain.start()
    for _ in range(13):
        chain.sweep()
    chain.run(7)
    assert in_bits(chain) == in_bits(run_in_one_piece(init=start, method=method))


@pytest.mark.nojit
@pytest.mark.parametrize("start", STARTS)
def test_room_for_topics_changes_nothing(start):
    small = run_in_one_piece(init=start, capacity=1)
    large = run_in_one_piece(init=start, capacity=1000)
    assert small.state.n_k.size < large.state.n_k.size == 1000
    assert in_bits(small) == in_bits(large)


@pytest.mark.nojit
def test_growth_in_the_middle_of_every_move_changes_nothing():
    """With these priors both the word move and the table move run out of room while under way."""
    corpus = planted(n_topics=6, n_terms=40, n_documents=15, document_length=20, seed=0).corpus
    priors = Priors(alpha=20.0, gamma=50.0, eta=0.05)
    chains = [Chain(corpus, priors, init="one", capacity=capacity, random_state=0) for capacity in (1, 1000)]
    for chain in chains:
        chain.run(3)
    assert chains[0].trace["n_topics"].max() > 32
    assert chains[0].trace["table_topics.born"][1:].min() > 0
    assert in_bits(chains[0]) == in_bits(chains[1])


def test_two_threads_or_one_after_the_other():
    corpus = planted(n_topics=5, n_terms=200, n_documents=100, document_length=60, seed=1).corpus

    def run(number):
        chain = Chain(corpus, Priors(eta=(1.0, 1.0)), random_state=5, number=number)
        chain.run(15)
        return in_bits(chain)

    alone = [run(number) for number in range(2)]
    with ThreadPoolExecutor(max_workers=2) as pool:
        together = list(pool.map(run, range(2)))
    assert alone == together


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compares the JIT with no JIT")
@pytest.mark.parametrize("method", METHODS)
def test_compiled_or_not(method, without_jit):
    """Every seat and every concentration is the same to the bit.

    The log densities are the same up to rounding only: Python and Numba each have a lgamma of their own.
    """
    with_jit = fixed_runs()[method]
    assert with_jit["seats"] == without_jit[method]["seats"]
    for name, values in without_jit[method]["trace"].items():
        rounding = 1e-13 if name.startswith("log_") else 0
        np.testing.assert_allclose(with_jit["trace"][name], values, rtol=rounding, err_msg=name)


@pytest.fixture(scope="module")
def without_jit():
    """Fingerprints of the fixed runs in a process of their own with the JIT off."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.fingerprint"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.nojit
@pytest.mark.parametrize("change", [{"random_state": 2013}, {"number": 1}, {"random_state": 2**63 - 1}])
@pytest.mark.parametrize("start", ["sequential", 7])
def test_another_seed_or_number_gives_another_chain(start, change):
    """From the start on: by chance, 400 words are never seated alike."""
    chains = [fixed_chain(init=start, **settings) for settings in ({}, change)]
    for chain in chains:
        chain.start()
    assert not np.array_equal(chains[0].state.t_ji, chains[1].state.t_ji)
    for chain in chains:
        chain.run(1)
    assert in_bits(chains[0]) != in_bits(chains[1])
