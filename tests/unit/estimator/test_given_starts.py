"""Chains that start from topics of an earlier model, or from seed words."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from franchise import Chain, CorpusError, HDPTopicModel, ModelError, SettingsError, from_tokens
from franchise.corpus import planted
from franchise.engines import GivenTopics
from franchise.engines.starts.em import fitted_topics, given_topics
from franchise.estimator.starts import start_of
from franchise.model import broken_invariants
from franchise.posterior.advice import Advice
from franchise.sampling import Timetable
from franchise.storage import model as store
from tests.raising import raises
from tests.settings import nested
from tests.unit.estimator.test_model import in_bits

SEEDS = {"first": ["t0", "t1"], "second": ["t20", "t21"]}


def quick(**changes):
    return HDPTopicModel(**nested({"sweeps": 12, "chains": 2, "random_state": 3, "verbose": 0, **changes}))


@pytest.fixture(scope="module")
def corpus():
    drawn = planted(n_topics=5, n_terms=40, n_documents=30, document_length=40, seed=2).corpus
    return type(drawn)(drawn.x, drawn.doc_ptr, [f"t{v}" for v in range(drawn.n_terms)])


@pytest.fixture(scope="module")
def earlier(corpus):
    return quick(sweeps=40).fit(corpus)


def as_frame(model):
    return pd.DataFrame(model.components_, columns=model.corpus_.vocabulary)


def started(corpus, init):
    chain = Chain(corpus, schedule=Timetable(sweeps=1, burn_in=0), random_state=5, init=start_of(init))
    chain.start()
    assert not broken_invariants(corpus.arrays, chain.state)
    return chain


# ---------------------------------------------------------------- the seating


def test_every_way_to_give_topics_is_the_same_start(corpus, earlier, tmp_path):
    earlier.save(tmp_path / "earlier")
    ways = [
        earlier,
        tmp_path / "earlier",
        as_frame(earlier),
        as_frame(earlier)[list(corpus.vocabulary[::-1])],
    ]
    seats = [started(corpus, way).state.t_ji for way in ways]
    for other in seats[1:]:
        np.testing.assert_array_equal(other, seats[0])
    by_place = started(corpus, earlier.components_)
    np.testing.assert_array_equal(by_place.state.t_ji, seats[0])


def test_words_go_to_the_topics_given(corpus):
    phi = np.zeros((2, 40))
    phi[0, :20] = phi[1, 20:] = 1.0
    draw = started(corpus, phi).draw()
    halves = np.array([draw.topic_terms[:, :20].sum(axis=1), draw.topic_terms[:, 20:].sum(axis=1)])
    # A topic of each half, and one for words that belong to none in particular.
    assert sorted((halves.min(axis=0) == 0).tolist()) == [False, True, True]
    assert halves.min(axis=0).sum() < 0.25 * corpus.n_words


def test_terms_that_topics_do_not_know_follow_their_documents():
    documents = [["ant", "bee", "new"] * 4, ["cat", "dog", "other"] * 4] * 10
    corpus = from_tokens(documents)
    given = pd.DataFrame([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], columns=["ant", "bee", "cat", "dog"])
    counts = started(corpus, given).draw().topic_terms.toarray()
    place = {term: v for v, term in enumerate(corpus.vocabulary)}
    with_ants = counts[:, place["ant"]] > counts[:, place["cat"]]
    assert counts[with_ants, place["new"]].sum() > 3 * counts[~with_ants, place["new"]].sum()
    found = start_of(given).in_terms_of(corpus)
    fitted = given_topics(corpus, found)
    np.testing.assert_allclose(fitted.phi.sum(axis=0), 1.0)


def test_topics_without_a_term_of_the_documents_are_left_out(corpus, earlier):
    frame = as_frame(earlier).assign(elsewhere=0.0)
    frame.loc[len(frame)] = 0.0
    frame.loc[len(frame) - 1, "elsewhere"] = 1.0
    np.testing.assert_array_equal(started(corpus, frame).state.t_ji, started(corpus, earlier).state.t_ji)


def test_seed_words_bring_their_words_together():
    animals, money = ["cat", "dog", "fur", "paw"], ["bond", "loan", "bank", "cash"]
    corpus = from_tokens([animals * 3, money * 3] * 10)
    seeds = start_of({"money": ["bond", "bond"], "animals": ["cat"]}).in_terms_of(corpus)
    fitted = fitted_topics(corpus, 0.3, 0, seeds.phi)
    phi = fitted.phi[fitted.row].T  # those of the seeds come first
    of_money, of_animals = ([corpus.vocabulary.index(term) for term in terms] for terms in (money, animals))
    assert len(phi) > 2
    assert phi[0, of_money].min() > 100 * phi[0, of_animals].max()
    assert phi[1, of_animals].min() > 100 * phi[1, of_money].max()


@pytest.mark.parametrize(
    "documents", [[["a"]], [["a", "b"], []], [[], ["a"] * 9 + ["b"]], [["a", "c"], ["b", "c"]] * 3]
)
def test_small_corpora_are_seated(documents):
    corpus = from_tokens(documents)
    started(corpus, {"one": ["a"]})
    started(corpus, {name: ["a"] for name in "xyz"})  # more topics than documents, all alike
    started(corpus, pd.DataFrame([[1.0, 1.0]], columns=["a", "nowhere"]))


def test_chains_are_the_same_again_and_their_own(corpus, earlier):
    one, other = (quick(init=earlier).fit(corpus) for _ in range(2))
    assert in_bits(one) == in_bits(other)
    assert in_bits(quick(init=as_frame(earlier), n_jobs=1).fit(corpus)) == in_bits(one)
    first, second = one.chains_
    assert (first.trace["log_joint"] != second.trace["log_joint"]).all()


def test_the_warm_up_is_for_topics_that_are_still_to_separate(corpus, earlier):
    assert quick(init=earlier).fit(corpus).chains_[0].schedule.warm_up == 0
    assert quick(init=SEEDS).fit(corpus).chains_[0].schedule.warm_up == 3


# ---------------------------------------------------------------- on disk


@pytest.mark.parametrize("seeds", [False, True])
def test_a_run_killed_before_its_first_sweep_starts_the_same(corpus, earlier, tmp_path, seeds, monkeypatch):
    init = SEEDS if seeds else earlier
    whole = quick(init=init).fit(corpus)
    folder = tmp_path / "model"

    def die(*_, **__):
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr("franchise.estimator.model.run_chains", die)
        with pytest.raises(RuntimeError):
            quick(init=init).fit(corpus, checkpoint_dir=folder)
    loaded = HDPTopicModel.load(folder)
    assert isinstance(loaded.init, GivenTopics)
    assert in_bits(loaded.resume()) == in_bits(whole)
    assert in_bits(HDPTopicModel.load(folder)) == in_bits(whole)


def test_an_interrupted_run_goes_on_and_is_not_mixed_with_another(corpus, earlier, tmp_path):
    folder = tmp_path / "model"
    whole = quick(init=earlier).fit(corpus)

    class Enough(Exception):
        pass

    def stop(chain):
        if chain.sweeps_done == 5:
            raise Enough

    with pytest.raises(Enough):
        quick(init=earlier).fit(corpus, checkpoint_dir=folder, callback=stop)
    for other in (SEEDS, "fitted", earlier.components_[:-1]):
        with raises(ModelError, "settings-mismatch", folder, "init="):
            quick(init=other, warm_up=0).fit(corpus, checkpoint_dir=folder)
    assert in_bits(quick(init=earlier).fit(corpus, checkpoint_dir=folder)) == in_bits(whole)


def test_a_saved_model_can_be_made_longer(corpus, tmp_path):
    model = quick(init=SEEDS, burn_in=6, thin=1).fit(corpus)
    model.save(tmp_path / "model")
    longer = HDPTopicModel.load(tmp_path / "model").resume(sweeps=4)
    assert in_bits(longer) == in_bits(model.resume(sweeps=4))
    longer.save(tmp_path / "again")
    assert in_bits(HDPTopicModel.load(tmp_path / "again")) == in_bits(longer)
    assert model.settings_["init"]["given"] == "seed words"
    json.dumps(model.settings_)


def test_other_topics_beside_a_model_are_noticed(corpus, earlier, tmp_path):
    quick(init=earlier).fit(corpus).save(tmp_path / "a")
    quick(init=SEEDS).fit(corpus).save(tmp_path / "b")
    (tmp_path / "b" / "start.safetensors").replace(tmp_path / "a" / "start.safetensors")
    with raises(ModelError, "start-mismatch", tmp_path / "a" / "start.safetensors"):
        HDPTopicModel.load(tmp_path / "a")


def test_nothing_is_written_for_topics_that_cannot_be_used(corpus, tmp_path):
    with raises(CorpusError, "unknown-term", "seed words", "'nowhere'"):
        quick(init={"a": ["nowhere"]}).fit(corpus, checkpoint_dir=tmp_path / "model")
    assert not store.is_model(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("init", "code", "facts"),
    [
        ({}, "no-seed-words", []),
        ({"a": []}, "no-seed-words", ["topic 'a'"]),
        ({"a": "galaxy"}, "wrong-type", ["topic 'a'", "'galaxy'"]),
        ({"a": 3}, "wrong-type", ["topic 'a'", "3"]),
        ({"a": ["t1", 3]}, "wrong-type", ["seed word 3", "topic 'a'"]),
        (np.ones(40), "wrong-shape", ["(40,)"]),
        (np.ones((0, 40)), "wrong-shape", ["(0, 40)"]),
        (np.full((2, 40), -1.0), "out-of-range", ["below 0"]),
        (np.full((2, 40), np.nan), "out-of-range", []),
        (np.array([["a"]]), "not-a-number", []),
        (np.vstack([np.ones(40), np.zeros(40)]), "empty-topic", ["topic 1"]),
        (pd.DataFrame([[1.0, 2.0]], columns=["t1", "t1"]), "duplicate-term", []),
        (HDPTopicModel(), "not-fitted", ["HDPTopicModel"]),
        ([1, 2], "unknown-choice", ["init=[1, 2]"]),
        ([["t1"], ["t2"]], "unknown-choice", ["{'cosmology': ['galaxy', 'redshift']}"]),
        (1.5, "unknown-choice", ["init=1.5"]),
    ],
)
def test_starts_that_are_none(corpus, init, code, facts):
    with raises(SettingsError, code, "init", *facts):
        quick(init=init).fit(corpus)


@pytest.mark.parametrize(
    ("init", "error", "code", "facts"),
    [
        ({"a": ["T1", "qqqq"]}, CorpusError, "unknown-term", ["'T1' (there is 't1'", "'qqqq'"]),
        (np.ones((2, 7)), CorpusError, "wrong-shape", ["7 columns", "40 terms"]),
        (pd.DataFrame([[1.0]], columns=["x"]), CorpusError, "no-common-terms", ["'t0'"]),
        (pd.DataFrame([[1.0, 0.0]], columns=["x", "t1"]), CorpusError, "no-common-terms", ["'t0'"]),
        (Path("nowhere"), ModelError, "no-such-folder", ["nowhere"]),
    ],
)
def test_topics_that_do_not_fit_the_documents(corpus, init, error, code, facts):
    with raises(error, code, *facts):
        quick(init=init).fit(corpus)


# ---------------------------------------------------------------- scikit-learn


def test_a_clone_keeps_the_model_to_start_from(corpus, earlier):
    model = quick(init=earlier)
    assert clone(model).init is earlier
    assert clone(quick(init=SEEDS)).init == SEEDS
    assert set(model.get_params(deep=True)) == set(quick().get_params())
    assert in_bits(clone(model).fit(corpus)) == in_bits(model.fit(corpus))


def test_the_diagnosis_says_that_the_start_is_shared(corpus, earlier):
    model = quick(init=earlier, sweeps=60).fit(corpus)
    assert model.diagnose().same_start
    assert Advice("same start", {"topics": "given topics"}) in model.diagnose().advice


def test_the_folder_of_a_model_as_a_string(corpus, tmp_path, monkeypatch):
    earlier = quick().fit(corpus)
    earlier.save(tmp_path / "m")
    expected = quick(init=earlier).fit(corpus).components_
    assert np.array_equal(quick(init=str(tmp_path / "m")).fit(corpus).components_, expected)
    monkeypatch.chdir(tmp_path)
    assert np.array_equal(quick(init="m").fit(corpus).components_, expected)
    (tmp_path / "one").mkdir()
    assert quick(init="one").fit(corpus).chains_[0].init == "one"  # the word, whatever folders there are


def test_what_is_neither_a_word_nor_a_folder(corpus):
    with raises(SettingsError, "unknown-choice", "no-such-folder", "'sequential'", "folder"):
        quick(init="no-such-folder").fit(corpus)
