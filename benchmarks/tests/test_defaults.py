import numpy as np

from benchmarks import defaults
from benchmarks.defaults import COLUMNS, Case, Measured, Truth, counts, row, rows, text


def test_a_truth_is_drawn_from_its_seed():
    for draw in (text(5_000, 200, 4), counts(3, 60, 200), counts(3, 60, 200, noise=100.0)):
        truth, again, other = draw(1), draw(1), draw(2)
        assert truth.corpus.fingerprint() == again.corpus.fingerprint() != other.corpus.fingerprint()
        assert np.allclose(truth.topics.sum(axis=1), 1.0)
        assert np.isclose(truth.weights.sum(), 1.0)
        assert truth.topics.shape == (truth.weights.size, truth.corpus.n_terms)
        assert truth.test


def test_noise_is_what_no_mixture_explains():
    def residual(truth):
        table = truth.corpus.to_counts().toarray()
        shares = table / table.sum(axis=1, keepdims=True)
        explained = shares @ np.linalg.pinv(truth.topics) @ truth.topics
        return np.abs(shares - explained).sum(axis=1).mean()

    assert residual(counts(3, 60, 50_000, noise=100.0)(1)) > 3 * residual(counts(3, 60, 50_000)(1))


def test_a_row_says_what_was_found():
    """A fit that has one planted topic twice, and lacks the other."""

    class Posterior:
        weights = np.array([0.5, 0.4995, 0.0005])
        phi = np.array([[0.9, 0.1, 0.0], [0.89, 0.11, 0.0], [0.4, 0.3, 0.3]])

    class Model:
        posterior_, n_topics_interval_ = Posterior(), (2, 3)

    class Reference:
        posterior_, n_topics_interval_ = Posterior(), (4, 5)

    truth = Truth(None, [], np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]]), np.array([0.7, 0.3]))
    found, reference = Measured(Model(), -2.0, -3.0, -2.5, 7.0), Measured(Reference(), -1.5, -2.0, -2.0, 1.0)
    said = dict(zip(COLUMNS, row(Case("x", None), 1, truth, found, reference), strict=True))
    assert (said["planted"], said["from truth"], said["large"]) == ("2", "2", "2")
    assert (said["matched"], said["missing"]) == ("1", "30.0%")
    assert (said["doubled"], said["log p"], said["joint"]) == ("1", "-0.5000", "-1.0000")
    assert said["covers"] == "no (4 to 5)"


def test_smoke(monkeypatch):
    monkeypatch.setattr(defaults, "measure", short(defaults.measure))
    (only,) = rows([Case("tiny", text(3_000, 100, 3))], [1], 6)
    assert len(only) == len(COLUMNS)


def short(measure):
    return lambda truth, **settings: measure(truth, **{"sweeps": 6, "chains": 2} | settings)
