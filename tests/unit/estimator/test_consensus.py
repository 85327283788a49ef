"""Models whose chains start from what short runs agree on: the same bits, Ctrl-C, folders."""

import json
import os
import signal
import time

import numpy as np
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, ModelError
from franchise.cli import main
from tests.raising import raises, warns
from tests.settings import nested
from tests.unit.sampling.short import CORPUS, NUMBER, before_short_sweeps, shorten

FEW = CORPUS.select(np.arange(40))
RUNS = os.path.join("chains", "runs.safetensors")
pytestmark = pytest.mark.filterwarnings("ignore:there are [0-9]+ topics for")  # the corpus is small


@pytest.fixture(autouse=True)
def few(monkeypatch):
    shorten(monkeypatch)


def quick(**changes):
    settings = {"sweeps": 8, "chains": 2, "n_jobs": 1, "random_state": 5, "verbose": 0}
    return HDPTopicModel(**nested({**settings, **changes}))


def in_bits(model):
    """Return all that a fit leaves, but for the time that it took."""
    runs = model.chains_[0].runs
    found = [] if runs is None else [runs.topics.toarray().tobytes(), runs.run.tolist()]
    trace = model.trace_.drop(columns="seconds").to_numpy()
    return found, trace.tobytes(), model.components_.tobytes(), model.topic_weights_.tobytes()


def strike():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)


# ---------------------------------------------------------------- the same bits


def test_threads_change_nothing_and_the_seed_decides():
    one, three, other = (quick(n_jobs=n_jobs).fit(CORPUS) for n_jobs in (1, 3, 1))
    assert one.settings_["init"] == "consensus"
    assert one.chains_[0].runs.number == NUMBER
    assert in_bits(one) == in_bits(three) == in_bits(other)
    assert in_bits(quick(random_state=6).fit(CORPUS)) != in_bits(one)


def test_an_explicit_start_is_the_same_as_the_one_that_auto_stands_for():
    assert in_bits(quick(init="consensus").fit(CORPUS)) == in_bits(quick().fit(CORPUS))
    assert in_bits(quick(init="fitted").fit(FEW)) == in_bits(quick().fit(FEW))


@pytest.mark.parametrize("init", ["fitted", "one", 9])
def test_other_starts_make_no_short_runs(monkeypatch, init):
    before_short_sweeps(monkeypatch, lambda chain: pytest.fail("a short run was made"))
    model = quick(init=init).fit(CORPUS)
    assert model.settings_["init"] == init
    assert model.chains_[0].runs is None


def test_what_auto_stood_for_is_kept_and_the_setting_stays():
    for corpus, init in ((CORPUS, "consensus"), (FEW, "fitted")):
        model = quick().fit(corpus)
        assert (model.init, model.settings_["init"]) == ("auto", init)


# ---------------------------------------------------------------- folders


@pytest.mark.parametrize("in_place", [True, False])
def test_the_runs_are_saved_and_loaded(tmp_path, in_place):
    folder = tmp_path / "model"
    model = quick().fit(CORPUS, checkpoint_dir=folder if in_place else None)
    if not in_place:
        model.save(folder)
    loaded = HDPTopicModel.load(folder)
    assert in_bits(loaded) == in_bits(model)
    assert all(chain.runs.number == NUMBER for chain in loaded.chains_)
    assert loaded.settings_["init"] == "consensus"
    loaded.save(tmp_path / "copy")
    assert in_bits(HDPTopicModel.load(tmp_path / "copy")) == in_bits(model)
    assert in_bits(loaded.resume(4)) == in_bits(quick().fit(CORPUS).resume(4))


def test_a_model_without_runs_has_no_file_of_them(tmp_path):
    quick(init="fitted").fit(CORPUS, checkpoint_dir=tmp_path / "model")
    assert not (tmp_path / "model" / RUNS).exists()
    assert HDPTopicModel.load(tmp_path / "model").chains_[0].runs is None


def test_a_fit_in_the_folder_of_a_model_continues_it(tmp_path, monkeypatch):
    """Its start is not computed again, whatever "auto" means by now."""
    folder, whole = tmp_path / "model", quick(sweeps=12, burn_in=4).fit(CORPUS)
    quick(burn_in=4).fit(CORPUS, checkpoint_dir=folder)
    before_short_sweeps(monkeypatch, lambda chain: pytest.fail("a short run was made"))
    monkeypatch.setattr("franchise.sampling.choices._MANY_WORDS", 10)
    again = quick(sweeps=12, burn_in=4).fit(CORPUS, checkpoint_dir=folder)
    assert again.settings_["init"] == "consensus"
    assert in_bits(again) == in_bits(whole)


def test_another_start_in_the_folder_of_a_model_is_refused(tmp_path):
    quick().fit(CORPUS, checkpoint_dir=tmp_path / "model")
    with raises(ModelError, "settings-mismatch", "'consensus'", "'fitted'"):
        quick(init="fitted").fit(CORPUS, checkpoint_dir=tmp_path / "model")


def test_a_model_that_is_overwritten_has_its_own_runs(tmp_path):
    folder = tmp_path / "model"
    quick().fit(CORPUS, checkpoint_dir=folder)
    other = quick(random_state=6).fit(CORPUS, overwrite=True, checkpoint_dir=folder)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(other) == in_bits(quick(random_state=6).fit(CORPUS))
    quick(init="fitted").fit(CORPUS, overwrite=True, checkpoint_dir=folder)
    assert HDPTopicModel.load(folder).chains_[0].runs is None


# ---------------------------------------------------------------- Ctrl-C and errors


def strike_in_a_short_run(monkeypatch, how):
    made = []

    def before(chain):
        made.append(chain)
        if len(made) == 6:
            how()

    before_short_sweeps(monkeypatch, before)


def run_out_of_memory():
    raise MemoryError("struck")


@pytest.mark.unix
@pytest.mark.parametrize(("how", "error"), [(strike, KeyboardInterrupt), (run_out_of_memory, MemoryError)])
def test_stopped_in_the_short_runs(tmp_path, how, error):
    """Nothing is half done: the model stays unfitted, and a later fit is that which was not stopped."""
    folder, whole = tmp_path / "model", quick().fit(CORPUS)
    model = quick()
    with pytest.MonkeyPatch.context() as patch:
        strike_in_a_short_run(patch, how)
        with pytest.raises(error):
            model.fit(CORPUS, checkpoint_dir=folder)
    assert set(vars(model)) == set(model.get_params())
    assert not (folder / RUNS).exists()
    with pytest.MonkeyPatch.context() as patch:
        strike_in_a_short_run(patch, how)
        with pytest.raises(error):  # a model that was loaded is as empty
            HDPTopicModel.load(folder).resume()
    assert in_bits(model.fit(CORPUS, checkpoint_dir=folder)) == in_bits(whole)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(whole)


@pytest.mark.unix
def test_stopped_in_the_short_runs_and_fitted_with_another_seed(tmp_path):
    model = quick()
    with pytest.MonkeyPatch.context() as patch:
        strike_in_a_short_run(patch, strike)
        with pytest.raises(KeyboardInterrupt):
            model.fit(CORPUS, checkpoint_dir=tmp_path / "model")
    other = quick(random_state=6).fit(CORPUS, checkpoint_dir=tmp_path / "model")
    assert in_bits(other) == in_bits(quick(random_state=6).fit(CORPUS))


@pytest.mark.unix
@pytest.mark.parametrize(("where", "started"), [((0, 0), 1), ((1, 3), 2)])
def test_interrupted_after_chains_have_begun(tmp_path, where, started):
    """Where the second chain has not started, its start is found again, and is the same."""
    folder, whole = tmp_path / "model", quick().fit(CORPUS)

    def interrupt(chain):
        if (chain.number, chain.sweeps_done) == where:
            strike()

    model = quick()
    with warns("interrupted"):
        model.fit(CORPUS, checkpoint_dir=folder, callback=interrupt)
    assert sum(len(chain.trace) > 0 for chain in model.chains_) == started
    loaded = HDPTopicModel.load(folder)
    assert in_bits(loaded)[0] == in_bits(model)[0] == in_bits(whole)[0]
    assert in_bits(loaded.resume()) == in_bits(whole)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(whole)


def test_a_time_budget_leaves_the_short_runs_whole(monkeypatch):
    monkeypatch.setattr("franchise.sampling.run._SECONDS_TO_START", 0.1)
    model = quick(sweeps=10**6, thin=10**5).fit(CORPUS, time_budget=1e-6)
    assert model.ending_ == "out of time"
    assert model.chains_[0].runs.number == NUMBER
    assert model.n_topics_ > 0


# ---------------------------------------------------------------- one chain


def test_one_chain_says_which_topics_its_short_runs_found(tmp_path):
    """From the first lines to `inspect`; a chain from elsewhere has no such topics."""
    model = quick(chains=1, sweeps=20).fit(CORPUS, checkpoint_dir=tmp_path / "m")
    found = model.diagnose()
    assert found.verdict is None
    assert found.firm_topics == np.flatnonzero(model.topics()["runs"] >= 0.5).tolist()
    assert found.firm_share == pytest.approx(model.topic_weights_[found.firm_topics].sum())
    assert found.advice[0].numbers["firm"] == found.firm_topics
    assert f"  {found.messages[0]}\n" in str(model)
    told = CliRunner().invoke(main, ["inspect", str(tmp_path / "m"), "--format", "json"])
    assert json.loads(told.stdout)["firm topics"] == len(found.firm_topics)
    other = quick(chains=1, sweeps=20, init="one").fit(CORPUS)
    assert other.diagnose().firm_topics is None
    assert "firm" not in str(other)
