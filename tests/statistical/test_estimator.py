"""HDPTopicModel samples the posterior: its trace, from every start, against enumeration."""

import numpy as np
import pytest

from franchise import HDPTopicModel, Schedule, from_tokens
from tests.statistical.means import assert_means
from tests.statistical.test_enumerated_posterior import CORPORA

pytestmark = pytest.mark.slow  # the short runs too

BURN_IN = 200


def expectations(posterior):
    """Return the expected log joint, and the probabilities of the numbers of topics and of tables."""
    columns = {"log joint": posterior.log_joints}
    for name in ("n_topics", "n_tables"):
        values = np.array([getattr(seating, name) for seating in posterior.seatings])
        columns |= {f"{name} = {value}": (values == value).astype(float) for value in np.unique(values)}
    means = {name: float(posterior.probabilities @ values) for name, values in columns.items()}
    return {name: mean for name, mean in means.items() if name == "log joint" or 0.01 < mean < 0.99}


def compare(name, seed, sweeps, split_merge, init):
    posterior = CORPORA[name]
    corpus = from_tokens(posterior.documents, vocabulary=[f"w{v}" for v in range(posterior.n_terms)])
    alpha, gamma, eta = posterior.at
    model = HDPTopicModel(
        alpha=alpha,
        gamma=gamma,
        eta=eta,
        sweeps=BURN_IN + sweeps,
        burn_in=BURN_IN,
        schedule=Schedule(thin=sweeps, split_merge=split_merge),
        init=init,
        random_state=seed,
        verbose=0,
    ).fit(corpus)
    trace = model.trace_[model.trace_["sweep"] > BURN_IN]
    assert len(trace) == 4 * sweeps
    visited = {"log joint": trace["log_joint"].to_numpy()}
    for column in ("n_topics", "n_tables"):
        for value in np.unique(trace[column]):
            visited[f"{column} = {value}"] = (trace[column] == value).to_numpy(float)
    expected = expectations(posterior)
    samples = np.column_stack([visited[name] for name in expected])
    assert_means(list(expected), samples, np.array(list(expected.values())))


@pytest.mark.parametrize("init", ["fitted", "apart"])
@pytest.mark.parametrize("name", CORPORA)
def test_the_trace_agrees_with_enumeration(name, seed, init):
    """Four chains of 3,000 sweeps see a probability off by about 0.04; some warm up, all of them adapt."""
    compare(name, seed, 3_000, "always", init)


@pytest.mark.statistical
@pytest.mark.parametrize("init", ["fitted", "apart"])
@pytest.mark.parametrize("split_merge", ["always", "burn-in", "off"])
@pytest.mark.parametrize("name", CORPORA)
def test_long_traces_agree_with_enumeration(name, seed, split_merge, init):
    """Four chains of 50,000 sweeps see a probability off by about 0.01."""
    compare(name, seed, 50_000, split_merge, init)
