"""The concentrations alpha (documents), gamma (topics) and eta (terms): fixed, or with a Gamma prior."""

import math
from dataclasses import dataclass

import numpy as np

from franchise._arrays import Array
from franchise._settings import is_positive, pair
from franchise.errors import SettingsError

Setting = float | tuple[float, float]
# The ends of every prior: between them the arithmetic of every move stays within doubles.
LOWEST, HIGHEST = 1e-100, 1e100


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """The prior of the concentrations.

    Each is either a number, which fixes it, or a pair (shape, rate): the Gamma prior under which it is
    sampled.

    Parameters
    ----------
    alpha
        alpha_0 of the paper: larger values give more tables (and topics) per document.
    gamma
        Larger values give more topics in the corpus.
    eta
        The Dirichlet parameter of a topic's terms: smaller values give fewer terms per topic, and more
        topics.

    Examples
    --------
    >>> Priors(alpha=(1.0, 1.0), gamma=(1.0, 1.0), eta=0.5).initial()
    array([1. , 1. , 0.5])
    """

    alpha: Setting = (1.0, 1.0)
    gamma: Setting = (1.0, 1.0)
    eta: Setting = 0.1

    def __post_init__(self) -> None:
        """Refuse anything but a positive number or a pair of them."""
        for name in ("alpha", "gamma", "eta"):
            setting = getattr(self, name)
            prior = pair(setting)
            if prior is None and not is_positive(setting):
                raise SettingsError(
                    f"{name}={setting!r}: give a positive number to fix {name}, or a pair (shape, rate) "
                    "of positive numbers to sample it under that Gamma prior",
                    code="not-a-prior",
                )
            if prior is None and not LOWEST <= float(setting) <= HIGHEST:
                raise SettingsError(
                    f"{name}={setting!r}: give a number from {LOWEST:g} to {HIGHEST:g}", code="out-of-range"
                )
            # Plain floats: NumPy's numbers cannot be written to a file.
            object.__setattr__(self, name, prior or float(setting))

    @property
    def settings(self) -> tuple[Setting, Setting, Setting]:
        """alpha, gamma, eta, in the order of ``state.concentrations``."""
        return self.alpha, self.gamma, self.eta

    def initial(self) -> Array:
        """Return the starting values: fixed numbers, or the means of priors."""
        values = [s[0] / s[1] if isinstance(s, tuple) else float(s) for s in self.settings]
        return np.clip(values, LOWEST, HIGHEST)

    def as_array(self) -> Array:
        """Return (shape, rate) of each concentration for kernels; (0, 0) for a fixed one."""
        return np.array([s if isinstance(s, tuple) else (0.0, 0.0) for s in self.settings])

    def log_density(self, concentrations: Array) -> float:
        """Return the sum of the log Gamma densities of the sampled concentrations, ignoring their ends."""
        total = 0.0
        for setting, value in zip(self.settings, concentrations, strict=True):
            if isinstance(setting, tuple):
                shape, rate = setting
                total += shape * math.log(rate) - math.lgamma(shape)
                total += (shape - 1.0) * math.log(value) - rate * float(value)
        return total
