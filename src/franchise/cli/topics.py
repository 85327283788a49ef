"""``franchise topics``."""

from typing import TYPE_CHECKING

import click

from franchise.cli._input import SHARE
from franchise.cli._output import format_option, print_frame

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ["topic", "label", "weight", "weight_low", "weight_high", "support", "found_by", "terms"]
_FOUND = 10  # topics with a term


def shown(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the columns of a table of topics that people look at first."""
    columns = list(SHOWN)
    if "runs" in frame.columns:
        columns.insert(columns.index("terms"), "runs")
    return frame[columns]


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--num-top-words", type=int, default=10, show_default=True, help="Terms to show for each topic."
)
@click.option(
    "--min-share", type=SHARE, default=0.0, help="Leave out topics with a smaller share of the words."
)
@click.option(
    "--find",
    "terms",
    multiple=True,
    metavar="TERM",
    help="The topics in which this term is most probable; several terms: all of them.",
)
@format_option
def command(
    model: str, num_top_words: int, min_share: float, terms: tuple[str, ...], format_out: str
) -> None:
    """Show the topics of the model in the folder MODEL, largest first.

    weight is the share of all words, with its 95% interval; support is the share of the kept draws in which
    the topic was found. Rely on topics that were found by every chain; those of most chains are likely; those
    of few or one differ from chain to chain. runs, if there is such a column, is the share of independent
    runs that found the topic. CSV and JSON have more columns: the number of chains that
    have the topic, how stable it is, and its nearest neighbour. label is the name that was given to the topic
    (franchise label), or else three terms that set it apart from the others.

    \b
    Examples:
      franchise topics model/
      franchise topics model/ --format csv > topics.csv
      franchise topics model/ --find galaxy --find cluster
    """
    from franchise.cli._model import load

    fitted = load(model)
    if terms:
        found = fitted.find_topics(terms, _FOUND)
        print_frame(found[found["weight"] >= min_share], format_out)
        return
    frame = fitted.topics(num_top_words)
    frame = frame[frame["weight"] >= min_share]
    print_frame(shown(frame) if format_out == "table" else frame, format_out)
