"""The plan of a run: what each of its chains does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from franchise._settings import is_one_of, whole_number
from franchise.corpus import Corpus
from franchise.engines import GivenTopics, Start, engine_for, engine_named
from franchise.errors import SettingsError
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Timetable

# Taken in turn: results on which chains from all these starts agree do not depend on the start.
_APART: tuple[Start, ...] = ("one", "sequential", 50, 200)
# Starts with a name. "auto" chooses a start that suits the documents, "apart" uses several.
STARTS = ("auto", "consensus", "counts", "documents", "fitted", "apart", "sequential", "one")


def starts_of(init: Start, chains: int) -> tuple[Start, ...]:
    """Return the start of each chain; ``"apart"`` takes different starts in turn."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that decides what the chains of a run do.

    Parameters
    ----------
    priors
        The concentrations, fixed or with priors.
    schedule
        The moves, the number of sweeps, and the draws to keep.
    starts
        The start of each chain (`Chain`), one per chain.
    seed
        The seed of all random numbers.
    engine
        The engine that makes the sweeps (`Chain`).
    """

    priors: Priors
    schedule: Timetable
    starts: tuple[Start, ...]
    seed: int
    engine: str = "auto"

    def engine_of(self, corpus: Corpus) -> str:
        """Return the name of the engine for these documents."""
        return engine_for(self.engine, corpus, in_turn=set(self.starts) == {"sequential"})

    def _can_start(self, engine: str) -> bool:
        return engine_named(engine).seats_in_turn or set(self.starts) != {"sequential"}

    def check(self, corpus: Corpus) -> None:
        """Refuse documents with which the chains cannot start."""
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
        """Return the start of each chain with these documents."""
        # If starts differ, "sequential" is replaced on an engine that does not seat words in turn.
        replaced = ["auto"]
        if not engine_named(self.engine_of(corpus)).seats_in_turn and len(set(self.starts)) > 1:
            replaced.append("sequential")
        return ["fitted" if is_one_of(start, replaced) else start for start in self.starts]

    def chains(self, corpus: Corpus, saved: Mapping[int, Chain] = MappingProxyType({})) -> list[Chain]:
        """Return the chains of the plan: saved chains, by number, and new ones in place of the others."""
        engine = self.engine_of(corpus)
        return [
            saved[i]
            if i in saved
            else Chain(
                corpus,
                self.priors,
                self.schedule,
                random_state=self.seed,
                number=i,
                init=start,
                engine=engine,
                n_jobs=1,
            )
            for i, start in enumerate(self.starts_on(corpus))
        ]


def extend(
    chains: Sequence[Chain], sweeps: int, *, burn_in: int | None = None, thin: int | None = None
) -> None:
    """Add sweeps to the schedules of the chains; optionally change the burn-in and the thinning."""
    for chain, schedule in zip(chains, extended(chains, sweeps, burn_in, thin), strict=True):
        chain.reschedule(schedule)


def extended(
    chains: Sequence[Chain], sweeps: int, burn_in: int | None = None, thin: int | None = None
) -> list[Timetable]:
    """Return schedules with more sweeps for these chains. The chains are not changed.

    Each sweep does what it did before; only the choice of sweeps to keep may change.

    Raises
    ------
    SettingsError
        If a schedule is impossible, or would keep sweeps that must not count.
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


def check_burn_in(schedule: Timetable, burn_in: int) -> None:
    """Refuse a burn-in that would keep sweeps that must not count."""
    least = least_burn_in(schedule)
    if whole_number("burn_in", burn_in, 0) < least:
        raise SettingsError(
            f"burn_in={burn_in}: give {least} or more; the first {least} sweeps differ from the others and "
            "must not be counted",
            code="out-of-range",
        )


def check_thin(chain: Chain, schedule: Timetable) -> None:
    """Refuse a thinning that would drop most draws of a chain."""
    old, new = chain.schedule.thin, schedule.thin
    if not new % old or not old % new:
        return
    if any(draw.sweep > schedule.burn_in for draw in chain.draws):
        raise SettingsError(
            f"thin={new}: give a multiple or a divisor of {old}, the thinning of the draws so far; "
            "with another, most of them would be lost",
            code="incompatible-thin",
        )


def least_burn_in(schedule: Timetable) -> int:
    """Return the last sweep that differs from the sweeps that count: the shortest possible burn-in.

    Sweeps differ if they belong to the warm-up, adapt the number of split-merge trials, come before a merge
    of copies of topics, or have trials that end with the burn-in. (If trials end later, the user wants sweeps
    with and without trials to count.)
    """
    last = [schedule.warm_up, *schedule.merges]
    if schedule.split_merge:
        until = schedule.split_merge.until
        last += [schedule.split_merge.adapt, until if until is not None and until <= schedule.burn_in else 0]
    return max(last)
