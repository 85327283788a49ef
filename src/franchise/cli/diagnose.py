"""``franchise diagnose``."""

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.printing
def command(model: str, format: str) -> None:
    """Check whether the model in the folder MODEL can be trusted, and say what to do if not.

    CSV and JSON have the numbers: R-hat and effective sample sizes of quantities that do not depend on how
    topics are numbered.

    \b
    Example:
      franchise diagnose model/
    """
    from franchise.cli._model import load

    diagnosis = load(model).diagnose()
    if format == "table":
        click.echo(diagnosis.in_commands(model))
    else:
        print_frame(diagnosis.table.reset_index(names="number"), format)
