"""The answer in words: how many topics, how sure, and whether the chains agree.

Readers of the page may neither have run the model nor program. So advice has no calls of functions, and
numbers that few people know are explained where they stand (`posterior.advice.for_readers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from franchise._text import counted
from franchise.posterior.advice import for_readers, the_others
from franchise.posterior.agreement import (
    AGREE,
    APART,
    FEW_DRAWS,
    FIRM_RUNS,
    MOSTLY,
    agreement,
    in_words,
)
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.report.chains import started
from franchise.sampling import Chain


class Verdict(NamedTuple):
    """Whether to trust the answer; `level` is good, rough, bad or open."""

    level: str
    sign: str
    short: str


_VERDICTS = {
    "good": Verdict("good", "✓", "The chains agree, and the topics are settled"),
    "agree": Verdict("rough", "≈", "The chains agree; whether the topics are settled is not known"),
    "most": Verdict("rough", "≈", "The chains agree on most, not on everything"),
    "most, settled": Verdict("rough", "≈", "The chains agree on most, and the topics they share are settled"),
    "some": Verdict("rough", "≈", "The chains agree on some topics only"),
    "changing": Verdict("rough", "≈", "The topics still change"),
    "bad": Verdict("bad", "✗", "The chains do not agree"),
    "one": Verdict("open", "?", "One chain, nothing to compare it with"),
    "one, runs": Verdict("open", "?", "One chain, compared with short runs only"),
    "short": Verdict("open", "?", "Too early to say whether the chains agree"),
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


class Headline(NamedTuple):
    """The answer in a number and a few words."""

    number: int
    words: str
    sure: str


def headline(posterior: Posterior, diagnosis: Diagnosis) -> Headline:
    """Return what holds: of chains that differ, the topics that all of them have."""
    n = posterior.n_topics_median
    topics = "topic" if n == 1 else "topics"
    if diagnosis.agree is None and len(posterior.draws) > 1:
        return Headline(n, f"{topics} so far", _NOT_KNOWN)
    if diagnosis.firm_topics:
        number = len(diagnosis.firm_topics)
        firm = "firm topic" if number == 1 else "firm topics"
        sure = _FIRM if len(posterior.draws) > 1 else _FIRM_ALONE
        return Headline(number, f"{firm}, with {diagnosis.firm_share:.0%} of the words", sure)
    if diagnosis.agree is False and diagnosis.solid_topics:
        number = len(diagnosis.solid_topics)
        found = f"{'topic' if number == 1 else 'topics'} found by every chain"
        rest = the_others(agreement(posterior))
        found += ", all from the same start" if diagnosis.same_start else ""
        words = f"{found}, with {diagnosis.shared:.0%} of the words"
        return Headline(number, words, f"Rely on these{f'; {rest}' if rest else ''}.")
    if diagnosis.agree is False:
        return Headline(n, f"{topics}, none of them found by every chain", _RELY_ON_NONE)
    low, high = posterior.n_topics_interval
    words = f"{topics}, 95% between {low:,} and {high:,}" if low < high else topics
    if min(map(len, posterior.draws)) < FEW_DRAWS:  # too few for a percentage
        words = f"{topics}, {in_words(low, high)} in {counted(len(posterior.flat_draws), 'draw')}"
    if diagnosis.agree:
        return Headline(n, words, _SURE_OF_ONE_START if diagnosis.same_start else _SURE)
    return Headline(n, words, _NOT_KNOWN)


_NOT_LISTED = ("come and go, and are not listed", "are hidden, or come and go and are not listed")
_FIRM = f"Every chain and at least {FIRM_RUNS:.0%} of the short runs found each of them. Rely on these."
_FIRM_ALONE = (
    f"The chain and at least {FIRM_RUNS:.0%} of the short runs found each of them. Another chain may still "
    "divide the words in another way."
)
_SURE = "Each found the same on its own, so the range can be trusted."
_SURE_OF_ONE_START = "Every chain found the same, but all started from the same topics."
_NOT_KNOWN = "It is not known yet whether another run would find the same."
_RELY_ON_NONE = "Each chain divides the words in its own way: rely on no single topic."


def findings(posterior: Posterior, chains: Sequence[Chain], diagnosis: Diagnosis) -> list[str]:
    """Say, in sentences, what to keep in mind when looking at the topics."""
    said = []
    n = posterior.n_topics
    if diagnosis.agree:  # where the chains differ, this is the headline
        said.append(for_readers(diagnosis.advice[0]))
    half = int(np.searchsorted(np.cumsum(posterior.weights), 0.5) + 1)
    if 1 < half < n:
        said.append(f"The {half} largest topics hold half of the words.")
    if posterior.read_as:
        said.append(f"For reading, {posterior.read_as}. The chains and the number of topics are unchanged.")
    if posterior.unlisted_weight >= 0.0005:
        rest = f"{posterior.unlisted_weight:.1%}"
        said.append(f"{rest} of the words are in topics that {_NOT_LISTED[bool(posterior.read_as)]}.")
    return said + _unfinished(chains)


def _unfinished(chains: Sequence[Chain]) -> list[str]:
    running = started(chains)
    done, planned = min(chain.sweeps_done for chain in running), running[0].schedule.sweeps
    said = []
    if done < planned or len(running) < len(chains):
        said.append(
            f"The run is not finished: {done:,} of {planned:,} sweeps were made"
            + (f", by {len(running)} of {len(chains)} chains" if len(running) < len(chains) else "")
            + ". It can be continued where it stopped."
        )
    if not any(chain.draws for chain in running):
        said.append("No draws have been kept yet: this page shows the current states of the chains.")
    return said
