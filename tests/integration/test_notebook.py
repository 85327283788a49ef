"""The notebook shows what it says that it shows, and is a notebook."""

import json
from pathlib import Path

import pytest

from tools.run_notebook import run

pytestmark = pytest.mark.slow

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "topics.ipynb"


def test_the_notebook_is_current():
    notebook, differences = run(json.loads(NOTEBOOK.read_text("utf-8")))
    assert differences == []
    shown = [
        kind for cell in notebook["cells"] for output in cell.get("outputs", []) for kind in output["data"]
    ]
    assert shown.count("image/png") == 2
    assert shown.count("text/html") >= 8


def test_the_notebook_is_one_that_programs_open():
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert all(
        set(cell) == {"cell_type", "id", "metadata", "execution_count", "outputs", "source"} for cell in code
    )


def test_differences_are_found():
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": ["print(1)\n", "2"],
        "execution_count": 1,
    }
    told = {"output_type": "stream", "name": "stdout", "text": ["1\n"]}
    value = {"output_type": "execute_result", "data": {"text/plain": ["2"]}, "metadata": {}}
    for outputs, expected in (([told, value], 0), ([told], 1), ([], 1)):
        assert len(run({"cells": [cell | {"outputs": outputs}]})[1]) == expected
