"""``franchise words``."""

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option(
    "--mallet-state", "File to write in MALLET's format instead, such as topic-state.gz", options.FILE
)
@options.option(
    "--chain",
    "Number of the chain",
    options.Whole(0, 99_999),
    show_default="the one of the highest log joint",
)
@options.option("--format", "Format of the answer", click.Choice(["csv", "json"]), default="csv")
@options.overwrite
def command(model: str, mallet_state: str | None, chain: int | None, format: str, overwrite: bool) -> None:
    """Show the topic of every word that the model in the folder MODEL was fitted to.

    These are the assignments of one state: that of one chain after its last sweep. A row has the document,
    the position of the word among those that were kept, its term, and its topic as franchise topics numbers
    it, or -1 if the topic is not listed. In MALLET's state these have numbers after the listed ones.

    \b
    Examples:
      franchise words model/ > words.csv
      franchise words model/ --mallet-state topic-state.gz
    """
    from franchise.cli._model import load

    fitted = load(model)
    if mallet_state is not None:
        click.echo(str(fitted.write_mallet_state(mallet_state, chain=chain, overwrite=overwrite)))
        return
    print_frame(fitted.word_topics_in_parts(chain), format)
