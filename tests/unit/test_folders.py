"""Locks: one process writes at a time, also where the file system has none; a dead one blocks no other."""

import errno
import os
import subprocess
import sys

import pytest

from franchise._folders import locked, locked_name, put_back, writing_in
from franchise.corpus import open_shards, shard
from franchise.errors import ModelError
from tests.raising import raises

# Waits with the lock of a folder until its standard input ends.
HOLD = """
import errno, fcntl, socket, sys
from pathlib import Path
from franchise._folders import locked_name

def flock(*_):
    raise OSError(errno.ENOSYS, "Function not implemented")

fcntl.flock = flock
socket.gethostname = lambda: sys.argv[2]
with locked_name(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def without_flock(monkeypatch, number=errno.ENOSYS):
    """Be on a file system that has no locks."""
    fcntl = pytest.importorskip("fcntl")

    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.fixture(params=["locks", "no locks"])
def _both_kinds(request, monkeypatch):
    if request.param == "no locks":
        without_flock(monkeypatch)


@pytest.mark.usefixtures("_both_kinds")
def test_one_at_a_time_has_a_name(tmp_path):
    with locked_name(tmp_path / "model"):
        for same in (tmp_path / "model", tmp_path / "x" / ".." / "model"):
            with raises(ModelError, "locked", tmp_path / "model"), locked_name(same):
                pass
        with locked_name(tmp_path / "other"):
            pass
    with locked_name(tmp_path / "model"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_both_kinds")
def test_one_at_a_time_writes_in_a_folder(tmp_path):
    with locked(tmp_path / "model"), raises(ModelError, "locked", tmp_path), locked(tmp_path / "model"):
        pass
    with locked(tmp_path / "model"):
        pass
    assert [path.name for path in (tmp_path / "model").iterdir()] == [".lock"]


@pytest.mark.unix
@pytest.mark.parametrize("number", [errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES])
def test_a_lock_that_is_taken_is_no_missing_lock(tmp_path, monkeypatch, number):
    without_flock(monkeypatch, number)
    with raises(ModelError, "locked", tmp_path), locked(tmp_path):
        pass


@pytest.mark.unix
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK, errno.EINVAL])
def test_folders_are_written_where_the_file_system_has_no_locks(tmp_path, monkeypatch, number):
    without_flock(monkeypatch, number)
    for words in (["ant", "bee"], ["cat"]):
        shard([words], tmp_path / "shards", overwrite=True)
        assert open_shards(tmp_path / "shards").vocabulary == tuple(words)
    assert [path.name for path in tmp_path.iterdir()] == ["shards"]


@pytest.mark.unix
def test_a_lock_that_was_replaced_keeps_nobody_away(tmp_path, monkeypatch):
    """A process that opened the lock file of a folder that was then replaced must not continue."""
    fcntl = pytest.importorskip("fcntl")
    flock = fcntl.flock

    def late(file, how):
        (tmp_path / ".lock").unlink(missing_ok=True)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with raises(ModelError, "locked", tmp_path), locked(tmp_path):
        pass


@pytest.mark.unix
@pytest.mark.parametrize("host", ["here", "elsewhere"])
def test_a_killed_process_blocks_nobody_where_there_are_no_locks(tmp_path, monkeypatch, host):
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    without_flock(monkeypatch)
    folder, held = tmp_path / "model", tmp_path / ".model.lock.held"
    command = [sys.executable, "-c", HOLD, str(folder), host]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        with raises(ModelError, "locked", folder), locked_name(folder):
            pass
        process.kill()
    if host == "elsewhere":  # only the time tells that it is dead
        with raises(ModelError, "locked", folder, "120 seconds"), locked_name(folder):
            pass
        long_ago = held.stat().st_mtime - 121
        os.utime(held, (long_ago, long_ago))
    with locked_name(folder):
        assert held.exists()
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- what is left of a replacement


def holds(folder):
    return (folder / "mark").is_file()


def marked(folder, text=""):
    folder.mkdir()
    (folder / "mark").write_text(text)


def test_an_old_folder_gets_its_name_back(tmp_path):
    for name in ("here", "empty"):
        marked(tmp_path / f".{name}.old")
    (tmp_path / "empty").mkdir()
    put_back(tmp_path / "here", holds)
    with writing_in(tmp_path / "empty", holds):
        assert holds(tmp_path / "empty")
    assert holds(tmp_path / "here")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "here"]


def test_the_only_copy_is_never_removed(tmp_path):
    """Something else has got the name meanwhile."""
    marked(tmp_path / ".here.old")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.txt").write_text("mine")
    put_back(tmp_path / "here", holds)
    with writing_in(tmp_path / "here", holds):
        pass
    assert holds(tmp_path / ".here.old")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["mine.txt"]


def test_what_others_have_beside_a_folder_is_not_taken_for_it(tmp_path):
    (tmp_path / ".here.old").mkdir()
    put_back(tmp_path / "here", holds)
    assert [path.name for path in tmp_path.iterdir()] == [".here.old"]


def test_a_replacement_under_way_is_not_touched(tmp_path):
    marked(tmp_path / ".here.old")
    with (
        locked_name(tmp_path / "here"),
        raises(ModelError, "replacement-cut-off", tmp_path / "here", tmp_path / ".here.old"),
    ):
        put_back(tmp_path / "here", holds)
    assert holds(tmp_path / ".here.old")
