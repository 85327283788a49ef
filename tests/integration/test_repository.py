"""The pages and files at the top of the repository point to what there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md"]
# [text](address) and <img src="address">
LINK = re.compile(r'\]\(([^)\s]+)\)|src="([^"]+)"')


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    found = [one or other for one, other in LINK.findall((ROOT / name).read_text("utf-8"))]
    here = [address.partition("#")[0] for address in found if "://" not in address]
    assert [address for address in here if not (ROOT / address).exists()] == []


def test_the_first_page_fits_on_a_screen_or_two():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 90


@pytest.mark.parametrize("name", ["checks.yml", "release.yml"])
def test_workflows_call_targets_that_there_are(name):
    text = (ROOT / ".github" / "workflows" / name).read_text("utf-8")
    called = set(re.findall(r"run: make ([a-z-]+)", text))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert called
    assert called <= targets
