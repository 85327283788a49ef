"""What chains have come to: the posterior of their draws, and a table of their traces."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from franchise.corpus import Corpus
from franchise.errors import FranchiseError, FranchiseWarning
from franchise.posterior.align import Alignment
from franchise.posterior.estimates import Posterior
from franchise.sampling import Chain
from franchise.sampling.run import Ending


def posterior_of(chains: Sequence[Chain], corpus: Corpus, matching: Alignment | None = None) -> Posterior:
    """Return what chains that have started have learned so far; the matching of their topics may be known."""
    # Before anything is kept, the current states are all there is.
    kept = [chain for chain in chains if chain.draws] or chains
    modes = [chain for chain in kept if chain.mode]
    best = max(modes, key=lambda chain: chain.mode_log_joint, default=None)
    runs = kept[0].runs
    return Posterior(
        corpus,
        [chain.draws or [chain.draw()] for chain in kept],
        [chain.trace for chain in kept],
        mode=best.mode if best else None,
        find_support=runs.support if runs else None,
        alignment=matching,
    )


def trace_frame(chains: Sequence[Chain]) -> pd.DataFrame:
    """Return a row of numbers for every sweep of every chain."""
    frames = [pd.DataFrame(chain.trace.rows).assign(chain=chain.number) for chain in chains]
    frame = pd.concat(frames, ignore_index=True)
    frame.insert(0, "chain", frame.pop("chain"))
    return frame


def interrupted_after(chains: Sequence[Chain]) -> FranchiseWarning:
    """Return the warning for chains that Ctrl-C has ended: how far they were."""
    done, planned = min(chain.sweeps_done for chain in chains), chains[0].schedule.sweeps
    return FranchiseWarning(
        f"interrupted after {done} of {planned} sweeps: the answer is based on the sweeps made so far; "
        "resume makes the rest",
        code="interrupted",
    )


def nothing_started(ending: Ending) -> BaseException:
    """Return the error for a run that ended before any chain had started."""
    if ending != "out of time":
        return KeyboardInterrupt()
    return FranchiseError(
        "the time budget ran out before a chain had started; give more time", code="no-time-to-start"
    )
