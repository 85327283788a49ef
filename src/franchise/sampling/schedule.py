"""Which moves a chain makes, and when."""

from dataclasses import dataclass, field

from franchise._settings import is_one_of, whole_number
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
        Keep every `thin`-th sweep after the burn-in.
    split_merge
        When and how split-merge trials are made; None for none.
    concentrations
        ``"slice"``: slice sampling; ``"auxiliary"``: the paper's auxiliary variables for alpha and
        gamma (there are none for eta, which is drawn by slice sampling either way).
    """

    sweeps: int = 500
    burn_in: int = 250
    thin: int = 5
    split_merge: SplitMerge | None = field(default_factory=SplitMerge)
    concentrations: str = "slice"

    def __post_init__(self) -> None:
        """Refuse schedules that cannot be carried out."""
        for name, least in (("sweeps", 0), ("burn_in", 0), ("thin", 1)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))
        if self.burn_in > self.sweeps:
            raise SettingsError(f"burn_in={self.burn_in}: give no more than sweeps={self.sweeps}")
        if self.split_merge is not None and not isinstance(self.split_merge, SplitMerge):
            raise SettingsError(f"split_merge={self.split_merge!r}: give SplitMerge(...), or None for none")
        if not is_one_of(self.concentrations, CONCENTRATION_METHODS):
            known = " or ".join(repr(name) for name in CONCENTRATION_METHODS)
            raise SettingsError(f"concentrations={self.concentrations!r}: give {known}")

    def split_merge_in(self, sweep: int) -> SplitMerge | None:
        """Return the setting of split-merge if this sweep (the first is 1) has trials, else None."""
        if self.split_merge is None or not self.split_merge.trials_in(sweep):
            return None
        return self.split_merge

    def keeps(self, sweep: int) -> bool:
        """Return whether the draw after this sweep (the first is 1) is kept."""
        return sweep > self.burn_in and (sweep - self.burn_in) % self.thin == 0
