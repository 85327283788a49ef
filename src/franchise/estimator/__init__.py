"""HDPTopicModel: the scikit-learn face of it all."""

from franchise.estimator.comparing import compare
from franchise.estimator.model import HDPTopicModel
from franchise.estimator.tuning import tune_eta

__all__ = ["HDPTopicModel", "compare", "tune_eta"]
