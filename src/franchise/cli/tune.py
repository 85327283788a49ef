"""``franchise tune``."""

from typing import Any

import click

from franchise.cli import INTERRUPTED
from franchise.cli import _options as options
from franchise.cli._input import read
from franchise.cli._output import check_figure, print_frame, write_figure


@click.command(cls=options.Command)
@click.argument("input", type=click.Path(allow_dash=True))
@options.option(
    "--etas",
    "Values of eta to try, such as 0.05,0.1,0.3",
    options.ETAS,
    show_default="0.02,0.05,0.1,0.2,0.5,1",
)
@options.option(
    "--folds",
    "1: leave out a fifth of the documents; more: K-fold cross-validation, K times as long",
    int,
    metavar="K",
    default=1,
)
@options.option("--sweeps", "Passes of each chain over all words", int, default=100)
@options.option("--chains", "Independent runs for each value", int, default=2)
@options.reading
@options.text
@options.drop_duplicates
@options.downsample
@options.effective_counts
@options.random_state
@options.n_jobs
@options.quiet
@options.printing
@options.figure
def command(input: str, figure: str | None, overwrite: bool, format: str, **values: Any) -> None:
    """Try several values of eta on the documents in INPUT, and recommend one.

    eta decides how many topics there are, more than anything else: small values give many narrow topics.
    Short fits to four fifths of the documents predict the others. The table has the score (higher is
    better), its distance from the best with the standard error of that, the number of topics, their
    coherence, and the share of words in topics that all chains have.

    Chains start from fitted topics, as the short runs that `franchise fit` makes first on text would take
    several times as long for each value; on count tables they start as in a fit.

    Ctrl-C shows the values that are done.

    \b
    Examples:
      franchise tune abstracts.txt
      franchise tune papers.csv --text-column abstract --etas 0.05,0.1,0.2,0.3 --folds 5 --figure eta.svg
    """
    from franchise.estimator.tuning import ETAS as DEFAULT
    from franchise.estimator.tuning import tune_eta

    check_figure(figure, overwrite)
    found = tune_eta(
        read(input, values, keep_texts=False),
        DEFAULT if values["etas"] is None else values["etas"],
        verbose=0 if values["quiet"] else 1,
        **{
            name: values[name]
            for name in ("folds", "sweeps", "chains", "effective_counts", "n_jobs", "random_state")
        },
    )
    if format == "table":
        click.echo(str(found))
    else:
        print_frame(found.table, format)
    if figure is not None:
        write_figure(found.plot(), figure)
    if len(found.found) < found.n_planned:
        raise click.exceptions.Exit(INTERRUPTED)
