"""Everything that a fitted model offers, from parts that each have a file."""

from franchise.estimator.exports import Exports
from franchise.estimator.prevalence import Prevalence
from franchise.estimator.starts import Starts


class Offers(Prevalence, Starts, Exports):
    """The part of `HDPTopicModel` that answers and hands on."""
