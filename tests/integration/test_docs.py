"""The pages say what is printed."""

from pathlib import Path

import pytest

from tools.run_docs import run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("name", "n_outputs"),
    [
        ("tutorials/first-five-minutes.md", 8),
        ("tutorials/topics-over-time.md", 7),
        ("how-to/choosing-eta.md", 2),
        ("how-to/formats.md", 3),
        ("how-to/resume.md", 4),
        ("how-to/update.md", 2),
        ("how-to/compare.md", 2),
        ("how-to/groups.md", 3),
        ("how-to/writing-up.md", 3),
        ("tutorials/counts-that-are-not-words.md", 6),
    ],
)
@pytest.mark.filterwarnings("ignore::franchise.errors.FranchiseWarning")  # with a small eta
def test_page(name, n_outputs):
    page, differences = run((ROOT / "docs" / name).read_text("utf-8"))
    assert differences == []
    assert page.count("```text") >= n_outputs
