"""The reference itself: known answers, and sums that must be one."""

from itertools import product
from math import exp

import numpy as np
import pytest

from tests.reference.choices import Drawn, outcomes
from tests.reference.enumeration import (
    Concentrations,
    Posterior,
    log_p_tables,
    log_p_topics,
    partitions,
    seating_of,
    seatings,
)

AT = Concentrations(alpha=1.3, gamma=0.9, eta=0.4)


def test_partitions_are_as_many_as_bell_numbers():
    assert [len(set(partitions(n))) for n in range(8)] == [1, 1, 2, 5, 15, 52, 203, 877]


def test_known_posterior_of_the_number_of_topics():
    p_topics = Posterior([[0, 0, 1], [1, 1, 2]], 3, AT).p_topics()
    assert [round(p_topics[k], 4) for k in (1, 2, 3, 4)] == [0.1298, 0.4816, 0.3180, 0.0658]
    assert sum(p_topics.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("lengths", [(3, 3), (2, 0, 3), (1, 1, 1)])
def test_prior_over_seatings_sums_to_one(lengths):
    everything = seatings([[0] * n for n in lengths])
    total = sum(exp(log_p_tables(s, AT.alpha) + log_p_topics(s, AT.gamma)) for s in everything)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_evidence_sums_to_one_over_all_corpora_of_one_shape():
    corpora = product(range(3), repeat=3)
    total = sum(Posterior([[a, b], [], [c]], 3, AT).evidence for a, b, c in corpora)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_summaries_of_a_corpus_of_two_words_by_hand():
    """Two words in one document: one table; two tables, one topic; or two tables, two topics."""
    posterior = Posterior([[0, 0]], 2, AT)
    same = 0.5 * (1 + AT.eta) / (1 + 2 * AT.eta)  # two words of one term from one topic
    one_table = same / (1 + AT.alpha)
    one_topic = same * AT.alpha / (1 + AT.alpha) / (1 + AT.gamma)
    two_topics = 0.25 * AT.alpha / (1 + AT.alpha) * AT.gamma / (1 + AT.gamma)
    total = one_table + one_topic + two_topics
    assert posterior.evidence == pytest.approx(total, rel=1e-12)
    assert posterior.p_tables()[1] == pytest.approx(one_table / total, rel=1e-12)
    assert posterior.p_topics()[2] == pytest.approx(two_topics / total, rel=1e-12)
    p_same = 1 - two_topics / total
    assert posterior.co_assignment() == pytest.approx(np.array([[1, p_same], [p_same, 1]]), rel=1e-12)
    logs = [p / total * np.log(p) for p in (one_table, one_topic, two_topics)]
    assert posterior.mean_log_joint() == pytest.approx(sum(logs), rel=1e-12)


def test_a_seating_has_no_labels():
    seating = seating_of([[1, 0], [0]], [[5, 7], [7]])
    assert seating == seating_of([[0, 1], [0]], [[2, 0], [2]])
    assert seating != seating_of([[0, 1], [0]], [[2, 0], [0]])
    assert seating.word_topics() == [0, 1, 0]


def test_outcomes_follow_every_choice():
    """A coin decides whether a second, loaded one is tossed."""
    distribution = outcomes(lambda choose: choose([1, 0, 3]) and 10 + choose([2, 2, 4]))
    assert distribution == pytest.approx({0: 0.25, 10: 0.75 * 0.25, 11: 0.75 * 0.25, 12: 0.75 * 0.5})


def test_one_of_draws_in_proportion():
    """Every way to choose: in proportion to how often a label stands there."""
    labels = ["b", "b", "c", "b"]
    distribution = outcomes(lambda choose: choose.one_of(labels))
    assert distribution == pytest.approx({"b": 0.75, "c": 0.25})
    choose = Drawn((1, 0, 0, 0))
    choose.start(0)
    drawn = [choose.one_of(labels) for _ in range(50)]
    assert set(drawn) == {"b", "c"}
    assert drawn.count("b") > drawn.count("c")
