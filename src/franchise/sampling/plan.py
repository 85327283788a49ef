"""The plan of a run: what every chain of it is to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from franchise._settings import is_one_of, is_positive, whole_number
from franchise.corpus import Corpus
from franchise.engines import SEED_WORDS, GivenTopics, Start, engine_for, engine_named
from franchise.errors import SettingsError
from franchise.model import Priors
from franchise.model.priors import Setting
from franchise.sampling.chain import SHARED, Chain
from franchise.sampling.choices import ETA_OF_TEXT
from franchise.sampling.schedule import Schedule
from franchise.sampling.trials import SplitMerge

_ETA_PRIOR = (1.0, 1.0)
_DRAWS_A_CHAIN = 25  # kept by default, at least, if there are as many sweeps
# In turn: what chains from all of them agree on does not depend on the start.
_APART: tuple[Start, ...] = ("one", "sequential", 50, 200)
# By name; "auto" stands for one that suits the documents, "apart" for several.
STARTS = ("auto", "consensus", "counts", "documents", "fitted", "apart", "sequential", "one")
# Sweeps of the warm-up, and the share of eta that it begins with. More sweeps hardly help, and cost time
# while topics are many. Topics that begin at single documents separate only at a very small eta.
_WARM_UP, _WARM_UP_OF_DOCUMENTS = (40, 0.3), (60, 0.1)
# Sweeps after which copies of topics are merged; later ones find few that trials have not.
_MERGES = (45, 60, 80, 120, 200)
_ADAPT = 100  # sweeps, in which the number of split-merge trials adapts


def starts_of(init: Start, chains: int) -> tuple[Start, ...]:
    """Return where each chain starts; ``"apart"`` takes different starts in turn."""
    chains = whole_number("chains", chains, 1)
    choices = _APART if is_one_of(init, ["apart"]) else (_start(init),)
    return tuple(choices[i % len(choices)] for i in range(chains))


def _start(init: Start) -> Start:
    if isinstance(init, GivenTopics) or is_one_of(init, STARTS):
        return init
    try:
        return whole_number("init", init, 1)
    except SettingsError:
        raise SettingsError(
            f"init={init!r}: give 'auto', 'consensus', 'counts', 'documents', 'fitted', 'apart', "
            "'sequential', 'one', a number of random topics, 1 or more, a fitted model or its folder, topics "
            "by terms, or seed words by topic, such as {'cosmology': ['galaxy', 'redshift']}",
            code="unknown-choice",
        ) from None


def _are_seeds(init: Start) -> bool:
    return isinstance(init, GivenTopics) and init.kind == SEED_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that decides what the chains of a run do.

    Parameters
    ----------
    priors
        The concentrations, fixed or with priors.
    schedule
        Which moves, how many sweeps, what is kept.
    starts
        Where each chain starts (`Chain`); there are as many chains.
    seed
        Of all random numbers.
    engine
        How sweeps are made (`Chain`).
    """

    priors: Priors
    schedule: Schedule
    starts: tuple[Start, ...]
    seed: int
    engine: str = "auto"

    def engine_of(self, corpus: Corpus) -> str:
        """Return the name of the engine for these documents."""
        name = engine_for(self.engine, corpus)
        if self.engine == "auto" and not self._can_start(name):
            return "parallel"
        return name

    def _can_start(self, engine: str) -> bool:
        return engine_named(engine).seats_in_turn or set(self.starts) != {"sequential"}

    def check(self, corpus: Corpus) -> None:
        """Refuse documents that the chains could not start with."""
        if not self._can_start(name := self.engine_of(corpus)):
            raise SettingsError(
                f"init='sequential': engine={name!r} seats many words at once, not one after another; start "
                "from 'fitted', 'one' or a number of random topics, or take engine='parallel'",
                code="conflicting-settings",
            )
        for start in set(self.starts):
            if isinstance(start, GivenTopics):
                start.check(corpus)

    def starts_on(self, corpus: Corpus) -> list[Start]:
        """Return where each chain starts with these documents."""
        # Where starts differ, "sequential" gives way on an engine that does not seat words in turn.
        replaced = ["auto"]
        if not engine_named(self.engine_of(corpus)).seats_in_turn and len(set(self.starts)) > 1:
            replaced.append("sequential")
        return ["fitted" if is_one_of(start, replaced) else start for start in self.starts]

    def chains(self, corpus: Corpus, saved: Mapping[int, Chain] = MappingProxyType({})) -> list[Chain]:
        """Return the chains: those that were saved, by their numbers, and new ones for the others."""
        engine = self.engine_of(corpus)
        return [
            saved[i]
            if i in saved
            else Chain(
                corpus, self.priors, self.schedule, seed=self.seed, number=i, start=start, engine=engine
            )
            for i, start in enumerate(self.starts_on(corpus))
        ]


def plan_of(
    *,
    eta: float | str | tuple[float, float],
    alpha: float | None,
    gamma: float | None,
    alpha_prior: tuple[float, float],
    gamma_prior: tuple[float, float],
    init: Start,
    sweeps: int,
    burn_in: int | None,
    thin: int | None,
    chains: int,
    warm_up: int | None,
    merges: Sequence[int] | None = None,
    split_merge: str | SplitMerge,
    engine: str = "auto",
    seed: int,
) -> Plan:
    """Return the plan for settings as users give them (`HDPTopicModel`)."""
    priors = Priors(
        alpha=_concentration("alpha", alpha, alpha_prior),
        gamma=_concentration("gamma", gamma, gamma_prior),
        eta=_eta(eta),
    )
    sweeps = whole_number("sweeps", sweeps, 1)
    burn_in, thin = what_to_keep(sweeps, burn_in, thin)
    is_fitted = is_one_of(init, ["auto", "fitted", "documents"]) or _are_seeds(init)
    most, warm_up_from = _WARM_UP_OF_DOCUMENTS if is_one_of(init, ["documents"]) else _WARM_UP
    if warm_up is None:
        # To an eta that is only to be found, there is nowhere to rise.
        can_rise = is_fitted and not isinstance(priors.eta, tuple)
        warm_up = min(most, burn_in // 2) if can_rise else 0
    warm_up = whole_number("warm_up", warm_up, 0)
    if merges is None:
        is_found = is_fitted or is_one_of(init, SHARED)
        merges = [sweep for sweep in _MERGES if is_found and warm_up < sweep <= burn_in]
    schedule = Schedule(
        sweeps=sweeps,
        burn_in=burn_in,
        thin=thin,
        split_merge=_split_merge(split_merge, burn_in),
        warm_up=warm_up,
        warm_up_from=warm_up_from,
        merges=merges,  # type: ignore[arg-type]
    )
    if engine != "auto":
        engine_named(engine)
    starts = starts_of(init, chains)
    return Plan(priors=priors, schedule=schedule, starts=starts, seed=seed, engine=engine)


def what_to_keep(sweeps: int, burn_in: int | None, thin: int | None) -> tuple[int, int]:
    """Return the burn-in and the thinning of so many sweeps, where they are not given.

    The thinning is a power of two. So what a longer run keeps of its first sweeps, a shorter one has kept
    too, and chains that are made longer have the draws of ones that were longer from the beginning.
    """
    burn_in = sweeps // 2 if burn_in is None else whole_number("burn_in", burn_in, 0)
    if thin is None:
        thin = 1 << max(1, (sweeps - burn_in) // _DRAWS_A_CHAIN).bit_length() - 1
    return burn_in, thin


def _concentration(name: str, value: object, prior: object) -> Setting:
    """Return the number that fixes a concentration, or the pair of its prior."""
    pair = _pair(prior)
    if pair is None:
        raise SettingsError(
            f"{name}_prior={prior!r}: give a pair (shape, rate) of positive numbers", code="not-a-prior"
        )
    if value is None:
        return pair
    if not is_positive(value):
        raise SettingsError(
            f"{name}={value!r}: give a positive number to fix {name}, or leave it out (None) to sample it",
            code="not-a-positive-number",
        )
    return float(value)  # type: ignore[arg-type]


def _eta(value: object) -> Setting:
    if is_one_of(value, ["sample"]):
        return _ETA_PRIOR
    if is_one_of(value, ["auto"]):  # before the documents are known
        return ETA_OF_TEXT
    if is_positive(value):
        return float(value)  # type: ignore[arg-type]
    pair = _pair(value)
    if pair is None:
        raise SettingsError(
            f"eta={value!r}: give 'auto', a positive number to fix eta, 'sample' to estimate it, or a pair "
            "(shape, rate) of positive numbers to estimate it under that Gamma prior",
            code="not-a-prior",
        )
    return pair


def _pair(setting: Any) -> tuple[float, float] | None:
    """Return two positive numbers, None if that is not what is given."""
    if not isinstance(setting, list | tuple | np.ndarray) or len(setting) != 2:
        return None
    first, second = setting
    return (float(first), float(second)) if is_positive(first) and is_positive(second) else None


def _split_merge(setting: str | SplitMerge, burn_in: int) -> SplitMerge | None:
    if isinstance(setting, SplitMerge):
        return setting
    adapt = min(_ADAPT, burn_in)
    named = {
        "always": SplitMerge(adapt=adapt),
        "burn-in": SplitMerge(until=burn_in, adapt=adapt),
        "off": None,
    }
    if not is_one_of(setting, named):
        raise SettingsError(
            f"split_merge={setting!r}: give 'always', 'burn-in', 'off' or SplitMerge(...)",
            code="unknown-choice",
        )
    return named[setting]


def extend(
    chains: Sequence[Chain], sweeps: int, *, burn_in: int | None = None, thin: int | None = None
) -> None:
    """Add sweeps to what the chains are still to make, perhaps with another burn-in and thinning."""
    for chain, schedule in zip(chains, extended(chains, sweeps, burn_in, thin), strict=True):
        chain.reschedule(schedule)


def extended(
    chains: Sequence[Chain], sweeps: int, burn_in: int | None = None, thin: int | None = None
) -> list[Schedule]:
    """Return the schedules of chains that are to make more sweeps; the chains are not changed.

    What a sweep does stays the same, only which of them are kept may be other ones.

    Raises
    ------
    SettingsError
        If they cannot be carried out, or sweeps would be counted that must not be.
    """
    whole_number("sweeps", sweeps, 0)
    total = max(chain.schedule.sweeps for chain in chains) + sweeps
    schedules = [
        replace(
            chain.schedule,
            sweeps=total,
            burn_in=chain.schedule.burn_in if burn_in is None else burn_in,
            thin=chain.schedule.thin if thin is None else thin,
        )
        for chain in chains
    ]
    for chain, schedule in zip(chains, schedules, strict=True):
        check_burn_in(chain.schedule, schedule.burn_in)
        check_thin(chain, schedule)
    return schedules


def check_burn_in(schedule: Schedule, burn_in: int) -> None:
    """Refuse another burn-in, with which sweeps would be counted that must not be."""
    least = least_burn_in(schedule)
    if whole_number("burn_in", burn_in, 0) < least:
        raise SettingsError(
            f"burn_in={burn_in}: give {least} or more; the sweeps up to there differ from the others, and "
            "must not be counted",
            code="out-of-range",
        )


def check_thin(chain: Chain, schedule: Schedule) -> None:
    """Refuse a schedule whose thinning would leave few of the draws that a chain has."""
    old, new = chain.schedule.thin, schedule.thin
    if not new % old or not old % new:
        return
    if any(draw.sweep > schedule.burn_in for draw in chain.draws):
        raise SettingsError(
            f"thin={new}: give a multiple or a divisor of {old}; that is how the draws so far were kept, and "
            "most of them would be lost",
            code="incompatible-thin",
        )


def least_burn_in(schedule: Schedule) -> int:
    """Return the last sweep that is other than those counted: no later burn-in may be shorter.

    That is the last one of the warm-up, in which the number of split-merge trials adapts, after which copies
    of topics are merged, or with trials where they end with the burn-in. (Where they end later, the user
    wanted both kinds to be counted.)
    """
    last = [schedule.warm_up, *schedule.merges]
    if schedule.split_merge:
        until = schedule.split_merge.until
        last += [schedule.split_merge.adapt, until if until is not None and until <= schedule.burn_in else 0]
    return max(last)
