"""Print the lowest version that pyproject.toml allows of each package, as constraints for pip.

    python tools/floors.py > floors.txt
    pip install -e '.[dev]' -c floors.txt

Tools that only developers install are left out: any version of them will do. A requirement without a floor
is an error, because it could not be tested.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
FOR_DEVELOPERS = {"dev", "docs", "others", "peers"}
FLOOR = re.compile(r"(?P<name>[\w.-]+)(\[[^]]*\])?>=(?P<version>[\w.]+)")


def floors(pyproject: Path = PYPROJECT) -> dict[str, str]:
    """Return the floor of each package that users install, extras included."""
    project = tomllib.loads(pyproject.read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    requirements = [*project["dependencies"]]
    requirements += [one for extra in sorted(extras.keys() - FOR_DEVELOPERS) for one in extras[extra]]
    found = {}
    for requirement in requirements:
        match = FLOOR.match(requirement)
        if match is None:
            sys.exit(f"{pyproject.name}: {requirement!r} has no floor; write it as name>=version")
        found[match["name"]] = match["version"]
    return found


if __name__ == "__main__":
    for name, version in floors().items():
        print(f"{name}=={version}")
