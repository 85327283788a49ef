"""``franchise shard``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._input import MOST_TEXT, options_of, read_options, reading_bar

if TYPE_CHECKING:
    from franchise.corpus import Corpus
    from franchise.corpus.batches import Batch


@click.command(cls=options.Command)
@click.argument("inputs", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="INPUT...")
@options.option("-o, --output", "Folder to write to", options.FILE, required=True, metavar="FOLDER")
@options.option(
    "--shards",
    "Number of shards, many more than there will be machines",
    options.Whole(1, 99_999),
    default=64,
)
@options.reading
@options.metadata
@options.text
@options.overwrite
def command(inputs: tuple[str, ...], output: str, shards: int, overwrite: bool, **values: Any) -> None:
    """Read the documents of all INPUTs and write them to FOLDER in shards.

    A shard is a file with a range of documents, so that no machine has to hold all of them. INPUTs are read
    one after the other, and only one of them is in memory; each may be a file of documents, or a folder of
    such files (part-*.parquet). FOLDER can be given wherever a file of documents can.

    \b
    Examples:
      franchise shard pubmed-*.jsonl.gz --text-column abstract -o pubmed/
      franchise shard crawl/ --text-column words --shards 256 -o crawl-shards/
      franchise fit pubmed/ -o model/
    """
    from franchise.corpus.shards.writing import files_of, refuse_to_replace, shard_batches
    from franchise.errors import CorpusError

    try:
        refuse_to_replace(Path(output), overwrite)
    except OSError as error:
        raise CorpusError(
            f"{output}: cannot write there ({error.strerror}); give another name", code="cannot-write"
        ) from error
    paths = [path for given in inputs for path in files_of(given)]
    with reading_bar(output, verb="writing") as progress:
        corpus = shard_batches(
            _batches(paths, values),
            output,
            shards,
            overwrite=overwrite,
            progress=lambda done, total: progress(4 * done, 4 * total),  # bytes
        )
    click.echo(
        f"{corpus.n_documents:,} documents, {corpus.n_terms:,} terms, {corpus.n_words:,} words "
        f"in {len(corpus.shards):,} shards: {output}"
    )


def _batches(paths: list[str], values: dict[str, Any]) -> "Iterator[Corpus | Batch]":
    from franchise.corpus import Corpus
    from franchise.corpus.large_arrays import texts_length
    from franchise.corpus.reading import read_documents

    room = MOST_TEXT
    for path in paths:
        how = read_options(values, text_options=options_of(values), keep_texts=room)
        with reading_bar(path) as progress:
            found = read_documents(path, how, progress=progress)
        texts = found.texts if isinstance(found, Corpus) else found.about.texts
        room = max(0, room - texts_length(texts)) if texts is not None else 0
        yield found
