"""``franchise label``."""

import click

from franchise.cli import _options as options


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("names", type=click.Path(), required=False)
@options.option("--clear", "Remove all names", is_flag=True)
@options.option(
    "--merge", "Topics to read as one from now on, by their present numbers or names", options.TOPICS
)
@options.option("--hide", "Topics to leave out of tables, figures and the report", options.TOPICS)
@options.option("--restore", "Show all topics again, none merged and none hidden", is_flag=True)
def command(model: str, names: str | None, clear: bool, restore: bool, **read: list[str] | None) -> None:
    """Give names to the topics of the model in the folder MODEL, from the CSV file NAMES.

    The file has the columns topic and name, as the report saves it. Without NAMES, print it with the present
    names, to be filled in. Topics that NAMES does not mention lose the name they had. Names are kept in the
    folder, and topics, documents, prevalence, infer and report show them.

    --merge and --hide change how the topics are read, and leave the chains alone. The topics that are left
    get new numbers, so give one of these options at a time.

    \b
    Examples:
      franchise label model/ > names.csv
      franchise label model/ names.csv
      franchise label model/ --merge 3,7
      franchise label model/ --restore
    """
    from franchise._text import counted
    from franchise.cli._model import load
    from franchise.errors import FranchiseError, SettingsError

    if names is not None and clear:
        raise click.UsageError("--clear takes no NAMES; leave out one of them")
    asked = [name for name, topics in read.items() if topics is not None] + ["restore"] * restore
    if len(asked) + (names is not None or clear) > 1:
        raise click.UsageError(f"--{asked[0]} goes with no NAMES and no other option; do one after the other")
    fitted = load(model)
    if asked:
        change = {"merge": fitted.merge_topics, "hide": fitted.hide_topics}
        try:
            _ = fitted.restore_topics() if restore else change[asked[0]](read[asked[0]] or ())
        except SettingsError as error:
            raise SettingsError(str(error).replace("topics=", f"{asked[0]}=", 1), code=error.code) from None
        fitted.save_labels(model)
        click.echo(
            f"{counted(fitted.n_topics_, 'topic')} shown; {fitted.reading_ or 'none merged or hidden'}"
        )
        return
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
