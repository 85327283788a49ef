"""A call that fails leaves the model as it was; an interrupted one is whole."""

import os
import signal

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from franchise import FranchiseError, HDPTopicModel, ModelError, from_tokens
from franchise.posterior.estimates import Posterior
from tests.raising import raises, warns
from tests.settings import nested

CATS = from_tokens([["cat", "milk", "cat"], ["dog", "cat", "bone"], ["milk", "cat"]] * 4)
BONDS = from_tokens(
    [["bond", "stock"], ["fund", "bond", "bond"], ["stock", "rate", "fund"]] * 4
)  # as many terms
FAILURES = [MemoryError, KeyboardInterrupt]
pytestmark = pytest.mark.filterwarnings("ignore:there are more topics")


def quick(**changes):
    settings = {"sweeps": 6, "chains": 2, "n_jobs": 1, "random_state": 3, "verbose": 0}
    return HDPTopicModel(**nested({**settings, **changes}))


def fail_at(sweep, error):
    def strike(chain):
        if chain.sweeps_done == sweep:
            raise error("struck")

    return strike


def seen(model):
    chains = [(chain.schedule, len(chain.trace), chain.state.t_ji.tolist()) for chain in model.chains_]
    return model.topics().to_csv(), str(model), model.trace_.to_csv(), model.settings_, chains


@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("sweep", [0, 3])
def test_a_fit_to_other_documents_that_fails_changes_nothing(sweep, error):
    model = quick().fit(CATS)
    before = seen(model)
    with pytest.raises(error):
        model.fit(BONDS, callback=fail_at(sweep, error))
    assert seen(model) == before
    assert model.resume(2).corpus_ is CATS


def test_a_fit_without_time_changes_nothing():
    model = quick().fit(CATS)
    before = seen(model)
    with raises(FranchiseError, "no-time-to-start"):
        model.fit(BONDS, time_budget=1e-9)
    assert seen(model) == before


@pytest.mark.unix
def test_a_fit_that_is_interrupted_before_it_starts_changes_nothing(monkeypatch):
    model = quick().fit(CATS)
    before = seen(model)

    def interrupt(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)
        return "interrupted"

    monkeypatch.setattr("franchise.estimator.model.run_chains", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(BONDS)
    assert seen(model) == before


@pytest.mark.unix
def test_a_fit_that_is_interrupted_later_is_that_of_the_new_documents():
    def interrupt(chain):
        if chain.sweeps_done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    model = quick().fit(CATS).set_params(sweeps=10**7)
    with warns("interrupted"):
        model.fit(BONDS, callback=interrupt)
    assert (model.ending_, model.corpus_) == ("interrupted", BONDS)
    assert set(", ".join(model.topics()["terms"]).split(", ")) <= set(BONDS.vocabulary)


def test_a_first_fit_that_fails_leaves_the_model_unfitted():
    model = quick()
    with pytest.raises(MemoryError):
        model.fit(CATS, callback=fail_at(2, MemoryError))
    assert set(vars(model)) == set(model.get_params())
    for call in (model.topics, model.resume):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("error", FAILURES)
@pytest.mark.parametrize("engine", ["collapsed", "parallel", "cells"])
def test_a_resume_that_fails_changes_nothing(engine, error):
    model, whole = quick(engine=engine).fit(CATS), quick(engine=engine).fit(CATS)
    before, trace = seen(model), model.posterior_.traces[0].as_array().tobytes()
    with pytest.raises(error):
        model.resume(6, burn_in=5, callback=fail_at(8, error))
    assert seen(model) == before
    assert model.posterior_.traces[0].as_array().tobytes() == trace
    assert model.resume(6).topics().equals(whole.resume(6).topics())


def test_what_fails_after_the_fit_in_fit_transform_leaves_the_old_fit(monkeypatch):
    model = quick().fit(CATS)
    before = seen(model)
    monkeypatch.setattr(Posterior, "document_topics", property(lambda _: (_ for _ in ()).throw(MemoryError)))
    with pytest.raises(MemoryError):
        model.fit_transform(BONDS)
    assert seen(model) == before


def test_settings_are_changed_together_or_not_at_all():
    model = quick()
    with pytest.raises(ValueError, match="no_such_setting"):
        model.set_params(eta=0.7, no_such_setting=1)
    assert model.eta == "auto"


def test_a_resume_that_fails_leaves_a_folder_that_goes_on(tmp_path):
    folder = tmp_path / "model"
    model = quick().fit(CATS, checkpoint_dir=folder)
    before = seen(model)
    with pytest.raises(MemoryError):
        model.resume(6, callback=fail_at(8, MemoryError))
    assert seen(model) == before
    with raises(ModelError, "model-replaced", folder):  # the folder is further than the model
        model.resume(6)
    assert HDPTopicModel.load(folder).resume().topics().equals(quick().fit(CATS).resume(6).topics())


# ---------------------------------------------------------------- a loaded model, its clones and its folder


def test_a_loaded_model_is_cloned_and_fitted_to_other_documents(tmp_path):
    folder = tmp_path / "model"
    quick().fit(CATS, checkpoint_dir=folder)
    loaded = HDPTopicModel.load(folder)
    assert clone(loaded).fit(BONDS).corpus_ is BONDS
    assert loaded.fit(BONDS).corpus_ is BONDS
    assert loaded.resume(2).corpus_ is BONDS  # not in the folder either
    assert HDPTopicModel.load(folder).corpus_ == CATS


def test_a_loaded_model_goes_on_in_its_folder(tmp_path):
    folder = tmp_path / "model"
    quick().fit(CATS, checkpoint_dir=folder)
    loaded = HDPTopicModel.load(folder).set_topic_labels({0: "pets"})
    assert loaded.settings_["in_place"]
    assert HDPTopicModel.load(folder).named_topics_ == {0: "pets"}
    loaded.resume(4)
    again = HDPTopicModel.load(folder)
    assert again.chains_[0].sweeps_done == 10
    assert again.topics().equals(loaded.topics())


def test_a_model_that_was_saved_is_not_changed_by_one_loaded_from_it(tmp_path):
    quick().fit(CATS).save(tmp_path / "model")
    HDPTopicModel.load(tmp_path / "model").resume(4)
    assert HDPTopicModel.load(tmp_path / "model").chains_[0].sweeps_done == 6
