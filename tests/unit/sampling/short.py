"""Short runs that are few and shorter still, for tests of what is done with them."""

from dataclasses import replace

from franchise.corpus import planted
from franchise.engines.starts.consensus import consensus_of, starting_topics
from franchise.sampling import short_runs
from franchise.sampling.chain import Chain
from franchise.sampling.short_runs import short_run
from tests.settings import plan_of

NUMBER, SWEEPS = 5, 4
CORPUS = planted(n_topics=4, n_terms=60, n_documents=120, document_length=12, seed=4).corpus
SETTINGS = {
    "eta": 0.1,
    "init": "consensus",
    "sweeps": 6,
    "burn_in": 2,
    "thin": 1,
    "chains": 3,
    "warm_up": None,
    "split_merge": "always",
    "engine": "collapsed",
    "seed": 8,
}


def shorten(monkeypatch):
    """Make short runs few and shorter."""
    for name, value in {"NUMBER": NUMBER, "SWEEPS": SWEEPS, "_WARM_UP": 2}.items():
        monkeypatch.setattr(short_runs, name, value)


def is_short(chain):
    """Return whether a chain is one of the short runs."""
    return chain.number >= short_runs._FIRST


def before_short_sweeps(monkeypatch, call):
    """Let a function be called with each chain of the short runs before each of its sweeps."""
    sweep = Chain.sweep

    def called(chain):
        if is_short(chain):
            call(chain)
        sweep(chain)

    monkeypatch.setattr(Chain, "sweep", called)


def short_chains(priors, seed):
    """Return the chains of all short runs."""
    return [short_run(CORPUS, priors, seed, i) for i in range(NUMBER)]


def new_chains(**changes):
    return plan_of(**{**SETTINGS, **changes}).chains(CORPUS)


def by_hand(**changes):
    """Return the chains of a run made one after another, from topics that were found run after run."""
    plan = plan_of(**{**SETTINGS, **changes})
    runs = short_chains(plan.priors, plan.seed)
    for run in runs:
        run.run()
    counts, found = consensus_of([run.draw().topic_terms for run in runs])
    topics = starting_topics(CORPUS, counts)
    chains = replace(plan, starts=("fitted",) * len(plan.starts)).chains(CORPUS)
    for chain in chains:
        chain.first_topics, chain.runs = topics, found
        chain.run()
    return chains
