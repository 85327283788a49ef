"""What a diagnosis says, in plain words, and what to do: only what helps.

More sweeps help where topics still change (`posterior.settling`), and where there are very few sweeps. They
do not help chains that have settled in different modes, and nothing asks for more than `_LONG` kept sweeps.
"""

from typing import NamedTuple

import numpy as np

from franchise.engines import SEED_WORDS, GivenTopics
from franchise.posterior.agreement import APART, PARTLY, R_HAT_GOOD, SHARED_GOOD
from franchise.posterior.convergence import Worst
from franchise.posterior.settling import FEWEST_DRAWS, Settling

# After the burn-in, of chains that differ: as many as a default fit has. Halves of fewer are near in time:
# of 500 abstracts with 100 such sweeps they agreed, yet in four times as many sweeps the sizes of topics with
# 56% of the words changed by more than a fifth.
_FEW_SWEEPS = 250
# Sweeps after the burn-in beyond which no more are asked for. A default fit has 250: that is two doublings,
# and a topic that still wanders then wanders slowly, so that its interval says more than a longer run would.
_LONG = 1000
_ROUND = 100  # sweeps that runs which are too short are asked for: a multiple of this
_NAMED = 10
_ETA_USUAL = 0.01  # and more, in what people fit

CONVERGED = "Converged: the chains agree, and their topics change little. You can stop."
SETTLED = (
    "The shared topics are settled: their terms and most of their sizes change little from the first half of "
    "the draws to the second. You can stop."
)
ONE_CHAIN = (
    "There is only one chain, and nothing to compare it with. "
    "To see whether others find the same, fit with chains=4."
)
ONE_CHAIN_AND_RUNS = (
    "There is only one chain: the short runs show which topics come back, but not whether another chain "
    "would divide the words in the same way. To compare chains, fit with chains=4."
)
FIRM_SETTLED = SETTLED.replace("shared", "firm").replace("You can stop", "More sweeps are not needed")
TOO_FEW_DRAWS = (
    f"Too few draws to tell whether the topics still change. Keep at least {FEWEST_DRAWS} per chain: "
    "fit with a smaller thin."
)


class Run(NamedTuple):
    """How far a run is."""

    sweeps: int  # planned
    n_kept: int  # sweeps after the burn-in, of the shortest chain
    is_finished: bool

    @property
    def longer(self) -> str:
        """How to make it long enough to be judged."""
        if not self.is_finished:
            return "resume()"
        # By default half of all sweeps are counted; if the user gave a burn-in, all further ones are.
        missing = max(2 * _FEW_SWEEPS - self.sweeps, _FEW_SWEEPS - self.n_kept, 1)
        return f"resume(sweeps={-(-missing // _ROUND) * _ROUND})"

    @property
    def anew(self) -> str:
        """How to make it longer, and leave out all that was kept so far."""
        if not self.is_finished:
            return "resume()"
        burn_in = max(self.sweeps, _FEW_SWEEPS)
        return f"resume(sweeps={2 * burn_in - self.sweeps}, burn_in={burn_in})"

    @property
    def is_long(self) -> bool:
        """Whether it is long enough never to ask for more."""
        return self.is_finished and self.n_kept >= _LONG

    @property
    def is_short(self) -> bool:
        """Whether chains that differ may only be too short."""
        return not self.is_finished or self.n_kept < _FEW_SWEEPS


def same_start_as(start: object) -> str:
    """Say that all chains have this start, so that it may be why they share topics."""
    which = "fitted topics" if start == "fitted" else "topics"
    if isinstance(start, GivenTopics):
        which = "seed words" if start.kind == SEED_WORDS else "given topics"
    return (
        f"All chains started from the same {which}, which may be why they share topics; "
        'fit with init="apart" to see what other starts find.'
    )


def too_few_sweeps(run: Run) -> str:
    """Say that nothing can be said yet."""
    return (
        f"Too few sweeps after the burn-in ({run.n_kept}) to tell whether to trust the answer. "
        f"Run longer: {run.longer}."
    )


def still_changing(found: Settling, run: Run, kind: str = "") -> str:
    """Say which topics a longer run would change, and how long to make it, or that it is long enough.

    `kind`: what the topics looked at are (shared, firm); by default, all topics were.
    """
    n, which = len(found.changing), f"{kind} topics".lstrip()
    said = (
        f"{n} of {found.n_topics} {which} still change{'s' if n == 1 else ''} in size or terms from the "
        f"first half of the draws to the second, with {found.changing_share:.0%} of the words in {which}."
    )
    if not run.is_long:
        return f"{said} Run longer: {run.anew}."
    return f"{said} The run is long: take their sizes as uncertain, and rely on the others."


def too_short(run: Run) -> str:
    """Say that chains that differ are too short to be judged."""
    few = "Too few sweeps" if run.is_finished else "The run is not finished, and has too few sweeps"
    return (
        f"{few} after the burn-in ({run.n_kept}) to tell whether the topics are settled. "
        f"Run longer: {run.longer}."
    )


def about_drift(drift: float) -> list[str]:
    """Say that the number of topics still rises or falls, if it does, and that this does not matter."""
    if not drift:
        return []
    return [
        f"The number of topics still {'rises' if drift > 0 else 'falls'}, by {abs(drift):.1f} from the first "
        "to the last third of the kept sweeps: small topics come and go."
    ]


def about_uneven(found: Settling) -> list[str]:
    """Say in which shared topics chains differ, if in any."""
    if not (n := len(found.uneven)):
        return []
    verb = "differs" if n == 1 else "differ"
    return [
        f"{n} of {found.n_topics} shared topics {verb} between chains in size or terms, with "
        f"{found.uneven_share:.0%} of the words in shared topics: look at the intervals of their sizes."
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


def how_far_apart(
    verdict: str, worst: Worst, shared: float, only_unlisted: bool = False, has_runs: bool = False
) -> str:
    """Say how far chains that do not quite agree are apart: by topics, and by the worst number."""
    reasons = []
    if shared < SHARED_GOOD:
        which = "are not listed" if only_unlisted else "are not firm" if has_runs else "not every chain has"
        reasons.append(f"topics that {which} hold {1.0 - shared:.0%} of the words")
    if worst.r_hat >= R_HAT_GOOD:
        value = f"{worst.r_hat:.2f}" if np.isfinite(worst.r_hat) else "infinite"
        reasons.append(f"R-hat of the {worst.name} is {value}, and should be below {R_HAT_GOOD}")
    return f"The chains {verdict}{', not on everything' if 'most' in verdict else ''}: {'; '.join(reasons)}."


def what_to_do(verdict: str, rely_on: str, alike: bool = False, same_topics: bool = False) -> list[str]:
    """Say what helps where chains differ and are long enough.

    They are alike if they go through the same numbers, and every listed topic is in all of them. They have
    the same topics if these hold nearly all words.
    """
    rely = f"Rely on {rely_on or 'no single topic, but on what all chains together say of documents'}."
    if alike:
        return [
            f"The documents do not decide between many answers, and every chain goes through them. {rely}"
        ]
    if same_topics:
        return [f"They have the same topics, and differ in how they divide the few other words. {rely}"]
    further = (
        "To go further: chain_weights(new_documents) weighs the chains by how well they predict; a fit with "
        "more chains shows how common a topic is; another eta may give topics that more chains share."
    )
    return [
        f"Each chain keeps to an answer of its own; more sweeps will hardly bring them together. {rely}",
        *([further] if verdict in (PARTLY, APART) else []),
    ]


def about_doubtful(doubtful: list[int], n_topics: int, n_chains: int) -> list[str]:
    """Name topics that another run may not find."""
    if not doubtful:
        return []
    named = ", ".join(map(str, doubtful[:_NAMED])) + (", ..." if len(doubtful) > _NAMED else "")
    verb, them = ("is", "it") if len(doubtful) == 1 else ("are", "them")
    where = "one chain only" if n_chains <= 3 else "half of the chains or fewer"
    return [f"{len(doubtful)} of {n_topics} topics {verb} in {where} ({named}): do not rely on {them}."]
