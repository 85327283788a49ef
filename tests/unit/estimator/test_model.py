"""What HDPTopicModel takes, gives, keeps and refuses."""

import errno
import os
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from franchise import (
    Chain,
    CorpusError,
    FranchiseError,
    HDPTopicModel,
    ModelError,
    SettingsError,
    SplitMerge,
    from_tokens,
)
from franchise._folders import locked
from franchise.corpus import planted
from franchise.sampling import Proposal
from franchise.storage import model as store
from tests.raising import raises, warns
from tests.settings import nested

TEXTS = ["The cat drank milk.", "A dog chased the cat!", "Stocks and bonds fell", "Bonds rose", ""] * 4
QUICK = {"sweeps": 12, "chains": 2, "random_state": 3, "verbose": 0}


def quick(**changes):
    return HDPTopicModel(**nested({**QUICK, **changes}))


@pytest.fixture(scope="module")
def corpus():
    return planted(n_topics=5, n_terms=40, n_documents=30, document_length=40, seed=2).corpus


@pytest.fixture(scope="module")
def fitted(corpus):
    return quick(sweeps=40).fit(corpus)


def as_begun(burn_in, until=None):
    """Return what follows from a burn-in, and stays as it was begun when a run is made longer."""
    return {
        "warm_up": min(40, burn_in // 2),
        "split_merge": SplitMerge(until=until, adapt=min(100, burn_in)),
    }


def in_bits(model):
    """Return all that a fit leaves, but for the time that it took."""
    trace = model.trace_.drop(columns="seconds").to_numpy()
    draws = [draw.document_topics.toarray().tobytes() for draw in model.posterior_.flat_draws]
    return trace.tobytes(), draws, model.components_.tobytes(), model.topic_weights_.tobytes()


# ---------------------------------------------------------------- what it takes

ANALYSED = CountVectorizer(stop_words="english").build_analyzer()


@pytest.mark.parametrize(
    "documents",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        pd.Series(TEXTS),
        [ANALYSED(text) for text in TEXTS],
        CountVectorizer(stop_words="english").fit_transform(TEXTS),
        CountVectorizer(stop_words="english").fit_transform(TEXTS).toarray(),
        from_tokens([ANALYSED(text) for text in TEXTS]),
    ],
    ids=["list", "tuple", "array", "Series", "tokens", "CSR", "dense", "Corpus"],
)
def test_documents_of_every_kind(documents):
    model = quick().fit(documents)
    assert model.corpus_.n_documents == 20
    assert model.n_features_in_ == model.corpus_.n_terms == 9
    theta = model.transform(documents)
    assert theta.shape == (20, model.n_topics_)
    assert np.allclose(theta.sum(axis=1), 1.0, atol=1e-12)


def test_counts_and_texts_give_one_chain_where_the_words_are_in_one_order():
    tokens = [sorted(ANALYSED(text)) for text in TEXTS]
    counts = sp.csr_array(CountVectorizer(stop_words="english").fit_transform(TEXTS))
    assert in_bits(quick().fit(tokens)) == in_bits(quick().fit(counts))


@pytest.mark.parametrize(
    "documents", ["one text", [], [["a"], "b"], [["", 3]], [[0, 0]], [[-1, 2]], [[0.5, 1]]]
)
def test_documents_that_are_none(documents):
    with pytest.raises((CorpusError, ValueError)):
        quick().fit(documents)


LONG = "the cat drank milk " * 500


@pytest.mark.parametrize(
    ("documents", "code", "facts"),
    [
        (pd.DataFrame({"id": [1, 2], "text": [LONG, "a dog"]}), "texts-not-counts", ["'text'", "df['text']"]),
        (pd.DataFrame({"text": [LONG, None]}), "texts-not-counts", ["df['text']"]),
        (pd.DataFrame({"text": pd.Categorical([LONG, "a dog"])}), "texts-not-counts", ["df['text']"]),
        (pd.DataFrame({"words": [["a"] * 500, ["b"]]}), "texts-not-counts", ["df['words']"]),
        (np.array([[LONG], ["a dog"]]), "texts-not-counts", ["column 0", "X[:, 0]"]),
        (np.array([[1, LONG], [2, "a dog"]], dtype=object), "texts-not-counts", ["X[:, 1]"]),
        ([["cat", [LONG] * 50]], "not-a-word", ["document 0, word 1"]),
    ],
)
def test_a_table_of_texts_is_not_quoted_in_full(documents, code, facts, fitted):
    for take in (quick().fit, fitted.transform):
        with raises(CorpusError, code, *facts) as error:
            take(documents)
        assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("setting", "code", "facts"),
    [
        ({"alpha": -3}, "not-a-prior", ["alpha=-3:"]),
        ({"gamma": (True, 1.0)}, "not-a-prior", ["gamma=(True, 1.0):"]),
        ({"gamma": "ab"}, "not-a-prior", ["gamma='ab':"]),
        ({"alpha": None}, "not-a-prior", ["alpha=None:", "alpha=(1.0, 1.0)"]),
        ({"alpha": True}, "not-a-prior", ["alpha=True:"]),
        ({"gamma": float("nan")}, "not-a-prior", ["gamma=nan:"]),
        ({"gamma": "auto"}, "not-a-prior", ["gamma='auto':"]),
        ({"eta": "best"}, "not-a-prior", ["eta='best':", "'auto'"]),
        ({"eta": "sample"}, "not-a-prior", ["eta='sample':", "eta=(1.0, 1.0)"]),
        ({"schedule": {"thin": 3}}, "wrong-type", ["schedule={'thin': 3}:", "Schedule(...)"]),
        ({"text_options": {"min_dff": 3}}, "unknown-option", ["min_dff", "min_df"]),
        ({"text_options": {"min_df": -3}}, "out-of-range", ["min_df=-3:"]),
        ({"text_options": "english"}, "wrong-type", ["text_options='english':"]),
        ({"eta": True}, "not-a-prior", ["eta=True:"]),
        ({"init": "x"}, "unknown-choice", ["init='x':", "'fitted', 'apart', 'sequential', 'one'"]),
        ({"init": np.array([3, 4])}, "wrong-shape", ["init:", "(2,)"]),
        ({"init": True}, "unknown-choice", ["init=True:", "'fitted', 'apart'"]),
        ({"warm_up": 7}, "out-of-range", ["warm_up=7:", "burn_in=6"]),
        ({"warm_up": -1}, "not-a-whole-number", ["warm_up=-1:", "0 or more"]),
        ({"warm_up": "long"}, "not-a-whole-number", ["warm_up='long':", "0 or more"]),
        ({"split_merge": SplitMerge(adapt=7)}, "out-of-range", ["SplitMerge(adapt=7):", "burn_in=6"]),
        ({"split_merge": []}, "unknown-choice", ["split_merge=[]:", "'always'"]),
        ({"random_state": -1}, "not-a-seed", ["random_state=-1:"]),
        ({"random_state": 1.5}, "not-a-seed", ["random_state=1.5:"]),
        ({"random_state": "x"}, "not-a-seed", ["random_state='x':"]),
        ({"random_state": True}, "not-a-seed", ["random_state=True:"]),
        ({"random_state": 2**63}, "not-a-seed", ["random_state=9223372036854775808:"]),
        ({"verbose": "no"}, "not-a-whole-number", ["verbose='no':"]),
        ({"verbose": None}, "not-a-whole-number", ["verbose=None:"]),
    ],
    ids=str,
)
def test_settings_are_refused_by_name(setting, code, facts, corpus):
    with raises(SettingsError, code, *facts):
        quick(**setting).fit(corpus)


@pytest.mark.parametrize(
    ("setting", "code", "facts"),
    [
        ({"callback": 3}, "wrong-type", ["callback=3:"]),
        ({"checkpoint_dir": ""}, "not-a-path", ["checkpoint_dir='':"]),
        ({"checkpoint_dir": 3}, "not-a-path", ["checkpoint_dir=3:"]),
    ],
    ids=str,
)
def test_settings_of_one_call_are_refused_by_name(setting, code, facts, corpus, fitted):
    for call in (lambda: quick().fit(corpus, **setting), lambda: fitted.resume(2, **setting)):
        with raises(SettingsError, code, *facts):
            call()


def test_the_numbers_of_numpy_can_be_saved(tmp_path, corpus):
    setting = {"sweeps": np.int64(6), "eta": np.float32(0.5), "init": np.int32(3), "thin": np.int16(2)}
    model = quick(**setting, alpha=np.array([1.0, 2.0]), random_state=np.uint8(4)).fit(corpus)
    model.save(tmp_path / "model")
    assert in_bits(HDPTopicModel.load(tmp_path / "model").resume(2)) == in_bits(model.resume(2))


@pytest.mark.parametrize(
    "setting",
    [
        {"eta": 0},
        {"eta": "learn"},
        {"alpha": -1.0},
        {"alpha": (1.0, 0.0)},
        {"init": "two"},
        {"sweeps": 0},
        {"burn_in": 13},
        {"thin": 0},
        {"chains": 0},
        {"split_merge": "never"},
        {"n_jobs": 0},
        {"random_state": -1},
    ],
)
def test_settings_that_cannot_be(setting, corpus):
    with pytest.raises(SettingsError):
        quick(**setting).fit(corpus)


def test_settings_reach_the_chains(corpus):
    model = quick(eta=(1.0, 1.0), alpha=0.7, gamma=(2.0, 3.0), init=4, split_merge="off").fit(corpus)
    assert model.trace_["eta"].nunique() > 10
    assert set(model.trace_["alpha"]) == {0.7}
    assert model.trace_["gamma"].nunique() > 10
    assert [chain.init for chain in model.chains_] == [4, 4]
    assert not any(column.startswith("split_merge.") for column in model.trace_)


# ---------------------------------------------------------------- what it gives


def test_fitted_attributes(fitted, corpus):
    k = fitted.n_topics_
    low, high = fitted.n_topics_interval_
    assert low <= k <= high
    assert fitted.components_.shape == (k, corpus.n_terms)
    assert np.allclose(fitted.components_.sum(axis=1), 1.0)
    assert fitted.topic_weights_.shape == (k,)
    assert np.all(np.diff(fitted.topic_weights_) <= 0)
    assert list(fitted.trace_.columns[:3]) == ["chain", "sweep", "n_topics"]
    assert fitted.trace_.groupby("chain").size().tolist() == [41, 41]
    assert fitted.corpus_ is corpus


def test_tables(fitted, corpus):
    topics = fitted.topics(n_terms=3)
    assert len(topics) == fitted.n_topics_
    assert all(len(terms.split(", ")) == 3 for terms in topics["terms"])
    assert len(fitted.documents()) == corpus.n_documents
    assert len(fitted.representative_documents(0, n=4)) == 4
    assert len(fitted.quality("u_mass")) == fitted.n_topics_
    assert fitted.coherence("u_mass").shape == (fitted.n_topics_,)


def test_print_answers_the_questions(fitted):
    text = str(fitted)
    assert "30 documents, 1,200 words, 40 terms" in text
    assert f"{fitted.n_topics_} topics" in text
    assert "2 chains of 40 sweeps" in text
    assert "Next:" in text
    assert str(HDPTopicModel()) == "HDPTopicModel()"


def test_chains_that_agree_say_so_if_they_started_alike(corpus):
    alike, apart = (quick(sweeps=200, init=init).fit(corpus) for init in ("fitted", "apart"))
    for model in (alike, apart):
        assert model.diagnose().verdict != "do not agree"
        assert model.diagnose().same_start == ("All chains started from the same fitted topics" in str(model))
    assert alike.diagnose().same_start
    assert not apart.diagnose().same_start


def test_scores(fitted, corpus):
    completion = fitted.held_out(corpus)
    assert fitted.score(corpus) == completion.per_word
    assert fitted.perplexity(corpus) == pytest.approx(np.exp(-completion.per_word))
    assert np.log(1 / 40) < fitted.held_out(corpus.select([0, 1]), "left-to-right", particles=3).per_word < 0
    assert fitted.held_out(corpus.select([0, 1]), "paper", sweeps=3).per_word < 0
    with raises(SettingsError, "unknown-choice", "method='perplexity'"):
        fitted.held_out(corpus, "perplexity")


def test_exports(fitted):
    assert fitted.to_lda().components_.shape == fitted.components_.shape
    assert fitted.to_pyldavis()["topic_term_dists"].shape[0] == fitted.n_topics_
    assert set(fitted.to_datatree().children) >= {"posterior", "sample_stats"}


def test_unknown_words_are_skipped_and_told_of():
    model = quick().fit(TEXTS)
    with warns("unknown-words", "2 of 3 words"):
        theta = model.transform(["cat zebra xylophone"])
    assert np.array_equal(theta, model.transform(["cat"]))


def test_new_documents_get_the_same_bits_in_any_batch(fitted, corpus):
    theta = fitted.transform(corpus)
    assert np.array_equal(fitted.transform(corpus.select([7, 3]))[1], theta[3])
    for jobs in (1, 2, 4):
        fitted.set_params(n_jobs=jobs)
        assert np.array_equal(fitted.transform(corpus), theta)
    fitted.set_params(n_jobs=None)


# ---------------------------------------------------------------- the same again


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_threads_change_nothing(corpus, jobs):
    assert in_bits(quick(n_jobs=jobs).fit(corpus)) == in_bits(quick(n_jobs=1).fit(corpus))


def test_random_states(corpus):
    numbers = [quick(random_state=np.random.RandomState(5)).fit(corpus) for _ in range(2)]
    assert in_bits(numbers[0]) == in_bits(numbers[1])
    numbers = [quick(random_state=np.random.default_rng(5)).fit(corpus) for _ in range(2)]
    assert in_bits(numbers[0]) == in_bits(numbers[1])
    rng = np.random.default_rng(5)
    assert in_bits(quick(random_state=rng).fit(corpus)) != in_bits(quick(random_state=rng).fit(corpus))
    free = [quick(random_state=None).fit(corpus) for _ in range(2)]
    assert in_bits(free[0]) != in_bits(free[1])


def test_resume_is_a_longer_run(corpus):
    short = quick(burn_in=6, thin=2).fit(corpus).resume(sweeps=5)
    assert in_bits(short) == in_bits(quick(sweeps=17, burn_in=6, thin=2).fit(corpus))


def kept_sweeps(model):
    return [[draw.sweep for draw in chain.draws] for chain in model.chains_]


def test_resume_leaves_out_half_of_all_sweeps(corpus):
    """Like a fit of that length: no draw of the short fit is left."""
    short = quick(sweeps=6).fit(corpus).resume(sweeps=18)
    whole = quick(sweeps=24, **as_begun(3)).fit(corpus)
    assert in_bits(short) == in_bits(whole)
    assert kept_sweeps(short) == kept_sweeps(whole) == [list(range(13, 25))] * 2
    for one, other in zip(short.chains_, whole.chains_, strict=True):
        assert one.schedule == other.schedule
        assert (one.mode.sweep, one.mode_log_joint) == (other.mode.sweep, other.mode_log_joint)


def test_of_the_former_draws_those_stay_that_fit_the_new_thinning(corpus):
    short = quick(sweeps=20, burn_in=4, thin=6).fit(corpus).resume(sweeps=10, burn_in=10, thin=3)
    whole = quick(sweeps=30, burn_in=10, thin=3, **as_begun(4)).fit(corpus)
    # 15 would be kept, but the first thinning left it out.
    assert kept_sweeps(whole) == [[12, 15, 18, 21, 24, 27, 30]] * 2
    assert kept_sweeps(short) == [[12, 18, 21, 24, 27, 30]] * 2
    for one, other in zip(short.chains_, whole.chains_, strict=True):
        for draw, same in zip(one.draws, [other.draws[0], *other.draws[2:]], strict=True):
            assert np.array_equal(draw.names, same.names)
            assert np.array_equal(draw.topic_terms.toarray(), same.topic_terms.toarray())
    assert short.trace_.drop(columns="seconds").equals(whole.trace_.drop(columns="seconds"))


def test_what_was_given_once_holds_for_later_resumes(corpus):
    model = quick(sweeps=10).fit(corpus).resume(10, burn_in=6)
    assert model.chains_[0].schedule.burn_in == 6
    assert model.resume(10).chains_[0].schedule.burn_in == 6
    assert (model.settings_["sweeps"], model.settings_["burn_in"], model.settings_["schedule"]["thin"]) == (
        30,
        6,
        None,
    )
    assert model.get_params()["burn_in"] is None
    fixed = quick(sweeps=10, burn_in=3, thin=2).fit(corpus).resume(10)
    assert (fixed.chains_[0].schedule.burn_in, fixed.chains_[0].schedule.thin) == (3, 2)


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ({"burn_in": -1}, "not-a-whole-number", ["burn_in=-1:", "0 or more"]),
        ({"burn_in": 18}, "out-of-range", ["burn_in=18:", "sweeps=17"]),
        ({"burn_in": 2.5}, "not-a-whole-number", ["burn_in=2.5:"]),
        ({"thin": 0}, "not-a-whole-number", ["thin=0:", "1 or more"]),
        ({"thin": "x"}, "not-a-whole-number", ["thin='x':", "1 or more"]),
        ({"burn_in": 5}, "out-of-range", ["burn_in=5:", "6 or more"]),
    ],
)
def test_a_resume_that_cannot_be_changes_nothing(tmp_path, corpus, change, code, named):
    model = quick(split_merge="burn-in").fit(corpus, checkpoint_dir=tmp_path / "m")
    before, facts = in_bits(model), (tmp_path / "m" / "model.json").read_bytes()
    with raises(SettingsError, code, *named):
        model.resume(5, **change)
    assert in_bits(model) == before
    assert kept_sweeps(model) == [list(range(7, 13))] * 2
    assert (tmp_path / "m" / "model.json").read_bytes() == facts


def test_trials_that_end_with_the_burn_in_end_where_they_did(tmp_path, corpus):
    """Or sweeps already made would have been others; what is counted is one kind of sweep."""
    folder = tmp_path / "m"
    model = quick(split_merge="burn-in").fit(corpus, checkpoint_dir=folder).resume(12)
    assert in_bits(model) == in_bits(quick(sweeps=24, **as_begun(6, until=6)).fit(corpus))
    assert model.chains_[0].schedule.burn_in == 12
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(model)
    assert in_bits(quick(split_merge="burn-in").fit(corpus, checkpoint_dir=folder)) == in_bits(model)


def test_what_a_resume_drops_is_gone_on_disk(tmp_path, corpus):
    folder = tmp_path / "m"

    def on_disk():
        return [sorted(int(path.stem) for path in (folder / "chains" / c / "draws").iterdir()) for c in "01"]

    quick().fit(corpus, checkpoint_dir=folder)
    assert on_disk() == [list(range(7, 13))] * 2
    model = HDPTopicModel.load(folder).resume(6)
    assert on_disk() == kept_sweeps(model) == [list(range(10, 19))] * 2
    assert in_bits(model) == in_bits(quick(sweeps=18, **as_begun(6)).fit(corpus))
    model.resume(burn_in=14)  # no sweep is made
    loaded = HDPTopicModel.load(folder)
    assert on_disk() == kept_sweeps(model) == kept_sweeps(loaded) == [list(range(15, 19))] * 2
    assert all(chain.mode.sweep > 14 for chain in loaded.chains_)
    assert in_bits(loaded) == in_bits(model)


def test_a_resume_that_was_killed_is_resumed_as_it_was_meant(tmp_path, corpus):
    class Killed(BaseException):
        pass

    def strike(chain):
        if (chain.number, chain.sweeps_done) == (0, 16):
            raise Killed

    folder = tmp_path / "m"
    model = quick(n_jobs=1).fit(corpus, checkpoint_dir=folder)
    old = {path: path.read_bytes() for path in (folder / "chains" / "1").glob("*.safetensors")}
    with pytest.raises(Killed):
        model.resume(12, burn_in=15, callback=strike)
    for path, content in old.items():  # as if it had been killed before the second chain was saved
        path.write_bytes(content)
    whole = quick(sweeps=24, burn_in=15, **as_begun(6)).fit(corpus)
    assert in_bits(quick().fit(corpus, checkpoint_dir=folder)) == in_bits(whole)
    assert kept_sweeps(HDPTopicModel.load(folder)) == kept_sweeps(whole)


def test_a_fit_goes_on_with_a_shorter_model(tmp_path, corpus):
    quick().fit(corpus, checkpoint_dir=tmp_path / "m")
    model = quick(sweeps=24).fit(corpus, checkpoint_dir=tmp_path / "m")
    assert in_bits(model) == in_bits(quick(sweeps=24, **as_begun(6)).fit(corpus))
    assert in_bits(HDPTopicModel.load(tmp_path / "m")) == in_bits(model)
    with raises(ModelError, "settings-mismatch", tmp_path / "m", "burn_in=12, not 9", "resume"):
        quick(sweeps=24, burn_in=9).fit(corpus, checkpoint_dir=tmp_path / "m")


@pytest.mark.unix
def test_an_interrupted_fit_keeps_what_there_is_and_goes_on(corpus):
    endless = quick(sweeps=10**7, burn_in=2, thin=1)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with warns("interrupted", "of 10000000 sweeps", "resume"):
        endless.fit(corpus)
    assert endless.n_topics_ > 0
    assert "The run is not finished" in str(endless)
    assert endless.transform(corpus).shape == (30, endless.n_topics_)


@pytest.mark.unix
def test_an_interrupt_before_anything_is_kept_shows_the_present_states(corpus):
    def strike(chain):
        if chain.sweeps_done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    model = quick(sweeps=10**7)
    with warns("interrupted"):
        model.fit(corpus, callback=strike)
    assert len(model.posterior_.flat_draws) in (1, 2)  # of the chains that had started
    assert "Too few sweeps" in str(model)


@pytest.mark.unix
def test_an_eta_that_was_fixed_is_not_diagnosed_in_the_warm_up(corpus):
    def stop(chain):
        if chain.sweeps_done == 5:
            os.kill(os.getpid(), signal.SIGINT)

    model = quick(sweeps=10**7, warm_up=10**6, chains=1)
    with warns("interrupted"):
        model.fit(corpus, callback=stop)
    assert model.trace_["eta"].nunique() > 5
    assert "alpha" in model.diagnose().table.index
    assert "eta" not in model.diagnose().table.index


def test_the_callback_is_called_with_chains(corpus):
    seen = []
    quick().fit(corpus, callback=seen.append)
    assert len(seen) == 2 * 13
    assert all(isinstance(chain, Chain) for chain in seen)


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize("split_merge", ["burn-in", SplitMerge(trials=2, proposals=(Proposal(scans=1),))])
def test_saved_and_loaded(tmp_path, corpus, split_merge):
    model = quick(split_merge=split_merge).fit(corpus)
    model.save(tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert in_bits(loaded) == in_bits(model)
    assert loaded.corpus_ == corpus
    taken = {"engine": "collapsed", "init": "fitted", "eta": 0.1}  # what "auto" stood for
    assert loaded.get_params() == model.get_params() | taken
    assert np.array_equal(loaded.transform(corpus), model.transform(corpus))
    assert in_bits(loaded.resume(sweeps=4)) == in_bits(model.resume(sweeps=4))
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names >= {
        "model.json",
        "corpus.safetensors",
        "vocabulary.txt",
        "topics.csv",
        "trace.csv",
        "README.md",
    }


def test_texts_are_kept(tmp_path):
    quick().fit(TEXTS).save(tmp_path / "model")
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert loaded.corpus_.texts == tuple(TEXTS)
    assert loaded.transform(["the cat and the dog"]).shape == (1, loaded.n_topics_)


def test_nothing_is_overwritten_unasked(tmp_path, fitted):
    fitted.save(tmp_path / "model")
    with raises(ModelError, "folder-exists", tmp_path / "model", "overwrite=True"):
        fitted.save(tmp_path / "model")
    with raises(SettingsError, "not-a-flag", "overwrite='no'"):
        fitted.save(tmp_path / "model", overwrite="no")
    fitted.save(tmp_path / "model", overwrite=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years of work")
    with raises(ModelError, "not-a-model", tmp_path / "other"):
        fitted.save(tmp_path / "other", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "other"]


def test_kept_while_it_is_fitted_and_gone_on_with_by_the_same_call(tmp_path, corpus):
    class Killed(BaseException):
        pass

    def strike(chain):
        if chain.sweeps_done == 7:
            raise Killed

    with pytest.raises(Killed):
        quick().fit(corpus, checkpoint_dir=tmp_path / "model", callback=strike)
    half = HDPTopicModel.load(tmp_path / "model")
    assert 0 < half.trace_["sweep"].max() < 12
    model = quick().fit(corpus, checkpoint_dir=tmp_path / "model")
    assert in_bits(model) == in_bits(quick().fit(corpus))
    assert in_bits(HDPTopicModel.load(tmp_path / "model")) == in_bits(model)
    with raises(ModelError, "settings-mismatch", "seed=3, not 4"):
        quick(random_state=4).fit(corpus, checkpoint_dir=tmp_path / "model")
    with raises(ModelError, "corpus-mismatch", tmp_path / "model"):
        quick().fit(corpus.select(range(10)), checkpoint_dir=tmp_path / "model")
    free = quick(random_state=None).fit(corpus, checkpoint_dir=tmp_path / "model")
    assert in_bits(free) == in_bits(model)


def test_a_model_that_never_started_can_be_loaded_and_resumed(tmp_path, corpus):
    class Killed(BaseException):
        pass

    def strike(chain):
        raise Killed

    with pytest.raises(Killed):
        quick().fit(corpus, checkpoint_dir=tmp_path / "model", callback=strike)
    for path in (tmp_path / "model" / "chains").glob("*/chain.safetensors"):
        path.unlink()
    loaded = HDPTopicModel.load(tmp_path / "model")
    assert not hasattr(loaded, "posterior_")
    with pytest.raises(NotFittedError):
        loaded.transform(corpus)
    assert in_bits(loaded.resume()) == in_bits(quick().fit(corpus))


# ---------------------------------------------------------------- one process at a time


def intruders(folder, corpus, fitted):
    """Return all ways to write a model into a folder."""
    return [
        lambda: quick(sweeps=40, random_state=9).fit(corpus, overwrite=True, checkpoint_dir=folder),
        lambda: quick(sweeps=40).fit(corpus, checkpoint_dir=folder),
        lambda: fitted.save(folder, overwrite=True),
    ]


def test_a_model_is_not_replaced_while_it_is_fitted(tmp_path, corpus, fitted):
    folder, seen = tmp_path / "model", []

    def intrude(chain):
        if not seen:
            seen.append(chain)
            for write in intruders(folder, corpus, fitted):
                with raises(ModelError, "locked", folder):
                    write()

    model = quick().fit(corpus, checkpoint_dir=folder, callback=intrude)
    assert seen
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(model)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_no_other_comes_between_making_a_model_and_running_it(tmp_path, corpus, fitted, monkeypatch):
    folder, create = tmp_path / "model", store.create

    def create_and_wait(*arguments, **options):
        create(*arguments, **options)
        monkeypatch.setattr(store, "create", create)
        for write in intruders(folder, corpus, fitted):
            with raises(ModelError, "locked", folder):
                write()

    fitted.save(folder)
    monkeypatch.setattr(store, "create", create_and_wait)
    model = quick().fit(corpus, overwrite=True, checkpoint_dir=folder)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(model)


def test_a_folder_in_which_chains_run_is_not_replaced(tmp_path, corpus, fitted):
    fitted.save(tmp_path / "model")
    with locked(tmp_path / "model" / "chains"):
        for write in intruders(tmp_path / "model", corpus, fitted):
            with raises(ModelError, "locked", tmp_path):
                write()
    assert in_bits(HDPTopicModel.load(tmp_path / "model")) == in_bits(fitted)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.unix
def test_a_model_is_fitted_where_the_file_system_has_no_locks(tmp_path, corpus, fitted, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    test_a_model_is_not_replaced_while_it_is_fitted(tmp_path, corpus, fitted)
    fitted.save(tmp_path / "model", overwrite=True)
    assert in_bits(HDPTopicModel.load(tmp_path / "model")) == in_bits(fitted)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_that_was_replaced_is_not_gone_on_with(tmp_path, corpus):
    folder = tmp_path / "model"
    quick().fit(corpus, checkpoint_dir=folder)
    old = HDPTopicModel.load(folder)
    new = quick(random_state=9).fit(corpus, overwrite=True, checkpoint_dir=folder)
    with raises(ModelError, "model-replaced", folder):
        old.resume(sweeps=2)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(new)


def test_a_fit_in_memory_goes_on_in_a_folder(tmp_path, corpus, fitted):
    model = quick(burn_in=6, thin=2).fit(corpus)
    model.resume(sweeps=5, checkpoint_dir=tmp_path / "model")
    assert in_bits(HDPTopicModel.load(tmp_path / "model")) == in_bits(model)
    fitted.save(tmp_path / "other")
    with raises(ModelError, "folder-exists", tmp_path / "other"):
        model.resume(sweeps=5, checkpoint_dir=tmp_path / "other")


# ---------------------------------------------------------------- a time budget


def test_a_time_budget(corpus):
    model = quick(sweeps=10**7, burn_in=2, thin=10**6).fit(corpus, time_budget=0.5)
    assert model.ending_ == "out of time"
    before = model.trace_["sweep"].max()
    assert model.resume(time_budget=0.5).ending_ == "out of time"
    assert model.trace_["sweep"].max() > before
    assert quick().fit(corpus).ending_ == "complete"
    with raises(FranchiseError, "no-time-to-start"):
        quick().fit(corpus, time_budget=1e-9)
    for budget in (0, -1, float("nan"), "1", True):
        with raises(SettingsError, "not-a-positive-number", f"time_budget={budget!r}"):
            quick().fit(corpus, time_budget=budget)


def test_a_forecast_changes_nothing(corpus):
    rng = np.random.default_rng(5)
    model = quick(random_state=rng)
    expected = model.forecast(corpus)
    assert rng.integers(100) == np.random.default_rng(5).integers(100)
    assert expected.seconds > 0
    assert expected.memory > 0
    assert vars(model) == vars(quick(random_state=rng))


def test_the_settings_that_a_model_was_made_with(corpus):
    model = quick(random_state=None).fit(corpus)
    assert model.settings_["seed"] == model.chains_[0].seed
    assert model.settings_["sweeps"] == 12
    assert not hasattr(quick(), "settings_")
