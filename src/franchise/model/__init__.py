"""The model: its state, probabilities and bookkeeping. No randomness here."""

from franchise.model.invariants import broken_invariants
from franchise.model.joint import Joint, joint
from franchise.model.priors import Priors
from franchise.model.state import State, copy_state, empty_state, topic_term_counts, word_topics

__all__ = [
    "Joint",
    "Priors",
    "State",
    "broken_invariants",
    "copy_state",
    "empty_state",
    "joint",
    "topic_term_counts",
    "word_topics",
]
