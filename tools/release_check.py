"""Build what would be released, look into it, and use it where nothing else of the project is.

    make release-check                              in an environment with build and twine
    python tools/release_check.py --pythons 3.12    for one Python only
    python tools/release_check.py --no-demo         without the demo, which takes a minute for each Python

1. sdist and wheel are built, the wheel out of the sdist, into dist/.
2. Their metadata are checked by twine; versions agree everywhere; the changelog has the version.
3. The wheel holds every file of src/franchise, and nothing else; the sdist what its users need to test it.
4. For each Python from 3.11 on that is found here: a new environment, the wheel, the smoke test
   (tools/release_smoke.py), and the demo, all in an empty folder. A Python that is not found is named.

Pythons are looked for by name on the PATH, in the folders of pyenv and uv, and by Windows' launcher.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SMOKE = ROOT / "tools" / "release_smoke.py"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# What an sdist must have beside the package: to build it, to test it, to know what it is.
OF_THE_SDIST = {
    "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "README.md", "PKG-INFO", "constraints.txt",
    "pyproject.toml", "conftest.py", "tools/release_check.py",
}  # fmt: skip
OF_THE_WHEEL = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
# Made by running the code, not written by people.
MADE = re.compile(
    r"(^|/)(__pycache__|_build|\.[^/]*cache|\.venv|\.git|\.hypothesis)/|\.(pyc|pyo|nbi|nbc|so|DS_Store)$"
)


class Failed(Exception):
    """A check that did not pass, in words."""


# ---------------------------------------------------------------- what is in the files


def package_files(src: Path) -> set[str]:
    """Return the files below a folder that people wrote, as a wheel names them."""
    names = (path.relative_to(src).as_posix() for path in src.rglob("*") if path.is_file())
    return {name for name in names if not MADE.search(name)}


def faults_of_wheel(names: Iterable[str], package: set[str], release: str) -> list[str]:
    """Compare the names in a wheel with the package's files; say what is missing and what is too much."""
    expected = package | {f"franchise-{release}.dist-info/{name}" for name in OF_THE_WHEEL}
    return list(_differences("the wheel", {name for name in names if not name.endswith("/")}, expected))


def faults_of_sdist(names: Iterable[str], package: set[str], release: str) -> list[str]:
    """Say what an sdist lacks, and what it should not have."""
    top = f"franchise-{release}/"
    found = {name.removeprefix(top) for name in names}
    expected = OF_THE_SDIST | {f"src/{name}" for name in package}
    made = {name for name in found if MADE.search(name)}
    outside = {name for name in names if not name.startswith(top)}
    return list(_differences("the sdist", (found & expected) | made | outside, expected))


def _differences(what: str, found: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{what} lacks {name}" for name in sorted(expected - found))
    yield from (f"{what} should not have {name}" for name in sorted(found - expected))


def faults_of_metadata(metadata: Message, project: dict, release: str) -> list[str]:  # type: ignore[type-arg]
    """Compare the metadata of a wheel with what pyproject.toml says."""
    classifiers = metadata.get_all("Classifier", [])
    listed = {c.rpartition(" ")[2] for c in classifiers if re.search(r":: Python :: \d+\.\d+$", c)}
    needed = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    expected = {
        "Version": (metadata["Version"], release),
        "Requires-Python": (metadata["Requires-Python"], project["requires-python"]),
        "License-Expression": (metadata["License-Expression"], project["license"]),
        "Pythons among the classifiers": (sorted(listed), sorted(PYTHONS)),
        "dependencies": (sorted(map(_plain, needed)), sorted(map(_plain, project["dependencies"]))),
        "extras": (sorted(metadata.get_all("Provides-Extra", [])), sorted(project["optional-dependencies"])),
    }
    return [
        f"{name}: the wheel says {is_} instead of {due}"
        for name, (is_, due) in expected.items()
        if is_ != due
    ]


def _plain(requirement: str) -> str:
    return requirement.replace(" ", "").lower()


def faults_of_versions(root: Path) -> list[str]:
    """Say where another version stands than in pyproject.toml, and whether the changelog lacks it."""
    release = release_of(root)
    said = {
        "src/franchise/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "CHANGELOG.md": r"^## (\d\S*)",  # the newest one stands first
    }
    faults = []
    for name, pattern in said.items():
        found = re.search(pattern, (root / name).read_text("utf-8"), re.MULTILINE)
        version = found.group(1).strip("[]") if found else "none"
        if version != release:
            faults.append(f"{name}: the version is {version}, in pyproject.toml it is {release}")
    return faults


def release_of(root: Path) -> str:
    """Return the version in pyproject.toml."""
    return str(_project(root)["version"])


def _project(root: Path) -> dict:  # type: ignore[type-arg]
    return dict(tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"])


# ---------------------------------------------------------------- Pythons


def candidates(version: str, path: str, home: Path) -> Iterator[list[str]]:
    """Name the commands that may be a Python of a version, in the order in which they are tried."""
    names = (f"python{version}", "python3", "python") if os.name != "nt" else ("python",)
    for name in names:
        for folder in path.split(os.pathsep):  # all of them: the first may be a shim that does not work
            if folder and (found := shutil.which(name, path=folder)):
                yield [found]
    ends = "python.exe" if os.name == "nt" else "bin/python"
    pyenv = Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python"))
    for folder, start in ((pyenv, ""), (uv, "cpython-")):
        # The newest patch first; "3.1" is not the beginning of "3.11".
        for found in sorted(folder.glob(f"{start}{version}.*/{ends}"), key=_by_numbers, reverse=True):
            yield [str(found)]
    if os.name == "nt" and (launcher := shutil.which("py", path=path)):
        yield [launcher, f"-{version}"]


def _by_numbers(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.as_posix())]


def is_python(command: Sequence[str], version: str) -> bool:
    """Ask a command whether it is a Python of this version that can make environments."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2], sys.version_info[3])"
    try:
        done = subprocess.run(
            [*command, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split() == [version, "final"]


def find_python(version: str, path: str | None = None, home: Path | None = None) -> list[str] | None:
    """Return the command of a Python of this version; none if there is none here."""
    if path is None:
        path = os.environ.get("PATH", "")
    tried = candidates(version, path, home or Path.home())
    return next((command for command in tried if is_python(command, version)), None)


def versions_in(text: str) -> list[str]:
    """Read versions separated by commas or blanks; refuse those that are not released for."""
    versions = re.split(r"[,\s]+", text.strip())
    wrong = [version for version in versions if version not in PYTHONS]
    if wrong:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(PYTHONS)}")
    return versions


# ---------------------------------------------------------------- doing it


def run(command: Sequence[object], what: str, **options: object) -> str:
    """Run a command in silence; raise, with what it said, if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )  # type: ignore[call-overload]
    if done.returncode != 0:
        raise Failed(f"{what} failed: {' '.join(words)}\n{done.stdout[-4000:]}")
    return str(done.stdout)


def build(root: Path) -> tuple[Path, Path]:
    """Build sdist and wheel into an empty dist/; return both."""
    dist = root / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", dist, root], "building")
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return sdist, wheel


def look_into(sdist: Path, wheel: Path, root: Path) -> None:
    """Check names, versions and metadata of what was built."""
    run([sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], "twine check")
    release, package = release_of(root), package_files(root / "src")
    with tarfile.open(sdist) as tar:
        in_sdist = [member.name for member in tar.getmembers() if member.isfile()]
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = archive.namelist()
        text = archive.read(f"franchise-{release}.dist-info/METADATA").decode("utf-8")
    faults = [
        *faults_of_versions(root),
        *faults_of_wheel(in_wheel, package, release),
        *faults_of_sdist(in_sdist, package, release),
        *faults_of_metadata(Parser().parsestr(text), _project(root), release),
    ]
    if faults:
        raise Failed("\n".join(faults))
    for path, names in ((sdist, in_sdist), (wheel, in_wheel)):
        say(f"  {path.name}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB")


def use(python: Sequence[str], wheel: Path, release: str, demo: bool) -> None:
    """Install the wheel in a new environment and use it in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="franchise-release-") as name:
        folder = Path(name)
        run([*python, "-m", "venv", folder / "environment"], "making an environment")
        scripts = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        (folder / "empty").mkdir()
        quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Nothing of this tree may be found: -I ignores PYTHONPATH and the folder of the script.
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_"))
        }
        here = {"cwd": folder / "empty", "env": clean}
        run([scripts / "python", *quiet, wheel], "installing the wheel", **here)
        run([scripts / "python", "-m", "pip", "check"], "pip check", **here)
        timed("  smoke test", [scripts / "python", "-I", SMOKE, release], **here)
        if demo:
            run([scripts / "python", *quiet, f"{wheel}[report]"], "installing franchise[report]", **here)
            timed("  demo", [scripts / "franchise", "demo", "--quiet"], **here)
            made = folder / "empty" / "franchise-demo"
            if not (made / "report.html").is_file() or not (made / "model.json").is_file():
                raise Failed(f"the demo left no model with a report: {sorted(os.listdir(made))}")


def timed(what: str, command: Sequence[object], **options: object) -> None:
    began = time.monotonic()
    run(command, what.strip(), **options)
    say(f"{what}: passed in {time.monotonic() - began:.0f} s")


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build what would be released, look into it, and use it.")
    parser.add_argument("--pythons", type=versions_in, default=list(PYTHONS), help="such as 3.11,3.13")
    parser.add_argument("--no-demo", action="store_true", help="leave out the demo")
    options = parser.parse_args(arguments)
    release = release_of(ROOT)
    used, left_out = [], []
    try:
        say(f"franchise {release}")
        sdist, wheel = build(ROOT)
        look_into(sdist, wheel, ROOT)
        for version in options.pythons:
            python = find_python(version)
            if python is None:
                left_out.append(version)
                say(f"Python {version}: left out, there is none here")
                continue
            say(f"Python {version}: {' '.join(python)}")
            use(python, wheel, release, not options.no_demo)
            used.append(version)
        if not used:
            raise Failed("the wheel was not used: none of these Pythons is here")
    except Failed as error:
        print(f"release check: {error}", file=sys.stderr)
        return 1
    rest = f"; not tried, as they are not here: {', '.join(left_out)}" if left_out else ""
    say(f"franchise {release} can be released. Used with Python {', '.join(used)}{rest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
