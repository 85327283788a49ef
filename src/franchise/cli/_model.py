"""What commands on a fitted model share."""

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
            f"{folder}: the fit has not got far enough to show anything; run `franchise resume {folder}`"
        )
    return model
