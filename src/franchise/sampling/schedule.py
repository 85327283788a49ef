"""Which moves a chain makes, and when."""

from dataclasses import dataclass, field

from franchise._settings import is_one_of, is_positive, whole_number
from franchise.errors import SettingsError
from franchise.sampling.trials import SplitMerge

CONCENTRATION_METHODS = ("slice", "auxiliary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What a chain does in its sweeps.

    Parameters
    ----------
    sweeps
        How many sweeps a run takes. One sweep draws every word's table, every table's topic, makes
        split-merge trials, and draws the concentrations.
    burn_in
        How many of them to leave out of what is kept.
    thin
        Keep every `thin`-th sweep, counted from the first, of those after the burn-in.
    split_merge
        When and how split-merge trials are made; None for none.
    warm_up
        In this many of the first sweeps eta is held low and rises to its value: many narrow topics form,
        and those too many disappear again. They belong to the burn-in. If eta has a prior, it is drawn after
        them.
    warm_up_from
        The share of eta that the warm-up begins with.
    merges
        After these sweeps, topics that are copies of each other are merged: pairs whose merge raises the log
        joint clearly. This is no Markov move, so they belong to the burn-in.
    concentrations
        ``"slice"``: slice sampling; ``"auxiliary"``: the paper's auxiliary variables for alpha and
        gamma (there are none for eta, which is drawn by slice sampling either way).
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
        """Refuse schedules that cannot be carried out."""
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
                f"merges={self.merges}: give no sweep after burn_in={self.burn_in}; a merge is no Markov "
                "move, and sweeps up to the last one do not count",
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

    def eta_share(self, sweep: int) -> float | None:
        """Return the share of eta that this sweep (the first is 1) is made with; None after the warm-up."""
        if sweep > self.warm_up:
            return None
        return float(self.warm_up_from ** (1.0 - sweep / self.warm_up))

    def keeps(self, sweep: int) -> bool:
        """Return whether the draw after this sweep (the first is 1) is kept."""
        # Counted from the first sweep, not from the burn-in: another burn-in then keeps no other ones.
        return sweep > self.burn_in and sweep % self.thin == 0


def _sweeps(name: str, given: object) -> tuple[int, ...]:
    """Return sweeps in increasing order."""
    if not isinstance(given, list | tuple):
        raise SettingsError(f"{name}={given!r}: give the numbers of sweeps, () for none", code="wrong-type")
    return tuple(sorted({whole_number(name, sweep, 1) for sweep in given}))
