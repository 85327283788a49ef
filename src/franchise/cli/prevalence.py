"""``franchise prevalence``."""

import csv
from pathlib import Path
from typing import Any

import click

from franchise.cli._output import format_option, print_frame

_SHOWN = 10  # topics in a table


class _Topics(click.ParamType):  # type: ignore[type-arg]
    name = "topics"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """Read numbers or names with commas between them; a name with a comma is written in quotes."""
        if isinstance(value, list):
            return value
        topics = [one.strip() for one in next(csv.reader([value], skipinitialspace=True), [])]
        if not topics or not all(topics):
            self.fail(
                f"{value!r}: give numbers or names of topics with commas between them, such as 1,3",
                param,
                ctx,
            )
        return topics


@click.command()
@click.argument("model", type=click.Path())
@click.option(
    "--by",
    required=True,
    metavar="COLUMN",
    help="Column of the metadata, such as year; `franchise inspect MODEL` lists them.",
)
@click.option(
    "--step",
    metavar="STEP",
    help="What one group spans: day, week, month, quarter, year or decade for dates, a number (10) for "
    "numbers.  [default: each value; for dates, what gives no more than 60 groups]",
)
@click.option(
    "--topics",
    type=_Topics(),
    metavar="TOPICS",
    help="Only these topics, by number or name, such as 1,cosmology.  [default: all]",
)
@click.option(
    "--interval", type=float, default=0.95, show_default=True, help="Probability of the interval low to high."
)
@click.option(
    "--per",
    type=click.Choice(["word", "document"]),
    default="word",
    show_default=True,
    help="Share of the group's words, or mean of the shares in its documents.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")
@click.option(
    "--figure",
    type=click.Path(),
    metavar="FILE",
    help="Draw a figure too (.pdf, .png, .svg); needs matplotlib.",
)
@click.option("--force", is_flag=True, help="Replace an existing figure.")
@format_option
def command(
    model: str,
    by: str,
    topics: list[str] | None,
    figure: str | None,
    force: bool,
    format_out: str,
    **options: Any,
) -> None:
    """Show the share of each topic in groups of the documents that the model in the folder MODEL has.

    Groups come from a column that was kept with the documents (`franchise fit --metadata`). low and high are
    the ends of the 95% interval of the share: it covers what the model does not know of its topics, and that
    other documents might have been written (bootstrap). Documents without a value are the group (missing).

    A table shows the 10 largest topics, a figure the 6 largest, unless --topics chooses.

    \b
    Examples:
      franchise prevalence model/ --by year
      franchise prevalence model/ --by date --step quarter --topics 1,3 --figure topics.pdf
      franchise prevalence model/ --by category --format csv > prevalence.csv
    """
    from franchise.cli._model import load

    if figure is not None:
        _refuse(Path(figure), force)
    frame = load(model).prevalence(by, topics=topics, **options)
    if figure is not None:
        _draw(frame, by, Path(figure))
    n_topics = frame["topic"].nunique()
    if format_out == "table" and topics is None and n_topics > _SHOWN:
        frame = frame[frame["topic"] < _SHOWN]
        click.echo(f"The {_SHOWN} largest of {n_topics} topics; --topics 1,3 chooses others.", err=True)
    print_frame(frame, format_out)


def _refuse(path: Path, force: bool) -> None:
    from franchise.errors import FranchiseError

    if path.exists() and not force:
        raise FranchiseError(
            f"{path}: the file already exists; give another name, or --force", code="file-exists"
        )


def _draw(frame: Any, by: str, path: Path) -> None:
    import io

    from franchise.corpus.files import write_atomically
    from franchise.errors import SettingsError
    from franchise.report.figures import plot_prevalence

    figure, content = plot_prevalence(frame, name=by), io.BytesIO()
    known = figure.canvas.get_supported_filetypes()
    form = path.suffix.removeprefix(".").lower()
    if form not in known:
        raise SettingsError(
            f"--figure {path}: a figure cannot be of this kind; let the name end in .pdf, .png or .svg",
            code="unknown-figure-format",
        )
    figure.savefig(content, format=form, dpi=200)
    write_atomically(path, [content.getvalue()])
    click.echo(f"The figure is in {path}", err=True)
