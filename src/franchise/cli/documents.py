"""``franchise documents``."""

import click

from franchise.cli._output import format_option, print_frame

_SHOWN = 10  # documents of a topic


@click.command()
@click.argument("model", type=click.Path())
@click.option("--topic", type=int, help="Only the documents that are most about this topic.")
@click.option("-n", "--number", type=int, help="How many, with --topic.  [default: 10]")
@format_option
def command(model: str, topic: int | None, number: int | None, format_out: str) -> None:
    """Show the topics of the documents that the model in the folder MODEL was fitted to.

    \b
    Examples:
      franchise documents model/ --format csv > documents.csv
      franchise documents model/ --topic 3
    """
    from franchise.cli._model import load

    if topic is None and number is not None:
        raise click.UsageError("-n needs --topic; leave it out, or give a topic")
    fitted, number = load(model), _SHOWN if number is None else number
    frame = fitted.documents() if topic is None else fitted.representative_documents(topic, number)
    print_frame(frame, format_out)
