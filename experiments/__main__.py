"""``python -m experiments``: rerun the paper's experiments."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import joblib
import pandas as pd
from rich.console import Console

from experiments import (
    acceptance,
    claims,
    corpora,
    figures_acceptance,
    figures_synthetic,
    figures_text,
    synthetic,
    tables,
    text,
)
from experiments.provenance import write_machine, write_settings
from experiments.runs import Outcome, Run, carry_out, finished
from franchise import FranchiseError

console = Console(highlight=False)


class Experiment(NamedTuple):
    """From runs to tables to figures."""

    runs: Callable[[bool, Sequence[str], Path | None], list[Run]]  # quick, corpora, their folder
    tables: Callable[[Sequence[Outcome]], dict[str, pd.DataFrame]]
    main_table: str
    draw: Callable[[Path], None]


EXPERIMENTS = {
    "synthetic": Experiment(
        lambda quick, *_: synthetic.runs_of(synthetic.QUICK if quick else synthetic.FULL),
        tables.synthetic_tables,
        "synthetic_runs",
        figures_synthetic.draw_all,
    ),
    "text": Experiment(
        lambda quick, *where: text.runs_of(text.QUICK if quick else text.FULL, *where),
        tables.text_tables,
        "text_runs",
        figures_text.draw_all,
    ),
    "acceptance": Experiment(
        lambda quick, *where: acceptance.runs_of(acceptance.QUICK if quick else acceptance.FULL, *where),
        tables.acceptance_tables,
        "acceptance_trials",
        figures_acceptance.draw_all,
    ),
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", type=click.Choice([*EXPERIMENTS, "report", "all"]), metavar="NAME")
@click.option("--quick/--full", default=True, help="A few runs (minutes), or all (hours).  [default: quick]")
@click.option(
    "--corpora",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the text corpora: NAME/NAME.ldac and NAME/NAME.vocab.txt.",
)
@click.option(
    "--corpus",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="A corpus to run on; may be repeated.  [default: arxiv if quick, or arxiv, mlir and nips]",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=joblib.cpu_count(),
    show_default="cores",
    help="Runs side by side.",
)
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=corpora.HERE / "results",
    show_default="experiments/results",
    help="Where tables and figures go, in a subfolder quick or full.",
)
@click.option(
    "--runs",
    "kept",
    type=click.Path(file_okay=False, path_type=Path),
    default=corpora.HERE / "runs",
    show_default="experiments/runs",
    help="Where runs are saved when they end; those already there are not made again.",
)
@click.option("--finished", "no_more", is_flag=True, help="Make no more runs: report those that have ended.")
def main(
    name: str,
    quick: bool,
    folder: Path | None,
    chosen: tuple[str, ...],
    jobs: int,
    results: Path,
    kept: Path,
    no_more: bool,
) -> None:
    """Rerun the experiments of Wang & Blei's paper, check its claims and draw its figures.

    NAME is `synthetic` (section 4.1), `text` (section 4.2), `acceptance` (why few trials are accepted), `all`
    of these, or `report`: figures and claims again, from the existing tables. Ctrl-C stops; the same command
    continues where it stopped.
    """
    size = "quick" if quick else "full"
    results, kept = results / size, kept / size
    on = tuple(dict.fromkeys(chosen)) or (("arxiv",) if quick else corpora.NAMES)
    try:
        names = [] if name == "report" else EXPERIMENTS if name == "all" else [name]
        # All corpora are looked for before hours of runs begin.
        planned = {one: EXPERIMENTS[one].runs(quick, on, folder) for one in names}
        for one, runs in planned.items():
            outcomes = _outcomes(one, runs, kept / one, None if no_more else jobs)
            tables.write(results, EXPERIMENTS[one].tables(outcomes))
            write_settings(results, one, size, outcomes, len(runs))
        if planned and not no_more:
            write_machine(results)
        _report(results)
    except FranchiseError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        message = f"{error.filename}: cannot be written or read ({error.strerror})"
        raise click.ClickException(message) from error
    except KeyboardInterrupt:
        console.print(f"\nstopped; the runs that ended are in {kept}: the same command makes the others")
        sys.exit(130)


def _outcomes(name: str, runs: list[Run], kept: Path, jobs: int | None) -> list[Outcome]:
    """Return the outcomes of the runs; without `jobs`, of the rounds that have already ended."""
    outcomes = carry_out(runs, kept, jobs=jobs, title=name) if jobs else finished(runs, kept)
    if not outcomes:
        raise click.ClickException(
            f"no round of {name} has ended yet (one run of every setting): leave out --finished to make them"
        )
    if len(outcomes) < len(runs):
        console.print(f"{name}: {len(outcomes)} of {len(runs)} runs, in complete rounds")
    return outcomes


def _report(results: Path) -> None:
    """Draw the figures of all existing tables, and check the claims."""
    there = [name for name, one in EXPERIMENTS.items() if (results / f"{one.main_table}.csv").exists()]
    if not there:
        raise click.ClickException(f"{results} has no tables: run `synthetic` or `text` first")
    with console.status("drawing the figures"):
        for name in there:
            EXPERIMENTS[name].draw(results)
    console.print(claims.write(results, there))
    console.print(f"tables, figures and claims are in {results}")


if __name__ == "__main__":
    main(prog_name="python -m experiments")
