"""The answer in words, for people who know no statistics: how many topics, how often they came out, how sure.

Readers of the page may neither have run the model nor program. So the first screen has no chains, draws or
sweeps until it has said what they are: there a chain is a *division* of the texts. What the diagnosis says,
further down, is in the words of `posterior.advice`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise._text import counted
from franchise.corpus import Corpus
from franchise.corpus.count_tables import is_count_table
from franchise.model.priors import Priors
from franchise.posterior.agreement import AGREE, APART, FEW_DRAWS, FIRM_RUNS, MOSTLY, agreement, in_words
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.posterior.prior_topics import prior_n_topics
from franchise.report.chains import started
from franchise.sampling import Chain

_NUMBERS = ("", "once", "twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_HALF = "half" if FIRM_RUNS == 0.5 else f"{FIRM_RUNS:.0%}"


class Verdict(NamedTuple):
    """Whether to trust the answer; `level` is good, rough, bad or open."""

    level: str
    sign: str
    short: str


_VERDICTS = {
    "good": Verdict("good", "✓", "The same topics every time, and they no longer change"),
    "agree": Verdict("rough", "≈", "The same topics every time; they may still change"),
    "most": Verdict("rough", "≈", "Mostly the same topics every time"),
    "most, settled": Verdict("rough", "≈", "Mostly the same topics every time, and these no longer change"),
    "some": Verdict("rough", "≈", "Only some topics are the same every time"),
    "changing": Verdict("rough", "≈", "The topics were still changing at the end"),
    "bad": Verdict("bad", "✗", "Mostly different topics every time"),
    "one": Verdict("open", "?", "Done once, with nothing to compare"),
    "one, runs": Verdict("open", "?", "Done once, and compared with short runs only"),
    "short": Verdict("open", "?", "Too early to say what comes out every time"),
}


def verdict(diagnosis: Diagnosis, n_chains: int) -> Verdict:
    """Return the diagnosis in one line."""
    if diagnosis.converged:
        return _VERDICTS["good"]
    if diagnosis.agree is None:
        alone = "one" if diagnosis.firm_topics is None else "one, runs"
        return _VERDICTS[alone if n_chains == 1 else "short"]
    if diagnosis.verdict == APART:
        return _VERDICTS["bad"]
    if diagnosis.settled is False:
        return _VERDICTS["changing"]
    if diagnosis.verdict == AGREE:
        return _VERDICTS["agree"]
    if diagnosis.verdict != MOSTLY:
        return _VERDICTS["some"]
    return _VERDICTS["most, settled" if diagnosis.settled else "most"]


def what_is_divided(corpus: Corpus) -> str:
    """Say what a reader calls the documents: ``"texts"``, the ``"counts"`` of a table, or ``"words"``."""
    if corpus.text_options is not None:
        return "texts"
    return "counts" if is_count_table(corpus) else "words"


# ---------------------------------------------------------------- the number, and how it came about


class Headline(NamedTuple):
    """The answer in a number and a few words, and how it came about."""

    number: int
    words: str
    story: str


def headline(posterior: Posterior, diagnosis: Diagnosis, divided: str, n_runs: int | None) -> Headline:
    """Return what holds: where divisions differ, the topics that all of them have.

    Parameters
    ----------
    posterior, diagnosis
        What is known, and whether the chains agree.
    divided
        What the documents are called (`what_is_divided`).
    n_runs
        Number of short runs before the chains; None if there were none.
    """
    n, times = posterior.n_topics_median, len(posterior.draws)
    how = _how(times, diagnosis.same_start, divided, n_runs)
    topics = "topic" if n == 1 else "topics"
    if diagnosis.agree is None and times > 1:
        return Headline(n, f"{topics} so far", f"{how}. It is too early to say what comes out every time.")
    if diagnosis.firm_topics:
        number = len(diagnosis.firm_topics)
        found = f"in at least {_HALF} of the short runs"
        found = f"{every_time(times)}, and {found}" if times > 1 else f"{found} too"
        share = _share(number, "again and again", diagnosis.firm_share, divided)
        return Headline(number, share, f"{how}. {_these(number)} came out {found}.{_rely(diagnosis, times)}")
    number = len(diagnosis.solid_topics)
    if number and times > 1:
        found = f"{_these(number)} came out {every_time(times)}"
        if n_runs is not None:
            story = f"{how}. {found}, but in fewer than {_HALF} of the short runs: do not rely on them alone."
        elif diagnosis.same_start:
            story = f"{how}. {found}; another start may lead to other topics."
        else:
            story = f"{how}; {found[0].lower()}{found[1:]}.{_rely(diagnosis, times)}"
        return Headline(number, _share(number, every_time(times), diagnosis.shared, divided), story)
    if times > 1:
        story = f"{how}, with different results. Rely on no single topic."
        return Headline(n, f"{topics}, and none of them came out {every_time(times)}", story)
    again = f"{_these(n)} may not come out again."
    if n_runs is not None:
        again = f"No topic came out in {_HALF} of the short runs: rely on no single topic."
    return Headline(n, topics, f"{how}. {again}")


def _how(times: int, same_start: bool, divided: str, n_runs: int | None) -> str:
    """Say how often the words were divided, and how far one division depends on another."""
    if n_runs is not None:
        runs = "a short run" if n_runs == 1 else f"{f'{n_runs:,} ' if n_runs else ''}short, independent runs"
        start = f"The program first divided the {divided} in {runs}"
        return f"{start}, and then {_times(times)} thoroughly, beginning with what had come out most"
    if times == 1:
        return f"The program divided the {divided} once"
    how = "each time from the same start" if same_start else "independently"
    return f"The program divided the {divided} {_times(times)}, {how}"


def _times(n: int) -> str:
    """Say how often.

    Examples
    --------
    >>> _times(1), _times(2), _times(4), _times(24)
    ('once', 'twice', 'four times', '24 times')
    """
    return f"{_NUMBERS[n] if n < len(_NUMBERS) else f'{n:,}'}{' times' * (n > 2)}"


def every_time(times: int) -> str:
    """Say that it was so in all divisions."""
    return {1: "this time", 2: "both times"}.get(times, "every time")


def _these(number: int) -> str:
    return "This topic" if number == 1 else f"These {number:,} topics"


def _share(number: int, how_often: str, share: float, divided: str) -> str:
    of = "counts" if divided == "counts" else "words"
    return f"{'topic' if number == 1 else 'topics'} came out {how_often}, with {share:.0%} of the {of}"


def _rely(diagnosis: Diagnosis, times: int) -> str:
    if times == 1:
        return " Another thorough division may still have other topics."
    return "" if diagnosis.settled is False else " Rely on these."


# ---------------------------------------------------------------- what else to keep in mind


def findings(
    posterior: Posterior, chains: Sequence[Chain], diagnosis: Diagnosis, divided: str = "texts"
) -> list[str]:
    """Say, in sentences, what to keep in mind when looking at the topics."""
    words = "counts" if divided == "counts" else "words"
    said = _other_topics(posterior, diagnosis)
    half = int(np.searchsorted(np.cumsum(posterior.weights), 0.5) + 1)
    if 1 < half < posterior.n_topics:
        said.append(f"The {half:,} largest topics hold half of the {words}.")
    if posterior.read_as:
        said.append(f"For reading, {posterior.read_as}. The chains and the number of topics are unchanged.")
    if posterior.unlisted_weight >= 0.0005:
        rest, hidden = f"{posterior.unlisted_weight:.1%}", "are hidden, or " * bool(posterior.read_as)
        said.append(f"{rest} of the {words} are in topics that {hidden}come and go, and are not listed.")
    return said + _unfinished(chains)


def _other_topics(posterior: Posterior, diagnosis: Diagnosis) -> list[str]:
    """Say how often the topics that are not in the headline came out."""
    times, found = len(posterior.draws), agreement(posterior)
    if diagnosis.agree is None and times > 1:
        return []
    said = []
    if diagnosis.firm_topics and (only := len(found.solid) - len(diagnosis.firm_topics)):
        rarely = f"but in fewer than {_HALF} of the short runs"
        said.append(f"{counted(only, 'other topic')} came out {every_time(times)}, {rarely}.")
    if times == 1 or not found.solid:
        return said
    if n := len(found.likely):
        said.append(f"{counted(n, 'other topic')} came out most times.")
    if n := len(found.doubtful):
        rarely = "once only" if times <= 3 else "in half of the times or fewer"
        them = "it; the table marks it" if n == 1 else "them; the table marks them"
        said.append(f"{counted(n, 'other topic')} came out {rarely}: do not rely on {them}.")
    return said


def _unfinished(chains: Sequence[Chain]) -> list[str]:
    running = started(chains)
    done, planned = min(chain.sweeps_done for chain in running), running[0].schedule.sweeps
    said = []
    if done < planned or len(running) < len(chains):
        which = f", in {len(running)} of {len(chains)} tries" if len(running) < len(chains) else ""
        said.append(
            f"The run is not finished: the program has gone over all words {done:,} of {planned:,} times"
            f"{which}. It can be continued where it stopped."
        )
    if not any(chain.draws for chain in running):
        said.append("The program has not kept an answer yet: this page shows where it stands.")
    elif (n := min(len(chain.draws) for chain in running if chain.draws)) < FEW_DRAWS:
        said.append(f"All of this is rough: it rests on {counted(n, 'answer')} per try.")
    return said


# ---------------------------------------------------------------- how many topics


class AboutTheNumber(NamedTuple):
    """What the first chart needs to be read: where its numbers come from, and what was expected."""

    answers: str
    expected: str


def about_the_number(
    posterior: Posterior, chains: Sequence[Chain], priors: Priors, divided: str
) -> AboutTheNumber:
    """Say how many answers there are, and how many topics the priors expected."""
    kept = [len(chain.draws) for chain in chains if chain.draws]
    who = "Each time, the program" if len(posterior.draws) > 1 else "The program"
    times = f"now and then, here {in_words(min(kept), max(kept))} times" if kept else "now and then"
    expected = prior_n_topics(priors, posterior.corpus.documents_of_length)
    low, high = np.quantile(expected, (0.025, 0.975), method="inverted_cdf").tolist()
    topics = "1 topic" if high == 1 else f"{in_words(low, high)} topics"
    return AboutTheNumber(
        f"{who} kept moving words from topic to topic, and noted its answer {times}.",
        f"Before the program saw the {divided}, its settings expected {topics}; the "
        f"{divided} say {in_words(*posterior.n_topics_interval)}.",
    )
