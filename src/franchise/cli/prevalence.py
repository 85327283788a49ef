"""``franchise prevalence``."""

from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._output import check_figure, print_frame, write_figure

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 10  # topics in a table
_OF_PAPERS = ("latex", "markdown")


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option(
    "--by",
    "Column of the metadata, such as year, or two, such as party,year; `franchise inspect MODEL` lists them",
    options.NAMES,
    required=True,
    metavar="COLUMNS",
)
@options.option(
    "--of",
    "Two groups to compare, such as D,R, or one to compare with all others; shows their differences",
    options.NAMES,
    metavar="GROUPS",
    show_default="shares in all groups",
)
@options.option(
    "--step",
    "Span of a group: day, week, month, quarter, year or decade for dates, a number for numbers; of two "
    "columns with steps, both, such as 10,month",
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
@options.printing_for_papers
@options.figure
def command(
    model: str,
    by: list[str],
    of: list[str] | None,
    step: str | None,
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

    With --of, show how much larger each topic is in the first group than in the second: the difference of the
    shares with its interval, and the probability that it is above 0. With two columns, the groups of the
    first are compared within each group of the second; the row (all) puts these differences together.

    A table shows the 10 largest topics, a figure the 6 largest (15 with --of), unless --topics chooses. With
    --of and two columns, a table has the rows of single groups only if --topics chooses.

    \b
    Examples:
      franchise prevalence model/ --by year
      franchise prevalence model/ --by date --step quarter --topics 1,3 --figure topics.pdf
      franchise prevalence model/ --by party --of D,R --figure parties.pdf
      franchise prevalence model/ --by party,date --of D,R --step month --format csv > differences.csv
    """
    from franchise.cli._model import load
    from franchise.posterior.differences import ALL

    check_figure(figure, overwrite)
    given = values | {"topics": topics, "random_state": random_state, "step": _steps(step)}
    fitted = load(model)
    columns: Any = by if len(by) > 1 else by[0]
    if of is None:
        frame = fitted.prevalence(columns, **given)
    else:
        frame = fitted.prevalence_difference(columns, of, **given)
    if figure is not None:
        drawn = fitted.plot_prevalence(columns, **given) if of is None else None
        write_figure(drawn or fitted.plot_prevalence_difference(columns, of, **given), figure)
    n_topics = frame["topic"].nunique()
    if format in ("table", *_OF_PAPERS) and topics is None:
        if n_topics > _SHOWN:
            frame = frame[frame["topic"] < _SHOWN]
            click.echo(f"The {_SHOWN} largest of {n_topics} topics; --topics 1,3 chooses others.", err=True)
        if of is not None and "within" in frame:
            frame = frame[frame["within"] == ALL]
    print_frame(_for_paper(frame) if of is not None and format in _OF_PAPERS else frame, format)


def _for_paper(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table of differences that fits on a page, with the two groups as names of columns."""
    first, second = str(frame["first"].iloc[0]), str(frame["second"].iloc[0])
    frame = frame.drop(columns=["first", "second", "n_first", "n_second"])
    return frame.rename(columns={"share_first": first, "share_second": second})


def _steps(step: str | None) -> Any:
    """Return one step, or those of two columns, of which one may be empty."""
    if step is None or "," not in step:
        return step
    return [one.strip() or None for one in step.split(",")]
