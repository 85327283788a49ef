"""The acceptance ratio by several routes, which agree to 1e-9."""

from collections import Counter
from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import Priors
from franchise.model import joint
from franchise.random import SPLIT_MERGE
from franchise.sampling.trials import Proposal
from tests.reference.choices import Drawn
from tests.reference.enumeration import Concentrations
from tests.reference.franchise import Franchise, shuffle
from tests.reference.kernels import Kernels
from tests.reference.strategies import CONCENTRATIONS, SEEDS, corpora, seated_corpora
from tests.reference.trials import Trial, log_f, name_of

TOLERANCE = 1e-9
AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)
KINDS = [
    Proposal(anchors=anchors, scans=scans)
    for anchors in ("uniform", "balanced", "similar")
    for scans in (0, 1)
]


def trial_of(kernels, documents, n_terms, at, kind, seed, sweep=1):
    """Return the twin's trial at the point where its anchors are to be chosen."""
    twin = Franchise.like(documents, n_terms, at, kernels.plain())
    choose = Drawn((seed, 0, sweep, SPLIT_MERGE))
    choose.start(0)
    choose([kind.weight])
    return Trial(twin, choose, kind)


def started(corpus, at, seed):
    kernels = Kernels(*corpus, at)
    kernels.start_sequential(seed)
    return kernels


@given(corpora(filled=2), CONCENTRATIONS, SEEDS)
def test_ratio_is_a_product_of_normalisers(corpus, at, seed):
    """A = gamma f(x_a) f(x_b) prod_i Z_i / (G(m) f(S)): the sides' own densities cancel."""
    kind, kernels = Proposal(), started(corpus, at, seed)
    trial = trial_of(kernels, *corpus, at, kind, seed)
    order, a, b = trial.set_up()
    split = trial.topic[a] == trial.topic[b]
    present = trial.present(order, a, b)
    division = trial.divide(order, a, b, None if split else present)
    n_terms = corpus[1]
    log_ratio = log(at.gamma) + division.log_normalisers
    log_ratio += sum(log_f(trial.words_of([anchor]), n_terms, at.eta) for anchor in (a, b))
    log_ratio -= lgamma(len(present)) + log_f(trial.words_of(present), n_terms, at.eta)
    by_joint = trial.log_divided(division, a, b) - trial.log_united(a, b)
    assert log_ratio == pytest.approx(by_joint, rel=0, abs=TOLERANCE)
    records, _ = kernels.split_merge([kind], 1, seed)
    assert records[0, 3] == pytest.approx(log_ratio if split else -log_ratio, rel=0, abs=TOLERANCE)


def tables_of_one_topic(trial):
    """Return two tables of one topic, as anchors, and the topic's others, in random order."""
    choose, m_k = trial.choose, Counter(trial.topic.values())
    tables = trial.tables_of(choose.one_of([k for k, m in m_k.items() if m > 1]))
    shuffle(tables, choose)
    return tables[2:], *tables[:2]


@given(st.sampled_from([kind for kind in KINDS if kind.scans == 0]), seated_corpora(), CONCENTRATIONS, SEEDS)
def test_merge_is_the_reverse_of_a_split(kind, seated, at, seed):
    """A(split) A(merge) = 1 for the same anchors and order, if no scans follow."""
    corpus, seating = seated
    choose = Drawn((seed, 0, 0, SPLIT_MERGE))
    choose.start(0)
    trial = Trial(Franchise.seated(*corpus, at, seating), choose, kind)
    order, a, b = tables_of_one_topic(trial)
    log_split, side = trial.log_acceptance(order, a, b)
    new = trial.franchise.open_topic()
    for table in (*order, b):
        if side[table] == 1:
            trial.franchise.move_table(*table, new)
    reverse = Trial(trial.franchise, trial.choose, kind)
    log_merge, same_side = reverse.log_acceptance(order, a, b)
    assert same_side == side
    assert log_split + log_merge == pytest.approx(0.0, abs=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_accepted_trials_change_the_joint_as_their_ratio_says(kind, seed):
    """Log acceptance = change of log joint and of the log chance of the pair -+ that of the division."""
    rng = np.random.default_rng(seed)
    documents = [rng.integers(0, 5, size=n).tolist() for n in (4, 6, 2, 0, 5, 3, 1)]
    priors = Priors(alpha=AT.alpha, gamma=AT.gamma, eta=AT.eta)
    kernels, seen = started((documents, 5), AT, seed), []
    for sweep in range(60):
        trial = trial_of(kernels, documents, 5, AT, kind, seed, sweep)
        before = joint(kernels.corpus, kernels.state, priors).log_joint
        records, _ = kernels.split_merge([kind], 1, seed, sweep)
        split, accepted, log_acceptance = records[0, 1:4]
        if not accepted:
            continue
        seen.append(split)
        order, a, b = trial.set_up()
        division = trial.divide(order, a, b, None if split else trial.present(order, a, b))
        k_jt = kernels.plain().k_jt
        after = {(j, t): k for j, topics in enumerate(k_jt) for t, k in enumerate(topics)}
        change = joint(kernels.corpus, kernels.state, priors).log_joint - before
        change += log(trial.chance_of_pair(after, a, b) / trial.chance_of_pair(trial.topic, a, b))
        change += -division.log_chance if split else division.log_chance
        assert log_acceptance == pytest.approx(change, rel=0, abs=TOLERANCE)
    assert set(seen) == {0, 1}
