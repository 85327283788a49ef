"""Which states of a run are saved, and under which names."""

from collections.abc import Callable
from pathlib import Path

from franchise.compat.files import write_state
from franchise.compat.saved import SavedState


class Saver:
    """Saves states every so often, the best so far as the mode, and the last.

    Parameters
    ----------
    directory
        Where to.
    prefix
        What the names begin with: ``""`` in training, ``"test-"`` in a test.
    save_lag
        Iterations 0, save_lag, 2 save_lag, ... are saved; -1 for none.
    likelihood
        Of the start: a state must be better to be the mode.
    """

    def __init__(self, directory: Path, prefix: str, save_lag: int, likelihood: float) -> None:
        self._directory = directory
        self._prefix = prefix
        self._save_lag = save_lag
        self._best = likelihood

    def save(self, iteration: int, likelihood: float, gather: Callable[[], SavedState]) -> None:
        """Save what is to be saved after an iteration; `gather` is called only if something is."""
        names = []
        if self._save_lag > 0 and iteration % self._save_lag == 0:
            names.append(f"{iteration:05d}")
        if likelihood > self._best:
            self._best = likelihood
            names.append("mode")
        if names:
            state = gather()
            for name in names:
                write_state(self._directory, self._prefix + name, state)

    def save_last(self, state: SavedState) -> None:
        """Save the last state of the run."""
        write_state(self._directory, f"{self._prefix}final", state)
