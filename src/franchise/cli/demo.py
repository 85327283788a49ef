"""``franchise demo``."""

from pathlib import Path

import click

from franchise.cli import INTERRUPTED
from franchise.cli import _options as options

_TOPICS_SHOWN = 12
# eta: few broad topics, which are quicker to look through, and which chains agree on.
_SETTINGS = {"eta": 0.5, "sweeps": 1500, "chains": 2, "random_state": 0}
_MIN_DF = 8
# The same settings as options.
AS_FIT = "franchise fit abstracts.txt -o model --min-df 8 --eta 0.5 --sweeps 1500 --chains 2 --random-state 0"


@click.command(cls=options.Command)
@options.option(
    "-o, --output", "Folder to write the model to", options.FILE, metavar="MODEL", default="franchise-demo"
)
@options.n_jobs
@options.quiet
def command(output: str, n_jobs: int, quiet: bool) -> None:
    """Fit 2,000 arXiv abstracts (April 2007, all subjects), show their topics, and write a report on them.

    This takes about a minute on two cores; the first time, part of it is compiling. A model that is
    already in the folder is replaced.

    The settings are not those of `franchise fit`, which has more chains (4, not 2), to see better on what
    they agree, and a smaller eta (0.1, not 0.5), as it does not know how broad topics should be: the demo
    has to be quick and to show topics at a glance. It prints the call of `fit` that would do the same.

    \b
    Example:
      franchise demo
    """
    from franchise.cli._model import interruptible
    from franchise.cli._output import print_frame
    from franchise.cli.topics import shown
    from franchise.corpus import from_texts
    from franchise.datasets import arxiv_abstracts
    from franchise.errors import FranchiseError
    from franchise.estimator import HDPTopicModel

    corpus = from_texts(arxiv_abstracts(), min_df=_MIN_DF)
    click.echo(
        f"{corpus.n_documents:,} abstracts, {corpus.n_words:,} words, {corpus.n_terms:,} terms", err=True
    )
    model = HDPTopicModel(**_SETTINGS, n_jobs=n_jobs, verbose=0 if quiet else 1)  # type: ignore[arg-type]
    with interruptible(output, anew=True):
        model.fit(corpus, checkpoint_dir=output, overwrite=True)
    click.echo(model.in_commands(output))
    click.echo()
    frame = model.topics(8)
    print_frame(shown(frame).head(_TOPICS_SHOWN), "table")
    if len(frame) > _TOPICS_SHOWN:
        click.echo(f"and {len(frame) - _TOPICS_SHOWN} smaller ones: franchise topics {output}")
    click.echo()
    click.echo(f"The model is in {output}. To fit the same model from a file of the abstracts:")
    click.echo(f"  {AS_FIT}")
    try:
        page = model.report(Path(output) / "report.html", overwrite=True)
        click.echo(f"To look at it, open {page} in a browser.")
    except FranchiseError as error:  # the page needs libraries that not everyone installs
        click.echo(f"franchise: {error}", err=True)
    if model.ending_ == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
