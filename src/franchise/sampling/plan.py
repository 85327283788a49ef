"""The plan of a run: what every chain of it is to do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from franchise._settings import whole_number
from franchise.corpus import Corpus
from franchise.engines import Start
from franchise.errors import SettingsError
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trials import SplitMerge

_ETA_PRIOR = (1.0, 1.0)
_DRAWS_A_CHAIN = 25  # kept by default
# Far apart, so that it means something when chains from them agree.
_AUTOMATIC: tuple[Start, ...] = ("sequential", "one", 50)


def starts_of(init: Start, chains: int) -> tuple[Start, ...]:
    """Return where each chain starts; ``"auto"`` takes different starts in turn."""
    whole_number("chains", chains, 1)
    choices = _AUTOMATIC if init == "auto" else (init,)
    return tuple(choices[i % len(choices)] for i in range(chains))


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
    """

    priors: Priors
    schedule: Schedule
    starts: tuple[Start, ...]
    seed: int

    def chains(self, corpus: Corpus) -> list[Chain]:
        """Return new chains."""
        return [
            Chain(corpus, self.priors, self.schedule, seed=self.seed, number=i, start=start)
            for i, start in enumerate(self.starts)
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
    split_merge: str | SplitMerge,
    seed: int,
) -> Plan:
    """Return the plan for settings as users give them (`HDPTopicModel`)."""
    if eta == "sample":
        eta = _ETA_PRIOR
    priors = Priors(
        alpha=_pair(alpha_prior) if alpha is None else alpha,
        gamma=_pair(gamma_prior) if gamma is None else gamma,
        eta=_pair(eta),
    )
    whole_number("sweeps", sweeps, 1)
    burn_in = sweeps // 2 if burn_in is None else whole_number("burn_in", burn_in, 0)
    thin = max(1, (sweeps - burn_in) // _DRAWS_A_CHAIN) if thin is None else thin
    schedule = Schedule(
        sweeps=sweeps, burn_in=burn_in, thin=thin, split_merge=_split_merge(split_merge, burn_in)
    )
    return Plan(priors=priors, schedule=schedule, starts=starts_of(init, chains), seed=seed)


def _pair(setting: Any) -> Any:
    return tuple(setting) if isinstance(setting, list) else setting


def _split_merge(setting: str | SplitMerge, burn_in: int) -> SplitMerge | None:
    if isinstance(setting, SplitMerge):
        return setting
    named = {"always": SplitMerge(), "burn-in": SplitMerge(until=burn_in), "off": None}
    if setting not in named:
        raise SettingsError(f"split_merge={setting!r}: give 'always', 'burn-in', 'off' or SplitMerge(...)")
    return named[setting]


def extend(chains: Sequence[Chain], sweeps: int) -> None:
    """Add sweeps to what the chains are still to make."""
    whole_number("sweeps", sweeps, 0)
    total = max(chain.schedule.sweeps for chain in chains) + sweeps
    for chain in chains:
        chain.schedule = replace(chain.schedule, sweeps=total)
