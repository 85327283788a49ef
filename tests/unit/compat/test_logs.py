import pytest

from franchise.compat.logs import HeldOutLine, TrainLine, format_line, log_file, read_test_log, read_train_log
from franchise.errors import ModelError
from tests.raising import raises

TRAIN = TrainLine(1234.567, 123_456, 9, 100_000, -20648.175394, 4.5, 0.1424651, 2, 1, 15)


def test_the_logs_of_the_program_are_written_as_it_wrote_them(program, tmp_path):
    for name, kind, read in (
        ("state.log", TrainLine, read_train_log),
        ("test.log", HeldOutLine, read_test_log),
    ):
        lines = read(program / name)
        with log_file(tmp_path / name, kind) as add:
            for line in lines:
                add(line)
        assert (tmp_path / name).read_bytes() == (program / name).read_bytes()


def test_what_the_program_logged_is_understood(program):
    lines = read_train_log(program / "state.log")
    assert lines[0] == TrainLine(0.0, 0, 12, 269, -23314.10665, 1.08558, 1.18020, 2, 0, 15)
    assert [line.iteration for line in lines] == list(range(21))
    assert read_test_log(program / "test.log")[10] == HeldOutLine(0.0, 10, 22, 116, -3404.89499)


def test_numbers_are_as_printf_writes_them():
    assert format_line(TRAIN) == " 1234.57 123456 0009 100000 -20648.17539 4.50000 0.14247 2 1 15"
    assert format_line(HeldOutLine(*TRAIN[:5])) == " 1234.57 123456 0009 100000 -20648.17539"


def test_a_line_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "state.log"
    with log_file(path, TrainLine) as add:
        assert read_train_log(path) == []
        add(TRAIN)
        assert len(read_train_log(path)) == 1


@pytest.mark.parametrize(
    ("change", "code", "facts"),
    [
        (lambda text: "", "unknown-format", [":1: "]),
        (lambda text: text.replace(" trial", ""), "unknown-format", [":1: "]),
        (lambda text: text[:-1], "file-cut-short", [":22: "]),
        (
            lambda text: text.replace("-22739.42244", "nan"),
            "bad-line",
            [":5: ", "'    0.00 00003 0015 00216 nan"],
        ),
        (lambda text: text.replace("00216", "216"), "bad-line", [":5: ", "'    0.00 00003 0015 216"]),
        (lambda text: text.replace("0.79615 0 0 0", "0.79615 0 0"), "bad-line", [":5: "]),
        (lambda text: text.replace("\n", "\n\n", 3), "bad-line", [":2: ''"]),
        (lambda text: text.replace("0.7", "0,7", 1), "bad-line", [":4: "]),
        (lambda text: text + "é\n", "cannot-read", [": "]),
    ],
)
def test_logs_that_are_none_are_refused(program, tmp_path, change, code, facts):
    path = tmp_path / "state.log"
    path.write_text(change((program / "state.log").read_text()), encoding="utf-8")
    with raises(ModelError, code, f"{path}{facts[0]}", *facts[1:]):
        read_train_log(path)


def test_a_missing_log_and_one_that_cannot_be_written_are_said(tmp_path):
    with raises(ModelError, "cannot-read", tmp_path / "test.log"):
        read_test_log(tmp_path / "test.log")
    with (
        pytest.raises(ModelError, match="cannot write it"),
        log_file(tmp_path / "no" / "test.log", HeldOutLine),
    ):
        pass
