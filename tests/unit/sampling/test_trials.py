"""Settings of split-merge, the records of its trials, and the family tree of topics."""

from collections import Counter

import numpy as np
import pytest

from franchise import Chain, Priors, SettingsError
from franchise.corpus import five_topics
from franchise.model.state import TOPICS
from franchise.sampling import Timetable
from franchise.sampling.trials import Event, Proposal, SplitMerge, Trial, events_of
from tests.golden.fingerprint import arithmetic_corpus
from tests.raising import raises

KINDS = (
    Proposal(anchors="balanced"),
    Proposal(anchors="similar", scans=2),
    Proposal(scans=1, weight=2.0),
    Proposal(),
)


def small_chain(**settings):
    schedule = Timetable(split_merge=SplitMerge(proposals=KINDS, **settings))
    return Chain(arithmetic_corpus(), schedule=schedule, random_state=7)


def names_of(chain):
    return set(chain.state.name_k[chain.state.live[: chain.state.totals[TOPICS]]].tolist())


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "code", "facts"),
    [
        ({"anchors": "best"}, "unknown-choice", ["anchors='best'", "'uniform'", "'balanced'", "'similar'"]),
        ({"scans": -1}, "not-a-whole-number", ["scans=-1", "0 or more"]),
        ({"scans": 0.5}, "not-a-whole-number", ["scans=0.5", "0 or more"]),
        ({"weight": 0.0}, "not-a-positive-number", ["weight=0.0"]),
        ({"weight": float("inf")}, "not-a-positive-number", ["weight=inf"]),
        ({"weight": float("nan")}, "not-a-positive-number", ["weight=nan"]),
        ({"weight": True}, "not-a-positive-number", ["weight=True"]),
        ({"weight": "1"}, "not-a-positive-number", ["weight='1'"]),
        ({"anchors": ["similar"]}, "unknown-choice", ["anchors=['similar']", "'uniform'"]),
    ],
)
def test_a_proposal_refuses(settings, code, facts):
    with raises(SettingsError, code, *facts):
        Proposal(**settings)


@pytest.mark.parametrize(
    ("settings", "code", "facts"),
    [
        ({"trials": 0}, "not-a-whole-number", ["trials=0", "1 or more"]),
        ({"until": -1}, "not-a-whole-number", ["until=-1", "0 or more"]),
        ({"until": 1.5}, "not-a-whole-number", ["until=1.5", "0 or more"]),
        ({"proposals": ()}, "wrong-type", ["proposals=()", "Proposal(...)"]),
        ({"proposals": ("uniform",)}, "wrong-type", ["proposals=('uniform',)", "Proposal(...)"]),
        ({"proposals": Proposal()}, "wrong-type", [f"proposals={Proposal()!r}", "Proposal(...)"]),
        ({"adapt": -1}, "not-a-whole-number", ["adapt=-1", "0 or more"]),
        ({"adapt": 1.5}, "not-a-whole-number", ["adapt=1.5", "0 or more"]),
        ({"adapt": True}, "not-a-whole-number", ["adapt=True", "0 or more"]),
        ({"adapt": None}, "not-a-whole-number", ["adapt=None", "0 or more"]),
        ({"keep_trials": "no"}, "not-a-flag", ["keep_trials='no'", "True", "False"]),
    ],
)
def test_split_merge_refuses(settings, code, facts):
    with raises(SettingsError, code, *facts):
        SplitMerge(**settings)


def test_a_list_of_proposals_is_as_good_as_a_tuple():
    assert SplitMerge(proposals=[Proposal()]) == SplitMerge(proposals=(Proposal(),))


def test_the_paper_has_one_trial_of_one_kind_a_sweep():
    paper = SplitMerge.paper(until=50)
    assert (paper.trials, paper.until, paper.keep_trials) == (1, 50, False)
    assert paper.proposals == (Proposal(anchors="uniform", scans=0),)


def test_proposals_cumulate_the_weights_of_the_proposals():
    proposals = SplitMerge(proposals=KINDS).as_array()
    assert proposals[:, 0] == pytest.approx([0.2, 0.4, 0.8, 1.0])
    assert proposals[:, 1:].tolist() == [[1, 0], [2, 2], [0, 1], [0, 0]]


def test_trials_end_with_the_last_sweep_of_their_window():
    split_merge = SplitMerge(trials=3, until=2)
    assert [split_merge.trials_in(sweep) for sweep in (1, 2, 3, 100)] == [3, 3, 0, 0]
    assert SplitMerge(trials=3).trials_in(10**6) == 3
    assert SplitMerge(until=0).trials_in(1) == 0


# ---------------------------------------------------------------- records


@pytest.mark.nojit
def test_a_chain_makes_trials_in_their_window_only():
    chain = small_chain(trials=4, until=3, keep_trials=True)
    chain.run(6)
    assert [trial.sweep for trial in chain.trials] == [1] * 4 + [2] * 4 + [3] * 4
    assert np.isnan(chain.trace["split_merge.splits_tried"]).tolist() == [True] + [False] * 3 + [True] * 3


@pytest.mark.nojit
def test_trials_are_kept_on_request_only_and_change_nothing():
    chains = [small_chain(keep_trials=keep) for keep in (False, True)]
    for chain in chains:
        chain.run(10)
    assert chains[0].trials == []
    assert len(chains[1].trials) == 100
    assert chains[0].events == chains[1].events
    assert np.array_equal(chains[0].state.t_ji, chains[1].state.t_ji)


@pytest.mark.nojit
def test_a_trial_says_what_it_did():
    chain = small_chain(keep_trials=True)
    chain.run(30)
    n_words = chain.corpus.n_words
    for trial in chain.trials:
        assert isinstance(trial, Trial)
        assert 0 <= trial.proposal < len(KINDS)
        if trial.kind == "none":
            assert (trial.accepted, trial.log_acceptance, trial.words) == (False, -np.inf, 0)
            continue
        assert trial.kind in ("split", "merge")
        assert np.isfinite(trial.log_acceptance)
        assert 2 <= trial.tables <= trial.words <= n_words
        assert (trial.topic == trial.other) == (trial.kind == "split" and not trial.accepted)
        assert (0 < trial.words_moved <= trial.words / 2) if trial.accepted else trial.words_moved == 0
    assert {trial.proposal for trial in chain.trials} == set(range(len(KINDS)))
    kinds = {(trial.kind, trial.accepted) for trial in chain.trials}
    assert kinds >= {("split", True), ("split", False), ("merge", True), ("merge", False)}


@pytest.mark.nojit
def test_the_trace_has_the_sums_of_the_records():
    chain = small_chain(trials=6, keep_trials=True)
    chain.run(20)
    for sweep in range(1, 21):
        trials = [trial for trial in chain.trials if trial.sweep == sweep]
        tried = Counter(trial.kind for trial in trials)
        accepted = Counter(trial.kind for trial in trials if trial.accepted)
        sums = {
            "splits_tried": tried["split"],
            "splits": accepted["split"],
            "merges_tried": tried["merge"],
            "merges": accepted["merge"],
            "words_moved": sum(trial.words_moved for trial in trials),
            "words_visited": sum(trial.words for trial in trials),
        }
        assert {name: chain.trace[f"split_merge.{name}"][sweep] for name in sums} == sums


# ---------------------------------------------------------------- family tree


def trial(kind, topic, other):
    return Trial(9, 0, kind, True, 0.0, topic, other, 2, 2, 1)


def test_births_and_deaths_by_gibbs_moves():
    assert events_of(9, {0, 1, 2}, {0, 2, 5}, []) == [Event(9, "born", 5, -1), Event(9, "died", 1, -1)]


def test_splits_and_merges_are_no_births_and_deaths():
    events = events_of(9, {0, 1}, {0, 7}, [trial("merge", 0, 1), trial("split", 0, 7)])
    assert events == [Event(9, "merged", 1, 0), Event(9, "split", 7, 0)]


def test_a_topic_born_and_merged_within_a_sweep():
    events = events_of(9, {0}, {0}, [trial("merge", 0, 4)])
    assert events == [Event(9, "born", 4, -1), Event(9, "merged", 4, 0)]


def test_a_topic_split_off_and_merged_within_a_sweep():
    events = events_of(9, {0}, {0}, [trial("split", 0, 4), trial("merge", 0, 4)])
    assert events == [Event(9, "split", 4, 0), Event(9, "merged", 4, 0)]


@pytest.mark.parametrize("gamma", [1.0, 20.0])
def test_the_family_tree_is_that_of_the_topics(gamma):
    """Replaying the events from the start gives the living topics after every sweep."""
    schedule = Timetable(split_merge=SplitMerge(trials=10, proposals=KINDS))
    chain = Chain(five_topics(3).corpus, Priors(gamma=gamma), schedule, random_state=11, init="one")
    chain.start()
    alive, ever, n_told = names_of(chain), names_of(chain), 0
    for sweep in range(1, 301):
        chain.sweep()
        for event in chain.events[n_told:]:
            assert event.sweep == sweep
            if event.kind in ("born", "split"):
                assert event.topic not in ever
                alive.add(event.topic)
                ever.add(event.topic)
            else:
                alive.remove(event.topic)
            if event.kind in ("split", "merged"):
                assert event.other in alive
            else:
                assert event.other == -1
        n_told = len(chain.events)
        assert alive == names_of(chain)
    assert Counter(event.kind for event in chain.events).keys() == {"born", "died", "split", "merged"}
