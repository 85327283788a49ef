"""Does a second fit find the same topics? Other programs and this one, by one measure.

    python -m benchmarks.replicability                                  (shipped and planted)
    python -m benchmarks.replicability --data FOLDER --corpora FOLDER   (also Reuters, AP, paper-like ones)
    python -m benchmarks.replicability --corpora FOLDER --only arxiv cora reuters395 --programs franchise
    python -m benchmarks.replicability --only reuters --data FOLDER --programs tomotopy default --seeds 2

`benchmarks.cases` says which corpora there are. Each of *seed*, *order* and *90%* is the share of words whose
topic has a match in the other fit (cosine 0.8 or more), the mean of both directions:

* *seed*: fits with different seeds, all pairs of them.
* *order*: the first fit, and fits with another seed and another order of the documents.
* *90%*: the first fit, and fits with another seed and a random 90% of the documents, in random order.

There is one fit of each kind for every seed (`benchmarks.refits`), and every program gets the same documents
in the same order. The seed alone flatters programs that start from the documents in their order, as this one
does. The other columns tell you what the shares are worth. They come from the fits to all documents in their
first order:

* *matched topics*: the number of topics that have a match in a fit with another seed. A few huge topics match
  easily.
* *topics*: those that have at least one word; *effective topics*: the exponential of the entropy of their
  weights, the number of equally large topics that would be as diverse.
* *without prior*: as *seed*, with the smallest probability of each topic subtracted. Eta adds the same amount
  to every term, which makes all topics of few words similar.
* *doubled*: the share of words whose topic has a match among the other topics of its own fit. If all topics
  are similar, they match with any seed.
* *completion*: the held-out score (`benchmarks.completion`) of one state, because other programs have only
  one: the mean over the chains' last states. *of reported*: the score of the topics that are compared, where
  these are averages.

Programs, each on one core, with the same eta (0.3 on abstracts, 0.1 elsewhere):

* franchise: `HDPTopicModel` with its defaults except eta. Its topics and weights are the reported ones. You
  can also name a method of `benchmarks.agreement`, which runs four chains of 200 sweeps. `--sweeps` and
  `--chains` change both, for a quick look.
* tomotopy: `HDPModel` with its defaults but eta, 1,000 iterations. Topics and weights are counted from the
  words of the last state. It does not report the tables of each topic; for the score they are divided by
  the number of documents that have the topic.
* gensim: `HdpModel`, at most 150 topics, ten passes with the corpus as one chunk, kappa 0.6 and tau 1. On
  Reuters it scored better so than with its defaults, which keep more of the random start, or with smaller
  chunks. The weight of a topic is its expected number of words in the training documents, by gensim's own
  inference.
* LDA 100, LDA same: scikit-learn's `LatentDirichletAllocation`, 50 batch iterations, 1 / K for documents,
  with 100 topics and with as many as franchise found in the same documents with the same seed. The weight of
  a topic is its expected number of words, what the data added to its row of `components_`.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from benchmarks.agreement import METHODS, alike, matched, posterior_of
from benchmarks.agreement import run as run_chains
from benchmarks.cases import Case, add_options, chosen
from benchmarks.completion import completion, of_posterior, of_topics
from benchmarks.refits import WAYS, refits
from benchmarks.tables import console, show
from franchise import Chain, Corpus, HDPTopicModel
from franchise.posterior.estimates import Posterior

TOMOTOPY_ITERATIONS, GENSIM_PASSES, LDA_ITERATIONS = 1_000, 10, 50
Program = Callable[[Case, float, int], "Fit"]  # of a corpus, eta and a seed


class Fit(NamedTuple):
    """The topics of one fit; `agreement.matched` takes it for a posterior."""

    phi: np.ndarray
    weights: np.ndarray  # shares of the words
    score: float
    seconds: float
    score_reported: float | None = None

    def without_prior(self) -> "Fit":
        """Take from each topic what it has of every term."""
        return self._replace(phi=self.phi - self.phi.min(axis=1, keepdims=True))

    @property
    def n_effective(self) -> float:
        shares = self.weights / self.weights.sum()
        return float(np.exp(-shares @ np.log(shares)))

    @property
    def doubled(self) -> float:
        same = alike(self, self)
        np.fill_diagonal(same, False)
        return float(self.weights @ same.any(axis=1))


def fit_of(phi: np.ndarray, n_k: np.ndarray, score: float, seconds: float) -> Fit:
    """Keep the topics that have at least one of the words."""
    kept = n_k >= 1.0
    return Fit(phi[kept], n_k[kept] / n_k.sum(), score, seconds)


@contextmanager
def timed() -> Iterator[list[float]]:
    """Append the CPU seconds of a block to the list."""
    spent: list[float] = []
    began = time.process_time()
    yield spent
    spent.append(time.process_time() - began)


def of_chains(case: Case, posterior: Posterior, chains: list[Chain], seconds: float) -> Fit:
    score = float(np.mean([completion(chain.draw(), case.test) for chain in chains]))
    reported = of_posterior(posterior, case.test)
    return Fit(posterior.phi, posterior.weights, score, seconds, reported)


def library(settings: dict[str, Any]) -> Program:
    """Return the program that fits with the defaults of the library, except these settings."""

    def fit(case: Case, eta: float, seed: int) -> Fit:
        with timed() as spent:
            model = HDPTopicModel(eta=eta, n_jobs=1, random_state=seed, verbose=0, **settings)
            model.fit(case.corpus)
        return of_chains(case, model.posterior_, model.chains_, *spent)

    return fit


def method(name: str, sweeps: int = 200, chains: int = 4) -> Program:
    """Return the program that runs chains by one of the methods of `agreement`."""

    def fit(case: Case, eta: float, seed: int) -> Fit:
        starts = (METHODS[name].start,) * chains
        own, seconds = run_chains(case, eta, METHODS[name], starts, sweeps, seed)
        return of_chains(case, posterior_of(own), own, seconds)

    return fit


def tomotopy(case: Case, eta: float, seed: int) -> Fit:
    import tomotopy

    corpus = case.corpus
    model = tomotopy.HDPModel(eta=eta, seed=seed)
    for j in np.flatnonzero(corpus.document_lengths):
        model.add_doc([str(v) for v in corpus.document(j)])
    with timed() as spent:
        model.train(TOMOTOPY_ITERATIONS, workers=1)
    terms = np.array([int(word) for word in model.vocabs])
    n_kv, documents = np.zeros((model.k, corpus.n_terms)), np.zeros(model.k)
    for document in model.docs:
        topics = np.asarray(document.topics)
        np.add.at(n_kv, (topics, terms[np.asarray(document.words)]), 1.0)
        documents[np.unique(topics)] += 1.0
    n_k = n_kv.sum(axis=1)
    phi = (n_kv + eta) / (n_k[:, None] + corpus.n_terms * eta)
    scale = model.alpha / (model.num_tables + model.gamma)
    prior = scale * model.num_tables * documents / documents.sum()
    live = n_k > 0
    return fit_of(phi, n_k, of_topics(phi[live], prior[live], case.test, scale * model.gamma), *spent)


def gensim(case: Case, eta: float, seed: int) -> Fit:
    from gensim.models import HdpModel

    corpus = case.corpus
    counts = [np.unique(corpus.document(j), return_counts=True) for j in range(corpus.n_documents)]
    documents = [list(zip(v.tolist(), times.tolist(), strict=True)) for v, times in counts if v.size]
    names = dict(enumerate(corpus.vocabulary))
    online = {"chunksize": len(documents), "max_chunks": GENSIM_PASSES, "kappa": 0.6, "tau": 1.0}
    with timed() as spent:
        model = HdpModel(documents, names, eta=eta, random_state=seed, **online)
    n_k = (model.inference(documents) - model.lda_alpha).sum(axis=0)
    phi = model.lda_beta / model.lda_beta.sum(axis=1, keepdims=True)
    return fit_of(phi, n_k, of_topics(phi, model.lda_alpha, case.test), *spent)


def lda(case: Case, eta: float, seed: int, n_topics: int = 100) -> Fit:
    model = LatentDirichletAllocation(
        n_topics, topic_word_prior=eta, learning_method="batch", max_iter=LDA_ITERATIONS, random_state=seed
    )
    with timed() as spent:
        model.fit(case.corpus.to_counts())
    n_k = (model.components_ - eta).sum(axis=1)
    phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
    prior = np.full(n_topics, 1.0 / n_topics)
    return fit_of(phi, n_k, of_topics(phi, prior, case.test), *spent)


OTHERS: dict[str, Program] = {"tomotopy": tomotopy, "gensim": gensim, "LDA 100": lda}
OURS, LDA_SAME = "franchise", "LDA same"
OPTIONAL = ("tomotopy", "gensim")


def mean_and_range(values: list[float], form: str) -> str:
    """Format the mean of several numbers, and where they differ the lowest and highest."""
    low, high = format(min(values), form), format(max(values), form)
    mean = format(float(np.mean(values)), form)
    return mean if low == high else f"{mean} ({low} to {high})"


def planned(case: Case, seeds: int) -> list[tuple[str, int, Case]]:
    """Return the way, seed and corpus of every fit, the first fit first."""
    later = [
        (way, number, other) for number in range(1, seeds) for way, other in refits(case, number).items()
    ]
    return [(WAYS[0], 0, case), *later]


def row(case: Case, eta: float, name: str, by_way: dict[str, list[Fit]]) -> list[str]:
    """Compare the fits of one program."""
    fits = by_way["seed"]
    pairs = [matched(*pair) for pair in combinations(fits, 2)]
    again = [[matched(fits[0], other)[0] for other in by_way[way]] for way in WAYS[1:]]
    bare = [fit.without_prior() for fit in fits]
    reported = [fit.score_reported for fit in fits if fit.score_reported is not None]
    return [
        case.name,
        f"{eta:g}",
        name,
        f"{np.mean([fit.seconds for fit in fits]):.0f}",
        mean_and_range([fit.weights.size for fit in fits], ".0f"),
        f"{np.mean([fit.n_effective for fit in fits]):.0f}",
        mean_and_range([share for share, _ in pairs], ".0%"),
        *(mean_and_range(shares, ".0%") for shares in again),
        f"{np.mean([number for _, number in pairs]):.0f}",
        mean_and_range([matched(*pair)[0] for pair in combinations(bare, 2)], ".0%"),
        f"{np.mean([fit.doubled for fit in fits]):.0%}",
        f"{np.mean([fit.score for fit in fits]):.3f}",
        f"{np.mean(reported):.3f}" if reported else "",
    ]


COLUMNS = ["corpus", "eta", "program", "CPU s", "topics", "effective topics", *WAYS, "matched topics"]
COLUMNS += ["without prior", "doubled", "completion", "of reported"]


def rows(
    case: Case, eta: float, names: list[str], seeds: int, settings: dict[str, Any]
) -> Iterator[list[str]]:
    """Yield a row for each program; `settings` are sweeps and chains, where not the defaults."""
    plan = planned(case, seeds)
    sizes: list[int] = []
    for name in names:
        if name == LDA_SAME:
            if not sizes:
                console.print(f"{LDA_SAME} is left out: name {OURS} before it")
                continue
            fits = [lda(one, eta, seed, size) for (_, seed, one), size in zip(plan, sizes, strict=True)]
        else:
            program = library(settings) if name == OURS else OTHERS.get(name) or method(name, **settings)
            fits = [program(one, eta, seed) for _, seed, one in plan]
        if name == OURS:
            sizes = [fit.weights.size for fit in fits]
        by_way: dict[str, list[Fit]] = {way: [] for way in WAYS}
        for (way, _, _), fit in zip(plan, fits, strict=True):
            by_way[way].append(fit)
        yield row(case, eta, name, by_way)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    programs = [OURS, *OTHERS, LDA_SAME]
    add_options(parser)
    parser.add_argument("--programs", nargs="*", default=programs, choices=[*programs, *METHODS])
    parser.add_argument("--seeds", type=int, default=3, help="3 seeds: 3 fits, and 2 of each other kind")
    parser.add_argument(
        "--sweeps", type=int, help="of this library's chains (500; methods of agreement: 200)"
    )
    parser.add_argument("--chains", type=int, help="of this library (4)")
    options = parser.parse_args(arguments)
    if options.seeds < 2:
        parser.error("--seeds: two fits are needed for a comparison")
    for name in OPTIONAL:
        if name in options.programs and find_spec(name) is None:
            console.print(f"{name} is left out: it is not installed")
            options.programs = [one for one in options.programs if one != name]
    named = {"sweeps": options.sweeps, "chains": options.chains}
    settings = {name: value for name, value in named.items() if value is not None}
    corpora = chosen(parser, options)
    Chain(Corpus([0, 1], [0, 2], ["a", "b"]), random_state=0).run(2)  # compiles, if need be
    table = []
    with threadpool_limits(1):
        for case in corpora:
            eta = 0.3 if case.name.startswith("abstracts") else 0.1
            for own in rows(case, eta, options.programs, options.seeds, settings):
                table.append(own)
                console.print("  ".join(own))
    show(f"Words whose topic a second fit has too, {options.seeds} seeds: mean (range)", COLUMNS, table)


if __name__ == "__main__":
    main()
