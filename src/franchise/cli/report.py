"""``franchise report``."""

from pathlib import Path

import click


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(), default="report.html", show_default=True, help="File to write."
)
@click.option("--title", help="Heading of the page.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
def command(model: str, output: str, title: str | None, force: bool, open_it: bool) -> None:
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
        path = fitted.report(output, title=title, overwrite=force)
    click.echo(str(path))
    if open_it:
        click.launch(Path(path).resolve().as_uri())
