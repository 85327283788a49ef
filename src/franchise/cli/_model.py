"""What commands on a fitted model share."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from franchise.estimator import HDPTopicModel


def load(folder: str) -> "HDPTopicModel":
    """Load a model that has something to show."""
    from franchise.errors import ModelError
    from franchise.estimator import HDPTopicModel

    model = HDPTopicModel.load(folder)
    if not hasattr(model, "posterior_"):
        raise ModelError(
            f"{folder}: the fit has not got far enough to show anything; run `franchise resume {folder}`",
            code="incomplete-model",
        )
    return model


@contextmanager
def interruptible(folder: str, *, anew: bool) -> Iterator[None]:
    """Add to an interrupt what the model folder has saved, and how to continue.

    With `anew`, a model that was there before does not count.
    """
    from franchise.storage import model as store

    path = Path(folder)
    earlier = store.stamp(path) if anew and store.is_model(path) else None
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_what_is_kept(path, earlier)) from None


def _what_is_kept(folder: Path, earlier: str | None) -> str:
    from franchise.storage import model as store

    if not store.is_model(folder):
        return "nothing was saved"
    if store.stamp(folder) == earlier:
        return f"nothing was saved, and the model in {folder} is the earlier one"
    resume = f"`franchise resume {shlex.quote(str(folder))}`"
    if not store.has_chains(folder):
        return f"no sweep was saved; start again with {resume}"
    done, planned = store.sweeps_kept(folder)
    return f"{done} of {planned} sweeps are saved in {folder}; continue with {resume}"
