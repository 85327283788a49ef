"""``franchise methods``."""

import click

from franchise.cli import _options as options


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option(
    "--format",
    "Format of the paragraphs; bibtex for the references that latex cites",
    click.Choice(["text", "markdown", "latex", "bibtex"]),
    default="text",
    group="Output options",
)
def command(model: str, format: str) -> None:
    """Write paragraphs for the Methods section of a paper on the model in the folder MODEL.

    They say what the documents are and which words were left out, the model with its priors, how it was
    sampled, whether chains agree, and with which versions and seed.

    \b
    Examples:
      franchise methods model/
      franchise methods model/ --format latex > methods.tex
      franchise methods model/ --format bibtex > references.bib
    """
    from franchise.cli._model import load

    click.echo(load(model).methods(format).rstrip("\n"))
