"""``franchise infer``."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame

if TYPE_CHECKING:
    import pandas as pd

    from franchise._arrays import Array
    from franchise._progress import Bar
    from franchise.corpus import Encoded
    from franchise.predict.known_topics import KnownTopics

_SHOWN = 5  # topics of a document in a table
_NUMBERS = 5_000_000  # of the mixtures of a block: 40 MB
_FEWEST_DOCUMENTS, _MOST_DOCUMENTS = 100, 10_000  # of a block

_output = partial(options.option, group="Output options")


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@options.reading
@options.n_jobs
@options.quiet
@_output(
    "-o, --output", "File to write: .csv, .csv.gz, .parquet or .npz", options.FILE, show_default="printed"
)
@_output(
    "--top",
    "Number of topics of each document, the largest",
    options.Whole(1, 2**31 - 1),
    show_default=f"all; {_SHOWN} in a table",
)
@_output("--digits", "Digits of a share after the point", options.Whole(1, 17), show_default="all")
@options.printing
@options.overwrite
def command(
    model: str,
    input: str,
    output: str | None,
    top: int | None,
    digits: int | None,
    n_jobs: int,
    quiet: bool,
    format: str,
    overwrite: bool,
    **values: Any,
) -> None:
    """Find the topics of the new documents in INPUT with the model in the folder MODEL.

    MODEL may also be a .bin file of the paper's program. Documents are read, inferred and written some at a
    time, so INPUT may be larger than memory; - is standard input. Unknown words are skipped and counted.

    CSV, JSON and Parquet have one row per document and one column per topic, with its name if it was given
    one; each row sums to one. With --top 3 the columns are top_1, share_1 to top_3, share_3: numbers of
    topics, as `franchise topics` has them, and their shares. .npz is a matrix for scipy.sparse.load_npz.

    A file gets its name when it is complete. The exit code is 0 if all documents were inferred; 1 if INPUT
    has no documents, none of their words is known, or reading or writing failed; 2 if an option is wrong;
    130 after Ctrl-C.

    \b
    Examples:
      franchise infer model/ new.txt
      franchise infer model/ new.jsonl --text-column body --format csv > mixtures.csv
      franchise infer model/ new.csv --text-column body --id-column id -o mixtures.parquet --top 5
      zcat new.txt.gz | franchise infer model/ - --input-format txt -o mixtures.npz --top 5 --digits 4
    """
    if format == "table" and output is None and digits is not None:
        raise click.UsageError("--digits does not apply to a table; leave it out, or give --format csv")
    source = click.get_current_context().get_parameter_source("format")
    if output is not None and source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--format is for what is printed; leave it out: the name after -o says which")
    if output is None and overwrite:
        raise click.UsageError("--overwrite needs -o; leave it out, or name a file")
    import sys

    from franchise._progress import Bar
    from franchise._text import counted
    from franchise.cli._model import load_topics
    from franchise.posterior.labels import distinct
    from franchise.predict.mixture_files import MixtureTable, check_target, csv_blocks, write_mixtures

    if output is not None:
        check_target(Path(output), overwrite=overwrite)
    topics, names = load_topics(model)
    taken = ["document", "words", "unknown"]
    labels = distinct([names.get(k, f"topic_{k}") for k in range(topics.n_topics)], taken)
    table = MixtureTable(labels, bool(names), top, digits)
    # A bar would be in the way of what is printed on the same terminal.
    shows = not quiet and (output is not None or format == "table" or not sys.stdout.isatty())
    with Bar("inferring", verbose=shows) as bar:
        inferring = _Inferring(input, topics, values, bar)
        blocks = topics.mixtures_of_blocks(inferring.blocks(), n_jobs)
        if output is not None:
            write_mixtures(Path(output), blocks, table)
        elif format == "csv":
            for text in csv_blocks(blocks, table):
                click.echo(text, nl=False)
        elif format == "json":
            import pandas as pd

            print_frame((pd.DataFrame(table.columns(*block)) for block in blocks), format)
        else:
            shown = [_for_people(*block, names, top or _SHOWN) for block in blocks]
    if format == "table" and output is None:
        print_frame(shown, format)
    inferring.warn()
    if output is not None and not quiet:
        click.echo(f"The topics of {counted(inferring.documents, 'document')} are in {output}", err=True)


class _Inferring:
    """New documents on their way from a file to their topics, and how many there have been."""

    def __init__(self, path: str, topics: "KnownTopics", values: dict[str, Any], bar: "Bar") -> None:
        self._path, self._topics, self._values, self._bar = path, topics, values, bar
        self.documents = self._known = self._unknown = 0
        self._read: tuple[int, int | None] = 0, None

    def blocks(self) -> Iterator["Encoded"]:
        """Yield the documents block by block, from the first known word on; refuse to go without one."""
        from franchise.cli._input import read_options
        from franchise.corpus.files import source_name
        from franchise.corpus.new_documents import read_new_in_blocks
        from franchise.errors import CorpusError

        waiting: list[Encoded] = []
        most = min(_MOST_DOCUMENTS, max(_FEWEST_DOCUMENTS, _NUMBERS // (self._topics.n_topics + 1)))
        options, progress = read_options(self._values), self._progress
        like = self._topics.corpus
        for block in read_new_in_blocks(self._path, like, options, documents=most, progress=progress):
            self._count(block)
            waiting.append(block)
            if self._known:
                yield from waiting
                waiting.clear()
        name = source_name(self._path)
        if not self.documents:
            raise CorpusError(f"{name}: there are no documents in it; give at least one", code="empty-corpus")
        if not self._known and not self._unknown:
            raise CorpusError(
                f"{name}: there are no words in the {self.documents:,} documents; check that this is the "
                "right file or column",
                code="empty-corpus",
            )
        if not self._known:
            raise CorpusError(
                f"{name}: none of its {self._unknown:,} words is in the model's vocabulary; check that "
                "this is the right file or column, in the language of the model's documents",
                code="no-known-words",
            )

    def warn(self) -> None:
        """Warn if most words were unknown."""
        import warnings

        from franchise.corpus.data_warnings import unknown_words_warnings

        for doubt in unknown_words_warnings(self._known, self._unknown):
            warnings.warn(doubt, stacklevel=2)

    def _count(self, block: "Encoded") -> None:
        if not self.documents:  # until now the bar may have shown the reading
            self._bar.update(0, None, "inferring")
        self.documents += len(block.unknown)
        self._known += block.arrays.x.size
        self._unknown += int(block.unknown.sum())
        done, total = self._read
        # Estimate the number of documents from what has been read; at the end it is exact.
        in_all = self.documents * total / done if total and done else None
        steps = None if in_all is None else in_all * len(self._topics.draws)
        self._bar.update(None, steps, f"inferring ({self.documents:,} read)")

    def _progress(self, done: int, total: int | None) -> None:
        self._read = done, total
        if not self.documents:
            self._bar.update(done, total, "reading")


def _for_people(block: "Encoded", theta: "Array", names: dict[int, str], top: int) -> "pd.DataFrame":
    import numpy as np
    import pandas as pd

    from franchise.posterior.tables import shares_in_words
    from franchise.predict.largest import largest_topics
    from franchise.predict.mixture_files import facts_of

    chosen = largest_topics(theta, top)
    shares = np.take_along_axis(theta, chosen, axis=1)
    topics = [shares_in_words(*row, names) for row in zip(chosen.tolist(), shares.tolist(), strict=True)]
    return pd.DataFrame(facts_of(block) | {"topics": topics})
