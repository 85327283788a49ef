"""``franchise infer``."""

from typing import Any

import click

from franchise.cli._cluster import TASK_WORKERS, check_workers, cluster_options, quiet_ray
from franchise.cli._input import reading_options
from franchise.cli._output import format_option, print_frame, print_frames

_SHOWN = 5  # topics of a document in a table


@click.command()
@click.argument("model", type=click.Path())
@click.argument("input", type=click.Path(allow_dash=True))
@reading_options
@click.option("--jobs", type=int, help="Number of threads; does not change the answer.  [default: all cores]")
@cluster_options("Find them", TASK_WORKERS)
@format_option
def command(
    model: str,
    input: str,
    jobs: int | None,
    ray: str | None,
    workers: int | None,
    format_out: str,
    **values: Any,
) -> None:
    """Find the topics of the new documents in INPUT with the model in the folder MODEL.

    MODEL may also be a .bin file of the paper's program. Unknown words are skipped and counted. CSV and
    JSON have one column per topic, with its name if it was given one; each row sums to one.

    With --ray, texts are read, and results printed, piece by piece, so that a file need not fit in memory;
    after an error in the middle of it, what comes before has been printed.

    \b
    Examples:
      franchise infer model/ new.txt
      franchise infer model/ new.jsonl --text-column body --format csv > mixtures.csv
      franchise infer model/ crawl.jsonl.gz --text-column body --format csv --ray auto > mixtures.csv
    """
    from franchise.cli import _new

    check_workers(ray, workers)
    shown = _SHOWN if format_out == "table" else None
    if ray is None:
        topics, names, new = _new.read_new_with_names(model, input, values)
        print_frame(_new.mixtures_frame(names, new, topics.mixtures(new, jobs), shown), format_out)
        return
    quiet_ray()
    from franchise._ray import OnRay
    from franchise.predict.bar import documents_bar

    topics, names = _new.topics_and_names_of(model)
    with documents_bar() as bar:
        pieces = _new.new_in_pieces(topics, input, values, bar)
        frames = _new.mixtures_frames(topics, names, pieces, OnRay(ray, workers), bar.done, shown)
        print_frames(frames, format_out)
