"""Hand-made diagnoses: traces and posteriors of chains that agree, differ, or change."""

import re

import numpy as np

from franchise.posterior.advice import same_start_as
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.estimates import Posterior
from franchise.sampling import Timetable
from tests.unit.posterior.made import draw_of_counts, one_document, posterior_of_counts, trace_of

SAME_START = same_start_as("fitted")
ALL_THREE = "All 3 topics were found by every chain; they hold 100% of the words."
THREE_EACH = "Number of topics: 3 in chain 0, 3 in chain 1."  # of `posterior_of_sizes`
KEEP_APART = "more sweeps will hardly bring them together"
TOPICS = np.array([[40, 10, 0, 0, 0, 0], [0, 0, 30, 0, 0, 0], [0, 0, 0, 10, 9, 1]])


def autoregressive(rng, n_chains, length, phi, sd, mean=50.0):
    """Return stationary AR(1) chains, rounded to whole numbers."""
    x = np.empty((n_chains, length))
    x[:, 0] = rng.normal(0.0, sd, n_chains)
    steps = rng.normal(0.0, sd * np.sqrt(1 - phi**2), (n_chains, length))
    for i in range(1, length):
        x[:, i] = phi * x[:, i - 1] + steps[:, i]
    return np.rint(mean + x).astype(int)


def posterior_of_sizes(rng, n_chains, n_draws):
    """Return the posterior of draws with the same three topics of random sizes."""

    def draw():
        spread = rng.multinomial(90, TOPICS.ravel() / TOPICS.sum()).reshape(TOPICS.shape)
        return draw_of_counts(spread + (TOPICS > 0))  # no topic without words

    n_words = 90 + (TOPICS > 0).sum()
    chains = [[draw() for _ in range(n_draws)] for _ in range(n_chains)]
    return Posterior(one_document(n_words, TOPICS.shape[1]), chains, [])


def diagnosis_of(n_topics, rng, posterior=None, burn_in=0, sweeps=None, n_draws=25, starts=(), **columns):
    """Diagnose chains with these numbers of topics; the other numbers are independent noise."""
    traces = [
        trace_of(
            chain,
            **{
                "log_p_words": rng.normal(-900, 5, len(chain)),
                "log_joint": rng.normal(-999, 5, len(chain)),
                "alpha": rng.gamma(5, 1, len(chain)),
                **columns,
            },
        )
        for chain in n_topics
    ]
    posterior = posterior or posterior_of_sizes(rng, len(n_topics), n_draws)
    sweeps = max(map(len, n_topics)) if sweeps is None else sweeps
    return diagnose(posterior, traces, Timetable(sweeps=sweeps, burn_in=burn_in), starts)


def changing(n_chains):
    """Return the posterior of chains whose two topics trade a third of the words half-way."""
    early, late = np.diag([70, 30]), np.diag([35, 65])
    return posterior_of_counts([[early] * 12 + [late] * 12] * n_chains)


def asked(found):
    """Return the arguments of the calls of `resume` that a diagnosis asks for."""
    return [call for message in found.messages for call in re.findall(r"resume\(([^)]*)\)", message)]


AGREED = autoregressive(np.random.default_rng(0), 2, 250, 0.0, 2.0)
