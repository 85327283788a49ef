"""``franchise report``."""

from pathlib import Path

import click

from franchise.cli import _options as options


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option("-o, --output", "File to write", options.FILE, default="report.html")
@options.option("--title", "Heading of the page")
@options.option("--open, open_it", "Open the page in the browser", is_flag=True)
@options.overwrite
def command(model: str, output: str, title: str | None, overwrite: bool, open_it: bool) -> None:
    """Write a report on the model in the folder MODEL: one HTML file, to open in a browser.

    It shows how many topics there are and how sure that is, the topics with their terms and documents, the
    family tree of topics, and the traces of the chains. It needs no network and can be sent by email.

    \b
    Examples:
      franchise report model/ -o report.html
      franchise report model/ --open
    """
    from franchise._progress import Bar
    from franchise.cli._model import load
    from franchise.report import STEPS

    fitted = load(model)
    with Bar("writing the report", STEPS):
        path = fitted.report(output, title=title, overwrite=overwrite)
    click.echo(str(path))
    if open_it:
        click.launch(Path(path).resolve().as_uri())
