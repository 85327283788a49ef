import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

from franchise._files import from_json, read_arrays, read_text, write_arrays, write_text
from franchise.errors import ModelError
from tests.raising import raises

ARRAYS = {
    "a": np.arange(6, dtype=np.int32).reshape(2, 3),
    "b": np.array([0.5, np.nan, -np.inf]),
    "empty": np.zeros((0, 4), np.uint8),
}
FACTS = {"version": 1, "name": "Zoë", "list": [1, None, 0.1]}


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "a.safetensors"
    write_arrays(path, "thing", ARRAYS, FACTS)
    return path.read_bytes()


def test_what_is_written_is_read(tmp_path):
    write_arrays(tmp_path / "deep" / "a", "thing", ARRAYS, FACTS)
    arrays, facts = read_arrays(tmp_path / "deep" / "a", "thing")
    assert facts == FACTS
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert np.array_equal(arrays[name], array, equal_nan=array.dtype.kind == "f")


def test_the_same_contents_give_the_same_bytes(tmp_path, content):
    write_arrays(tmp_path / "b", "thing", dict(reversed(ARRAYS.items())), FACTS)
    assert (tmp_path / "b").read_bytes() == content


def test_nothing_else_is_left_in_the_folder(tmp_path):
    write_text(tmp_path / "a.txt", "once")
    write_text(tmp_path / "a.txt", "twice")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert read_text(tmp_path / "a.txt") == "twice"


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    (tmp_path / "folder").mkdir()
    with raises(ModelError, "cannot-write", tmp_path / "folder"):
        write_text(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(("name", "code"), [("missing", "no-such-file"), ("folder", "cannot-read")])
def test_what_is_no_file_is_refused(tmp_path, name, code):
    (tmp_path / "folder").mkdir()
    with raises(ModelError, code, tmp_path / name):
        read_arrays(tmp_path / name, "thing")
    with raises(ModelError, code, tmp_path / name):
        read_text(tmp_path / name)


def test_another_kind_of_file_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with raises(ModelError, "wrong-file-kind", tmp_path / "a", "thing", "chain"):
        read_arrays(tmp_path / "a", "chain")


@pytest.mark.parametrize(
    ("name", "code"), [("missing", "no-such-file"), ("folder", "cannot-read"), ("empty", "damaged-file")]
)
def test_what_is_no_file_is_not_mapped(tmp_path, name, code):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    with raises(ModelError, code, tmp_path / name):
        read_arrays(tmp_path / name, "thing", mapped=True)


@pytest.mark.parametrize("kind", ["?", "u1", "i1", "u2", "i2", "u4", "i4", "f4", "u8", "i8", "f8"])
def test_the_library_reads_what_is_written(tmp_path, kind):
    """Files are written piece by piece; that they are safetensors files, their own library says."""
    numbers = np.arange(7).astype(kind)
    arrays = ARRAYS | {"odd": np.arange(3, dtype=np.uint8), "numbers": numbers, "Zoë": numbers.reshape(7, 1)}
    write_arrays(tmp_path / "a", "thing", arrays, FACTS)
    for found in (load_file(tmp_path / "a"), read_arrays(tmp_path / "a", "thing", mapped=True)[0]):
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert found[name].tobytes() == array.tobytes()
            assert found[name].flags.aligned


def test_the_order_of_bytes_is_that_of_the_format(tmp_path):
    write_arrays(tmp_path / "a", "thing", {"a": np.arange(3, dtype=">i4")}, {})
    for mapped in (False, True):
        (found,) = read_arrays(tmp_path / "a", "thing", mapped=mapped)[0].values()
        assert found.tolist() == [0, 1, 2]


def test_what_is_mapped_stays_when_the_file_goes(tmp_path, content):
    path = tmp_path / "a"
    path.write_bytes(content)
    arrays, facts = read_arrays(path, "thing", mapped=True)
    assert facts == FACTS
    assert not any(array.flags.owndata or array.flags.writeable for array in arrays.values())
    write_arrays(path, "thing", {"a": np.zeros(9)}, {})
    path.unlink()
    assert arrays["a"].tolist() == ARRAYS["a"].tolist()
    assert pickle.loads(pickle.dumps(arrays))["a"].tolist() == ARRAYS["a"].tolist()


@pytest.mark.parametrize("mapped", [False, True])
@given(st.data())
def test_damage_is_never_believed(tmp_path_factory, content, mapped, data):
    """Change, cut or add bytes anywhere: an error in words, or the very same contents."""
    damaged = bytearray(content)
    how = data.draw(st.sampled_from(["change", "cut", "add"]))
    at = data.draw(st.integers(0, len(damaged) - 1))
    if how == "change":
        damaged[at] ^= data.draw(st.integers(1, 255))
    elif how == "cut":
        del damaged[at:]
    else:
        damaged[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    path = tmp_path_factory.mktemp("damaged") / "a"
    path.write_bytes(damaged)
    try:
        arrays, facts = read_arrays(path, "thing", mapped=mapped)
    except ModelError:
        return
    assert facts == FACTS
    assert all(np.array_equal(arrays[name], ARRAYS[name], equal_nan=name == "b") for name in ARRAYS)


@given(st.binary(max_size=300))
def test_random_bytes_are_refused_in_words(tmp_path_factory, bytes_):
    path = tmp_path_factory.mktemp("random") / "a"
    path.write_bytes(bytes_)
    with raises(ModelError, "damaged-file", path):
        read_arrays(path, "thing")


@pytest.mark.parametrize("text", ["[1]", "{", "[" * 100_000, "1e999999"])
def test_facts_that_are_none_are_refused(tmp_path, text):
    with raises(ModelError, "damaged-file", tmp_path):
        from_json(text, tmp_path)


def test_facts_are_plain_json(content):
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert json.loads(header["__metadata__"]["franchise"])["facts"] == FACTS
