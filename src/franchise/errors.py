"""The errors that Franchise raises on purpose, and its warnings.

Every one descends from `FranchiseError`, so a caller can catch them all at
once; those about input and settings are `ValueError` as well, and a missing
package is an `ImportError`. Each, and each `FranchiseWarning`, has a short `code` that names the kind of
fault and stays the same when the message is reworded.
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
        What happened, where, and what to do; written for people, and reworded freely.
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
    """A cluster that cannot be reached, or cannot do what is asked of it.

    The message says what is missing there and what to do.
    """


class CorpusError(FranchiseError, ValueError):
    """Input that cannot be a corpus.

    The message names the offending document or line, and what was expected
    there.
    """


class GpuError(FranchiseError):
    """A GPU that is not there, or cannot do what is asked of it.

    The message says what is missing and what to do.
    """


class MissingPackageError(FranchiseError, ImportError):
    """A package that this part of the library needs is not installed.

    The message names the package and the command that installs it; `name` is the module that is missing.
    """

    def __init__(self, message: str, *, code: str = "missing-package", name: str | None = None) -> None:
        super().__init__(message, code=code)
        self.name = name

    def __reduce__(self) -> Any:
        return partial(type(self), code=self.code, name=self.name), self.args


class ModelError(FranchiseError):
    """A model folder that cannot be read or written.

    The message names the file, what is wrong with it and what to do.
    """


class SettingsError(FranchiseError, ValueError):
    """A setting outside its range.

    The message names the setting, the value given and the range allowed.
    """


class MovedSettingError(SettingsError, TypeError):
    """A parameter that has another name or another place now.

    The message names the new place.
    """


class FranchiseWarning(UserWarning):
    r"""Something that is probably not what was meant, or that the reader should know.

    Parameters
    ----------
    message : str
        What was seen, and what to do about it; reworded freely.
    code : str
        Short, stable name of what was seen, in lower case with hyphens.

    Notes
    -----
    Printed, a warning ends in its code, so that a filter can leave it out:

    >>> import warnings
    >>> warnings.filterwarnings("ignore", r".*\[html-in-texts\]", FranchiseWarning)
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        """Return the message, with the code at its end."""
        return f"{super().__str__()} [{self.code}]"

    def __reduce__(self) -> Any:
        return partial(type(self), code=self.code), self.args
