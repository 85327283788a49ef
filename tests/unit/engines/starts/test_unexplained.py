"""New topics of a table: they begin at what documents with the same rare topic have in common."""

import numpy as np

from franchise.engines.starts.table_fits import Fit, Table, evenly, improved
from franchise.engines.starts.unexplained import with_more


def table_and_fit(n_rare=2, hidden=0.0):
    """Return a table of two common topics and rare ones, a fit of the common ones, and all topics."""
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(30, 0.2), 2 + n_rare)
    p = rng.dirichlet(np.ones(2), 200) @ topics[:2]
    for k in range(n_rare):
        own = slice(10 * k, 10 * k + 10)
        p[own] = 0.6 * p[own] + 0.4 * topics[2 + k]
    x = np.array([rng.multinomial(1_000, row) for row in p]).astype(float)
    table = Table(x, rng.random(x.shape) >= hidden)
    return table, improved(table, evenly(x, topics[:2]), topics[:2], 0), topics


def cosines(one, other):
    return (one @ other.T) / np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))


def test_rare_topics_are_found_at_once():
    for hidden in (0.0, 0.1):
        table, fit, topics = table_and_fit(hidden=hidden)
        more = with_more(table, fit, 2, 50)
        assert cosines(topics, more.h).max(axis=1).min() > 0.95
        assert more.likelihood > fit.likelihood
        np.testing.assert_allclose(more.h.sum(axis=1), 1.0)
        np.testing.assert_allclose(more.w.sum(axis=1), table.x.sum(axis=1), rtol=0.1)


def test_the_topic_that_explains_most_comes_first():
    table, fit, topics = table_and_fit(n_rare=1)
    more = with_more(table, fit, 1, 50)
    assert len(more.h) == 3
    assert cosines(topics[2:], more.h)[0].argmax() == 2


def test_where_nothing_is_unexplained_there_are_no_more():
    h = np.full((1, 4), 0.25)
    x = np.full((10, 4), 100.0)
    table = Table(x, np.ones(x.shape, bool))
    fit = Fit(x.sum(axis=1, keepdims=True), h, 0.0, np.zeros(10))
    assert with_more(table, fit, 3, 10) is fit


def test_topics_leave_documents_in_which_they_explain_little():
    table, fit, topics = table_and_fit()
    more = with_more(table, fit, 2, 50, least=8.0)
    shares = more.w / more.w.sum(axis=1, keepdims=True)
    rare = np.argmax(cosines(topics[2:], more.h), axis=1)
    assert (shares[20:, rare] == 0.0).mean() > 0.8
    assert (shares[:10, rare[0]] > 0.2).all()
