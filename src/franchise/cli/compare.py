"""``franchise compare``."""

from typing import Any

import click

from franchise.cli._input import reading_options
from franchise.cli._output import format_option, print_frame


@click.command()
@click.argument("paths", nargs=-1, metavar="MODEL MODEL... INPUT", type=click.Path(allow_dash=True))
@click.option(
    "--method",
    type=click.Choice(["completion", "left-to-right"]),
    default="completion",
    show_default=True,
    help="How to score: predict half of each document, or whole documents.",
)
@click.option("--by-document", is_flag=True, help="Show each model's log probability of each document.")
@reading_options
@click.option("--jobs", type=int, help="Number of threads; does not change the answer.  [default: all cores]")
@format_option
def command(
    paths: tuple[str, ...], method: str, by_document: bool, jobs: int | None, format_out: str, **values: Any
) -> None:
    """Compare the models in two or more folders on the held-out documents in INPUT.

    All models predict the same words, and the differences are taken document by document, so that small
    ones can be told from chance. The models must know the same terms: fit them with the same options for
    texts, to the same documents or with --vocabulary.

    \b
    Examples:
      franchise compare narrow/ broad/ heldout.txt
      franchise compare a/ b/ c/ heldout.csv --text-column abstract --format csv
    """
    *models, path = paths or [""]
    if len(models) < 2:
        raise click.UsageError("give two model folders or more, and then the held-out documents")
    if len(set(models)) < len(models):
        raise click.UsageError("the same model is given twice; give each once")
    from franchise._progress import Bar
    from franchise.cli._new import read_new, topics_of
    from franchise.predict.compare import compare_topics

    first, _, new = read_new(models[0], path, values)
    topics = {models[0]: first} | {name: topics_of(name)[0] for name in models[1:]}
    with Bar("scoring", len(new.document_names) * sum(len(one.draws) for one in topics.values())):
        found = compare_topics(topics, new, method=method, jobs=jobs)
    print_frame(found.documents() if by_document else found.as_frame(), format_out, digits=4)
    if format_out == "table" and not by_document:
        click.echo()
        for line in found.in_words():
            click.echo(line)
