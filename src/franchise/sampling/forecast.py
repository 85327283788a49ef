"""The time and memory that a run will take, from a few sweeps of it."""

import time
from typing import NamedTuple

from franchise.corpus import Corpus
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan
from franchise.sampling.run import threads

_SWEEPS = 3
_FEW = Corpus([0, 1, 0, 1], [0, 2, 4], ["a", "b"])


class Forecast(NamedTuple):
    """The time and memory that a run will take."""

    seconds: float
    memory: int  # bytes

    @property
    def text(self) -> str:
        """The time in words."""
        for size, unit in ((3600.0, "hours"), (60.0, "minutes")):
            if self.seconds > 1.5 * size:
                return f"{self.seconds / size:.0f} {unit}"
        return f"{max(1, round(self.seconds))} seconds"


def forecast(plan: Plan, corpus: Corpus, jobs: int | None) -> Forecast:
    """Make a few sweeps of the first chain, and estimate what all sweeps of all chains will take."""
    Chain(_FEW, plan.priors, plan.schedule).run(2)  # compiles if needed
    (first, *_) = plan.chains(corpus)
    first.start()
    began = time.perf_counter()
    for _ in range(_SWEEPS):
        first.sweep()
    a_sweep = (time.perf_counter() - began) / _SWEEPS
    rounds = -(-len(plan.starts) // threads(jobs, len(plan.starts)))
    draw = first.draw()
    kept = sum(plan.schedule.keeps(sweep) for sweep in range(1, plan.schedule.sweeps + 1))
    parts = [
        part for counts in (draw.topic_terms, draw.document_topics) for part in (counts.data, counts.indices)
    ]
    of_draws = kept * sum(part.nbytes for part in parts)
    of_chain = sum(array.nbytes for array in first.state) + 4 * corpus.n_words
    return Forecast(a_sweep * plan.schedule.sweeps * rounds, len(plan.starts) * (of_chain + of_draws))
