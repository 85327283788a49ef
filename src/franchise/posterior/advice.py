"""What a diagnosis says, in plain words, and what to do: only what helps.

More sweeps help where chains agree but have moved too little, where there are few of them, and, with a longer
burn-in, where the number of topics still drifts. They do not help chains that have settled in different
modes.
"""

from typing import NamedTuple

import numpy as np

from franchise.engines import SEED_WORDS, GivenTopics

R_HAT_GOOD = 1.05  # below this, chains agree for all that matters here
_FEW_SWEEPS = 50  # after the burn-in: chains that differ may only be too short
_NAMED = 10
_ETA_USUAL = 0.01  # and more, in what people fit

CONVERGED = "Converged: the chains agree."
ONE_CHAIN = (
    "There is only one chain, and nothing to compare it with. "
    "To see whether others find the same, fit with chains=4."
)


class Worst(NamedTuple):
    """The number on which chains differ most."""

    r_hat: float
    name: str


class Run(NamedTuple):
    """How far a run is."""

    sweeps: int  # planned
    n_kept: int  # sweeps after the burn-in, of the shortest chain
    is_finished: bool

    @property
    def longer(self) -> str:
        """How to make it longer."""
        return f"resume({f'sweeps={max(self.sweeps, 100)}' if self.is_finished else ''})"


def same_start_as(start: object) -> str:
    """Say that all chains have this start, so that it may be why they agree."""
    which = "fitted topics" if start == "fitted" else "topics"
    if isinstance(start, GivenTopics):
        which = "seed words" if start.kind == SEED_WORDS else "given topics"
    return f'All chains started from the same {which}; fit with init="apart" to see what other starts find.'


def too_few_sweeps(run: Run) -> str:
    """Say that nothing can be said yet."""
    return (
        f"Too few sweeps after the burn-in ({run.n_kept}) to tell whether to trust the answer. "
        f"Run longer: {run.longer}."
    )


def not_moved(fewest: float, enough: float, run: Run) -> str:
    """Say that chains agree, and for what more sweeps are needed all the same."""
    return (
        "The chains agree, but have not moved enough: together they are worth "
        f"{int(fewest)} independent draws, and should be worth {enough:.0f}. Run longer: {run.longer}."
    )


def about_drift(drift: float, run: Run) -> list[str]:
    """Say that the number of topics still rises or falls, if it does."""
    if not drift:
        return []
    burn_in = max(run.sweeps, 100)
    return [
        f"The number of topics is still {'rising' if drift > 0 else 'falling'}, by {abs(drift):.1f} from the "
        "first to the last third of the sweeps after the burn-in. Go on with a longer burn-in: "
        f"resume(sweeps={2 * burn_in - run.sweeps}, burn_in={burn_in})."
    ]


def about_eta(eta: float, drift: float) -> list[str]:
    """Say that an estimate of eta has run away, if it has; `drift` is that of its logarithm."""
    if drift:
        way = "falling" if drift < 0 else "rising"
        seen = (
            f"is still {way}, by {abs(np.expm1(drift)):.0%} from the first to the last third of the sweeps "
            f"after the burn-in, and now {eta:.2g}"
        )
    elif eta < _ETA_USUAL:
        seen = f"has come to {eta:.2g}, far below what is usual"
    else:
        return []
    return [
        f"The estimate of eta {seen}. On texts it often runs away, to ever more and narrower topics, and no "
        "prior holds it. Fix eta instead: tune_eta(documents) compares values."
    ]


def how_far_apart(verdict: str, worst: Worst, shared: float, only_unlisted: bool = False) -> str:
    """Say how far chains that do not quite agree are apart, by the worst number."""
    if worst.r_hat < R_HAT_GOOD:
        which = "are not listed" if only_unlisted else "not every chain has"
        reason = f"topics that {which} hold {1.0 - shared:.0%} of the words"
    else:
        value = f"{worst.r_hat:.2f}" if np.isfinite(worst.r_hat) else "infinite"
        reason = f"R-hat of the {worst.name} is {value}, and should be below {R_HAT_GOOD}"
    return f"The chains {verdict}{', not on everything' if 'most' in verdict else ''}: {reason}."


def what_to_do(run: Run, has_solid: bool, alike: bool = False) -> list[str]:
    """Say what helps where chains differ and none drifts.

    They are alike if they go through the same numbers, and every listed topic is in all of them.
    """
    if not run.is_finished or run.n_kept < _FEW_SWEEPS:
        few = "The run is not finished" if not run.is_finished else "They may only be too short"
        return [f"{few}: {run.n_kept} sweeps after the burn-in. Run longer: {run.longer}."]
    rely = (
        "Rely on the topics that every chain has"
        if has_solid
        else "Rely on no single topic, but on what all chains together say of documents"
    )
    if alike:
        return [
            f"The documents do not decide between many answers, and every chain goes through them. {rely}."
        ]
    return [
        f"Each chain keeps to an answer of its own; more sweeps will hardly bring them together. {rely}.",
        "To go further: chain_weights(new_documents) weighs the chains by how well they predict; a fit with "
        "more chains shows how common a topic is; another eta may give topics that more chains share.",
    ]


def about_doubtful(doubtful: list[int], n_topics: int, n_chains: int) -> list[str]:
    """Name topics that another run may not find."""
    if not doubtful:
        return []
    named = ", ".join(map(str, doubtful[:_NAMED])) + (", ..." if len(doubtful) > _NAMED else "")
    verb, them = ("is", "it") if len(doubtful) == 1 else ("are", "them")
    where = "one chain only" if n_chains <= 3 else "half of the chains or fewer"
    return [f"{len(doubtful)} of {n_topics} topics {verb} in {where} ({named}): do not rely on {them}."]
