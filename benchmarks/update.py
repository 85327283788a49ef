"""A corpus that arrives week by week: is updating a model cheaper than fitting it again, and as good?

    python -m benchmarks.update                                   (600 shipped abstracts in ten batches)
    python -m benchmarks.update --documents 1500 --batches 5 --sweeps 200 --update-sweeps 80

The first batch is fitted. With every further one,

* *update*: `model.update` adds it to the model of the week before, with `--update-sweeps` sweeps.
* *refit*: a new model is fitted to all documents so far, with the usual start and `--sweeps` sweeps.

The ratio of the numbers of sweeps is that of the defaults, 200 to 500. Columns:

* *update s*, *refit s*: CPU seconds of this process on one thread, without reading the texts.
* *update*, *refit*: held-out score by document completion, nats per word, of documents that never arrive,
  higher is better. Documents are lists of words, so both models have the same terms: all of those seen so far
  that are in two of all documents. Other words of the held-out documents are left out.
* *kept*: the share of the topics of the week before that have a match in this week's (cosine 0.7, the rule
  for names), which is the share that keeps its name; *of words*: the share of words that these topics had.
  Both for the update, then for the refit.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from franchise import FranchiseWarning, HDPTopicModel, TextOptions
from franchise.datasets import arxiv_abstracts
from franchise.posterior.labels import matches, remember_all

HELD_OUT = 200  # documents
Documents = list[list[str]]
COLUMNS = ("week", "documents", "update s", "refit s", "update", "refit", *["kept", "of words"] * 2)


class Week(NamedTuple):
    """What a week's update and refit came to."""

    number: int
    documents: int
    seconds: tuple[float, float]
    scores: tuple[float, float]
    kept: tuple[tuple[float, float], tuple[float, float]]


def timed(call: Any, *arguments: Any, **options: Any) -> float:
    """Return how many CPU seconds a call takes."""
    began = time.process_time()
    call(*arguments, **options)
    return time.process_time() - began


def kept(before: HDPTopicModel, now: HDPTopicModel) -> tuple[float, float]:
    """Return the share of topics of a model that another one has, and the share of words in them."""
    terms, vocabulary = before.corpus_.vocabulary, now.corpus_.vocabulary
    found = matches(remember_all({}, before.components_, terms, vocabulary), now.components_)
    weights = before.topic_weights_
    return len(found) / len(weights), float(weights[sorted(found)].sum() / weights.sum())


def words_of(texts: list[str]) -> list[list[str]]:
    """Return the words of texts, but for stop words and words that are in one text alone."""
    analyze = TextOptions().build_analyzer()
    every = [analyze(text) for text in texts]
    documents = Counter(word for words in every for word in set(words))
    return [[word for word in words if documents[word] > 1] for words in every]


def weeks(documents: Documents, held_out: Documents, n_batches: int, **settings: Any) -> Iterator[Week]:
    """Yield what each week's update and refit came to; the first week has neither."""
    update_sweeps = settings.pop("update_sweeps")
    ends = np.linspace(0, len(documents), n_batches + 1).round().astype(int).tolist()

    def new() -> HDPTopicModel:
        return HDPTopicModel(n_jobs=1, verbose=0, **settings)

    def copy_of(model: HDPTopicModel) -> HDPTopicModel:
        same = new()
        vars(same).update(vars(model))  # `update` replaces what it changes
        return same

    updated = new().fit(documents[: ends[1]])
    refitted = updated
    for number, (begin, end) in enumerate(pairwise(ends[1:]), start=2):
        earlier, earlier_refit = updated, refitted
        updated, refitted = copy_of(updated), new()
        seconds = (
            timed(updated.update, documents[begin:end], sweeps=update_sweeps),
            timed(refitted.fit, documents[:end]),
        )
        scores = updated.score(held_out), refitted.score(held_out)
        yield Week(number, end, seconds, scores, (kept(earlier, updated), kept(earlier_refit, refitted)))


def row(week: Week) -> str:
    """Return a row of the table, in Markdown."""
    shares = [f"{share:.0%}" for both in week.kept for share in both]
    seconds, scores = (f"{one:.1f}" for one in week.seconds), (f"{one:.3f}" for one in week.scores)
    return "| " + " | ".join([str(week.number), f"{week.documents:,}", *seconds, *scores, *shares]) + " |"


def mean(found: list[Week]) -> str:
    """Return the last row, with means over the weeks."""
    seconds, scores = (
        np.mean([getattr(week, name) for week in found], axis=0) for name in ("seconds", "scores")
    )
    shares = np.mean([week.kept for week in found], axis=0).ravel()
    cells = [
        *(f"{one:.1f}" for one in seconds),
        *(f"{one:.3f}" for one in scores),
        *(f"{x:.0%}" for x in shares),
    ]
    return "| " + " | ".join(["mean", "", *cells]) + " |"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--update-sweeps", type=int, default=40)
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore", FranchiseWarning)  # of few documents, and of words not seen so far
    every = arxiv_abstracts()
    words = words_of(every[: given.documents] + every[-HELD_OUT:])
    settings = {"sweeps": given.sweeps, "chains": given.chains, "random_state": given.seed}
    print("| " + " | ".join(COLUMNS) + " |\n" + "|" + "--:|" * len(COLUMNS))
    found = []
    for week in weeks(
        words[:-HELD_OUT], words[-HELD_OUT:], given.batches, update_sweeps=given.update_sweeps, **settings
    ):
        found.append(week)
        print(row(week), flush=True)
    print(mean(found))


if __name__ == "__main__":
    main()
