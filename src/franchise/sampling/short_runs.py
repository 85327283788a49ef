"""Short runs on random parts of the documents, before the chains of a fit begin (`starts.consensus`)."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from franchise.corpus import Corpus
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trace import Draw
from franchise.starts.consensus import consensus_of, starting_topics
from franchise.starts.em import usual_eta
from franchise.starts.sample import in_random_order
from franchise.starts.tables import table_topics

# Many runs and short: forty of 18 sweeps agree better than half as many of twice the length.
NUMBER, SWEEPS, SHARE = 40, 18, 0.9
FEWEST_DOCUMENTS = 100  # below this, a tenth of the documents is too few to tell anything
_WARM_UP = 12  # sweeps at a low eta, so that many narrow topics form first
_THIN = 2  # of the sweeps after the warm-up; their draws are added up, as single ones are noisy
_FIRST = 2**32  # number of the first run: chains of a fit have smaller ones
_SECONDS_A_LOOK = 1.0


def short_run(corpus: Corpus, priors: Priors, seed: int, number: int) -> Chain:
    """Return the chain of a run: on documents, in an order and from topics of its own."""
    documents = in_random_order(np.flatnonzero(corpus.document_lengths), seed, 1 + number)
    schedule = Schedule(sweeps=SWEEPS, burn_in=_WARM_UP, thin=_THIN, warm_up=_WARM_UP, split_merge=None)
    return Chain(
        corpus.select(documents[: math.ceil(SHARE * documents.size)]),
        replace(priors, eta=usual_eta(priors)),
        schedule,
        seed=seed,
        number=_FIRST + number,
        start="fitted",
        engine="collapsed",
    )


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

    found = topics_of_runs(first, min(threads, NUMBER), must_end, look)
    if found is None:
        return
    counts, runs = consensus_of(found)
    topics = starting_topics(first.corpus, counts)
    for chain in chains:
        chain.first_topics, chain.runs = topics, runs


def words_of_topics(draws: Sequence[Draw]) -> sp.csr_array:
    """Add up the words by topic and term of all draws, for the topics of the last one."""
    names, total = draws[-1].names, draws[-1].topic_terms
    for draw in draws[:-1]:
        _, to, here = np.intersect1d(names, draw.names, return_indices=True)
        rows = sp.csr_array((np.ones(to.size), (to, here)), shape=(names.size, draw.names.size))
        total = total + rows @ draw.topic_terms
    return sp.csr_array(total)


def topics_of_runs(
    chain: Chain, threads: int, must_end: Callable[[], bool], look: Callable[[int], None]
) -> list[sp.csr_array] | None:
    """Make the short runs for a chain, in threads; return the topics of each (`words_of_topics`).

    `must_end` is asked between sweeps; None is returned if it is true. `look` is called about every second
    with the number of finished runs. An error in one run ends the others too, and is raised.
    """
    failed = threading.Event()

    def work(number: int) -> sp.csr_array | None:
        try:
            # Made here, and not before: states of all runs together would take much memory.
            run = short_run(chain.corpus, chain.priors, chain.seed, number)
            while run.sweeps_done < run.schedule.sweeps:
                if must_end() or failed.is_set():
                    return None
                run.sweep()
            return words_of_topics(run.draws)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(threads, "short runs") as pool:
        futures = [pool.submit(work, number) for number in range(NUMBER)]
        while wait(futures, _SECONDS_A_LOOK).not_done:
            look(sum(future.done() for future in futures))
    found = [future.result() for future in futures]
    return None if must_end() else [one for one in found if one is not None]
