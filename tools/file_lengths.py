"""Fail, naming the files, when a source file has grown beyond 400 lines."""

import sys
from pathlib import Path

LIMIT = 400
SRC = Path(__file__).resolve().parent.parent / "src"

too_long = 0
for path in sorted(SRC.rglob("*.py")):
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    if n_lines > LIMIT:
        too_long += 1
        print(f"{path.relative_to(SRC.parent)}: {n_lines} lines, the limit is {LIMIT}: split it")

sys.exit(1 if too_long else 0)
