"""HDPTopicModel: the scikit-learn face of it all."""

from franchise.estimator.model import HDPTopicModel

__all__ = ["HDPTopicModel"]
