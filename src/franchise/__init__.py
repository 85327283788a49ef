"""Hierarchical Dirichlet process topic models by exact MCMC.

The public names below are imported when first used, so that ``import
franchise`` itself loads neither NumPy nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for type checkers
    # isort: off
    from franchise.engines.pools.ray import Ray as Ray
    from franchise.corpus import (
        Corpus as Corpus,
        TextOptions as TextOptions,
        from_counts as from_counts,
        from_texts as from_texts,
        from_tokens as from_tokens,
        open_shards as open_shards,
        read_corpus as read_corpus,
        read_ldac as read_ldac,
    )
    from franchise.errors import (
        ClusterError as ClusterError,
        CorpusError as CorpusError,
        FranchiseError as FranchiseError,
        FranchiseWarning as FranchiseWarning,
        GpuError as GpuError,
        MissingPackageError as MissingPackageError,
        ModelError as ModelError,
        MovedSettingError as MovedSettingError,
        SettingsError as SettingsError,
    )
    from franchise.estimator import HDPTopicModel as HDPTopicModel, compare as compare, tune_eta as tune_eta
    from franchise.model import Priors as Priors
    from franchise.sampling import (
        Chain as Chain,
        Proposal as Proposal,
        Schedule as Schedule,
        SplitMerge as SplitMerge,
    )

__version__ = "0.2.0"

_PUBLIC = {
    "engines.pools.ray": "Ray",
    "corpus": "Corpus TextOptions from_counts from_texts from_tokens open_shards read_corpus read_ldac",
    "errors": "ClusterError CorpusError FranchiseError FranchiseWarning GpuError MissingPackageError "
    "ModelError MovedSettingError SettingsError",
    "estimator": "HDPTopicModel compare tune_eta",
    "model": "Priors",
    "sampling": "Chain Proposal Schedule SplitMerge",
}
_HOME = {name: f"franchise.{module}" for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value  # so this function is not called again
    return value


def __dir__() -> list[str]:
    """List the public names, whether imported yet or not."""
    return sorted({*globals(), *__all__})
