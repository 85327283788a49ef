"""Hierarchical Dirichlet process topic models by exact MCMC.

The public names below are imported when first used, so that ``import
franchise`` itself loads neither NumPy nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from franchise.corpus import Corpus, TextOptions, from_counts, from_texts, from_tokens, read_ldac
    from franchise.errors import (
        ClusterError,
        CorpusError,
        FranchiseError,
        FranchiseWarning,
        GpuError,
        MissingPackageError,
        ModelError,
        SettingsError,
    )
    from franchise.estimator import HDPTopicModel, compare, tune_eta
    from franchise.model import Priors
    from franchise.sampling import Chain, Proposal, Schedule, SplitMerge

__version__ = "0.2.0"

__all__ = [
    "Chain",
    "ClusterError",
    "Corpus",
    "CorpusError",
    "FranchiseError",
    "FranchiseWarning",
    "GpuError",
    "HDPTopicModel",
    "MissingPackageError",
    "ModelError",
    "Priors",
    "Proposal",
    "Schedule",
    "SettingsError",
    "SplitMerge",
    "TextOptions",
    "__version__",
    "compare",
    "from_counts",
    "from_texts",
    "from_tokens",
    "read_ldac",
    "tune_eta",
]

_HOME = {
    "Chain": "franchise.sampling",
    "ClusterError": "franchise.errors",
    "Corpus": "franchise.corpus",
    "CorpusError": "franchise.errors",
    "FranchiseError": "franchise.errors",
    "FranchiseWarning": "franchise.errors",
    "GpuError": "franchise.errors",
    "HDPTopicModel": "franchise.estimator",
    "MissingPackageError": "franchise.errors",
    "ModelError": "franchise.errors",
    "Priors": "franchise.model",
    "Proposal": "franchise.sampling",
    "Schedule": "franchise.sampling",
    "SettingsError": "franchise.errors",
    "SplitMerge": "franchise.sampling",
    "TextOptions": "franchise.corpus",
    "compare": "franchise.estimator",
    "from_counts": "franchise.corpus",
    "from_texts": "franchise.corpus",
    "from_tokens": "franchise.corpus",
    "read_ldac": "franchise.corpus",
    "tune_eta": "franchise.estimator",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    """List the public names, whether imported yet or not."""
    return sorted({*globals(), *__all__})
