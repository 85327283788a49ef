"""The release check sees what is missing, too much or at odds, and finds Pythons.

Building, installing and using what was built takes minutes: that is `make release-check` itself.
"""

import argparse
import os
import sys
from email.parser import Parser
from pathlib import Path

import pytest

from tools import release_check
from tools.release_check import (
    OF_THE_SDIST,
    OF_THE_WHEEL,
    candidates,
    faults_of_metadata,
    faults_of_sdist,
    faults_of_versions,
    faults_of_wheel,
    find_python,
    package_files,
    release_of,
    run,
    versions_in,
)

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = {"franchise/__init__.py", "franchise/data/a.txt.gz"}
WHEEL = PACKAGE | {f"franchise-1.2.dist-info/{name}" for name in OF_THE_WHEEL}
SDIST = {f"franchise-1.2/{name}" for name in OF_THE_SDIST | {f"src/{name}" for name in PACKAGE}}
OWN = ".".join(map(str, sys.version_info[:2]))


# ---------------------------------------------------------------- what is in the files


def test_this_tree_agrees_on_its_version():
    assert faults_of_versions(ROOT) == []


def test_another_version_somewhere_is_named(tmp_path):
    (tmp_path / "src/franchise").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2"\n')
    (tmp_path / "src/franchise/__init__.py").write_text('__version__ = "1.1"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    assert release_of(tmp_path) == "1.2"
    first, second = faults_of_versions(tmp_path)
    assert first == "src/franchise/__init__.py: the version is 1.1, in pyproject.toml it is 1.2"
    assert second.startswith("CHANGELOG.md: the version is none")
    (tmp_path / "CHANGELOG.md").write_text("## Unreleased\n\n## 1.2 - 2030-01-01\n\n## 1.1 - 2029-01-01\n")
    assert faults_of_versions(tmp_path) == [first]


def test_the_package_is_what_people_wrote(tmp_path):
    for name in ("p/a.py", "p/k/b.cuh", "p/py.typed", "p/__pycache__/a.pyc", "p/a.nbi", ".mypy_cache/x.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert package_files(tmp_path) == {"p/a.py", "p/k/b.cuh", "p/py.typed"}


def test_the_package_of_this_tree_has_more_than_code():
    found = package_files(ROOT / "src")
    kinds = {Path(name).suffix or Path(name).name for name in found}
    assert {".py", ".cuh", ".txt", ".gz", ".html", ".js", ".css"} <= kinds
    assert "franchise/py.typed" in found


def test_a_good_wheel_and_a_good_sdist():
    assert faults_of_wheel(WHEEL | {"franchise/data/"}, PACKAGE, "1.2") == []
    assert faults_of_sdist(SDIST | {"franchise-1.2/tests/unit/test_a.py"}, PACKAGE, "1.2") == []


def test_what_a_wheel_lacks_or_should_not_have():
    names = (WHEEL - {"franchise/data/a.txt.gz"}) | {"tests/test_a.py"}
    assert faults_of_wheel(names, PACKAGE, "1.2") == [
        "the wheel lacks franchise/data/a.txt.gz",
        "the wheel should not have tests/test_a.py",
    ]
    assert len(faults_of_wheel(WHEEL, PACKAGE, "1.3")) == 2 * len(OF_THE_WHEEL)


def test_what_an_sdist_lacks_or_should_not_have():
    made = [
        "franchise-1.2/docs/_build/a.html",
        "franchise-1.2/src/franchise/__pycache__/a.pyc",
        "elsewhere/a",
    ]
    faults = faults_of_sdist((SDIST - {"franchise-1.2/Makefile"}) | set(made), PACKAGE, "1.2")
    assert faults == [
        "the sdist lacks Makefile",
        "the sdist should not have docs/_build/a.html",
        "the sdist should not have elsewhere/a",
        "the sdist should not have src/franchise/__pycache__/a.pyc",
    ]


PROJECT = {
    "requires-python": ">=3.11",
    "license": "BSD-3-Clause",
    "dependencies": ["numpy>=2.0", "scipy>=1.11"],
    "optional-dependencies": {"plot": ["matplotlib>=3.8"]},
}
METADATA = """Metadata-Version: 2.4
Name: franchise
Version: 1.2
License-Expression: BSD-3-Clause
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3.11
Classifier: Programming Language :: Python :: 3.12
Classifier: Programming Language :: Python :: 3.13
Classifier: Programming Language :: Python :: 3.14
Requires-Python: >=3.11
Requires-Dist: scipy>=1.11
Requires-Dist: numpy>=2.0
Provides-Extra: plot
Requires-Dist: matplotlib>=3.8; extra == 'plot'

# Text
"""


@pytest.mark.parametrize(
    ("line", "instead", "fault"),
    [
        ("Version: 1.2\n", "Version: 1.1\n", "Version: the wheel says 1.1 instead of 1.2"),
        ("Requires-Python: >=3.11\n", "", "Requires-Python: the wheel says None"),
        ("License-Expression: BSD-3-Clause\n", "", "License-Expression"),
        ("Requires-Dist: numpy>=2.0\n", "", "dependencies"),
        ("Provides-Extra: plot\n", "Provides-Extra: polt\n", "extras"),
        ("Classifier: Programming Language :: Python :: 3.12\n", "", "Pythons among the classifiers"),
    ],
)
def test_metadata(line, instead, fault):
    assert faults_of_metadata(Parser().parsestr(METADATA), PROJECT, "1.2") == []
    assert line in METADATA
    (found,) = faults_of_metadata(Parser().parsestr(METADATA.replace(line, instead)), PROJECT, "1.2")
    assert found.startswith(fault)


# ---------------------------------------------------------------- Pythons


def test_versions_are_read_with_commas_or_blanks():
    assert versions_in("3.11,3.13") == versions_in(" 3.11 3.13 ") == ["3.11", "3.13"]
    with pytest.raises(argparse.ArgumentTypeError, match=r"'3\.10' is none of 3\.11, 3\.12, 3\.13, 3\.14"):
        versions_in("3.11 3.10")


@pytest.mark.unix
def test_a_python_is_asked_before_it_is_believed(tmp_path, monkeypatch):
    """A shim that fails, and a program of that name that is another Python, are passed over."""
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.delenv("UV_PYTHON_INSTALL_DIR", raising=False)
    broken, other, good = (tmp_path / name for name in ("broken", "other", "good"))
    real = Path(sys.executable).absolute()
    for folder, text in (
        (broken, "#!/bin/sh\nexit 127\n"),
        (other, "#!/bin/sh\necho 2.7 final\n"),
        (good, f'#!/bin/sh\nexec "{real}" "$@"\n'),
    ):
        folder.mkdir()
        (folder / f"python{OWN}").write_text(text)
        (folder / f"python{OWN}").chmod(0o755)
    path = os.pathsep.join(map(str, (broken, other, tmp_path / "nowhere", good)))
    assert find_python(OWN, path, tmp_path) == [str(good / f"python{OWN}")]
    assert find_python(OWN, str(broken), tmp_path) is None


@pytest.mark.unix
def test_pyenv_and_uv_are_looked_at_newest_first(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    folders = [
        "pyenv/versions/3.12.9",
        "pyenv/versions/3.12.10",
        "pyenv/versions/3.1.2",
        "uv/cpython-3.12.1-linux",
    ]
    for folder in folders:
        (tmp_path / folder / "bin").mkdir(parents=True)
        (tmp_path / folder / "bin/python").write_text("")
    found = [Path(*command).relative_to(tmp_path).parts[-3] for command in candidates("3.12", "", tmp_path)]
    assert found == ["3.12.10", "3.12.9", "cpython-3.12.1-linux"]


# ---------------------------------------------------------------- doing it


def test_a_command_that_fails_is_told_with_what_it_said():
    code = "import sys; print('so it is'); sys.exit(3)"
    with pytest.raises(release_check.Failed, match=r"trying failed: (?s:.*)so it is"):
        run([sys.executable, "-c", code], "trying")
    assert run([sys.executable, "-c", "print(1)"], "trying") == "1\n"


def test_a_failed_check_ends_in_words_and_with_1(monkeypatch, capsys):
    def build(root):
        raise release_check.Failed("building failed: no compiler")

    monkeypatch.setattr(release_check, "build", build)
    assert release_check.main(["--pythons", OWN]) == 1
    assert capsys.readouterr().err == "release check: building failed: no compiler\n"


def test_a_release_is_not_called_good_if_no_python_was_there(monkeypatch, capsys):
    monkeypatch.setattr(release_check, "build", lambda root: (Path("s"), Path("w")))
    monkeypatch.setattr(release_check, "look_into", lambda *files: None)
    monkeypatch.setattr(release_check, "find_python", lambda version: None)
    assert release_check.main([]) == 1
    said = capsys.readouterr()
    assert "Python 3.14: left out, there is none here" in said.out
    assert "the wheel was not used" in said.err
