"""Run the Python blocks of a Markdown page, and compare what they print with the page.

    python tools/run_docs.py docs/PAGE.md            say where the page is not what is printed
    python tools/run_docs.py docs/PAGE.md --write    put what is printed into the page

Blocks of a page share their names, as in one session. What a block prints stands in a ``text`` block right
after it; a block without one must print nothing.
"""

import argparse
import contextlib
import io
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)


def run(page: str) -> tuple[str, list[str]]:
    """Return the page with what is printed, and where it was otherwise."""
    names: dict = {"__name__": "__main__"}
    differences = []

    def replace(match: re.Match) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match["code"], "<page>", "exec"), names)
        output = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        if output != (match["output"] or ""):
            differences.append(f"{match['code']}printed\n{output}not\n{match['output'] or ''}")
        block = f"```python\n{match['code']}```\n"
        return block + (f"\n```text\n{output}```\n" if output else "")

    return BLOCK.sub(replace, page), differences


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page, differences = run(options.page.read_text("utf-8"))
    if options.write:
        options.page.write_text(page, "utf-8")
    elif differences:
        sys.exit("\n\n".join(differences))


if __name__ == "__main__":
    main()
