"""Parameters of version 0.2 raise an error that names their new place."""

import inspect
from functools import partial

import pytest

from franchise import Chain, HDPTopicModel, MovedSettingError, Schedule, SettingsError, from_tokens
from franchise.estimator.settings import MOVED
from franchise.predict.heldout import completion_densities
from tests.raising import raises

CORPUS = from_tokens([["cat", "milk"], ["bond", "stock"]])


@pytest.mark.parametrize("name", MOVED)
def test_of_the_estimator(name):
    place = "fit(" if name in ("checkpoint_dir", "callback") else MOVED[name]
    for call in (HDPTopicModel, HDPTopicModel().set_params):
        with raises(MovedSettingError, "moved-setting", name, place):
            call(**{name: 1})


@pytest.mark.parametrize(("old", "new"), [("seed", "random_state"), ("start", "init"), ("threads", "n_jobs")])
def test_of_a_chain(old, new):
    with raises(MovedSettingError, "moved-setting", old, new):
        Chain(CORPUS, **{old: 1})


@pytest.mark.parametrize("name", ["sweeps", "burn_in"])
def test_of_a_schedule(name):
    with raises(MovedSettingError, "moved-setting", name, "HDPTopicModel", "Chain"):
        Schedule(**{name: 10})


def test_of_what_is_drawn_from_documents():
    draws = []
    calls = (partial(CORPUS.downsampled, 5), partial(completion_densities, draws, CORPUS))
    for call in (*calls, partial(HDPTopicModel().prevalence, "year")):
        with raises(MovedSettingError, "moved-setting", "seed", "random_state"):
            call(seed=1)


def test_they_can_be_caught_as_what_they_were_before():
    for kind in (SettingsError, TypeError, ValueError):
        with pytest.raises(kind):
            HDPTopicModel(thin=3)
    with pytest.raises(TypeError, match="no_such_setting"):
        HDPTopicModel(no_such_setting=3)


def test_signatures_show_the_present_parameters():
    names = list(inspect.signature(HDPTopicModel).parameters)
    assert names[:3] == ["eta", "alpha", "gamma"]
    assert not set(names) & set(MOVED)
    assert set(names) == set(HDPTopicModel().get_params())


def test_a_chain_and_an_estimator_have_the_same_defaults():
    chain, model = (inspect.signature(kind).parameters for kind in (Chain, HDPTopicModel))
    same = set(chain) & set(model) - {"init"}  # a chain alone cannot find most starts
    assert same == {"schedule", "sweeps", "burn_in", "random_state", "engine", "n_jobs"}
    assert all(chain[name].default == model[name].default for name in same)
