"""``franchise diagnose``."""

import click

from franchise.cli._output import format_option, print_frame


@click.command()
@click.argument("model", type=click.Path())
@format_option
def command(model: str, format_out: str) -> None:
    """Check whether the model in the folder MODEL can be trusted, and say what to do if not.

    CSV and JSON have the numbers: R-hat and effective sample sizes of quantities that do not depend on how
    topics are numbered.

    \b
    Example:
      franchise diagnose model/
    """
    from franchise.cli._model import load

    diagnosis = load(model).diagnose()
    if format_out == "table":
        click.echo(diagnosis.in_commands(model))
    else:
        print_frame(diagnosis.table.reset_index(names="number"), format_out)
