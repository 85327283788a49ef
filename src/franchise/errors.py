"""The errors that Franchise raises on purpose, and its warnings.

All errors descend from `FranchiseError`, so a caller can catch them together. Those about input and settings
are also `ValueError`, and a missing package is an `ImportError`. Each error, and each `FranchiseWarning`, has
a short `code` that names the kind of fault and stays the same when the message is reworded.
"""

from functools import partial
from typing import Any

__all__ = [
    "ClusterError",
    "CorpusError",
    "FranchiseError",
    "FranchiseWarning",
    "GpuError",
    "MissingPackageError",
    "ModelError",
    "MovedSettingError",
    "SettingsError",
]


class FranchiseError(Exception):
    """Base class of every error that Franchise raises on purpose.

    Parameters
    ----------
    message : str
        What happened, where, and what to do; the wording may change.
    code : str
        Short, stable name of the fault in lower case with hyphens, such as ``"unknown-column"``.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        # Exceptions are rebuilt from their positional arguments, which lack the code.
        return partial(type(self), code=self.code), self.args


class ClusterError(FranchiseError):
    """A cluster cannot be reached, or cannot do what was requested.

    The message says what is missing there and what to do.
    """


class CorpusError(FranchiseError, ValueError):
    """Input cannot be read as a corpus.

    The message names the offending document or line, and what was expected there.
    """


class GpuError(FranchiseError):
    """A GPU is missing, or cannot do what was requested.

    The message says what is missing and what to do.
    """


class MissingPackageError(FranchiseError, ImportError):
    """A package that this part of the library needs is not installed.

    The message names the package and the command that installs it; `name` is the missing module.
    """

    def __init__(self, message: str, *, code: str = "missing-package", name: str | None = None) -> None:
        super().__init__(message, code=code)
        self.name = name

    def __reduce__(self) -> Any:
        return partial(type(self), code=self.code, name=self.name), self.args


class ModelError(FranchiseError):
    """A model folder cannot be read or written.

    The message names the file, what is wrong with it and what to do.
    """


class SettingsError(FranchiseError, ValueError):
    """A setting is outside its range.

    The message names the setting, its value and the allowed range.
    """


class MovedSettingError(SettingsError, TypeError):
    """A parameter has a new name or place.

    The message names the new place.
    """


class FranchiseWarning(UserWarning):
    r"""Something is probably not what you meant, or worth knowing.

    Parameters
    ----------
    message : str
        What was found, and what to do about it; the wording may change.
    code : str
        Short, stable name of the finding, in lower case with hyphens.

    Notes
    -----
    When printed, a warning ends in its code, so that a filter can ignore it:

    >>> import warnings
    >>> warnings.filterwarnings("ignore", r".*\[html-in-texts\]", FranchiseWarning)
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        """Return the message, followed by the code."""
        return f"{super().__str__()} [{self.code}]"

    def __reduce__(self) -> Any:
        return partial(type(self), code=self.code), self.args
