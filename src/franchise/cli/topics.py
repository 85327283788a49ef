"""``franchise topics``."""

from typing import TYPE_CHECKING

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ["topic", "label", "weight", "weight_low", "weight_high", "support", "found_by", "terms"]
_IN_PAPER = ["topic", "label", "weight", "found_by", "terms"]
_FOUND = 10  # topics with a term


def shown(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the columns of a table of topics that people look at first."""
    columns = list(SHOWN)
    if "runs" in frame.columns:
        columns.insert(columns.index("terms"), "runs")
    return frame[columns]


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option("-n, --n-terms", "Number of terms to show for each topic", int, default=10)
@options.option(
    "--min-share", "Smallest share of the words that a topic must have", options.SHARE, default=0.0
)
@options.option(
    "--find, terms",
    "Only the topics in which this term is most probable; may be repeated, for topics with all the terms",
    multiple=True,
    metavar="TERM",
)
@options.option(
    "--diagnostics",
    "What MALLET's diagnostics file has: coherence, exclusivity, rank-1 documents ...",
    is_flag=True,
)
@options.option(
    "--columns",
    "Columns to show, in this order, such as topic,label,weight,terms",
    options.NAMES,
    show_default="some in a table, few for papers, all as csv and json",
)
@options.printing_for_papers
def command(
    model: str,
    n_terms: int,
    min_share: float,
    terms: tuple[str, ...],
    diagnostics: bool,
    columns: list[str] | None,
    format: str,
) -> None:
    """Show the topics of the model in the folder MODEL, largest first.

    weight is the share of all words, with its 95% interval; support is the share of the kept draws in which
    the topic was found. Rely on topics that were found by every chain; those of most chains are likely; those
    of few or one differ from chain to chain. runs, if there is such a column, is the share of independent
    runs that found the topic. CSV and JSON have more columns: the number of chains that have the topic, how
    stable it is, and its nearest neighbour. label is the name that was given to the topic
    (franchise label), or else three terms that set it apart from the others.

    For an appendix, --format latex or markdown has the columns topic, label (where topics have names),
    weight, found_by and terms.

    \b
    Examples:
      franchise topics model/
      franchise topics model/ --format csv > topics.csv
      franchise topics model/ --find galaxy --find cluster
      franchise topics model/ --diagnostics -n 20
      franchise topics model/ -n 6 --min-share 0.01 --format latex > appendix.tex
    """
    from franchise.cli._model import load
    from franchise.posterior.tables import with_columns

    if diagnostics and terms:
        raise click.UsageError("--diagnostics and --find do not go together; leave out one of them")
    fitted = load(model)
    frame = fitted.find_topics(terms, _FOUND) if terms else fitted.topics(n_terms)
    if diagnostics:
        frame = fitted.topic_diagnostics(n_terms)
        frame.insert(2, "weight", fitted.topic_weights_)
    frame = frame[frame["weight"] >= min_share]
    if columns is not None:
        frame = with_columns(frame, columns)
    elif terms or diagnostics:
        pass  # few columns anyway, or all of them are wanted
    elif format == "table":
        frame = shown(frame)
    elif format in ("latex", "markdown"):
        frame = frame[[name for name in _IN_PAPER if name != "label" or fitted.named_topics_]]
    print_frame(frame, format)
