import io
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, _progress, cli
from franchise._progress import Bar, advance


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")


def work(bar):
    with bar, ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(copy_context().run, advance, 5) for _ in range(4)]:
            future.result()


@pytest.mark.usefixtures("at_once")
def test_a_bar_on_a_terminal_counts_what_threads_do():
    stream = Terminal()
    bar = Bar("inferring", 20, stream=stream)
    work(bar)
    assert "inferring" in stream.getvalue()
    assert "100%" in stream.getvalue()
    assert not bar._bar.live.is_started
    advance()  # of nothing


@pytest.mark.usefixtures("at_once")
def test_a_bar_that_learns_how_much_there_is():
    stream = Terminal()
    with Bar("inferring", stream=stream) as bar:
        bar.update(None, 40, "inferring (2 read)")
        bar.advance(10)
        bar.update(None, 20, "inferring (4 read)")
    assert "inferring (4 read)" in stream.getvalue()
    assert "50%" in stream.getvalue()


@pytest.mark.usefixtures("at_once")
def test_what_is_printed_meanwhile_is_not_the_bar_s(capsys):
    with Bar("inferring", 2, stream=Terminal()) as bar:
        bar.advance()
        print("a row")
    assert capsys.readouterr().out == "a row\n"


@pytest.mark.usefixtures("at_once")
def test_a_bar_of_bytes():
    stream = Terminal()
    with Bar("reading a.txt", in_bytes=True, stream=stream) as bar:
        bar.update(500, 2000, "reading a.txt")
        bar.update(2000, 2000, "sorting a.txt")
    assert "sorting a.txt" in stream.getvalue()
    assert "2.0/2.0 kB" in stream.getvalue()


def test_quick_work_shows_no_bar():
    stream = Terminal()
    work(Bar("inferring", 20, stream=stream))
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_nothing_is_shown_elsewhere():
    stream = io.StringIO()
    work(Bar("inferring", 20, stream=stream))
    work(Bar("inferring", 20, verbose=0, stream=Terminal()))
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_a_display_that_fails_stops_nothing():
    stream = Terminal()
    stream.close()
    bar = Bar("inferring", 20, stream=stream)
    work(bar)
    bar.note("a line")


def interrupt_within(bar):
    with bar:
        advance()
        raise KeyboardInterrupt


@pytest.mark.usefixtures("at_once")
def test_ctrl_c_goes_through_and_leaves_no_bar():
    bar = Bar("inferring", 20, stream=Terminal())
    with pytest.raises(KeyboardInterrupt):
        interrupt_within(bar)
    assert not bar._bar.live.is_started


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    (path / "new.txt").write_text("cat dog\nbank money bank\n" * 20)
    texts = ["the dog chased a cat", "a bank lent money to a bank"] * 25
    HDPTopicModel(sweeps=20, chains=2, random_state=0, verbose=0).fit(texts).save(path / "m")
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["infer", "m", "new.txt"],
        ["evaluate", "m", "new.txt"],
        ["evaluate", "m", "new.txt", "--by-chain"],
        ["evaluate", "m", "new.txt", "--method", "left-to-right"],
        ["report", "m"],
    ],
)
def test_commands_count_all_that_they_do(folder, monkeypatch, command):
    steps = {"all": 0, "done": 0}

    class Counting(Bar):
        def __init__(self, what, total=None, **options):
            super().__init__(what, total, **options)
            if what != "reading new.txt":
                steps["all"] = total

        def update(self, done, total, what):
            if what.startswith("inferring ("):
                steps["all"] = total

        def advance(self, number=1):
            steps["done"] += number

    monkeypatch.setattr(_progress, "Bar", Counting)
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli.main, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert steps["all"] == steps["done"] > 2
