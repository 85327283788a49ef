"""``franchise compare``."""

from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame


@click.command(cls=options.Command)
@click.argument("paths", nargs=-1, metavar="MODEL MODEL... INPUT", type=click.Path(allow_dash=True))
@options.option(
    "--method",
    "Score: the second half of each document given the first, or whole documents",
    click.Choice(["completion", "left-to-right"]),
    default="completion",
)
@options.option("--by-document", "Log probability of each document under each model", is_flag=True)
@options.reading
@options.n_jobs
@options.printing
def command(
    paths: tuple[str, ...], method: str, by_document: bool, n_jobs: int, format: str, **values: Any
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
    from franchise.cli._model import load_topics, read_new
    from franchise.predict.compare import compare_models

    first = load_topics(models[0])[0]
    new = read_new(path, first, values)
    topics = {models[0]: first} | {name: load_topics(name)[0] for name in models[1:]}
    with Bar("scoring", len(new.document_names) * sum(len(one.draws) for one in topics.values())):
        found = compare_models(topics, new, method=method, jobs=n_jobs)
    print_frame(found.documents() if by_document else found.as_frame(), format, digits=4)
    if format == "table" and not by_document:
        click.echo("\n" + "\n".join(found.in_words()))
