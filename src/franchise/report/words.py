"""The answer in words: how many topics, how sure, and whether the chains agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from franchise.report.runs import started
from franchise.sampling import Chain

if TYPE_CHECKING:
    from franchise.posterior.diagnostics import Diagnosis
    from franchise.posterior.estimates import Posterior


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to trust the answer; `level` is good, rough, bad or open."""

    level: str
    sign: str
    short: str


_VERDICTS = {
    "good": Verdict("good", "✓", "The chains agree"),
    "rough": Verdict("rough", "≈", "The chains agree, roughly"),
    "bad": Verdict("bad", "✗", "The chains do not agree yet"),
    "one": Verdict("open", "?", "One chain, nothing to compare it with"),
    "short": Verdict("open", "?", "Too early to say whether the chains agree"),
}


def verdict(diagnosis: Diagnosis, n_chains: int) -> Verdict:
    """Return the diagnosis in one line."""
    if diagnosis.converged:
        return _VERDICTS["good"]
    if diagnosis.agree is None:
        return _VERDICTS["one" if n_chains == 1 else "short"]
    return _VERDICTS["rough" if diagnosis.agree else "bad"]


def how_sure(level: str) -> str:
    """Say how far to trust the interval of the number of topics."""
    return {
        "good": "Each found the same on its own, so the range can be trusted.",
        "rough": "They nearly agree: treat the ends of the range with care.",
        "bad": "They disagree, so the range is only what they have found so far.",
        "open": "It is not known yet whether another run would find the same.",
    }[level]


def findings(posterior: Posterior, chains: Sequence[Chain]) -> list[str]:
    """Say, in sentences, what to keep in mind when looking at the topics."""
    said = []
    n = posterior.n_topics
    if len(posterior.draws) > 1:
        everywhere = posterior.chain_support >= 1.0 - 1e-9
        count, weight = int(everywhere.sum()), float(posterior.weights[everywhere].sum())
        which = (
            "All topics were" if count == n else f"{count} of {n} topics {'was' if count == 1 else 'were'}"
        )
        said.append(f"{which} found by every chain; together they hold {weight:.0%} of the words.")
    half = int(np.searchsorted(np.cumsum(posterior.weights), 0.5) + 1)
    if 1 < half < n:
        said.append(f"The {half} largest topics hold half of the words.")
    if posterior.unlisted_weight >= 0.0005:
        rest = f"{posterior.unlisted_weight:.1%}"
        said.append(f"{rest} of the words are in topics that come and go, and are not listed.")
    return said + _unfinished(chains)


def _unfinished(chains: Sequence[Chain]) -> list[str]:
    running = started(chains)
    done, planned = min(chain.sweeps_done for chain in running), running[0].schedule.sweeps
    said = []
    if done < planned or len(running) < len(chains):
        said.append(
            f"The run is not finished: {done:,} of {planned:,} sweeps were made"
            + (f", by {len(running)} of {len(chains)} chains" if len(running) < len(chains) else "")
            + ". Continue with resume()."
        )
    if not any(chain.draws for chain in running):
        said.append("No draws have been kept yet: this page shows the current states of the chains.")
    return said
