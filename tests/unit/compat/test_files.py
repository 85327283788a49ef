"""The program's files come out as it wrote them, to the byte; damage is seen and said."""

import struct

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from franchise.compat.files import (
    read_bin,
    write_assignments,
    write_bin,
    write_state,
    write_topics,
)
from franchise.compat.saved import SavedModel, SavedState, saved_state
from franchise.errors import ModelError
from franchise.model import empty_state
from franchise.model.seating import seat_all
from franchise.model.state import ALPHA, ETA, GAMMA
from tests.raising import raises
from tests.reference.franchise import corpus_of
from tests.unit.compat.recompute import read_files

ENDINGS = ("-topics.dat", "-word-assignments.dat", ".bin")
HEADER = 40


@pytest.fixture
def model():
    counts = np.array([[3, 0, 2, 1], [0, 0, 0, 4], [0, 0, 0, 0], [7, 1, 0, 0]], np.int32)
    return SavedModel(
        topic_terms=sp.csr_array(counts), m_k=np.array([2, 3, 0, 8]), alpha=0.7, gamma=2.5, eta=0.1
    )


@pytest.fixture
def small(tmp_path, model):
    """Return the path of a binary file of four topics, one of them empty."""
    path = tmp_path / "small.bin"
    write_bin(path, model)
    return path


@pytest.mark.parametrize("name", ["00020", "test-00010"])
def test_a_state_of_the_program_is_written_as_the_program_wrote_it(program, tmp_path, name):
    model, assignments = read_bin(program / f"{name}.bin"), read_files(program, name).rows
    write_state(tmp_path, name, SavedState(model=model, assignments=assignments))
    for ending in ENDINGS:
        assert (tmp_path / (name + ending)).read_bytes() == (program / (name + ending)).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(name + ending for ending in ENDINGS)


def test_what_the_program_saved_is_understood(program):
    model = read_bin(program / "00020.bin")
    assert (model.n_topics, model.n_terms, model.n_k.sum(), model.m_k.sum()) == (21, 1143, 2960, 95)
    assert (round(model.gamma, 5), round(model.alpha, 5), model.eta) == (4.58334, 0.14247, 0.5)


def test_a_model_becomes_a_draw_largest_topic_first_without_the_empty_one(small):
    draw = read_bin(small).as_draw()
    assert draw.names.tolist() == [3, 0, 1]
    assert draw.topic_terms.toarray().tolist() == [[7, 1, 0, 0], [3, 0, 2, 1], [0, 0, 0, 4]]
    assert draw.m_k.tolist() == [8, 2, 3]
    assert draw.concentrations[[ALPHA, GAMMA, ETA]].tolist() == [0.7, 2.5, 0.1]
    assert draw.document_topics.shape == (0, 3)


def test_a_state_is_gathered_topics_by_birth():
    corpus = corpus_of([[0, 1], [2, 2, 0], [], [1]], 3).arrays
    state = empty_state(corpus)
    state.t_ji[:] = [0, 0, 1, 0, 1, 0]
    state.k_jt[[0, 2, 3, 5]] = [1, 0, 1, 2]
    seat_all(corpus, state, 3)
    state.name_k[:3] = [8, 3, 5]  # topic 1 was born first, then 2, then 0
    state.concentrations[[ALPHA, GAMMA, ETA]] = 0.7, 2.5, 0.1
    saved = saved_state(corpus, state)
    assert saved.model.topic_terms.toarray().tolist() == [[2, 1, 1], [0, 1, 0], [0, 0, 1]]
    assert saved.model.m_k.tolist() == [2, 1, 1]
    assert (saved.model.alpha, saved.model.gamma, saved.model.eta) == (0.7, 2.5, 0.1)
    rows = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 2, 0, 1], [1, 2, 2, 0], [1, 0, 0, 1], [3, 1, 1, 0]]
    assert saved.assignments.tolist() == rows
    later = saved_state(corpus, state, first_document=1)
    assert later.assignments.tolist() == [[d - 1, *rest] for d, *rest in rows if d >= 1]
    assert later.model.topic_terms.toarray().tolist() == saved.model.topic_terms.toarray().tolist()


# ---------------------------------------------------------------- topics


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 2**31 - 1), min_size=n, max_size=n), min_size=1, max_size=3
        )
    )
)
@example([[0, 9, 10, 99_999, 100_000], [1, 0, 0, 0, 2**31 - 1]])
def test_topics_are_as_printf_writes_them(tmp_path, counts):
    path = tmp_path / "topics.dat"
    write_topics(path, sp.csr_array(np.array(counts, np.int32)))
    assert path.read_text() == "".join("".join(f"{n:05d} " for n in row) + "\n" for row in counts)


# ---------------------------------------------------------------- word assignments


def test_assignments_are_as_printf_writes_them(tmp_path, monkeypatch):
    monkeypatch.setattr("franchise.compat.files._ROWS_A_PIECE", 2)
    rows = [[0, 7, 3, 0], [5, 100_000, 12, 1], [5, 2, 12, 1], [5, 2, 0, 0], [6, 0, 0, 0]]
    path = tmp_path / "assignments.dat"
    write_assignments(path, np.array(rows))
    assert path.read_text() == "d w z t\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows)


# ---------------------------------------------------------------- binary


def test_the_binary_file_is_laid_out_as_the_program_does(small):
    expected = struct.pack("<4i3d", 4, 18, 4, 13, 0.1, 2.5, 0.7)
    expected += struct.pack("<6i", 2, 6, 3, 0, 2, 1) + struct.pack("<6i", 3, 4, 0, 0, 0, 4)
    expected += struct.pack("<6i", 0, 0, 0, 0, 0, 0) + struct.pack("<6i", 8, 8, 7, 1, 0, 0)
    assert small.read_bytes() == expected


def test_a_binary_file_is_refused_wherever_a_count_is_changed(small):
    content = small.read_bytes()
    for at in [*range(0, 16, 4), *range(HEADER, len(content), 4)]:
        (value,) = struct.unpack_from("<i", content, at)
        for other in (value + 1, value - 1, -1, 2**31 - 1):
            if other != value:
                small.write_bytes(content[:at] + struct.pack("<i", other) + content[at + 4 :])
                with raises(ModelError, "damaged-file", "small.bin: "):
                    read_bin(small)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize(("at", "name"), [(16, "eta"), (24, "gamma"), (32, "alpha")])
def test_a_binary_file_is_refused_when_a_concentration_is_impossible(small, at, name, value):
    content = small.read_bytes()
    small.write_bytes(content[:at] + struct.pack("<d", value) + content[at + 8 :])
    with raises(ModelError, "damaged-file", f"{name} is {value}"):
        read_bin(small)


def test_a_binary_file_of_any_other_length_is_refused(small):
    content = small.read_bytes()
    for other in [*(content[:n] for n in range(len(content))), content + b"\0"]:
        small.write_bytes(other)
        with raises(ModelError, "damaged-file", "bytes"):
            read_bin(small)


@pytest.mark.parametrize(
    ("m_k", "facts"),
    [([2, 5, 0, 8], ["topic 1", "more tables than words"]), ([2, 3, 0, 0], ["topic 3", "no table"])],
)
def test_tables_must_fit_the_words(tmp_path, model, m_k, facts):
    path = tmp_path / "m.bin"
    write_bin(
        path, SavedModel(topic_terms=model.topic_terms, m_k=np.array(m_k), alpha=1.0, gamma=1.0, eta=1.0)
    )
    with raises(ModelError, "damaged-file", path, *facts):
        read_bin(path)


def test_a_missing_file_and_a_folder_are_said(tmp_path):
    with raises(ModelError, "no-such-file", "mode.bin"):
        read_bin(tmp_path / "mode.bin")
    with raises(ModelError, "cannot-read", tmp_path):
        read_bin(tmp_path)
    with pytest.raises(ModelError, match="cannot write it"):
        write_assignments(tmp_path, np.zeros((1, 4), int))  # a folder
