"""``franchise convert``."""

from pathlib import Path
from typing import Any

import click

from franchise.cli._input import (
    MOST_TEXT,
    downsample_options,
    metadata_option,
    options_of,
    read,
    reading_options,
    text_options,
)


@click.command()
@click.argument("input", type=click.Path(allow_dash=True))
@click.argument("output", type=click.Path())
@click.option("--format-out", metavar="FORMAT", help="Output format, if the name of OUTPUT does not show it.")
@click.option("--vocabulary-out", type=click.Path(), metavar="FILE", help="Where to write the terms.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@reading_options
@metadata_option
@text_options
@downsample_options
def command(
    input: str, output: str, format_out: str | None, vocabulary_out: str | None, force: bool, **values: Any
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
    from franchise.corpus.formats.detect import by_name
    from franchise.errors import CorpusError

    if Path(output).exists() and not force:
        raise CorpusError(
            f"{output}: the file already exists; give another name, or --force", code="file-exists"
        )
    form = format_out or by_name(Path(output))
    corpus = read(input, values, options_of(values), keep_texts=MOST_TEXT if form == "franchise" else False)
    for path in write_corpus(corpus, output, format=format_out, vocabulary=vocabulary_out):
        click.echo(str(path))
