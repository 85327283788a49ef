"""``franchise update``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._cluster import continue_on
from franchise.cli._input import MOST_TEXT, read_options, reading_bar
from franchise.cli._model import interruptible, load, refuse_to_replace, show_fit

if TYPE_CHECKING:
    from franchise.corpus import Corpus

# Options of reading that are as for the fit unless they are given.
_AS_BEFORE = ("text_column", "id_column", "metadata", "vocabulary", "encoding", "delimiter", "layer")

_UPDATED = "# The model was updated with more documents; these options fit all of them from the start.\n"


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@options.option("-o, --output", "Folder to write the updated model to", options.FILE, metavar="NEW-MODEL")
@options.option("--sweeps", "Passes of each chain over all words, old and new", int, default=200)
@options.option("--burn-in", "Sweeps to leave out at the start", int, show_default="half")
@options.option(
    "--thin", "Keep every N-th sweep after the burn-in", int, show_default="such that 25 to 50 are kept"
)
@options.reading
@options.metadata
@options.n_jobs
@options.cluster
@options.time_budget
@options.quiet
@options.overwrite
def command(
    model: str, input: str, output: str | None, n_jobs: int, quiet: bool, overwrite: bool, **values: Any
) -> None:
    """Add the new documents in INPUT to the model in the folder MODEL, and write the updated model.

    The chains continue: old documents keep their topics to begin with, new ones are given topics by the
    model, and then all documents are sampled together. Topics keep their names where they keep their terms;
    NEW-MODEL/topic_map.csv says what became of each topic. MODEL stays as it is.

    The text, id and metadata columns are those of `franchise fit`, if it made the model. Texts are split
    in the same way. A new term joins if enough of the new documents have it (--min-df and --max-df of the
    fit). After Ctrl-C or a crash, `franchise resume NEW-MODEL` continues.

    \b
    Examples:
      franchise update model/ week-2.csv -o model-2/
      franchise update model/ new.jsonl --text-column body -o model-2/ --sweeps 400
      franchise update model/ week-2.csv -o model/ --overwrite
    """
    from franchise.posterior.topic_map import in_words
    from franchise.storage.model import read_config, write_config

    if output is None:
        raise click.UsageError("say where to write the updated model: -o NEW-MODEL")
    if Path(output).resolve() == Path(model).resolve() and not overwrite:
        raise click.UsageError(
            f"{output} is the model to update: give another name, or replace it with --overwrite"
        )
    refuse_to_replace(Path(output), overwrite)
    ray, workers = values.pop("ray"), values.pop("workers")
    with interruptible(output, anew=True):
        fitted = load(model).set_params(n_jobs=n_jobs, verbose=0 if quiet else 1)
        continue_on(ray, workers, fitted)
        before = read_config(Path(model))
        new = _read(input, {**values, **_as_before(values, before)}, fitted.corpus_)
        names = ("sweeps", "burn_in", "thin", "time_budget")
        given = {name: values[name] for name in names}
        fitted.update(new, checkpoint_dir=output, overwrite=overwrite, **given)
        if before:
            now = {name: values[name] for name in ("sweeps", "burn_in", "thin")}
            write_config(Path(output), before | _as_before(values, before) | now, _UPDATED)
        show_fit(fitted, output)
        click.echo(f"  {in_words(fitted.topic_map())}")


def _as_before(values: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the options of reading: those given now, else those of the fit."""
    given = {name: before.get(name) if values[name] is None else values[name] for name in _AS_BEFORE}
    return given | {name: values[name] or before.get(name, False) for name in ("counts", "transpose")}


def _read(path: str, values: dict[str, Any], like: "Corpus") -> "Corpus":
    """Read new documents with all their terms; texts are split as those of the model were."""
    from franchise.corpus import read_corpus
    from franchise.corpus.documents import how_split
    from franchise.corpus.more_documents import splitting

    with reading_bar(path) as progress:
        more = {} if like.text_options is None else {"text_options": splitting(like)}
        new = read_corpus(path, read_options(values, keep_texts=MOST_TEXT, **more), progress=progress)
    if new.text_options is not None:
        how_split(like)  # or the model's documents were no texts
    return new
