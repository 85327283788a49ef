"""Short runs on random parts of the documents, before the chains of a fit begin (`starts.consensus`)."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np

from franchise.corpus import Corpus
from franchise.engines.starting_topics import StartingTopics
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trials import SplitMerge
from franchise.starts.consensus import Runs, consensus_of, starting_topics
from franchise.starts.em import usual_eta
from franchise.starts.sample import in_random_order
from franchise.starts.tables import table_topics

NUMBER, SWEEPS, SHARE = 24, 40, 0.9
FEWEST_DOCUMENTS = 100  # below this, a tenth of the documents is too few to tell anything
_WARM_UP = 26  # sweeps at a low eta, so that many narrow topics form first
_FIRST = 2**32  # number of the first run: chains of a fit have smaller ones
_SECONDS_A_LOOK = 1.0


def short_chains(corpus: Corpus, priors: Priors, seed: int) -> list[Chain]:
    """Return the chains of the runs: each on its own documents, in its own order, from its own topics."""
    documents = np.flatnonzero(corpus.document_lengths)
    number = math.ceil(SHARE * documents.size)
    priors = replace(priors, eta=usual_eta(priors))
    schedule = Schedule(
        sweeps=SWEEPS, burn_in=SWEEPS, thin=1, warm_up=_WARM_UP, split_merge=SplitMerge(adapt=SWEEPS)
    )
    return [
        Chain(
            corpus.select(in_random_order(documents, seed, 1 + i)[:number]),
            priors,
            schedule,
            seed=seed,
            number=_FIRST + i,
            start="fitted",
            engine="collapsed",
        )
        for i in range(NUMBER)
    ]


def prepare(
    chains: Sequence[Chain], threads: int, must_end: Callable[[], bool], tell: Callable[[str], None]
) -> None:
    """Find the topics that the chains of a run start from together.

    Parameters
    ----------
    chains
        Chains of one corpus, seed and priors that have not started.
    threads
        How many to use; they change no bit.
    must_end
        Asked between sweeps; if it is true, nothing is found, and the chains stay as they are.
    tell
        Called about every second with a line that says how far it is.
    """
    first = chains[0]
    if first.start_from == "counts":
        tell("choosing the number of topics")
        for chain in chains:
            chain.first_topics = table_topics(chain.corpus, chain.seed, chain.number)
        return

    def look(done: int) -> None:
        tell(f"finding topics to start from: {done} of {NUMBER} short runs")

    runs = short_chains(first.corpus, first.priors, first.seed)
    if make_runs(runs, min(threads, NUMBER), must_end, look):
        topics, found = agree_on(first.corpus, runs)
        for chain in chains:
            chain.first_topics, chain.runs = topics, found


def make_runs(
    chains: Sequence[Chain], threads: int, must_end: Callable[[], bool], look: Callable[[int], None]
) -> bool:
    """Make all sweeps of the runs, in threads; return whether they were made.

    `must_end` is asked between sweeps. `look` is called about every second with the number of finished runs.
    An error in one run ends the others too, and is raised.
    """
    failed = threading.Event()

    def work(chain: Chain) -> None:
        try:
            while chain.sweeps_done < chain.schedule.sweeps and not (must_end() or failed.is_set()):
                chain.sweep()
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(threads, "short runs") as pool:
        futures = [pool.submit(work, chain) for chain in chains]
        while wait(futures, _SECONDS_A_LOOK).not_done:
            look(sum(future.done() for future in futures))
    for future in futures:
        future.result()
    return not must_end()


def agree_on(corpus: Corpus, chains: Sequence[Chain]) -> tuple[StartingTopics, Runs]:
    """Return the starting topics that the runs agree on, and their topics."""
    topics, runs = consensus_of([chain.draw().topic_terms for chain in chains])
    return starting_topics(corpus, topics), runs
