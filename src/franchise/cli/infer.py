"""``franchise infer``."""

from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._output import print_frame

_SHOWN = 5  # topics of a document in a table


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@options.reading
@options.n_jobs
@options.printing
def command(model: str, input: str, n_jobs: int, format: str, **values: Any) -> None:
    """Find the topics of the new documents in INPUT with the model in the folder MODEL.

    MODEL may also be a .bin file of the paper's program. Unknown words are skipped and counted. CSV and
    JSON have one column per topic, with its name if it was given one; each row sums to one.

    \b
    Examples:
      franchise infer model/ new.txt
      franchise infer model/ new.jsonl --text-column body --format csv > mixtures.csv
    """
    import numpy as np
    import pandas as pd

    from franchise._progress import Bar
    from franchise._text import printable
    from franchise.cli._model import load_topics, read_new
    from franchise.posterior.labels import distinct
    from franchise.posterior.tables import shares_in_words

    topics, names = load_topics(model)
    new = read_new(input, topics, values)
    with Bar("inferring", len(new.document_names) * len(topics.draws)):
        theta = topics.mixtures(new, n_jobs)
    documents = [printable(name) for name in new.document_names]
    words = np.diff(new.arrays.doc_ptr)
    frame = pd.DataFrame({"document": documents, "words": words, "unknown": new.unknown})
    if format == "table":
        order = np.argsort(-theta, axis=1, kind="stable")[:, :_SHOWN]
        frame["topics"] = [
            shares_in_words(largest.tolist(), row[largest].tolist(), names)
            for largest, row in zip(order, theta, strict=True)
        ]
    else:
        columns = distinct([names.get(k, f"topic_{k}") for k in range(theta.shape[1])], list(frame.columns))
        frame = pd.concat([frame, pd.DataFrame(theta, columns=columns)], axis=1)
    print_frame(frame, format)
