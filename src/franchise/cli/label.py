"""``franchise label``."""

import click

from franchise.cli import _options as options


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("names", type=click.Path(), required=False)
@options.option("--clear", "Remove all names", is_flag=True)
def command(model: str, names: str | None, clear: bool) -> None:
    """Give names to the topics of the model in the folder MODEL, from the CSV file NAMES.

    The file has the columns topic and name, as the report saves it. Without NAMES, print it with the present
    names, to be filled in. Topics that NAMES does not mention lose the name they had. Names are kept in the
    folder, and topics, documents, prevalence, infer and report show them.

    \b
    Examples:
      franchise label model/ > names.csv
      franchise label model/ names.csv
    """
    from franchise._text import counted
    from franchise.cli._model import load
    from franchise.errors import FranchiseError, SettingsError

    if names is not None and clear:
        raise click.UsageError("--clear takes no NAMES; leave out one of them")
    fitted = load(model)
    if names is None and not clear:
        click.echo(fitted.label_table().to_csv(index=False), nl=False)
        return
    try:
        fitted.set_topic_labels(names)
    except SettingsError as error:  # the fault is in the file, not in an option
        raise FranchiseError(str(error), code=error.code) from None
    fitted.save_labels(model)
    named = len(fitted.named_topics_)
    click.echo(f"{counted(named, 'topic')} of {fitted.n_topics_:,} {'has' if named == 1 else 'have'} a name")
