"""The committed results of the experiments come out again, to the last digit."""

import filecmp
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import acceptance, synthetic, tables, text
from experiments.runs import Outcome
from experiments.tables import TIMINGS

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "experiments" / "results"
PAGE = ROOT / "docs" / "explanation" / "the-paper.md"


def again(runs, **wanted):
    """Make those of the runs that have some settings once more."""
    chosen = [run for run in runs if wanted.items() <= run.settings.items()]
    assert chosen
    return [Outcome(run.settings, run.work(lambda: None)) for run in chosen]


def assert_committed(made, folder):
    """Compare the rows of tables, but for timings, with those committed."""
    tables.write(folder, made)
    for name in made:
        if not name.startswith(TIMINGS):
            rows = (folder / f"{name}.csv").read_text().splitlines()
            committed = (COMMITTED / "quick" / f"{name}.csv").read_text().splitlines()
            assert len(rows) > 1
            assert rows[0] == committed[0]
            assert set(rows) <= set(committed), name


def test_synthetic_numbers_come_out_again(tmp_path):
    runs = synthetic.runs_of(synthetic.QUICK)
    assert_committed(tables.synthetic_tables(again(runs, mixed=0, twin=0.10)), tmp_path)


def test_text_numbers_come_out_again(tmp_path):
    runs = text.runs_of(text.QUICK, ["arxiv"], None)
    assert_committed(tables.text_tables(again(runs, eta=0.5, run=1)), tmp_path)


def test_acceptance_numbers_come_out_again(tmp_path):
    runs = acceptance.runs_of(acceptance.QUICK, ["arxiv"], None)
    assert_committed(tables.acceptance_tables(again(runs, eta=0.5, variant="balanced")), tmp_path)


@pytest.mark.parametrize("size", ["quick", "full"])
def test_committed_results_say_what_made_them(size):
    for name in ("synthetic", "text", "acceptance"):
        settings = (COMMITTED / size / f"{name}_settings.json").read_text()
        assert f"python -m experiments {name} --{size}" in settings
        assert all(word in settings for word in ("numba", "seed" if name == "synthetic" else "run", "priors"))


def test_the_page_on_the_paper_has_the_tables_and_figures_there_are():
    page = PAGE.read_text()
    for name in (f"{TIMINGS}/claims.md", "synthetic_comparison.md", "text_comparison.md"):
        assert (COMMITTED / "full" / name).read_text() in page, (
            f"docs/explanation/the-paper.md does not have {name}"
        )
    figures = [
        part.split(")")[0] for part in page.split("](../../")[1:] if part.split(")")[0].endswith(".png")
    ]
    assert len(figures) >= 10
    assert [name for name in figures if not (ROOT / name).exists()] == []


def n_saved(folder):
    try:
        return len(list(folder.rglob("*.safetensors")))
    except FileNotFoundError:  # a folder was put in its place while we looked
        return 0


def without_versions(path):
    settings = json.loads(path.read_text())
    assert settings.pop("versions")
    return settings


@pytest.mark.statistical
def test_the_whole_quick_run_comes_out_again(tmp_path):
    """Make everything once more, stopping it once on the way, and compare all files."""
    command = [
        sys.executable,
        "-m",
        "experiments",
        "all",
        "--quick",
        "--results",
        tmp_path / "a",
        "--runs",
        tmp_path / "b",
    ]
    first = subprocess.Popen(command, cwd=ROOT)
    while n_saved(tmp_path / "b") < 3:  # not for a time: the kernels may have to be compiled
        assert first.poll() is None
        time.sleep(0.1)
    first.kill()
    first.wait()
    subprocess.run(command, cwd=ROOT, check=True)
    made, committed = tmp_path / "a" / "quick", COMMITTED / "quick"
    names = sorted(path.name for path in committed.iterdir() if path.is_file())
    assert sorted(path.name for path in made.iterdir() if path.is_file()) == names
    settings = [name for name in names if name.endswith("_settings.json")]
    others = [name for name in names if name not in settings]
    _, differ, errors = filecmp.cmpfiles(made, committed, others, shallow=False)
    assert (differ, errors) == ([], [])
    for name in settings:  # which version made them may differ
        assert without_versions(made / name) == without_versions(committed / name)
