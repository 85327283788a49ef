"""``franchise tune``."""

from typing import Any

import click

from franchise.cli import INTERRUPTED
from franchise.cli._input import (
    downsample_option,
    effective_counts_option,
    options_of,
    read,
    reading_options,
    text_options,
)
from franchise.cli._output import format_option, print_frame


class _Etas(click.ParamType):  # type: ignore[type-arg]
    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read numbers that are separated by commas."""
        try:
            return [float(part) for part in str(value).split(",") if part.strip()]
        except ValueError:
            self.fail(f"{value!r}: give numbers separated by commas, such as 0.05,0.1,0.3", param, ctx)


@click.command()
@click.argument("input", type=click.Path(allow_dash=True))
@click.option(
    "--etas", type=_Etas(), metavar="NUMBERS", help="Values to try.  [default: 0.02,0.05,0.1,0.2,0.5,1]"
)
@click.option(
    "--folds",
    type=int,
    default=1,
    show_default=True,
    help="1 leaves out a fifth of the documents; more leave out each part in turn, and take as much longer.",
)
@click.option("--plot", type=click.Path(), metavar="FILE", help="Write a picture: .svg, .png or .pdf.")
@reading_options
@text_options
@downsample_option
@effective_counts_option
@click.option("--sweeps", type=int, default=100, show_default=True, help="Passes over all words, per chain.")
@click.option("--chains", type=int, default=2, show_default=True, help="Chains for each value.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="INTEGER",
    default=0,
    show_default="0",
    help="Of the split and the chains, the same for all values.",
)
@click.option(
    "--jobs",
    type=int,
    default=-1,
    help="Number of threads; does not change the answer.  [default: all cores]",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@format_option
@click.pass_context
def command(
    ctx: click.Context, /, input: str, plot: str | None, jobs: int, format_out: str, **values: Any
) -> None:
    """Try several values of eta on the documents in INPUT, and recommend one.

    eta decides how many topics there are, more than anything else: small values give many narrow topics.
    Short fits to four fifths of the documents predict the others. The table has the score (higher is
    better), how far it is behind the best with the standard error of that, the number of topics, their
    coherence, and the share of words in topics that all chains have.

    Chains start from fitted topics, as the short runs that `franchise fit` makes first on text would take
    several times as long for each value; on count tables they start as in a fit.

    Ctrl-C shows the values that are done.

    \b
    Examples:
      franchise tune abstracts.txt
      franchise tune papers.csv --text-column abstract --etas 0.05,0.1,0.2,0.3 --folds 5 --plot eta.svg
    """
    from franchise.estimator.tuning import ETAS, tune_eta

    if plot is not None:
        _check_picture(plot)
    corpus = read(input, values, options_of(values), keep_texts=False)
    found = tune_eta(
        corpus,
        values["etas"] or ETAS,
        n_jobs=jobs,
        random_state=values["seed"],
        verbose=0 if values["quiet"] else 1,
        **{name: values[name] for name in ("folds", "sweeps", "chains", "effective_counts")},
    )
    if format_out == "table":
        click.echo(str(found))
    else:
        print_frame(found.table, format_out)
    if plot is not None:
        found.plot().savefig(plot, dpi=200)
    if len(found.found) < found.n_planned:
        ctx.exit(INTERRUPTED)


def _check_picture(path: str) -> None:
    """Refuse, before hours of work, a picture that cannot be drawn or written."""
    from importlib import import_module
    from pathlib import Path

    from franchise.errors import FranchiseError, SettingsError

    import_module("franchise.report.figures")  # says so if matplotlib is missing
    if Path(path).suffix.lower() not in (".svg", ".png", ".pdf"):
        raise SettingsError(
            f"--plot {path}: give a name that ends in .svg, .png or .pdf", code="unknown-figure-format"
        )
    if not Path(path).resolve().parent.is_dir():
        raise FranchiseError(
            f"{path}: there is no such folder; give a name in one that exists", code="no-such-folder"
        )
