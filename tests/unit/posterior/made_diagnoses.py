"""Hand-made diagnoses: traces and posteriors of chains that agree, differ, or change."""

import numpy as np

from franchise.posterior.diagnostics import diagnose
from franchise.posterior.estimates import Posterior
from franchise.sampling import Timetable
from tests.unit.posterior.made import draw_of_counts, one_document, posterior_of_counts, trace_of

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
    """Return the sweeps and the burn-in of each longer run that a diagnosis asks for; 0 is to finish it."""
    numbers = [one.numbers for one in found.advice if one.kind == "resume"]
    return [(n["sweeps"], n["burn_in"]) for n in numbers]


def kinds(found):
    """Return the kinds of what a diagnosis says."""
    return [one.kind for one in found.advice]


def numbers_of(found, kind):
    """Return the numbers of the only advice of a kind."""
    (numbers,) = [one.numbers for one in found.advice if one.kind == kind]
    return numbers


AGREED = autoregressive(np.random.default_rng(0), 2, 250, 0.0, 2.0)
