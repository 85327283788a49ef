"""Chains on a corpus that has grown, which continue from the states of earlier chains (`engines.enlarged`).

The earlier states only serve as a start: a new burn-in follows.
"""

from collections.abc import Sequence

from franchise._threads import interrupts_deferred
from franchise.corpus import Corpus
from franchise.engines.enlarged import enlarged_counts, enlarged_state
from franchise.engines.kinds import KINDS
from franchise.random import INITIALIZE, Key
from franchise.sampling.chain import Chain
from franchise.sampling.plan import Plan


def continued(plan: Plan, corpus: Corpus, earlier: Sequence[Chain]) -> list[Chain]:
    """Return chains of a plan, each started from the state of an earlier chain.

    Parameters
    ----------
    plan
        The plan of the new chains. Its engine takes the same kind of documents as the engine of the earlier
        chains.
    corpus
        The documents of the earlier chains, followed by new documents (`corpus.more_documents`).
    earlier
        The earlier chains, which have started. They are not changed.
    """
    chains = plan.chains(corpus)
    for chain, before in zip(chains, earlier, strict=True):
        _continue(chain, before)
    return chains


@interrupts_deferred()  # it calls compiled code
def _continue(chain: Chain, before: Chain) -> None:
    key = Key(chain.seed, chain.number, 0, INITIALIZE)
    given = key, before.corpus
    larger = chain.corpus, chain.priors
    if chain.engine_name in KINDS and KINDS[chain.engine_name].has_counts:
        chain.start_at(enlarged_counts(*given, before.engine.arrays(), *larger))
    else:
        chain.start_at(enlarged_state(*given, before.state, *larger))
