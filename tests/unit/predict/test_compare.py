"""Models compared on the same held-out words."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

import franchise
from franchise import CorpusError, HDPTopicModel, SettingsError, compare, from_tokens
from franchise.corpus import planted
from tests.raising import raises


def quick(**changes):
    return HDPTopicModel(**{"sweeps": 30, "chains": 2, "random_state": 3, "verbose": 0, **changes})


@pytest.fixture(scope="module")
def corpus():
    drawn = planted(n_topics=6, n_terms=60, n_documents=160, document_length=30, seed=4).corpus
    return type(drawn)(drawn.x, drawn.doc_ptr, [f"t{v}" for v in range(drawn.n_terms)])


@pytest.fixture(scope="module")
def models(corpus):
    train = corpus.select(range(60))
    return {
        "good": quick(eta=0.1).fit(train),
        "again": quick(eta=0.1, random_state=8).fit(train),
        "flat": quick(eta=20.0).fit(train),
    }


@pytest.fixture(scope="module")
def new(corpus):
    return corpus.select(range(60, 160))


@pytest.mark.parametrize("method", ["completion", "left-to-right"])
def test_scores_are_those_of_each_model_alone(models, new, method):
    found = compare(models, new, method=method)
    for name, model in models.items():
        alone = model.held_out(new, method)
        assert found.scores[name].per_word == pytest.approx(alone.per_word)
        np.testing.assert_allclose(found.scores[name].log_p, alone.log_p)
    assert list(found.as_frame()["model"])[-1] == "flat"


def test_a_generator_gives_all_models_the_same_words(models, new):
    twice = {"one": models["good"], "other": models["good"]}
    found = compare(twice, new, random_state=np.random.default_rng(2))
    assert found.difference("one", "other")[0] == 0.0
    assert found.scores["one"].per_word != compare(twice, new).scores["one"].per_word


def test_the_difference_is_paired(models, new):
    found = compare(models, new)
    d = found.scores["good"].log_p - found.scores["flat"].log_p
    difference, error = found.difference("good", "flat")
    assert difference == pytest.approx(d.sum() / found.n_j.sum())
    # By the bootstrap over documents, which knows nothing of ratios.
    rng = np.random.default_rng(1)
    again = [d[rows].sum() / found.n_j[rows].sum() for rows in rng.integers(0, d.size, (2000, d.size))]
    assert error == pytest.approx(np.std(again), rel=0.15)
    unpaired = np.hypot(found.scores["good"].standard_error, found.scores["flat"].standard_error)
    assert error < 0.8 * unpaired
    assert found.difference("flat", "good") == pytest.approx((-difference, error))


def test_words_say_what_can_be_told_apart(models, new):
    text = str(compare(models, new))
    assert "predicts better than flat: " in text
    alike = str(compare({"a": models["good"], "b": models["good"]}, new))
    assert "a and b predict exactly alike." in alike
    near = str(compare({name: models[name] for name in ("good", "again")}, new))
    assert "cannot be told apart" in near
    one = str(compare([models["good"], models["flat"]], new.select([0])))
    assert "on the only document" in one
    assert "words of 1 document\n" in one


def test_a_session_shows_the_answer(models, new):
    found = compare({"<good>": models["good"], "flat": models["flat"]}, new)
    assert repr(found) == str(found)
    shown = found._repr_html_()
    assert "&lt;good&gt; predicts better than flat" in shown
    assert f"{found.scores['flat'].per_word:.4f}" in shown


def test_a_list_of_models_is_numbered(models, new):
    found = compare(list(models.values()), new)
    assert list(found.scores) == ["model 0", "model 1", "model 2"]
    pairs = found.pairs()
    assert len(pairs) == 3
    assert pairs.difference[0] == pytest.approx(found.difference("model 0", "model 1")[0])
    frame = found.documents()
    assert list(frame.columns) == ["document", "words", "model 0", "model 1", "model 2"]
    assert frame["model 2"].sum() / frame["words"].sum() == pytest.approx(found.scores["model 2"].per_word)


def test_terms_in_another_order_change_nothing(models, corpus, new):
    train = corpus.select(range(60))
    order = np.random.default_rng(0).permutation(corpus.n_terms)
    turned = type(corpus)(np.argsort(order)[train.x], train.doc_ptr, [corpus.vocabulary[v] for v in order])
    other = quick(eta=0.1).fit(turned)
    found = compare({"good": models["good"], "turned": other}, new)
    # All words were given the same cut: what is scored of each document is the same in both.
    assert abs(found.difference("good", "turned")[0]) < 0.1
    assert found.scores["turned"].per_word == pytest.approx(
        compare({"turned": other, "good": models["good"]}, new).scores["turned"].per_word, abs=0.05
    )


def test_other_terms_are_refused(models, new):
    other = quick().fit(from_tokens([["t0", "t1", "elsewhere"]] * 5))
    facts = ("only good has 58", "'t10'", "only other has 1", "'elsewhere'")
    with raises(CorpusError, "vocabulary-mismatch", *facts):
        compare({"good": models["good"], "other": other}, new)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda models: models["good"], "give a list of two"),
        (lambda models: [models["good"]], "1 given; a comparison needs two"),
        (lambda models: [models["good"], "model/"], "model 1 is of type str"),
        (lambda models: 3, "give a list of two"),
    ],
)
def test_models_that_are_none(models, new, change, message):
    with pytest.raises(SettingsError, match=message):
        compare(change(models), new)


def test_what_else_is_refused(models, new):
    with pytest.raises(NotFittedError):
        compare([models["good"], quick()], new)
    with raises(SettingsError, "unknown-choice", "method='paper'"):
        compare(models, new, method="paper")
    with raises(SettingsError, "unknown-choice", "'x'", "good"):
        compare(models, new).difference("x", "good")
    with raises(franchise.FranchiseError, "empty-corpus"):
        compare(models, [[]])


def test_held_out_documents_for_arviz(models, new):
    model, some = models["good"], new.select(range(12))
    tree = model.to_datatree(held_out=some)
    group = tree["held_out_log_likelihood"]
    log_p = group["documents"]
    assert log_p.dims == ("chain", "draw", "document")
    assert log_p.shape[0] == 2
    np.testing.assert_array_equal(group["n_words"], some.document_lengths)
    # The mean over draws, inside the logarithm, is what left to right says of all draws together.
    together = logsumexp(log_p.to_numpy().reshape(-1, 12), axis=0) - np.log(log_p.shape[0] * log_p.shape[1])
    expected = model.held_out(some, "left-to-right", chain_weights=[1, 1])
    assert together.sum() / 360 == pytest.approx(expected.per_word, abs=0.02)
    assert "held_out_log_likelihood" not in model.to_datatree().children
    assert "log_likelihood" not in tree.children  # ArviZ would take it for leave-one-out scores
