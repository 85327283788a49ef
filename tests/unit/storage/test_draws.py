"""Large draws lie in their files: the same numbers, and nothing of them in memory."""

import mmap
import pickle

import numpy as np
import pytest

from franchise import Chain, HDPTopicModel, ModelError
from franchise._files import read_arrays, write_arrays
from franchise.corpus import planted
from franchise.posterior.estimates import Posterior
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain, save_chain
from franchise.storage.draws import is_large, read_draw, write_draw
from tests.golden.fingerprint import PRIORS, arithmetic_corpus
from tests.raising import raises
from tests.settings import fit

COUNTS, PARTS = ("topic_terms", "document_topics"), ("data", "indices", "indptr")


@pytest.fixture
def all_are_large(monkeypatch):
    monkeypatch.setattr("franchise.storage.draws.LARGE_DRAW", 0)


@pytest.fixture(scope="module")
def chain():
    chain = Chain(arithmetic_corpus(), PRIORS, Timetable(sweeps=9, burn_in=2, thin=2), random_state=5)
    chain.run()
    return chain


def in_bits(draw):
    tables = [getattr(draw, counts) for counts in COUNTS]
    parts = [getattr(table, part) for table in tables for part in PARTS]
    arrays = [*parts, draw.names, draw.m_k, draw.concentrations]
    return (
        draw.sweep,
        [table.shape for table in tables],
        [(array.dtype.str, array.tobytes()) for array in arrays],
    )


def in_file(array):
    """Return whether the numbers of an array lie in a mapped file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap) or (
        isinstance(array, memoryview) and isinstance(array.obj, mmap.mmap)
    )


def test_a_mapped_draw_is_the_draw(tmp_path, chain, all_are_large):
    draw = chain.draws[-1]
    write_draw(tmp_path, draw)
    mapped = read_draw(tmp_path, draw.sweep, chain.corpus)
    assert in_bits(mapped) == in_bits(draw)
    assert in_bits(pickle.loads(pickle.dumps(mapped))) == in_bits(draw)
    assert is_large(draw)
    assert not is_large(mapped)
    held = [mapped.names, mapped.m_k, *(getattr(mapped.topic_terms, part) for part in PARTS), *mapped[3][:3]]
    assert all(map(in_file, held))


def test_some_documents_of_a_mapped_draw(tmp_path, chain, all_are_large):
    draw, n = chain.draws[0], chain.corpus.n_documents
    write_draw(tmp_path, draw)
    mapped = read_draw(tmp_path, draw.sweep, chain.corpus)
    numbers = [np.array(some, np.int64) for some in ([], [3], [n - 1, 0, 0, 8, 5], range(n))]
    ranges = [slice(None), slice(0, 0), slice(2, 9), slice(n - 3, n + 7), slice(n, n + 1), slice(7, 3)]
    for documents in (*numbers, *ranges):
        expected = draw.document_topics.toarray()[documents]
        for one in (draw, mapped):
            found = one.of_documents(documents)
            assert found.dtype == np.int32
            assert found.shape == expected.shape
            assert found.toarray().tolist() == expected.tolist()


def test_files_are_narrow(tmp_path, chain):
    write_draw(tmp_path, chain.draws[0])
    (path,) = tmp_path.iterdir()
    arrays, _ = read_arrays(path, "draw")
    assert {arrays[f"document_topics.{part}"].dtype for part in ("data", "indices")} == {np.dtype(np.uint8)}


def _changed(place, value):
    def change(array):
        array = array.astype(np.int32)
        array[place] = value
        return array

    return change


@pytest.mark.parametrize("large", [0, 2**22])
@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("indices", _changed(0, 10**6)),
        ("indices", _changed(0, -1)),
        ("indices", lambda array: array[:-1]),
        ("indices", lambda array: array.astype(np.float64)),
        ("data", lambda array: array[:-1]),
        ("indptr", _changed(0, 1)),
        ("indptr", _changed(-1, 10**6)),
        ("indptr", _changed(4, 10**6)),
        ("indptr", lambda array: array[:-1]),
        ("indptr", lambda array: array[:0]),
    ],
)
def test_counts_that_would_crash_are_refused(tmp_path, chain, monkeypatch, large, part, change):
    monkeypatch.setattr("franchise.storage.draws.LARGE_DRAW", large)
    save_chain(chain, tmp_path)
    path = tmp_path / "draws" / f"{chain.draws[0].sweep:06d}.safetensors"
    arrays, facts = read_arrays(path, "draw")
    arrays[f"document_topics.{part}"] = change(arrays[f"document_topics.{part}"])
    write_arrays(path, "draw", arrays, facts)
    with raises(ModelError, "damaged-file", tmp_path):
        load_chain(tmp_path, chain.corpus)


# ---------------------------------------------------------------- models


CORPUS = planted(n_topics=4, n_terms=40, n_documents=60, document_length=25, seed=2).corpus


def fitted(**settings):
    usual = {"sweeps": 20, "thin": 2, "chains": 2, "n_jobs": 1, "random_state": 3, "verbose": 0}
    return fit(CORPUS, init="sequential", **usual, **settings)


@pytest.fixture(scope="module")
def in_memory():
    return fitted()


def answer(model):
    posterior: Posterior = model.posterior_
    arrays = [
        posterior.phi,
        posterior.weights,
        posterior.document_topics,
        posterior.document_topics_interval([0, 7]),
        posterior.predictive([3, 1]),
        posterior.similarity,
        posterior.stability,
        model.transform(CORPUS),
    ]
    tables = [model.topics(), model.documents(), model.representative_documents(0), model.quality()]
    return [array.tobytes() for array in arrays], [table.to_csv() for table in tables], str(model)


def test_a_fit_with_a_folder_holds_no_draw_in_memory(tmp_path, in_memory, all_are_large):
    model = fitted(checkpoint_dir=tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    for one in (model, loaded):
        assert all(len(one_chain.draws) == 5 for one_chain in one.chains_)
        for draw in (draw for chain in one.chains_ for draw in (*chain.draws, chain.mode)):
            assert not is_large(draw)
            assert all(in_file(part) for part in draw[3][:3])
        assert answer(one) == answer(in_memory)


def test_a_fit_without_a_folder_overflows_into_files_that_are_gone(
    tmp_path, in_memory, all_are_large, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = fitted()
    assert all(in_file(draw[3].data) for chain in model.chains_ for draw in chain.draws)
    assert not list(tmp_path.iterdir())
    assert answer(model) == answer(in_memory)
    model.save(tmp_path / "model")
    assert answer(HDPTopicModel.load(tmp_path / "model")) == answer(in_memory)


def test_where_there_is_no_room_for_files_draws_stay_in_memory(
    tmp_path, in_memory, all_are_large, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    model = fitted()
    assert all(is_large(draw) for chain in model.chains_ for draw in chain.draws)
    assert answer(model) == answer(in_memory)


def test_the_folder_may_go_while_the_model_is_used(tmp_path, in_memory, all_are_large):
    model = fitted(checkpoint_dir=tmp_path / "model")
    (tmp_path / "model").rename(tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere").rglob("draws/*"):
        path.unlink()
    assert answer(model) == answer(in_memory)


# ---------------------------------------------------------------- states


@pytest.fixture
def states_are_large(monkeypatch):
    monkeypatch.setattr("franchise.storage.chain._LARGE", 0)


def test_a_large_state_is_taken_up_when_it_is_needed(tmp_path, in_memory, states_are_large):
    fitted(checkpoint_dir=tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert answer(loaded) == answer(in_memory)
    assert all(chain._engine._sampler is None for chain in loaded.chains_)
    longer, expected = loaded.resume(10), fitted().resume(10)
    assert answer(longer) == answer(expected)


def test_a_large_state_that_is_not_sound_is_refused_when_it_is_needed(tmp_path, chain, states_are_large):
    save_chain(chain, tmp_path)
    path = tmp_path / "chain.safetensors"
    arrays, facts = read_arrays(path, "chain")
    arrays["engine.m_j"] = arrays["engine.m_j"][:-1]
    write_arrays(path, "chain", arrays, facts)
    loaded = load_chain(tmp_path, chain.corpus)
    for _ in range(2):  # nor is it forgotten
        with raises(ModelError, "damaged-file", path):
            loaded.state  # noqa: B018
