"""The moves of a chain and when it makes them: as users give it, and with every choice filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from franchise._files import Facts
from franchise._settings import is_one_of, is_positive, moved, whole_number
from franchise.engines import SEED_WORDS, GivenTopics, Start
from franchise.errors import SettingsError
from franchise.sampling.trials import SplitMerge

CONCENTRATION_METHODS = ("slice", "auxiliary")
SHARED = ("consensus", "counts")  # starts that the chains of a run find together
_DRAWS_A_CHAIN = 25  # the least kept by default, if there are that many sweeps
# Sweeps of the warm-up, and the share of eta that it begins with. More sweeps hardly help, and they are slow
# because there are many topics. Topics that begin at single documents separate only at a very small eta.
_WARM_UP, _WARM_UP_OF_DOCUMENTS = (40, 0.3), (60, 0.1)
# Sweeps after which copies of topics are merged. Later merges find few copies that trials have missed.
_MERGES = (45, 60, 80, 120, 200)
_ADAPT = 100  # sweeps during which the number of split-merge trials adapts
_OF_THE_RUN = "it to HDPTopicModel or Chain"


@moved(sweeps=_OF_THE_RUN, burn_in=_OF_THE_RUN)
@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The moves of a chain and the draws to keep. None leaves a choice to the library.

    Parameters
    ----------
    thin
        Keep every `thin`-th sweep after the burn-in, counted from the first sweep. The default keeps 25 to
        50 draws.
    warm_up
        Number of first sweeps in which eta starts low and rises to its value. Many narrow topics form, and
        the surplus ones disappear again. The warm-up is part of the burn-in. The default is 40 from fitted
        topics and seed words, and 60 from documents, but at most half of the burn-in; it is 0 for other
        starts, and if eta has a prior.
    warm_up_from
        The share of eta that the warm-up begins with; by default 0.3, or 0.1 from documents.
    merges
        Sweeps after which topics that are copies of each other are merged: pairs whose merge clearly raises
        the log joint. A merge is not a Markov move, so these sweeps are part of the burn-in; () for none. If
        chains start from topics found in the documents, the default is those of 45, 60, 80, 120 and 200 that
        come after the warm-up.
    split_merge
        When whole topics are split and merged: ``"always"`` (the default), ``"burn-in"``, ``"off"``, or a
        `SplitMerge`. Unless you give a `SplitMerge`, the number of trials adapts in the first 100 sweeps of
        the burn-in.
    concentrations
        ``"slice"`` for slice sampling; ``"auxiliary"`` for the paper's auxiliary variables, which exist for
        alpha and gamma only (eta is always drawn by slice sampling).

    Examples
    --------
    >>> from franchise import HDPTopicModel, Schedule
    >>> model = HDPTopicModel(sweeps=200, schedule=Schedule(thin=1, split_merge="burn-in"))
    """

    thin: int | None = None
    warm_up: int | None = None
    warm_up_from: float | None = None
    merges: Sequence[int] | None = None
    split_merge: str | SplitMerge | None = None
    concentrations: str = "slice"

    def timetable(self, sweeps: int, burn_in: int | None, init: Start, *, eta_is_fixed: bool) -> Timetable:
        """Return the complete schedule of a chain with this many sweeps and this start."""
        sweeps = whole_number("sweeps", sweeps, 0)
        burn_in = sweeps // 2 if burn_in is None else whole_number("burn_in", burn_in, 0)
        are_seeds = isinstance(init, GivenTopics) and init.kind == SEED_WORDS
        is_fitted = are_seeds or is_one_of(init, ["auto", "fitted", "documents"])
        most, warm_up_from = _WARM_UP_OF_DOCUMENTS if is_one_of(init, ["documents"]) else _WARM_UP
        warm_up = self.warm_up
        if warm_up is None:
            # An eta with a prior has no known value to rise to.
            warm_up = min(most, burn_in // 2) if is_fitted and eta_is_fixed else 0
        warm_up = whole_number("warm_up", warm_up, 0)
        merges = self.merges
        if merges is None:
            is_found = is_fitted or is_one_of(init, SHARED)
            merges = [sweep for sweep in _MERGES if is_found and warm_up < sweep <= burn_in]
        return Timetable(
            sweeps=sweeps,
            burn_in=burn_in,
            thin=usual_thin(sweeps, burn_in) if self.thin is None else self.thin,
            split_merge=_trials(self.split_merge, burn_in),
            warm_up=warm_up,
            warm_up_from=warm_up_from if self.warm_up_from is None else self.warm_up_from,
            merges=merges,  # type: ignore[arg-type]
            concentrations=self.concentrations,
        )

    @classmethod
    def from_json(cls, facts: Facts) -> Schedule:
        """Return the schedule that `dataclasses.asdict` has turned into facts."""
        return cls(**facts | {"split_merge": SplitMerge.from_json(facts["split_merge"])})


def usual_thin(sweeps: int, burn_in: int) -> int:
    """Return the default thinning.

    It is a power of two. A shorter run therefore keeps every early sweep that a longer run keeps, and an
    extended chain has the same draws as a chain that was longer from the beginning.
    """
    return 1 << max(1, (sweeps - burn_in) // _DRAWS_A_CHAIN).bit_length() - 1


def _trials(setting: object, burn_in: int) -> SplitMerge | None:
    if isinstance(setting, SplitMerge):
        return setting
    adapt = min(_ADAPT, burn_in)
    named = {
        "always": SplitMerge(adapt=adapt),
        "burn-in": SplitMerge(until=burn_in, adapt=adapt),
        "off": None,
    }
    if setting is not None and not is_one_of(setting, named):
        raise SettingsError(
            f"split_merge={setting!r}: give 'always', 'burn-in', 'off' or SplitMerge(...)",
            code="unknown-choice",
        )
    return named[str(setting or "always")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """What a chain does in each of its sweeps: a `Schedule` with nothing left open (`Schedule.timetable`).

    Parameters
    ----------
    sweeps
        Number of sweeps. One sweep draws the table of every word and the topic of every table, makes
        split-merge trials, and draws the concentrations.
    burn_in
        Number of first sweeps that are not kept.
    split_merge
        When and how split-merge trials are made; None for none.
    thin, warm_up, warm_up_from, merges, concentrations
        As for `Schedule`. If eta has a prior, it is drawn after the warm-up.
    """

    sweeps: int = 500
    burn_in: int = 250
    thin: int = 5
    split_merge: SplitMerge | None = field(default_factory=SplitMerge)
    warm_up: int = 0
    warm_up_from: float = 0.3
    merges: tuple[int, ...] = ()
    concentrations: str = "slice"

    def __post_init__(self) -> None:
        """Refuse impossible schedules."""
        for name, least in (("sweeps", 0), ("burn_in", 0), ("thin", 1), ("warm_up", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))
        if self.burn_in > self.sweeps:
            raise SettingsError(
                f"burn_in={self.burn_in}: give no more than sweeps={self.sweeps}", code="out-of-range"
            )
        if not is_positive(self.warm_up_from) or self.warm_up_from > 1:
            raise SettingsError(
                f"warm_up_from={self.warm_up_from!r}: give a share of eta above 0, at most 1",
                code="out-of-range",
            )
        if self.warm_up > self.burn_in:
            raise SettingsError(
                f"warm_up={self.warm_up}: give no more than burn_in={self.burn_in}; its sweeps do not count",
                code="out-of-range",
            )
        object.__setattr__(self, "merges", _sweeps("merges", self.merges))
        if self.merges and self.merges[-1] > self.burn_in:
            raise SettingsError(
                f"merges={self.merges}: give no sweep after burn_in={self.burn_in}; a merge is not a Markov "
                "move, so sweeps up to the last merge do not count",
                code="out-of-range",
            )
        if self.split_merge is not None and not isinstance(self.split_merge, SplitMerge):
            raise SettingsError(
                f"split_merge={self.split_merge!r}: give SplitMerge(...), or None for none", code="wrong-type"
            )
        if self.split_merge is not None and self.split_merge.adapt > self.burn_in:
            raise SettingsError(
                f"SplitMerge(adapt={self.split_merge.adapt}): give no more than burn_in={self.burn_in}; "
                "sweeps that adapt do not count",
                code="out-of-range",
            )
        if not is_one_of(self.concentrations, CONCENTRATION_METHODS):
            known = " or ".join(repr(name) for name in CONCENTRATION_METHODS)
            raise SettingsError(
                f"concentrations={self.concentrations!r}: give {known}", code="unknown-choice"
            )

    @classmethod
    def from_json(cls, facts: Facts) -> Timetable:
        """Return the timetable that `dataclasses.asdict` has turned into facts."""
        return cls(**facts | {"split_merge": SplitMerge.from_json(facts["split_merge"])})

    def eta_share(self, sweep: int) -> float | None:
        """Return the share of eta in this sweep (the first is 1); None after the warm-up."""
        if sweep > self.warm_up:
            return None
        return float(self.warm_up_from ** (1.0 - sweep / self.warm_up))

    def keeps(self, sweep: int) -> bool:
        """Return whether the draw after this sweep (the first is 1) is kept."""
        # Counted from the first sweep, not from the burn-in, so another burn-in keeps the same sweeps.
        return sweep > self.burn_in and sweep % self.thin == 0


def _sweeps(name: str, given: object) -> tuple[int, ...]:
    """Return sweeps in increasing order."""
    if not isinstance(given, list | tuple):
        raise SettingsError(f"{name}={given!r}: give the numbers of sweeps, () for none", code="wrong-type")
    return tuple(sorted({whole_number(name, sweep, 1) for sweep in given}))
