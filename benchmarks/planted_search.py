"""How long chains take from a start to the score of the truth: `python -m benchmarks.gpu planted`."""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gpu_report import Report, free_memory, gpu_bytes
from benchmarks.parallel import PRIORS
from benchmarks.planted_corpora import even, like_pubmed
from benchmarks.planted_start import planted_state_of_many
from benchmarks.tables import console, show
from benchmarks.topics_of_documents import (
    at_random_documents,
    at_unexplained_documents,
    distinct,
    without_like,
)
from benchmarks.trajectories import default_chain
from franchise import Chain, Corpus, Proposal, SplitMerge
from franchise._arrays import Array, count_terms
from franchise.corpus.synthetic import Planted
from franchise.engines import TOPICS, GivenTopics

KINDS = {"even": even, "pubmed": like_pubmed}
ENOUGH = 100_000  # sweeps of a schedule whose burn-in never ends: no draws are kept
DOCUMENTS = "documents:"  # a start from this number of documents
SAY = 100  # sweeps of a sample between lines
WITHIN, STAYS = 0.01, 10  # nats per word from the truth's score, and for how many sweeps


class PlantedTopics(NamedTuple):
    """What is to be found."""

    topics: Array
    weights: Array  # shares of the words

    @classmethod
    def of(cls, truth: Planted) -> "PlantedTopics":
        """Return what a corpus was drawn from."""
        words = count_terms(truth.z, len(truth.topics))
        return cls(truth.topics.astype(np.float32), words / words.sum())

    def missing_from(self, phi: Array) -> str:
        """Say how many have no topic that is like them."""
        missing = without_like(self.topics, phi, self.weights @ self.topics)
        words = f"{100 * self.weights[missing].sum():.2f}% of the words"
        return f"{missing.sum():,} of {missing.size:,} planted topics are missing, {words}"


class At(NamedTuple):
    """Where a chain is."""

    seconds: float
    sweeps: int
    topics: int
    score: float  # log p(x | c) per word
    joint: float  # log joint per word

    def __str__(self) -> str:
        return (
            f"  {self.seconds:7.1f} s, {self.sweeps:4d} sweeps, {self.topics:5,} topics, log p(x | c) "
            f"{self.score:.4f}, log joint {self.joint:.4f} per word"
        )


class Arrival:
    """Notes since when a chain has been, sweep after sweep, no worse than a level."""

    def __init__(self) -> None:
        self._near: list[At] = []

    @property
    def where(self) -> At | None:
        """Where that began, once it has lasted."""
        return self._near[0] if len(self._near) >= STAYS else None

    def note(self, at: At, is_near: bool) -> None:
        """Take the next sweep."""
        self._near = [*self._near, at] if is_near else []

    def __str__(self) -> str:
        return "no" if self.where is None else f"{self.where.seconds:.1f} ({self.where.sweeps:,} sweeps)"


def planted(options: argparse.Namespace, report: Report) -> None:
    """Print how long chains take from their starts to the score of the truth."""
    truth = drawn(options, options.topics)
    corpus, to_find = truth.corpus, PlantedTopics.of(truth)
    if options.level:
        level, at_truth = At(0.0, 0, options.topics, *options.level), []
    else:
        level, at_truth = score_of_truth(truth, options)
    report.add({"start": "truth", "level": level._asdict(), "words": corpus.n_words, "path": at_truth})
    del truth
    free_memory()
    rows = []
    for start in options.start:
        path, score, both = until_arrived(corpus, start, level, to_find, options)
        last = path[-1]
        found = {"start": start, "gpu_bytes": gpu_bytes(), "last": last._asdict()}
        for name, arrival in (("score", score), ("score_and_joint", both)):
            found[name] = arrival.where and arrival.where._asdict()
        report.add(found | {"path": path})
        free_memory()
        rows.append([str(start), f"{path[0].seconds:.1f}", str(score), str(both), f"{last.seconds:.1f}"])
        rows[-1] += [f"{last.sweeps:,}", f"{last.topics:,}", f"{last.score:.4f}"]
        rows[-1] += [f"{last.score - level.score:+.4f}", f"{last.joint - level.joint:+.4f}"]
    title = (
        f"{options.engine}: {corpus.n_words:,} words, {corpus.n_terms:,} terms, {options.topics:,} topics; "
    )
    title += f"a chain from the truth: log p(x | c) {level.score:.4f} per word, {level.topics:,} topics"
    columns = ["start", "start s", f"s to within {WITHIN}", "and log joint", "in the end: s", "sweeps", "K"]
    show(title, [*columns, "log p(x | c)", "less truth's", "log joint"], rows)


def score_of_truth(truth: Planted, options: argparse.Namespace) -> tuple[At, list[At]]:
    """Run a chain from the truth; return the mean of its last sweeps, and its path."""
    console.print(f"a chain that starts at the truth, {options.truth_sweeps} sweeps")
    chain = default_chain(truth.corpus, options.engine, options.threads, ENOUGH, "one")
    start_at_truth(chain, truth, options.threads)
    began, printed, path = time.perf_counter(), -np.inf, [_at(chain, 0.0)]
    for sweep in range(1, options.truth_sweeps + 1):
        chain.sweep()
        path.append(_at(chain, time.perf_counter() - began))
        if path[-1].seconds - printed >= options.every or sweep == options.truth_sweeps:
            console.print(str(path[-1]))
            printed = path[-1].seconds
    last = np.mean(path[-max(1, options.truth_sweeps // 5) :], axis=0)
    return path[-1]._replace(score=float(last[-2]), joint=float(last[-1])), path


def until_arrived(
    corpus: Corpus, start: str | int, level: At, to_find: PlantedTopics, options: argparse.Namespace
) -> tuple[list[At], Arrival, Arrival]:
    """Run a chain until it is as good as a level; return its path, and since when score, and all, are."""
    console.print(
        f"a chain from start {start}, to {level.score:.4f} (log joint {level.joint:.4f}) less {WITHIN}"
    )
    began, printed, path = time.perf_counter(), -np.inf, []
    score, both = Arrival(), Arrival()
    begin: Any = start
    if str(start).startswith(DOCUMENTS):
        number = int(str(start).removeprefix(DOCUMENTS))
        begin = GivenTopics(TOPICS, at_random_documents(corpus, number))
    for sample in options.sample:
        phi = topics_of_sample(corpus, begin, sample, options)
        console.print(f"{len(phi):,} different topics; {to_find.missing_from(phi)}")
        begin = GivenTopics(TOPICS, with_new_topics(corpus, phi, sample.new))
    settings: dict[str, Any] = {"split_merge": _trials(options.trials, options.merges)}
    if options.warm_up is not None:
        settings["warm_up"] = options.warm_up
    chain = default_chain(corpus, options.engine, options.threads, ENOUGH, begin, **settings)
    while both.where is None and (not path or path[-1].seconds < options.seconds):
        chain.sweep() if path else chain.start()
        at = _at(chain, time.perf_counter() - began)
        path.append(at)
        # Scores of the warm-up, with its smaller eta, are those of another model.
        counts = at.sweeps > chain.schedule.warm_up
        is_near = counts and at.score >= level.score - WITHIN
        score.note(at, is_near)
        both.note(at, is_near and at.joint >= level.joint - WITHIN)
        if at.seconds - printed >= options.every or both.where:
            less = f"; minus the truth's {at.score - level.score:+.4f}, {at.joint - level.joint:+.4f}"
            console.print(f"{at}{less}{'' if counts else ' (warm-up)'}")
            printed = at.seconds
    found = distinct(chain.draw().topic_terms)
    console.print(f"{len(found):,} different topics; {to_find.missing_from(found)}")
    return path, score, both


class Sample(NamedTuple):
    """Some of the documents, and how a chain goes through them."""

    share: float
    sweeps: int = 400
    eta: float = PRIORS.eta
    trials: int = SplitMerge().trials
    new: int = 0  # topics that come beside those found

    @classmethod
    def of(cls, value: str) -> "Sample":
        """Read SHARE:SWEEPS:ETA:TRIALS:NEW, or the first of these."""
        parts: Any = zip((float, int, float, int, int), value.split(":", 4), strict=False)
        return cls(*(kind(part) for kind, part in parts))


def topics_of_sample(corpus: Corpus, start: Any, sample: Sample, options: argparse.Namespace) -> Array:
    """Run a chain on some of the documents; return its topics, those that are alike as one."""
    began = time.perf_counter()
    some = corpus.select(np.arange(0, corpus.n_documents, round(1.0 / sample.share)))
    trials = _trials(sample.trials, options.merges)
    settings: dict[str, Any] = {"eta": sample.eta, "split_merge": trials}
    chain = default_chain(some, options.engine, options.threads, ENOUGH, start, **settings)
    while chain.sweeps_done < sample.sweeps:
        chain.run(min(SAY, sample.sweeps - chain.sweeps_done))
        console.print(f"a sample of {some.n_words:,} words:{_at(chain, time.perf_counter() - began)}")
    phi = distinct(chain.draw().topic_terms) + sample.eta
    del chain
    free_memory()
    return np.asarray(phi / phi.sum(axis=1, keepdims=True))


def with_new_topics(corpus: Corpus, phi: Array, number: int) -> Array:
    """Add topics that are begun at documents which those found so far explain worst."""
    if not number:
        return phi
    began = time.perf_counter()
    more = at_unexplained_documents(corpus, phi, number)
    console.print(f"{number:,} more topics, after {time.perf_counter() - began:.1f} s")
    return np.vstack([phi, more])


def _trials(number: int, only_merges: bool) -> str | SplitMerge:
    """Return the setting of split-merge."""
    if not number:
        return "off"
    if only_merges:
        return SplitMerge(trials=number, proposals=(Proposal(anchors="similar"),))
    return "always" if number == SplitMerge().trials else SplitMerge(trials=number)


def _at(chain: Chain, seconds: float) -> At:
    topics, joint = int(chain.trace.last["n_topics"]), float(chain.trace.last["log_joint"])
    return At(seconds, chain.sweeps_done, topics, score_per_word(chain), joint / chain.corpus.n_words)


def drawn(options: argparse.Namespace, n_topics: int) -> Planted:
    """Draw the corpus."""
    began = time.perf_counter()
    truth = KINDS[options.kind](int(options.words), options.terms, n_topics)
    took = time.perf_counter() - began
    console.print(f"{truth.corpus}, {n_topics:,} topics, drawn in {took:.1f} s")
    return truth


def start_at_truth(chain: Chain, truth: Planted, threads: int) -> float:
    """Start a chain at the truth; return the seconds that it took, the making of the state included."""
    began = time.perf_counter()
    chain.start_at(planted_state_of_many(truth, PRIORS, threads))
    return time.perf_counter() - began


def score_per_word(chain: Chain) -> float:
    return float(chain.trace.last["log_p_words"]) / chain.corpus.n_words
