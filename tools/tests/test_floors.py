"""The floors of pyproject.toml as constraints for pip."""

import pytest

from tools.floors import floors

PROJECT = """
[project]
dependencies = ["numpy>=2.0", "numba>=0.60,<0.69"]

[project.optional-dependencies]
gpu = ["cupy-cuda12x[ctk]>=14"]
dev = ["franchise[gpu]", "pytest>=8.0"]
"""


def test_floors_are_those_of_what_users_install(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    expected = {"numpy": "2.0", "numba": "0.60", "cupy-cuda12x": "14"}
    assert floors(tmp_path / "pyproject.toml") == expected


def test_our_own_dependencies_have_floors():
    assert {"numpy", "numba", "scipy", "pyarrow"} <= floors().keys()


def test_a_dependency_without_a_floor_is_named(tmp_path):
    (tmp_path / "pyproject.toml").write_text(PROJECT.replace("numpy>=2.0", "numpy<3"))
    with pytest.raises(SystemExit, match="numpy<3"):
        floors(tmp_path / "pyproject.toml")
