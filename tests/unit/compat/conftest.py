"""The files of the paper's program, as it wrote them."""

import gzip
import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "data" / "compat"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """Return a folder with everything that the program read and wrote, under its own names."""
    folder = tmp_path_factory.mktemp("program")
    for path in DATA.iterdir():
        if path.suffix == ".gz":
            (folder / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        else:
            shutil.copy(path, folder)
    return folder
