"""``franchise topics``."""

import click

from franchise.cli._input import SHARE
from franchise.cli._output import format_option, print_frame

SHOWN = ["topic", "weight", "weight_low", "weight_high", "support", "found_by", "terms"]


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--num-top-words", type=int, default=10, show_default=True, help="Terms to show for each topic."
)
@click.option(
    "--min-share", type=SHARE, default=0.0, help="Leave out topics with a smaller share of the words."
)
@format_option
def command(model: str, num_top_words: int, min_share: float, format_out: str) -> None:
    """Show the topics of the model in the folder MODEL, largest first.

    weight is the share of all words, with its 95% interval; support is the share of the kept draws in which
    the topic was found. Rely on topics that were found by every chain; those of most chains are likely; those
    of few or one differ from chain to chain. CSV and JSON have more columns: the number of chains that
    have the topic, how stable it is, and its nearest neighbour.

    \b
    Examples:
      franchise topics model/
      franchise topics model/ --format csv > topics.csv
    """
    from franchise.cli._model import load

    frame = load(model).topics(num_top_words)
    frame = frame[frame["weight"] >= min_share]
    print_frame(frame[SHOWN] if format_out == "table" else frame, format_out)
