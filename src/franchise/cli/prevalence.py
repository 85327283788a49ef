"""``franchise prevalence``."""

from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._output import check_figure, print_frame, write_figure

_SHOWN = 10  # topics in a table


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option(
    "--by",
    "Column of the metadata, such as year; `franchise inspect MODEL` lists them",
    required=True,
    metavar="COLUMN",
)
@options.option(
    "--step",
    "Span of a group: day, week, month, quarter, year or decade for dates, a number for numbers",
    metavar="STEP",
    show_default="each value; for dates, at most 60 groups",
)
@options.option(
    "--topics", "Topics to show, by number or name, such as 1,cosmology", options.TOPICS, show_default="all"
)
@options.option(
    "--interval", "Probability of the interval from low to high", float, metavar="P", default=0.95
)
@options.option(
    "--per",
    "Share of the group's words, or mean of the shares in its documents",
    click.Choice(["word", "document"]),
    default="word",
)
@options.random_state
@options.printing
@options.figure
def command(
    model: str,
    by: str,
    topics: list[str] | None,
    figure: str | None,
    overwrite: bool,
    random_state: int,
    format: str,
    **values: Any,
) -> None:
    """Show the share of each topic in groups of the documents that the model in the folder MODEL has.

    Groups come from a column that was kept with the documents (`franchise fit --metadata`). low and high are
    the ends of the 95% interval of the share: it covers what the model does not know of its topics, and that
    other documents might have been written (bootstrap). Documents without a value are the group (missing).

    A table shows the 10 largest topics, a figure the 6 largest, unless --topics chooses.

    \b
    Examples:
      franchise prevalence model/ --by year
      franchise prevalence model/ --by date --step quarter --topics 1,3 --figure topics.pdf
      franchise prevalence model/ --by category --format csv > prevalence.csv
    """
    from franchise.cli._model import load

    check_figure(figure, overwrite)
    frame = load(model).prevalence(by, topics=topics, seed=random_state, **values)
    if figure is not None:
        from franchise.report.figures import plot_prevalence

        write_figure(plot_prevalence(frame, name=by), figure)
    n_topics = frame["topic"].nunique()
    if format == "table" and topics is None and n_topics > _SHOWN:
        frame = frame[frame["topic"] < _SHOWN]
        click.echo(f"The {_SHOWN} largest of {n_topics} topics; --topics 1,3 chooses others.", err=True)
    print_frame(frame, format)
