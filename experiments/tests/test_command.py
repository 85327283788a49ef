"""``python -m experiments``: what is typed wrong gets an answer."""

import pytest
from click.testing import CliRunner

from experiments.__main__ import main


def call(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_help_names_the_experiments():
    result = call("--help")
    assert result.exit_code == 0
    assert all(name in result.output for name in ("synthetic", "text", "acceptance", "report", "--full"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["txet"], "Invalid value for 'NAME'"),
        ([], "Missing argument 'NAME'"),
        (["text", "--corpora", "nowhere"], "does not exist"),
        (["text", "--corpus", "nips"], "--corpora FOLDER"),
        (["text", "--jobs", "0"], "--jobs"),
        (["all", "--ful"], "No such option"),
    ],
)
def test_wrong_words_are_refused(arguments, message):
    result = call(*arguments)
    assert result.exit_code != 0
    assert message in result.output


def test_a_report_needs_tables(tmp_path):
    result = call("report", "--results", tmp_path)
    assert result.exit_code == 1
    assert "run `synthetic` or `text` first" in result.output


def test_corpora_are_looked_for_before_anything_is_run(tmp_path):
    result = call("all", "--full", "--results", tmp_path / "a", "--runs", tmp_path / "b")
    assert result.exit_code == 1
    assert "there is no corpus 'mlir'" in result.output
    assert not (tmp_path / "b").exists()


def test_nothing_finished_is_said(tmp_path):
    result = call("text", "--finished", "--results", tmp_path / "a", "--runs", tmp_path / "b")
    assert result.exit_code == 1
    assert "no round of text has ended yet" in result.output
    assert not (tmp_path / "a").exists()
