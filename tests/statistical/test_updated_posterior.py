"""Chains that received their documents in two batches sample the posterior of all, as enumeration has it.

Compared are the numbers of topics and of tables and the log joint, which every engine tells; and, for engines
of words, which two words have one topic or one table.
"""

import itertools

import numpy as np
import pytest

from franchise import Priors
from franchise.corpus import from_tokens
from franchise.corpus.more_documents import joined, more_documents
from franchise.engines import Trials
from franchise.model.state import word_topics
from franchise.random import Key
from franchise.sampling import SplitMerge, Timetable
from franchise.sampling.continued import continued
from franchise.sampling.plan import Plan
from tests.reference.chains import ALONE
from tests.reference.enumeration import Concentrations, Posterior, seating_of
from tests.statistical.means import assert_means

# In the second batch come a term that the first does not have, an empty document, and one of a single word.
FIRST, SECOND, N_TERMS = [[0, 0, 1], [1, 1]], [[2, 0], [], [2]], 3
AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)
BURN_IN = 200
RAREST = 0.01


@pytest.fixture(scope="module")
def posterior():
    return Posterior([*FIRST, *SECOND], N_TERMS, AT)


def updated(engine, seed, documents=SECOND):
    """Return a chain that has continued on more documents, after its burn-in."""
    names = [f"term {v}" for v in range(N_TERMS)]
    first = from_tokens([[names[v] for v in own] for own in FIRST])
    after = joined(first, more_documents([[names[v] for v in own] for own in documents], first))
    assert after.vocabulary == tuple(names)
    plan = Plan(
        priors=Priors(**AT._asdict()),
        schedule=Timetable(sweeps=30, burn_in=30),
        starts=(2,),
        seed=seed,
        engine=engine,
    )
    earlier = plan.chains(first)
    earlier[0].run()
    chain = continued(plan, after, earlier)[0]
    chain.run(BURN_IN)
    return chain


def columns_of(seatings, log_joints):
    """Return the statistics of every seating."""
    found = {"log joint": log_joints}
    for name in ("n_topics", "n_tables"):
        values = np.array([getattr(seating, name) for seating in seatings])
        found |= {f"{name} = {value}": values == value for value in range(1, 9)}
    return found


def pairs_of(seatings):
    z = np.array([seating.word_topics() for seating in seatings])
    t = np.array([[100 * j + t for j, own in enumerate(s.t) for t in own] for s in seatings])
    found = {}
    for a, b in itertools.combinations(range(z.shape[1]), 2):
        found[f"one topic: {a}, {b}"] = z[:, a] == z[:, b]
        found[f"one table: {a}, {b}"] = t[:, a] == t[:, b]
    return found


def seating_now(chain):
    corpus, state = chain.corpus.arrays, chain.state
    z, ends = word_topics(corpus, state), [*itertools.pairwise(corpus.doc_ptr)]
    tables = [state.t_ji[first:end].tolist() for first, end in ends]
    topics = [dict(zip(own, z[first:end].tolist())) for own, (first, end) in zip(tables, ends)]
    return seating_of(tables, topics)


def compare(posterior, columns, samples):
    """Compare the means of samples, by name, with what the posterior expects."""
    expected = {name: posterior.probabilities @ values for name, values in columns.items()}
    kept = [name for name in samples if name == "log joint" or RAREST < expected[name] < 1 - RAREST]
    assert_means(
        kept,
        np.column_stack([samples[name] for name in kept]).astype(float),
        np.array([expected[name] for name in kept]),
    )


def sweeps_of(chain, sweeps):
    """Make sweeps, by the engine alone as the rest of a chain takes longer; yield after each."""
    trials = Trials(1, SplitMerge().as_array())
    for sweep in range(sweeps):
        chain.engine.sweep(Key(chain.seed, 0, BURN_IN + 1 + sweep, 0), trials)
        yield sweep


def trace_of(chain, sweeps):
    rows = [chain.engine.numbers() for _ in sweeps_of(chain, sweeps)]
    found = {"log joint": np.array([row["log_joint"] for row in rows])}
    for name in ("n_topics", "n_tables"):
        values = np.array([row[name] for row in rows])
        found |= {f"{name} = {value}": values == value for value in range(1, 9)}
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("engine", ALONE)
def test_numbers_of_topics_and_tables(engine, posterior, seed):
    """20,000 sweeps see a probability off by about 0.03."""
    samples = trace_of(updated(engine, seed), 20_000)
    compare(posterior, columns_of(posterior.seatings, posterior.log_joints), samples)


@pytest.mark.statistical
@pytest.mark.parametrize("engine", [name for name in ALONE if name != "cells"])
def test_words_that_have_one_topic_or_table(engine, posterior, seed):
    """10,000 sweeps see a probability off by about 0.04."""
    chain = updated(engine, seed)
    visited = [posterior.number[seating_now(chain)] for _ in sweeps_of(chain, 10_000)]
    columns = pairs_of(posterior.seatings)
    samples = {name: values[visited] for name, values in columns.items()}
    compare(posterior, columns, samples)


@pytest.mark.statistical
def test_it_sees_a_word_of_another_term(posterior, seed):
    """A chain whose last document, of a single word, has another term is found to be wrong."""
    chain = updated("collapsed", seed, [*SECOND[:-1], [0]])
    with pytest.raises(AssertionError, match="standard errors off"):
        compare(posterior, columns_of(posterior.seatings, posterior.log_joints), trace_of(chain, 20_000))
