"""``franchise documents``."""

import click

from franchise.cli._output import format_option, print_frame


@click.command()
@click.argument("model", type=click.Path())
@click.option("--topic", type=int, help="Only the documents that are most about this topic.")
@click.option("-n", "--number", type=int, default=10, show_default=True, help="How many, with --topic.")
@format_option
def command(model: str, topic: int | None, number: int, format_out: str) -> None:
    """Show the topics of the documents that the model in the folder MODEL was fitted to.

    \b
    Examples:
      franchise documents model/ --format csv > documents.csv
      franchise documents model/ --topic 3
    """
    from franchise.cli._model import load

    fitted = load(model)
    frame = fitted.documents() if topic is None else fitted.representative_documents(topic, number)
    print_frame(frame, format_out)
