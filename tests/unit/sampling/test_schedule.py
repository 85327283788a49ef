import itertools

import pytest

from franchise import Chain, HDPTopicModel, Priors, Schedule, SettingsError, SplitMerge, from_tokens
from franchise.sampling import Timetable
from tests.raising import raises


def test_keeps_every_thin_th_sweep_after_the_burn_in():
    schedule = Timetable(sweeps=20, burn_in=6, thin=4)
    assert [sweep for sweep in range(21) if schedule.keeps(sweep)] == [8, 12, 16, 20]


def test_never_keeps_the_start():
    schedule = Timetable(sweeps=3, burn_in=0, thin=1)
    assert [sweep for sweep in range(4) if schedule.keeps(sweep)] == [1, 2, 3]


def test_goes_on_beyond_the_planned_sweeps():
    assert Timetable(sweeps=4, burn_in=2, thin=2).keeps(100)


@pytest.mark.parametrize(
    ("settings", "code", "facts"),
    [
        ({"sweeps": -1, "burn_in": 0}, "not-a-whole-number", ["sweeps=-1", "0 or more"]),
        ({"sweeps": 1.5, "burn_in": 0}, "not-a-whole-number", ["sweeps=1.5", "0 or more"]),
        ({"burn_in": -1}, "not-a-whole-number", ["burn_in=-1", "0 or more"]),
        ({"sweeps": 10, "burn_in": 11}, "out-of-range", ["burn_in=11", "sweeps=10"]),
        ({"thin": 0}, "not-a-whole-number", ["thin=0", "1 or more"]),
        ({"thin": True}, "not-a-whole-number", ["thin=True", "1 or more"]),
        ({"warm_up": -1}, "not-a-whole-number", ["warm_up=-1", "0 or more"]),
        ({"warm_up": 2.5}, "not-a-whole-number", ["warm_up=2.5", "0 or more"]),
        ({"warm_up": True}, "not-a-whole-number", ["warm_up=True", "0 or more"]),
        ({"warm_up": None}, "not-a-whole-number", ["warm_up=None", "0 or more"]),
        ({"warm_up": 251}, "out-of-range", ["warm_up=251", "burn_in=250"]),
        ({"burn_in": 0, "warm_up": 1}, "out-of-range", ["warm_up=1", "burn_in=0"]),
        ({"merges": (45, 251)}, "out-of-range", ["merges=(45, 251)", "burn_in=250"]),
        ({"merges": (0,)}, "not-a-whole-number", ["merges=0", "1 or more"]),
        ({"merges": 45}, "wrong-type", ["merges=45", "()"]),
        (
            {"split_merge": SplitMerge(adapt=251)},
            "out-of-range",
            ["SplitMerge(adapt=251)", "burn_in=250"],
        ),
        ({"concentrations": "gibbs"}, "unknown-choice", ["concentrations='gibbs'", "'slice'", "'auxiliary'"]),
        (
            {"concentrations": ["slice"]},
            "unknown-choice",
            ["concentrations=['slice']", "'slice'", "'auxiliary'"],
        ),
        ({"split_merge": "always"}, "wrong-type", ["split_merge='always'", "SplitMerge(...)", "None"]),
        ({"split_merge": True}, "wrong-type", ["split_merge=True", "SplitMerge(...)", "None"]),
    ],
)
def test_refuses(settings, code, facts):
    with raises(SettingsError, code, *facts):
        Timetable(**settings)


def test_burn_in_may_be_everything():
    assert Timetable(sweeps=10, burn_in=10).burn_in == 10


def test_warm_up_and_adapting_may_be_all_of_the_burn_in():
    schedule = Timetable(burn_in=20, warm_up=20, split_merge=SplitMerge(adapt=20))
    assert (schedule.warm_up, schedule.split_merge.adapt) == (20, 20)


@pytest.mark.parametrize("begin", [0.3, 0.1, 1e-9])
def test_the_share_of_eta_rises_to_all(begin):
    schedule = Timetable(burn_in=40, warm_up=40, warm_up_from=begin)
    shares = [schedule.eta_share(sweep) for sweep in range(1, 41)]
    assert shares[:1] + shares[19:20] == pytest.approx([begin ** (39 / 40), begin**0.5])
    assert all(low < high for low, high in itertools.pairwise(shares))
    assert shares[-1] == 1.0
    assert schedule.eta_share(41) is schedule.eta_share(10**6) is None
    assert Timetable().eta_share(1) is None


def test_a_warm_up_may_begin_with_all_of_eta():
    schedule = Timetable(burn_in=4, warm_up=4, warm_up_from=1)
    assert [schedule.eta_share(sweep) for sweep in range(1, 6)] == [1.0, 1.0, 1.0, 1.0, None]


@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan"), "much", None])
def test_a_warm_up_begins_with_a_share_of_eta(share):
    with raises(SettingsError, "out-of-range", "warm_up_from"):
        Timetable(warm_up_from=share)


def test_what_is_left_open_follows_from_the_run():
    usual = Schedule().timetable(500, None, "fitted", eta_is_fixed=True)
    assert (usual.burn_in, usual.thin, usual.warm_up, usual.warm_up_from) == (250, 8, 40, 0.3)
    assert usual.split_merge == SplitMerge(adapt=100)
    given = Schedule(thin=3, warm_up=0, merges=[9, 3], split_merge="off", concentrations="auxiliary")
    timetable = given.timetable(20, 10, "fitted", eta_is_fixed=True)
    assert timetable == Timetable(
        sweeps=20, burn_in=10, thin=3, merges=(3, 9), split_merge=None, concentrations="auxiliary"
    )


def test_a_chain_and_a_model_follow_the_same_schedule():
    corpus = from_tokens([["cat", "milk"], ["bond", "stock"]] * 4)
    settings = {
        "schedule": Schedule(thin=2, split_merge="burn-in"),
        "sweeps": 12,
        "init": "one",
        "random_state": 4,
    }
    chain = Chain(corpus, Priors(eta=0.1), **settings)
    chain.run()
    model = HDPTopicModel(eta=0.1, chains=1, verbose=0, **settings).fit(corpus)
    assert chain.schedule == model.chains_[0].schedule
    assert chain.trace["log_joint"].tolist() == model.chains_[0].trace["log_joint"].tolist()
