"""Files of rows that only grow."""

import numpy as np
import pytest

from franchise.errors import ModelError
from franchise.storage.rows import RowFile, read_rows
from tests.raising import raises

ROWS = np.arange(24, dtype=float).reshape(8, 3)


def test_rows_are_added_and_read(tmp_path):
    file = RowFile(tmp_path / "x.rows")
    for first, end in ((0, 2), (2, 2), (2, 7), (7, 8)):
        about = file.add(ROWS[first:end])
        assert read_rows(file.path, about).tolist() == ROWS[:end].tolist()


def test_what_is_there_is_not_written_again(tmp_path):
    path = tmp_path / "x.rows"
    RowFile(path).add(ROWS[:5])
    inode, before = path.stat().st_ino, path.stat().st_mtime_ns
    RowFile(path).add(ROWS[:5])
    RowFile(path).add(ROWS[:4])  # rows behind those that count do no harm
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (inode, before)
    again = RowFile(path)
    about = again.add(ROWS[:7])
    assert path.stat().st_ino == inode
    assert read_rows(path, about).tolist() == ROWS[:7].tolist()


def test_rows_left_by_a_run_that_was_killed_are_written_over(tmp_path):
    path = tmp_path / "x.rows"
    RowFile(path).add(np.vstack([ROWS[:3], -ROWS[:4]]))
    with open(path, "ab") as file:
        file.write(b"half a row")
    file = RowFile(path)
    file.add(ROWS[:3])
    assert read_rows(path, file.add(ROWS[3:])).tolist() == ROWS.tolist()


def test_other_rows_take_the_place_of_those_there(tmp_path):
    path = tmp_path / "x.rows"
    RowFile(path).add(-ROWS)
    assert read_rows(path, RowFile(path).add(ROWS[:2])).tolist() == ROWS[:2].tolist()


def test_an_empty_file_of_rows(tmp_path):
    file = RowFile(tmp_path / "deep" / "x.rows")
    assert read_rows(file.path, file.add(np.zeros((0, 4)))).shape == (0, 4)


@pytest.mark.parametrize("harm", ["cut", "change", "remove"])
def test_damage_is_seen(tmp_path, harm):
    path = tmp_path / "x.rows"
    about = RowFile(path).add(ROWS)
    content = path.read_bytes()
    if harm == "remove":
        path.unlink()
    else:
        path.write_bytes(content[:-1] if harm == "cut" else b"\1" + content[1:])
    with raises(ModelError, "cannot-read" if harm == "remove" else "damaged-file", path):
        read_rows(path, about)


def test_rows_that_are_added_again_after_an_error_are_counted_once(tmp_path):
    class Struck:
        """Rows whose number cannot be found."""

        def __array__(self, dtype=None, copy=None):
            return np.ones((2, 3))

        def __len__(self):
            raise MemoryError

    file = RowFile(tmp_path / "a.rows")
    file.add(np.zeros((1, 3)))
    with pytest.raises(MemoryError):
        file.add(Struck())
    about = file.add(np.ones((2, 3)))
    assert read_rows(tmp_path / "a.rows", about).tolist() == [[0.0] * 3, [1.0] * 3, [1.0] * 3]
