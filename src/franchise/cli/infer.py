"""``franchise infer``."""

from typing import Any

import click

from franchise.cli._input import reading_options
from franchise.cli._output import format_option, print_frame

_SHOWN = 5  # topics of a document in a table


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@reading_options
@click.option("--jobs", type=int, help="Number of threads; does not change the answer.  [default: all cores]")
@format_option
def command(
    model: str,
    input: str,
    jobs: int | None,
    format_out: str,
    **values: Any,
) -> None:
    """Find the topics of the new documents in INPUT with the model in the folder MODEL.

    MODEL may also be a .bin file of the paper's program. Unknown words are skipped and counted. CSV and
    JSON have one column per topic, with its name if it was given one; each row sums to one.

    \b
    Examples:
      franchise infer model/ new.txt
      franchise infer model/ new.jsonl --text-column body --format csv > mixtures.csv
    """
    from franchise._progress import Bar
    from franchise.cli import _new

    shown = _SHOWN if format_out == "table" else None
    topics, names, new = _new.read_new(model, input, values)
    with Bar("inferring", len(new.document_names) * len(topics.draws)):
        theta = topics.mixtures(new, jobs)
    print_frame(_new.mixtures_frame(names, new, theta, shown), format_out)
