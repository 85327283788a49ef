"""A measured chain, and the count of its trials."""

import numpy as np
import pytest

from experiments.measure import TRIALS, follow, split_merge_of
from experiments.reversals import count
from franchise import Chain, Priors
from franchise.corpus import five_topics
from franchise.model import joint
from franchise.sampling import Timetable


def chain_with(method, sweeps, seed=3):
    schedule = Timetable(sweeps=sweeps, burn_in=sweeps, split_merge=split_merge_of(method, 5))
    return Chain(five_topics(seed).corpus, Priors(eta=0.5), schedule, random_state=seed)


def test_the_mode_is_the_state_of_the_best_joint():
    chain = chain_with("default", 12)
    modes = []
    numbers = follow(chain, modes.append, lambda: None)
    assert numbers["log_joint"].size == numbers["cpu"].size == len(modes) == 13
    assert np.all(np.diff(numbers["cpu"]) > 0)
    n_words = chain.corpus.n_words
    for sweep, mode in enumerate(modes):
        assert mode.sweep == numbers["log_joint"][: sweep + 1].argmax()
        assert mode.log_joint == pytest.approx(n_words * numbers["log_joint"][: sweep + 1].max())
        assert joint(chain.corpus.arrays, mode.state, chain.priors).log_joint == pytest.approx(mode.log_joint)
        assert mode.draw(chain).topic_terms.sum() == n_words


def test_methods_of_one_seed_start_alike_and_differ_by_accepted_trials_only():
    gibbs, paper = (
        follow(chain_with(method, 8), lambda _: None, lambda: None) for method in ("gibbs", "paper")
    )
    accepted = paper["trials"][paper["trials"][:, TRIALS.index("accepted")] == 1]
    until = accepted[0, TRIALS.index("sweep")] if len(accepted) else 9
    assert np.array_equal(gibbs["log_joint"][:until], paper["log_joint"][:until])
    assert paper["trials"][:, TRIALS.index("sweep")].max() <= 5
    assert len(gibbs["trials"]) == 0


def trial(sweep, kind, accepted, topic, other):
    row = dict.fromkeys(TRIALS, 1) | {"sweep": sweep, "is_split": kind == "split"}
    row |= {"accepted": accepted, "topic": topic, "other": other}
    return [int(row[name]) for name in TRIALS]


def test_trials_are_counted_with_what_undoes_them():
    trials = np.array(
        [
            trial(1, "split", True, 0, 7),  # undone below
            trial(1, "split", False, 0, 0),
            trial(2, "split", True, 1, 8),  # not undone: 8 goes into 2
            trial(3, "merge", True, 2, 8),  # 2 splits again
            trial(4, "merge", False, 0, 7),
            trial(5, "merge", True, 7, 0),  # 0 and 7 again
            trial(6, "split", True, 2, 9),
            trial(7, "merge", True, 7, 0),  # counted once only
        ]
    )
    counted = count(trials)
    assert (counted.splits_tried, counted.splits) == (4, 3)
    assert (counted.merges_tried, counted.merges) == (4, 3)
    assert counted.undone == 1
    assert counted.split_again == 1


def test_no_trials_count_as_none():
    assert set(count(np.zeros((0, len(TRIALS)), int))) == {0}
