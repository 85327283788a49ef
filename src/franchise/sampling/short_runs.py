"""Short runs on random parts of the documents, before the chains of a fit begin (`starts.consensus`)."""

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from franchise.corpus import Corpus
from franchise.engines.starts.consensus import consensus_of, starting_topics
from franchise.engines.starts.em import usual_eta
from franchise.engines.starts.sample import in_random_order
from franchise.engines.starts.tables import table_topics
from franchise.model import Priors
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Timetable
from franchise.sampling.trials import SplitMerge

NUMBER, SWEEPS, SHARE = 24, 40, 0.9
FEWEST_DOCUMENTS = 100  # with fewer, a tenth of the documents is too small a sample
_WARM_UP = 26  # sweeps at a low eta, so that many narrow topics form first
_FIRST = 2**32  # the number of the first run: chains of a fit have smaller numbers
_SECONDS_A_LOOK = 1.0


def short_run(corpus: Corpus, priors: Priors, seed: int, number: int) -> Chain:
    """Return the chain of a run, which has its own documents, order and starting topics."""
    documents = in_random_order(np.flatnonzero(corpus.document_lengths), seed, 1 + number)
    schedule = Timetable(
        sweeps=SWEEPS, burn_in=SWEEPS, thin=1, warm_up=_WARM_UP, split_merge=SplitMerge(adapt=SWEEPS)
    )
    return Chain(
        corpus.select(documents[: math.ceil(SHARE * documents.size)]),
        replace(priors, eta=usual_eta(priors)),
        schedule,
        random_state=seed,
        number=_FIRST + number,
        init="fitted",
        engine="collapsed",
        n_jobs=1,
    )


def prepare(
    chains: Sequence[Chain], threads: int, must_end: Callable[[], bool], tell: Callable[[str], None]
) -> None:
    """Find the topics that all chains of a run start from.

    Parameters
    ----------
    chains
        Chains with the same corpus, seed and priors, which have not started.
    threads
        Number of threads. Results do not depend on it.
    must_end
        Called between sweeps. If it returns True, the search ends and the chains stay as they are.
    tell
        Called about every second with a line about the progress.
    """
    first = chains[0]
    if first.init == "counts":
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


def topics_of_runs(
    chain: Chain, threads: int, must_end: Callable[[], bool], look: Callable[[int], None]
) -> list[sp.csr_array] | None:
    """Make the short runs for a chain in threads; return the counts of each run by topic and term.

    `must_end` is called between sweeps; if it returns True, the result is None. `look` is called about every
    second with the number of finished runs. An error in one run ends the others and is raised.
    """
    failed = threading.Event()

    def work(number: int) -> sp.csr_array | None:
        try:
            # Made only now: the states of all runs together would take much memory.
            run = short_run(chain.corpus, chain.priors, chain.seed, number)
            while run.sweeps_done < run.schedule.sweeps:
                if must_end() or failed.is_set():
                    return None
                run.sweep()
            return run.draw().topic_terms
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(threads, "short runs") as pool:
        futures = [pool.submit(work, number) for number in range(NUMBER)]
        while wait(futures, _SECONDS_A_LOOK).not_done:
            look(sum(future.done() for future in futures))
    found = [future.result() for future in futures]
    return None if must_end() else [one for one in found if one is not None]
