"""Reports of models that are made up or fitted in a moment."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from franchise.corpus import Corpus, from_texts
from franchise.corpus.synthetic import planted
from franchise.posterior.diagnostics import diagnose
from franchise.posterior.estimates import Posterior
from franchise.report import write_report
from franchise.sampling import Chain, Draw, Timetable

ANIMALS = "cat dog mouse horse cow sheep milk fur paw tail"
MONEY = "bank bond stock market price money rate loan tax fund"
SETTINGS = {"eta": 0.1, "sweeps": 40, "burn_in": None, "alpha": (1.0, 1.0)}


def small_texts(n: int = 30, seed: int = 0) -> list[str]:
    """Texts about animals, about money, or about both."""
    rng = np.random.default_rng(seed)
    animals, money = ANIMALS.split(), MONEY.split()
    texts = []
    for i in range(n):
        words = [rng.choice(animals if rng.random() < (0.95, 0.05, 0.5)[i % 3] else money) for _ in range(25)]
        texts.append("The " + " ".join(words).capitalize() + ".")
    return texts


def run_chains(corpus: Corpus, n_chains: int = 2, sweeps: int = 40, **options) -> list[Chain]:
    schedule = Timetable(sweeps=sweeps, burn_in=sweeps // 2, thin=2)
    chains = [Chain(corpus, schedule=schedule, random_state=1, number=c, **options) for c in range(n_chains)]
    for chain in chains:
        chain.run()
    return chains


def posterior_of(corpus: Corpus, chains: list[Chain], find_support=None) -> Posterior:
    started = [chain for chain in chains if len(chain.trace)]
    kept = [chain for chain in started if chain.draws] or started
    draws = [c.draws or [c.draw()] for c in kept]
    return Posterior(corpus, draws, [c.trace for c in kept], find_support=find_support)


def report_of(path: Path, corpus: Corpus, chains: list[Chain], *, find_support=None, **options) -> Path:
    posterior = posterior_of(corpus, chains, find_support)
    traces = [chain.trace for chain in chains if len(chain.trace)]
    diagnosis = diagnose(posterior, traces, chains[0].schedule)
    return write_report(path, posterior, corpus, chains, diagnosis, SETTINGS, **options)


def all_but_the_first(phi):
    """Say that every topic but the first was found by all short runs."""
    return np.arange(len(phi)).clip(max=1).astype(float)


def small_report(path: Path, texts: list[str] | None = None, n_chains: int = 2, **options) -> Path:
    corpus = from_texts(texts or small_texts())
    return report_of(path, corpus, run_chains(corpus, n_chains), **options)


def counted_draw(corpus: Corpus, z: np.ndarray, sweep: int) -> Draw:
    """The draw of words with these topics."""
    documents = np.repeat(np.arange(corpus.n_documents), corpus.document_lengths)
    live = np.unique(z)
    size = z.max() + 1
    ones = np.ones(z.size, np.int32)
    topic_terms = sp.coo_array((ones, (z, corpus.x)), shape=(size, corpus.n_terms)).tocsr()[live]
    document_topics = sp.coo_array((ones, (documents, z)), shape=(corpus.n_documents, size)).tocsr()[:, live]
    m_k = np.asarray((document_topics > 0).sum(axis=0)).ravel()
    return Draw(sweep, live, topic_terms, document_topics, m_k, np.array([1.0, 10.0, 0.05]))


def large_model(n_topics: int, n_documents: int, seed: int = 5) -> tuple[Corpus, list[Chain]]:
    """A corpus with many topics or documents, and two chains whose draws are near the truth."""
    truth = planted(
        n_topics=n_topics,
        n_terms=5_000,
        n_documents=n_documents,
        document_length=40,
        seed=seed,
        topic_concentration=0.01,
    )
    rng = np.random.default_rng(seed)
    chains = []
    for number in range(2):
        schedule = Timetable(sweeps=10, burn_in=5, thin=1)
        chain = Chain(truth.corpus, schedule=schedule, number=number, init="one", random_state=0)
        chain.start()
        chain.sweeps_done = 10
        for sweep in range(6, 11):
            wrong = rng.random(truth.z.size) < 0.05
            z = np.where(wrong, rng.integers(0, n_topics, truth.z.size), truth.z)
            chain.draws.append(counted_draw(truth.corpus, z, sweep))
        chains.append(chain)
    return truth.corpus, chains


def marked(one: dict) -> list[tuple[str, int]]:
    """The marked words of a document and their topics, by JavaScript's count of characters."""
    units = one["text"].encode("utf-16-le")
    found, end = [], 0
    for gap, length, topic in zip(*[iter(one["marks"])] * 3, strict=True):
        start = end + gap
        end = start + length
        found.append((units[2 * start : 2 * end].decode("utf-16-le"), topic))
    return found
