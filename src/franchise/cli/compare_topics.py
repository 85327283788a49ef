"""``franchise compare-topics``."""

import click

from franchise.cli import _options as options
from franchise.cli._output import check_figure, print_frame, write_figure


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("reference", type=click.Path())
@options.option(
    "--one-to-one", "Each reference for one topic at most, instead of the most similar ones", is_flag=True
)
@options.option("--by-reference", "A row per reference, with its most similar topic", is_flag=True)
@options.option("--threshold", "Cosine from which on two topics count as a match", options.SHARE, default=0.8)
@options.option(
    "--interval", "Probability of the interval from low to high", float, metavar="P", default=0.95
)
@options.printing
@options.figure
def command(
    model: str,
    reference: str,
    one_to_one: bool,
    by_reference: bool,
    threshold: float,
    interval: float,
    format: str,
    figure: str | None,
    overwrite: bool,
) -> None:
    """Compare the topics of the model in the folder MODEL with the topics in REFERENCE.

    REFERENCE is a CSV or TSV file whose rows or columns are terms of the model, such as a table of mutational
    signatures, or the folder of another model. cosine is the similarity of the two distributions over terms;
    low and high are the ends of its 95% interval, which covers what the documents leave open of the topic. If
    high is 1, they cannot tell the reference from the topic. nearest is the probability that no other
    reference is more similar.

    Below the table: what has no match, on both sides.

    \b
    Examples:
      franchise compare-topics model/ signatures.csv
      franchise compare-topics model/ last-year/ --one-to-one
      franchise compare-topics model/ signatures.csv --by-reference --format csv > references.csv
    """
    from franchise.cli._model import load
    from franchise.errors import FranchiseError, SettingsError

    if one_to_one and by_reference:
        raise click.UsageError("--one-to-one and --by-reference do not go together; leave out one of them")
    check_figure(figure, overwrite)
    fitted = load(model)
    try:
        found = fitted.compare_topics(reference, threshold=threshold, level=interval)
    except SettingsError as error:
        if error.code == "not-a-probability":
            raise
        # The fault is in the file, not in an option.
        raise FranchiseError(str(error), code=error.code) from None
    if figure is not None:
        from franchise.report.figures import plot_reference

        write_figure(plot_reference(found, one_to_one=one_to_one), figure)
    print_frame(found.references() if by_reference else found.as_frame(one_to_one=one_to_one), format)
    if format == "table":
        click.echo("\n" + "\n".join(found.in_words()))
