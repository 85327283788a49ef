import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from franchise import FranchiseError, HDPTopicModel, SettingsError
from franchise.corpus.synthetic import planted
from franchise.predict.heldout import completion_densities
from franchise.predict.stacking import best_weights, mixture_weights
from tests.raising import raises
from tests.unit.predict.scores import document_completion, left_to_right


def score(weights, log_p):
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(log_p + np.log(weights)[:, None], axis=0).mean()


def gains(weights, log_p):
    """Return by how much the score rises with each weight; at the best, 1 or less."""
    p = np.exp(log_p - log_p.max(axis=0))
    return (p / (weights @ p)).mean(axis=1)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 200), st.floats(0.01, 20.0))
def test_the_conditions_of_the_best_weights_hold(seed, n_chains, n_units, spread):
    rng = np.random.default_rng(seed)
    log_p = rng.normal(-5, spread, (n_chains, n_units)) + rng.normal(0, spread / 3, (n_chains, 1))
    weights = best_weights(log_p)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    rises = gains(weights, log_p)
    assert rises.max() < 1 + 1e-4
    assert rises[weights > 1e-3] == pytest.approx(1.0, abs=1e-4)
    # No other weights are better, by more than rounding.
    for other in [*np.eye(n_chains), np.full(n_chains, 1 / n_chains), *rng.dirichlet(np.ones(n_chains), 20)]:
        assert score(other, log_p) < score(weights, log_p) + 1e-6


def test_the_true_mixture_is_found():
    rng = np.random.default_rng(1)
    truth = np.array([0.2, 0.5, 0.3, 0.0])
    means = np.array([-6.0, 0.0, 6.0, 3.0])
    x = rng.normal(means[rng.choice(4, 20_000, p=truth)], 1.0)
    log_p = -0.5 * (x - means[:, None]) ** 2
    assert best_weights(log_p) == pytest.approx(truth, abs=0.02)


def test_equal_chains_and_one_chain():
    log_p = np.random.default_rng(0).normal(size=(1, 30))
    assert best_weights(log_p).tolist() == [1.0]
    assert best_weights(np.repeat(log_p, 3, axis=0)) == pytest.approx(np.full(3, 1 / 3))


def test_a_chain_that_is_worse_everywhere_has_no_weight():
    good = np.random.default_rng(0).normal(size=30)
    assert best_weights(np.array([good - 0.5, good])).tolist() == [0.0, 1.0]


@pytest.fixture(scope="module")
def case():
    truth = planted(n_topics=5, n_terms=40, n_documents=60, document_length=40, seed=2).corpus
    train, new = truth.select(range(40)), truth.select(range(40, 60))
    settings = {"sweeps": 20, "chains": 3, "eta": 0.5, "random_state": 3, "verbose": 0}
    return HDPTopicModel(**settings).fit(train), new


def test_groups_of_draws_are_scored_as_by_themselves(case):
    model, new = case
    draws = model.posterior_.draws
    together = completion_densities([chain[:2] for chain in draws], new, sweeps=20)
    assert together.held_out([1.0, 0.0, 0.0]).per_word == pytest.approx(
        document_completion(draws[0][:2], new, sweeps=20).per_word
    )
    # All draws together are the mixture of groups of the same size.
    flat = [draw for chain in draws for draw in chain[:2]]
    pooled = document_completion(flat, new, sweeps=20)
    assert together.held_out(np.full(3, 1 / 3)).log_p == pytest.approx(pooled.log_p)
    whole = model.known_topics_.stacked(encoded(model, new), "left-to-right")
    of_first = left_to_right(model.known_topics_.chains[0].draws, new)
    assert whole.scores[0].per_word == pytest.approx(of_first.per_word)


def encoded(model, new):
    from franchise.estimator.inputs import in_known_terms

    return in_known_terms(model, new)


@pytest.mark.parametrize("method", ["completion", "left-to-right"])
def test_chain_weights_of_a_model(case, method):
    model, new = case
    frame = model.chain_weights(new, method)
    assert frame.columns.tolist() == ["chain", "n_topics", "per_word", "standard_error", "weight"]
    assert frame["chain"].tolist() == [0, 1, 2]
    assert frame["weight"].sum() == pytest.approx(1.0)
    n_topics = [np.median([draw.names.size for draw in chain]) for chain in model.posterior_.draws]
    assert np.abs(frame["n_topics"] - n_topics).max() <= 0.5
    weighted = model.held_out(new, method, chain_weights=frame["weight"])
    assert model.held_out(new, method, chain_weights=frame).per_word == weighted.per_word
    equal = model.held_out(new, method, chain_weights=[1, 1, 1])
    assert weighted.per_word >= max(frame["per_word"].max(), equal.per_word) - 1e-8
    assert model.chain_weights(new, method).equals(frame)


@pytest.mark.parametrize("weights", [[1, 1], [1, -1, 1], [0, 0, 0], "abc", [1, np.nan, 1], 3])
def test_impossible_weights(weights):
    with raises(SettingsError, "invalid-weights", "chain_weights=", "3 numbers"):
        mixture_weights(weights, 3)


def test_chains_are_not_compared_by_the_papers_number(case):
    model, new = case
    with raises(SettingsError, "unknown-choice", "'paper'", "'completion'", "'left-to-right'"):
        model.chain_weights(new, "paper")


def test_documents_without_words_are_refused_before_weights_are_looked_for(case, recwarn):
    model, _ = case
    with raises(FranchiseError, "empty-corpus"):
        model.chain_weights(np.zeros((2, model.n_features_in_), int))
    assert not recwarn.list
