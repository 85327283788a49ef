"""Run the code of a notebook, and compare what it shows with what the notebook says it shows.

    python tools/run_notebook.py examples/topics.ipynb            say where the notebook is not what is shown
    python tools/run_notebook.py examples/topics.ipynb --write    put what is shown into the notebook

Cells share their names, as in one session. A cell shows what it prints and the value that it ends with: as
text, and as HTML or an image where the value has them. Text is compared word for word; of HTML and images,
which other versions of libraries draw a little differently, only that they are there.
"""

import argparse
import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(notebook: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the notebook with what it shows, and where that was otherwise."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, differences = [], []
    numbers = iter(range(1, len(notebook["cells"]) + 1))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number = next(numbers)
            outputs = run_cell("".join(cell["source"]), names, number)
            if essence(outputs) != essence(cell["outputs"]):
                differences.append(
                    f"{''.join(cell['source'])}\nshows\n{essence(outputs)}\nnot\n{essence(cell['outputs'])}"
                )
            cell = {**cell, "outputs": outputs, "execution_count": number}
        cells.append(cell)
    return {**notebook, "cells": cells}, differences


def run_cell(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell and return its outputs, as a notebook file has them."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(last, "<cell>", "eval"), names) if last else None
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None and not code.rstrip().endswith(";"):
        result = {"output_type": "execute_result", "metadata": {}, "execution_count": number}
        outputs.append({**result, "data": shown(value)})
    return outputs


def shown(value: Any) -> dict[str, Any]:
    """Return a value as text, and as HTML or an image where it offers them."""
    if hasattr(value, "_repr_mimebundle_"):
        return {kind: lines(text) for kind, text in value._repr_mimebundle_().items()}
    data: dict[str, Any] = {"text/plain": lines(repr(value))}
    if hasattr(value, "_repr_html_") and (page := value._repr_html_()):
        data["text/html"] = lines(page)
    if hasattr(value, "_repr_png_"):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode()
    return data


def essence(outputs: list[dict[str, Any]]) -> list[Any]:
    """Return what is compared."""
    return [
        "".join(output["text"])
        if output["output_type"] == "stream"
        else ["".join(output["data"]["text/plain"]), sorted(output["data"])]
        for output in outputs
    ]


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    notebook, differences = run(json.loads(options.notebook.read_text("utf-8")))
    if options.write:
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        options.notebook.write_text(text, "utf-8")
    elif differences:
        sys.exit("\n\n".join(differences))


if __name__ == "__main__":
    main()
