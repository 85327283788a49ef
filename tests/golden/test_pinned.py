"""A fixed-seed run is pinned: no change of the code may alter a chain without anyone noticing.

It may be pinned because nothing else can alter it. The corpus is made by arithmetic and the random
numbers are our own, so no version of NumPy takes part. What is left is the last bit of exp and log,
which may differ between mathematical libraries. Such a bit moves the concentrations by parts in 1e16,
and a word only if a random number falls into that gap: so tables and topics are pinned exactly, numbers
to nine digits.

After a change that is meant to alter the chains, renew the run (see `fingerprint`) and say in the
change log that seeds give other chains than before.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden.fingerprint import METHODS, fixed_runs

pytestmark = pytest.mark.nojit


@pytest.fixture(scope="module")
def runs():
    return fixed_runs()


@pytest.fixture(scope="module")
def pinned():
    return json.loads((Path(__file__).parent / "pinned.json").read_text())


@pytest.mark.parametrize("method", METHODS)
def test_every_number_of_the_trace(runs, pinned, method):
    assert runs[method]["trace"].keys() == pinned[method]["trace"].keys()
    for name, values in pinned[method]["trace"].items():
        np.testing.assert_allclose(runs[method]["trace"][name], values, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("method", METHODS)
def test_every_seat(runs, pinned, method):
    assert runs[method]["seats"] == pinned[method]["seats"]
