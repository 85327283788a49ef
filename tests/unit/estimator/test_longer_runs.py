"""Short runs that are made longer keep the warm-up and the trials that they were begun with."""

import warnings

import pytest

from franchise import HDPTopicModel, ModelError, Schedule, SettingsError, SplitMerge
from franchise.corpus import planted
from tests.raising import raises, warns
from tests.settings import nested

SHORT, LONG = 30, 300
BURN_IN, WARM_UP = 15, 7  # of the short run


class Killed(BaseException):
    pass


def model_of(sweeps, **changes):
    settings = {"sweeps": sweeps, "chains": 2, "random_state": 3, "n_jobs": 1, "verbose": 0}
    return HDPTopicModel(**nested({**settings, **changes}))


@pytest.fixture(scope="module")
def corpus():
    return planted(n_topics=4, n_terms=30, n_documents=12, document_length=20, seed=2).corpus


@pytest.fixture(scope="module")
def whole(corpus):
    """Return the run that was never stopped."""
    begun = SplitMerge(adapt=BURN_IN)
    return model_of(LONG, warm_up=WARM_UP, merges=(), split_merge=begun).fit(corpus)


def in_bits(model):
    trace = model.trace_.drop(columns="seconds").to_numpy()
    draws = [(draw.sweep, draw.document_topics.toarray().tobytes()) for draw in model.chains_[1].draws]
    return trace.tobytes(), draws, model.components_.tobytes()


def assert_same_as(whole, *models):
    for model in models:
        for chain, same in zip(model.chains_, whole.chains_, strict=True):
            assert chain.schedule == same.schedule
            assert (chain.schedule.burn_in, chain.schedule.warm_up) == (LONG // 2, WARM_UP)
            assert chain.init == "fitted"
        assert in_bits(model) == in_bits(whole)
        assert model.chains_[0].state.t_ji.tolist() == whole.chains_[0].state.t_ji.tolist()


def test_a_run_begins_with_what_follows_from_its_burn_in(corpus):
    schedule = model_of(SHORT).fit(corpus).chains_[0].schedule
    assert (schedule.burn_in, schedule.warm_up) == (BURN_IN, WARM_UP)
    assert schedule.split_merge == SplitMerge(adapt=BURN_IN)


def test_in_memory(corpus, whole):
    model = model_of(SHORT).fit(corpus).resume(LONG - SHORT)
    assert_same_as(whole, model)
    assert in_bits(model) == in_bits(whole)
    assert model.settings_["schedule"]["warm_up"] == WARM_UP
    assert model.schedule is None


def test_a_warning_says_that_a_longer_run_would_differ(corpus):
    with warns("begun-shorter", "burn-in of 15 sweeps", "fit of 40 sweeps"):
        model = model_of(SHORT).fit(corpus).resume(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.resume(10)  # it has been said
        model_of(SHORT, warm_up=3, split_merge="off").fit(corpus).resume(10)


def test_in_two_steps_and_by_way_of_a_file(corpus, whole, tmp_path):
    model_of(SHORT).fit(corpus).resume(50).save(tmp_path / "m")
    model = HDPTopicModel.load(tmp_path / "m")
    assert model.schedule.warm_up == WARM_UP
    assert_same_as(whole, model.resume(LONG - SHORT - 50))


def test_in_an_existing_folder(corpus, whole, tmp_path):
    folder = tmp_path / "m"
    model_of(SHORT).fit(corpus, checkpoint_dir=folder)
    assert_same_as(whole, model_of(LONG).fit(corpus, checkpoint_dir=folder), HDPTopicModel.load(folder))
    # A fit as short as the first does not start again either.
    assert_same_as(whole, model_of(SHORT).fit(corpus, checkpoint_dir=folder))


@pytest.mark.parametrize("stop", [20, 40, 150])
def test_killed_and_resumed(corpus, whole, tmp_path, stop):
    def strike(chain):
        if (chain.number, chain.sweeps_done) == (1, stop):
            raise Killed

    folder = tmp_path / "m"
    short = model_of(SHORT)
    with pytest.raises(Killed):
        short.fit(corpus, checkpoint_dir=folder, callback=strike).resume(LONG - SHORT, callback=strike)
    loaded = HDPTopicModel.load(folder)
    missing = LONG - loaded.chains_[0].schedule.sweeps
    assert missing == (LONG - SHORT if stop < SHORT else 0)
    assert_same_as(whole, loaded.resume(missing), model_of(LONG).fit(corpus, checkpoint_dir=folder))


def test_trials_up_to_the_burn_in(corpus, tmp_path):
    begun = SplitMerge(until=BURN_IN, adapt=BURN_IN)
    whole = model_of(LONG, warm_up=WARM_UP, merges=(), split_merge=begun).fit(corpus)
    short = model_of(SHORT, split_merge="burn-in").fit(corpus, checkpoint_dir=tmp_path / "m")
    assert_same_as(whole, short.resume(LONG - SHORT))
    again = model_of(LONG, split_merge="burn-in").fit(corpus, checkpoint_dir=tmp_path / "m")
    assert_same_as(whole, again, HDPTopicModel.load(tmp_path / "m"))


def test_what_was_given_is_not_changed(corpus):
    given = SplitMerge(trials=3, adapt=10)
    model = model_of(SHORT, warm_up=3, split_merge=given).fit(corpus).resume(LONG - SHORT)
    schedule = model.chains_[0].schedule
    assert (schedule.burn_in, schedule.warm_up, schedule.split_merge) == (LONG // 2, 3, given)
    off = model_of(SHORT, warm_up=0, split_merge="off").fit(corpus).resume(LONG - SHORT)
    assert (off.chains_[0].schedule.warm_up, off.chains_[0].schedule.split_merge) == (0, None)


def test_a_long_run_is_begun_like_any_longer_one(corpus):
    short, longer = (model_of(sweeps) for sweeps in (400, 440))
    assert in_bits(short.fit(corpus).resume(40))[0] == in_bits(longer.fit(corpus))[0]


def test_merges_stay_those_of_the_first_burn_in(corpus, tmp_path):
    begun = (45, 60, 80)
    whole = model_of(LONG, merges=begun).fit(corpus)
    with warns("begun-shorter", "merges", "burn-in of 100 sweeps"):
        model = model_of(200).fit(corpus, checkpoint_dir=tmp_path / "m").resume(LONG - 200)
    again = model_of(LONG).fit(corpus, checkpoint_dir=tmp_path / "m")
    for one in (model, again, HDPTopicModel.load(tmp_path / "m")):
        assert one.chains_[0].schedule.merges == one.settings_["in_use"]["merges"] == begun
        assert in_bits(one) == in_bits(whole)
    with raises(SettingsError, "out-of-range", "burn_in=79", "100 or more"):
        model.resume(burn_in=79)
    with raises(ModelError, "settings-mismatch", "merges=(45, 60, 80), not ()"):
        model_of(LONG, merges=()).fit(corpus, checkpoint_dir=tmp_path / "m")


@pytest.mark.parametrize("more", [10, 20, 50, 100, 250, 500, 1_500])
def test_draws_that_a_longer_run_keeps_the_shorter_one_has(more):
    def kept(sweeps):
        schedule = Schedule().timetable(sweeps, None, "one", eta_is_fixed=True)
        return {sweep for sweep in range(sweeps + 1) if schedule.keeps(sweep)}

    whole = kept(500 + more)
    assert whole & set(range(501)) <= kept(500)
    assert 25 <= len(whole) <= 51


def test_a_thinning_that_would_lose_most_draws_is_refused(corpus, tmp_path):
    model = model_of(SHORT, thin=4).fit(corpus, checkpoint_dir=tmp_path / "m")
    before = in_bits(model)
    with raises(SettingsError, "incompatible-thin", "thin=6", "of 4"):
        model.resume(10, thin=6)
    with raises(SettingsError, "incompatible-thin", "thin=6", "of 4"):
        model_of(40, thin=6).fit(corpus, checkpoint_dir=tmp_path / "m")
    assert in_bits(model) == before == in_bits(HDPTopicModel.load(tmp_path / "m"))
    assert [draw.sweep for draw in model.resume(10, thin=2).chains_[0].draws] == [24, 28, 32, 34, 36, 38, 40]
    # Where nothing is lost, any thinning will do.
    assert [draw.sweep for draw in model.resume(10, burn_in=40, thin=3).chains_[0].draws] == [42, 45, 48]


def test_sweeps_of_the_warm_up_are_never_counted(corpus, tmp_path):
    model = model_of(SHORT).fit(corpus, checkpoint_dir=tmp_path / "m")
    for step in range(2):
        with raises(SettingsError, "out-of-range", "burn_in=14", "15 or more"):
            model.resume(10, burn_in=14)
        with raises(SettingsError, "out-of-range", "burn_in=14", "15 or more"):
            model_of(LONG, burn_in=14).fit(corpus, checkpoint_dir=tmp_path / "m")
        if step == 0:  # afterwards, warm-up and trials are stored as they are
            model.resume(30)
    assert model.resume(10, burn_in=15).chains_[0].schedule.burn_in == 15


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"warm_up": 40}, "warm_up=7, not 40"),
        ({"init": "one"}, "init='fitted', not 'one'"),
        ({"init": "apart"}, "init='fitted', not 'one'"),
        ({"split_merge": SplitMerge(adapt=20)}, "split_merge=SplitMerge"),
    ],
    ids=str,
)
def test_a_fit_of_another_kind_does_not_go_on_with_a_model(corpus, tmp_path, change, fact):
    model_of(SHORT).fit(corpus, checkpoint_dir=tmp_path / "m")
    with raises(ModelError, "settings-mismatch", tmp_path / "m", fact):
        model_of(LONG, **change).fit(corpus, checkpoint_dir=tmp_path / "m")


@pytest.mark.parametrize("init", ["fitted", "apart"])
def test_saved_and_loaded(corpus, tmp_path, init):
    model = model_of(20, chains=5, init=init).fit(corpus)
    model.save(tmp_path / "m")
    loaded = HDPTopicModel.load(tmp_path / "m")
    assert (loaded.init, loaded.schedule) == (init, None)
    starts = [chain.init for chain in loaded.chains_]
    assert starts == (["fitted"] * 5 if init == "fitted" else ["one", "sequential", 50, 200, "one"])
    assert in_bits(loaded) == in_bits(model)
    assert in_bits(loaded.resume(20)) == in_bits(model.resume(20))
