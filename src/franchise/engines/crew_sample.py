"""Documents to fit topics to, from the workers that have them."""

import math

from franchise.engines.crew import Hands
from franchise.engines.fitted_start import Sample, number_to_fit, sample_from
from franchise.engines.head import Facts


def sample_of(hands: Hands, facts: Facts) -> Sample:
    """Return the documents that topics are fitted to, whoever has them."""
    number = number_to_fit(facts.n_words, facts.n_not_empty)
    before, counts = [], 0
    for job in hands.jobs:
        before.append(counts)
        counts += sum(shard.n_not_empty for shard in job.shards)
    # Where documents stand is spread very evenly: a few more than there should be are enough.
    most = (number + 10 + 5 * math.log(1 + facts.n_not_empty)) / max(1, facts.n_not_empty)
    while True:
        found = hands.call("to_fit", [(one, most) for one in before])
        if sum(places.size for places, _ in found) >= number or most >= 1.0:
            return sample_from(found, number, facts.n_words, facts.term_counts)
        most *= 2
