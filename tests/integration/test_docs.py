"""The tutorial says what is printed."""

from pathlib import Path

from tools.run_docs import run

ROOT = Path(__file__).resolve().parents[2]


def test_tutorial():
    page, differences = run((ROOT / "docs" / "tutorial.md").read_text("utf-8"))
    assert differences == []
    assert page.count("```text") >= 8
