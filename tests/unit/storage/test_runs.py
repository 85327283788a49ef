"""The file of the short runs, whole, missing and damaged."""

import numpy as np
import pytest

from franchise import ModelError
from franchise._files import read_arrays, write_arrays
from franchise.sampling.run import run_chains
from franchise.storage.checkpoints import Checkpoints
from franchise.storage.runs import load_runs, save_runs
from tests.raising import raises
from tests.unit.sampling.short import CORPUS, NUMBER, new_chains, shorten

FILE, KIND = "runs.safetensors", "franchise short runs"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the folder of chains with the runs that they started from."""
    shorten(monkeypatch)
    run_chains(new_chains(sweeps=3), jobs=1, keeper=Checkpoints(tmp_path))
    return tmp_path


def loaded(folder):
    chains = new_chains()
    load_runs(folder, chains)
    return chains


def test_all_chains_get_the_runs(folder):
    chains = loaded(folder)
    assert all(chain.runs is not None for chain in chains)
    assert chains[0].runs.number == NUMBER
    assert chains[0].runs.topics.shape == (chains[0].runs.run.size, chains[0].corpus.n_terms)
    np.testing.assert_allclose(np.linalg.norm(chains[0].runs.topics.toarray(), axis=1), 1.0, rtol=1e-6)


def test_runs_that_are_there_are_not_written_again(folder):
    before = (folder / FILE).stat().st_mtime_ns, (folder / FILE).read_bytes()
    save_runs(folder, loaded(folder)[0])
    assert ((folder / FILE).stat().st_mtime_ns, (folder / FILE).read_bytes()) == before


def test_without_runs_there_is_no_file(tmp_path):
    save_runs(tmp_path / "new", new_chains()[0])
    assert not (tmp_path / "new").exists()
    assert loaded(tmp_path)[0].runs is None


@pytest.mark.parametrize("damage", ["cut off", "empty", "a bit", "another kind"])
def test_a_damaged_file_is_refused(folder, damage):
    path = folder / FILE
    content = path.read_bytes()
    if damage == "another kind":
        arrays, facts = read_arrays(path, KIND)
        write_arrays(path, "franchise chain", arrays, facts)
    else:
        flipped = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
        path.write_bytes({"cut off": content[:-9], "empty": b"", "a bit": flipped}[damage])
    with pytest.raises(ModelError) as caught:
        loaded(folder)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["data", "indices", "indptr", "run"])
def test_arrays_that_do_not_belong_together_are_refused(folder, name):
    path = folder / FILE
    arrays, facts = read_arrays(path, KIND)
    arrays = {one: np.array(array) for one, array in arrays.items()}
    arrays[name] = arrays[name][:-1]
    write_arrays(path, KIND, arrays, facts)
    with raises(ModelError, "damaged-file", path):
        loaded(folder)


def test_a_file_without_an_array_is_refused(folder):
    path = folder / FILE
    arrays, facts = read_arrays(path, KIND)
    write_arrays(path, KIND, {name: np.array(one) for name, one in arrays.items() if name != "run"}, facts)
    with raises(ModelError, "damaged-file", path):
        loaded(folder)


def test_terms_that_the_corpus_has_not_are_refused(folder):
    path = folder / FILE
    arrays, facts = read_arrays(path, KIND)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    arrays["indices"][-1] = CORPUS.n_terms
    write_arrays(path, KIND, arrays, facts)
    with raises(ModelError, "damaged-file", path):
        loaded(folder)


def test_a_newer_file_is_refused(folder):
    path = folder / FILE
    arrays, facts = read_arrays(path, KIND)
    write_arrays(
        path, KIND, {name: np.array(one) for name, one in arrays.items()}, facts | {"version": 10**6}
    )
    with raises(ModelError, "newer-format", path):
        loaded(folder)
