import pytest

from franchise.compat.logs import HeldOutLine, TrainLine, format_line, log_file
from franchise.errors import ModelError
from tests.unit.compat.recompute import read_state_log, read_test_log

TRAIN = TrainLine(1234.567, 123_456, 9, 100_000, -20648.175394, 4.5, 0.1424651, 2, 1, 15)


def test_the_logs_of_the_program_are_written_as_it_wrote_them(program, tmp_path):
    for name, kind, read in (
        ("state.log", TrainLine, read_state_log),
        ("test.log", HeldOutLine, read_test_log),
    ):
        lines = read(program)
        with log_file(tmp_path / name, kind) as add:
            for line in lines:
                add(line)
        assert (tmp_path / name).read_bytes() == (program / name).read_bytes()


def test_what_the_program_logged_is_understood(program):
    lines = read_state_log(program)
    assert lines[0] == TrainLine(0.0, 0, 12, 269, -23314.10665, 1.08558, 1.18020, 2, 0, 15)
    assert [line.iteration for line in lines] == list(range(21))
    assert read_test_log(program)[10] == HeldOutLine(0.0, 10, 22, 116, -3404.89499)


def test_numbers_are_as_printf_writes_them():
    assert format_line(TRAIN) == " 1234.57 123456 0009 100000 -20648.17539 4.50000 0.14247 2 1 15"
    assert format_line(HeldOutLine(*TRAIN[:5])) == " 1234.57 123456 0009 100000 -20648.17539"


def test_a_line_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "state.log"
    with log_file(path, TrainLine) as add:
        assert len(path.read_text().splitlines()) == 1
        add(TRAIN)
        assert path.read_text().splitlines()[1:] == [format_line(TRAIN)]


def test_a_log_that_cannot_be_written_is_said(tmp_path):
    with (
        pytest.raises(ModelError, match="cannot write it"),
        log_file(tmp_path / "no" / "test.log", HeldOutLine),
    ):
        pass
