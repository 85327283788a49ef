import itertools
import re

import pytest

from franchise import Schedule, SettingsError, SplitMerge


def test_keeps_every_thin_th_sweep_after_the_burn_in():
    schedule = Schedule(sweeps=20, burn_in=6, thin=4)
    assert [sweep for sweep in range(21) if schedule.keeps(sweep)] == [8, 12, 16, 20]


def test_never_keeps_the_start():
    schedule = Schedule(sweeps=3, burn_in=0, thin=1)
    assert [sweep for sweep in range(4) if schedule.keeps(sweep)] == [1, 2, 3]


def test_goes_on_beyond_the_planned_sweeps():
    assert Schedule(sweeps=4, burn_in=2, thin=2).keeps(100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sweeps": -1, "burn_in": 0}, "sweeps=-1: give a whole number, 0 or more"),
        ({"sweeps": 1.5, "burn_in": 0}, "sweeps=1.5: give a whole number, 0 or more"),
        ({"burn_in": -1}, "burn_in=-1: give a whole number, 0 or more"),
        ({"sweeps": 10, "burn_in": 11}, "burn_in=11: give no more than sweeps=10"),
        ({"thin": 0}, "thin=0: give a whole number, 1 or more"),
        ({"thin": True}, "thin=True: give a whole number, 1 or more"),
        ({"warm_up": -1}, "warm_up=-1: give a whole number, 0 or more"),
        ({"warm_up": 2.5}, "warm_up=2.5: give a whole number, 0 or more"),
        ({"warm_up": True}, "warm_up=True: give a whole number, 0 or more"),
        ({"warm_up": None}, "warm_up=None: give a whole number, 0 or more"),
        ({"warm_up": 251}, "warm_up=251: give no more than burn_in=250; its sweeps do not count"),
        ({"burn_in": 0, "warm_up": 1}, "warm_up=1: give no more than burn_in=0; its sweeps do not count"),
        (
            {"split_merge": SplitMerge(adapt=251)},
            "SplitMerge(adapt=251): give no more than burn_in=250; sweeps that adapt do not count",
        ),
        ({"concentrations": "gibbs"}, "concentrations='gibbs': give 'slice' or 'auxiliary'"),
        ({"concentrations": ["slice"]}, "concentrations=['slice']: give 'slice' or 'auxiliary'"),
        ({"split_merge": "always"}, "split_merge='always': give SplitMerge(...), or None for none"),
        ({"split_merge": True}, "split_merge=True: give SplitMerge(...), or None for none"),
    ],
)
def test_refuses(settings, message):
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}$"):
        Schedule(**settings)


def test_burn_in_may_be_everything():
    assert Schedule(sweeps=10, burn_in=10).burn_in == 10


def test_warm_up_and_adapting_may_be_all_of_the_burn_in():
    schedule = Schedule(burn_in=20, warm_up=20, split_merge=SplitMerge(adapt=20))
    assert (schedule.warm_up, schedule.split_merge.adapt) == (20, 20)


def test_the_share_of_eta_rises_to_all():
    schedule = Schedule(burn_in=40, warm_up=40)
    shares = [schedule.eta_share(sweep) for sweep in range(1, 41)]
    assert shares[:1] + shares[19:20] == pytest.approx([0.3 ** (39 / 40), 0.3**0.5])
    assert all(low < high for low, high in itertools.pairwise(shares))
    assert shares[-1] == 1.0
    assert schedule.eta_share(41) is schedule.eta_share(10**6) is None
    assert Schedule().eta_share(1) is None
