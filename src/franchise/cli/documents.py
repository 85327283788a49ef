"""``franchise documents``."""

from collections.abc import Sequence

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame

_SHOWN = 10  # documents of a topic, or like another
_IN_TABLE = ["document", "words", "topics", "opening"]


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option("--topic", "Only the documents with the largest shares of this topic", metavar="TOPIC")
@options.option("--like", "Only the documents whose topics are most similar", metavar="DOCUMENT")
@options.option("-n, --number", "Number of documents, with --topic or --like", int, show_default=str(_SHOWN))
@options.printing
def command(model: str, topic: str | None, like: str | None, number: int | None, format: str) -> None:
    """Show the topics of the documents that the model in the folder MODEL was fitted to.

    TOPIC is the number or the name of a topic, DOCUMENT the name of a document, its number (from 0), or a
    new text. Tables show how a text begins; CSV and JSON with --topic have it whole.

    \b
    Examples:
      franchise documents model/ --format csv > documents.csv
      franchise documents model/ --topic 3
      franchise documents model/ --like 17
    """
    from franchise.cli._model import load

    if topic is not None and like is not None:
        raise click.UsageError("--topic and --like do not go together; leave out one of them")
    if topic is None and like is None and number is not None:
        raise click.UsageError("-n needs --topic or --like; leave it out, or give one of them")
    fitted, number = load(model), _SHOWN if number is None else number
    if like is not None:
        print_frame(fitted.similar_documents(_document(like, fitted.corpus_.document_names), number), format)
    elif topic is None:
        from franchise.posterior.tables import documents_frames

        names = fitted.named_topics_
        frames = documents_frames(fitted.posterior_, labels=fitted.topic_labels_, names=names)
        print_frame((frame[_IN_TABLE] if format == "table" else frame for frame in frames), format)
    else:
        frame = fitted.representative_documents(topic, number)
        if format == "table":
            from franchise.posterior.tables import opening

            frame["opening"] = [opening(fitted.corpus_, j) for j in frame.pop("number")]
            del frame["text"]
        print_frame(frame, format)


def _document(given: str, names: Sequence[str]) -> int | str:
    """Return a document's number, if it is one and no name."""
    return int(given) if given.isdecimal() and given not in names else given
