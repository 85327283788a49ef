"""Chains on a corpus that has grown, which continue from the states of earlier ones (`engines.enlarged`).

That is a start for the posterior of the larger corpus and nothing else: a new burn-in follows.
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
    """Return chains of a plan that have started from the states of earlier ones, one for each.

    Parameters
    ----------
    plan
        What the chains do. The engine takes the same kind of documents as that of the earlier chains.
    corpus
        The documents of the earlier chains, and behind them new ones (`corpus.more_documents`).
    earlier
        Chains that have started; they are not changed.
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
