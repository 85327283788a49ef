import re

import pytest

from franchise import Schedule, SettingsError


def test_keeps_every_thin_th_sweep_after_the_burn_in():
    schedule = Schedule(sweeps=20, burn_in=6, thin=4)
    assert [sweep for sweep in range(21) if schedule.keeps(sweep)] == [10, 14, 18]


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
