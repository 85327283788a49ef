"""Steps of a fit to a table with hidden cells, against the same in matrices."""

import numpy as np
import pytest

from franchise.engines.starts import table_steps


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    w, h = rng.gamma(2.0, 20.0, (7, 3)), rng.dirichlet(np.ones(9), 3)
    x = rng.poisson(rng.gamma(2.0, 20.0, (7, 3)) @ rng.dirichlet(np.ones(9), 3)).astype(float)
    return x, rng.random(x.shape) > 0.2, w, h


def step(x, seen, w, h):
    """Make a step of EM with factors to the power 7/4; a hidden cell counts as its mean."""
    ratios = np.where(seen, x / (w @ h), 1.0)
    new_w = w * (ratios @ h.T) ** 1.75
    gain = w.T @ ratios
    new_h = h * (gain / (h * gain).sum(axis=1, keepdims=True)) ** 1.75
    return new_w, new_h / new_h.sum(axis=1, keepdims=True)


def test_a_step(fit):
    x, seen, w, h = fit
    new_w, new_h = step(*fit)
    mixtures, ratios = w.copy(), np.empty(9)
    table_steps.mixture_step(x, seen, mixtures, h, ratios)
    np.testing.assert_allclose(mixtures, new_w)
    table_steps.fit_step(x, seen, w, h, np.empty_like(h), ratios)
    np.testing.assert_allclose(w, new_w)
    np.testing.assert_allclose(h, new_h)


def test_hidden_counts_do_not_matter(fit):
    x, seen, w, h = fit
    other, other_w, other_h = np.where(seen, x, 1e6), w.copy(), h.copy()
    for table, mixtures, topics in ((x, w, h), (other, other_w, other_h)):
        table_steps.fit_step(table, seen, mixtures, topics, np.empty_like(h), np.empty(9))
    np.testing.assert_array_equal(w, other_w)
    np.testing.assert_array_equal(h, other_h)


def test_steps_make_seen_cells_likelier(fit):
    x, seen, w, h = fit
    means, scores, likelihoods = np.empty(9), np.empty(7), []
    for _ in range(60):
        likelihoods.append(table_steps.score_cells(*fit, np.zeros(9), means, scores))
        table_steps.fit_step(x, seen, w, h, np.empty_like(h), means)
    assert likelihoods[0] < likelihoods[20] < likelihoods[-1]
    assert likelihoods[-1] - likelihoods[-2] < 0.01 * (likelihoods[1] - likelihoods[0])


def test_scores(fit):
    x, seen, w, h = fit
    background = np.linspace(0.01, 0.03, 9)
    scores, means = np.empty(7), w @ h + w.sum(axis=1, keepdims=True) * background
    likelihood = table_steps.score_cells(*fit, background, np.empty(9), scores)
    assert likelihood == pytest.approx(np.sum((x * np.log(means) - means)[seen]))
    hidden = np.where(seen, 0.0, means)
    shares = np.where(seen, 1.0, hidden / np.maximum(hidden.sum(axis=1, keepdims=True), 1e-300))
    np.testing.assert_allclose(scores, np.sum(np.where(seen, 0.0, x) * np.log(shares), axis=1))


def test_growth_of_residuals(fit):
    _, seen, w, h = fit
    means, growth, least = np.empty((7, 9)), np.empty((7, 9)), np.zeros(7)
    table_steps.set_all_means(w, h, means)
    np.testing.assert_allclose(means, w @ h)
    least[0] = np.median(w[0])  # one of its topics is left
    memory = (np.empty(3, np.int64), np.empty((3, 3)), np.empty(3))
    table_steps.set_growth(seen, w, h, means, least, growth, *memory)
    assert (growth[seen] == 1.0).all()
    for j in range(7):
        own = h[w[j] > least[j]]
        information = (own[:, seen[j]] / means[j, seen[j]]) @ own[:, seen[j]].T
        errors = np.einsum("kv,kl,lv->v", own, np.linalg.inv(information), own)
        np.testing.assert_allclose(growth[j, ~seen[j]], (1.0 + errors / means[j])[~seen[j]], rtol=1e-6)


def test_topics_leave_documents_in_which_they_explain_little(fit):
    _, seen, w, h = fit
    w[0] *= 1e-3  # a document so short that no topic explains much
    means = np.maximum(w @ h, 1e-3)
    explained = np.array(
        [[np.sum(((w[j, k] * h[k]) ** 2 / means[j])[seen[j]]) for k in range(3)] for j in range(7)]
    )
    least, before = np.sort(explained.ravel())[10:12].mean(), w.copy()
    table_steps.leave_documents(seen, w, h, np.empty(9), least)
    stays = explained >= least
    stays[np.arange(7), before.argmax(axis=1)] = True
    np.testing.assert_array_equal(w, np.where(stays, before, 0.0))
    assert (w[0] > 0.0).sum() == 1


def test_likeness():
    rows = np.random.default_rng(1).random((6, 9))
    likeness = np.empty((2, 6))
    table_steps.set_likeness(rows, np.array([4, 1]), likeness)
    np.testing.assert_allclose(likeness, rows[[4, 1]] @ rows.T)
