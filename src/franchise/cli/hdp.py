"""``franchise hdp``: a drop-in replacement for the paper's own program."""

import sys

import click


class _AsTheProgram(click.Command):
    """Takes the program's own options, which click does not parse, and shows its own help."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the text, the program's options, and the deliberate differences."""
        from franchise.compat.options import usage

        super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        formatter.write(usage() + "\n")


@click.command(
    cls=_AsTheProgram,
    context_settings={
        "ignore_unknown_options": True,
        "help_option_names": ["-h", "--help", "-help", "--usage"],
    },
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Train and test as the program of Wang and Blei's paper does, with its options and files.

    \b
    Examples:
      franchise hdp --algorithm train --data train.ldac --directory out --eta 0.5 --split_merge yes
      franchise hdp --algorithm test --data heldout.ldac --saved_model out/mode.bin --directory test
    """
    from franchise.compat.options import parse
    from franchise.compat.test_mode import test
    from franchise.compat.train import train
    from franchise.errors import SettingsError

    try:
        options = parse(list(arguments))
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    run = train if options.algorithm == "train" else test
    run(options, progress=lambda line: click.echo(line, file=sys.stderr))
