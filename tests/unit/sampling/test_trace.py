import numpy as np
import pytest

from tests.golden.fingerprint import fixed_chain

pytestmark = pytest.mark.nojit

COMMON = (
    "sweep",
    "n_topics",
    "n_tables",
    "log_p_tables",
    "log_p_topics",
    "log_p_words",
    "log_joint",
    "log_prior",
    "alpha",
    "gamma",
    "eta",
    "seconds",
)


@pytest.fixture
def trace():
    chain = fixed_chain()
    chain.run(4)
    return chain.trace


def test_columns_are_the_common_ones_then_those_of_the_moves(trace):
    columns = trace.columns
    assert columns[: len(COMMON)] == COMMON
    moves = {name.partition(".")[0] for name in columns[len(COMMON) :]}
    assert moves == {"word_tables", "table_topics", "split_merge", "concentrations"}
    assert not any(name.endswith(".complete") for name in columns)


def test_a_trace_without_moves_has_the_common_columns():
    chain = fixed_chain()
    assert chain.trace.columns == COMMON
    chain.start()
    assert chain.trace.columns == COMMON


def test_every_column_is_as_long_as_the_trace(trace):
    assert len(trace) == 5
    assert {trace[name].shape for name in trace.columns} == {(5,)}


def test_numbers_are_finite_but_for_moves_not_made_at_the_start(trace):
    for name in trace.columns:
        rows = trace[name] if name in COMMON else trace[name][1:]
        assert np.all(np.isfinite(rows)), name


def test_time_passes(trace):
    assert np.all(trace["seconds"] > 0)


def test_an_unknown_column_is_named_beside_the_known_ones(trace):
    with pytest.raises(KeyError, match="'n_topic' is not in the trace; it has sweep, n_topics, "):
        trace["n_topic"]


def test_changing_the_last_row_does_not_change_the_trace(trace):
    trace.last["n_topics"] = -1
    assert trace["n_topics"][-1] > 0
