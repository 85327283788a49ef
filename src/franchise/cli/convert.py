"""``franchise convert``."""

from pathlib import Path
from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._input import MOST_TEXT, read


@click.command(cls=options.Command)
@click.argument("input", type=click.Path(allow_dash=True))
@click.argument("output", type=click.Path())
@options.option("--output-format", "Format of OUTPUT", metavar="FORMAT", show_default="from its name")
@options.option("--vocabulary-out", "File to write the terms to", options.FILE)
@options.reading
@options.metadata
@options.text
@options.drop_duplicates
@options.downsample
@options.random_state
@options.overwrite
def command(
    input: str,
    output: str,
    output_format: str | None,
    vocabulary_out: str | None,
    overwrite: bool,
    **values: Any,
) -> None:
    """Read the documents of INPUT and write them to OUTPUT in another format.

    Formats to write: txt, jsonl, ldac, uci, mm, npz, franchise; a name that ends in .gz is compressed. Of
    these, jsonl and franchise keep other columns (--metadata). A file of the format franchise keeps all else,
    too, and is mapped when it is used: read a large corpus once, then fit it as often as you like.

    \b
    Examples:
      franchise convert papers.csv --text-column abstract papers.ldac
      franchise convert docword.kos.txt.gz kos.npz
      franchise convert pubmed.jsonl --text-column abstract pubmed.franchise
    """
    from franchise.corpus import write_corpus
    from franchise.corpus.formats import by_name
    from franchise.errors import CorpusError

    if Path(output).exists() and not overwrite:
        raise CorpusError(
            f"{output}: the file already exists; give another name, or --overwrite", code="file-exists"
        )
    form = output_format or by_name(Path(output))
    corpus = read(input, values, keep_texts=MOST_TEXT if form == "franchise" else False)
    for path in write_corpus(corpus, output, format=output_format, vocabulary=vocabulary_out):
        click.echo(str(path))
