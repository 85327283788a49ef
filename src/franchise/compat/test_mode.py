"""The test mode of the paper's program: new documents are seated on top of the topics of a saved model.

A saved model has no documents, and needs none: the moves depend on other documents only through the counts of
the topics. Therefore each topic becomes a document with its words and its number of tables; the moves never
visit these documents (`engines.collapsed_sampler`). The likelihood is ::

    log p(t of the test) + log p(k of all) + log p(x of all) - log p(k of the model) - log p(x of the model)

that is, log p(test words, their tables, the tables' topics | counts of the model) for one state. It grows as
the chain finds better states, so it is not a held-out likelihood (see `predict.heldout`).
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from franchise._arrays import CorpusArrays, offsets_of
from franchise._folders import locked
from franchise._threads import interrupts_deferred
from franchise.compat.files import Saver, read_bin
from franchise.compat.logs import HeldOutLine, log_file
from franchise.compat.options import HdpOptions
from franchise.compat.saved import SavedModel, SavedState, saved_state
from franchise.compat.starts import seat, some_documents
from franchise.corpus import Corpus, read_ldac
from franchise.corpus.checks import numbered
from franchise.engines.collapsed_sampler import CollapsedSampler
from franchise.errors import CorpusError, SettingsError
from franchise.model import Priors, State, empty_state, joint
from franchise.model.state import ALPHA, ETA, GAMMA, TABLES, TOPICS
from franchise.random import WORD_TABLES, Key


def test(  # the program's name for it; not one of our tests
    options: HdpOptions,
    *,
    progress: Callable[[str], None] | None = None,  # noqa: PT028
) -> None:
    """Seat the documents on top of a saved model, and write all results to ``options.directory``.

    Parameters
    ----------
    options
        The options. The settings of the model come from ``options.saved_model``.
    progress
        Called with the program's text for each iteration.

    Raises
    ------
    FranchiseError
        If the documents or the model cannot be read or do not match, or a file cannot be written.
    """
    if options.saved_model is None:
        raise SettingsError(
            "saved_model is missing: give the .bin of the model to test", code="missing-setting"
        )
    model = read_bin(options.saved_model).in_use()
    documents = read_ldac(options.data)
    check_terms(documents, options.data, model, options.saved_model)
    guests = Guests(model, documents, options.random_seed)
    guests.sweep()
    saver = Saver(options.directory, "test-", options.save_lag, guests.likelihood())
    with locked(options.directory), log_file(options.directory / "test.log", HeldOutLine) as add_line:
        try:
            _iterate(guests, options.max_iter, saver, add_line, progress)
        finally:
            saver.save_last(guests.saved())


def _iterate(
    guests: "Guests",
    iterations: int,
    saver: Saver,
    add_line: Callable[[HeldOutLine], None],
    progress: Callable[[str], None] | None,
) -> None:
    began = time.monotonic()
    for iteration in range(iterations):
        guests.sweep()
        totals, likelihood = guests.state.totals, guests.likelihood()
        line = HeldOutLine(
            seconds=time.monotonic() - began,
            iteration=iteration,
            n_topics=int(totals[TOPICS]),
            n_tables=int(totals[TABLES]),
            likelihood=likelihood,
        )
        if progress:
            progress(
                f"iter = {iteration:05d}, #topics = {line.n_topics:04d}, #tables = {line.n_tables:04d}, "
                f"likelihood = {likelihood:.5f}"
            )
        saver.save(iteration, likelihood, guests.saved)
        add_line(line)


def check_terms(documents: Corpus, path: Path, model: SavedModel, model_path: Path) -> None:
    """Refuse documents with terms that the model does not have."""
    if documents.n_terms <= model.n_terms:
        return
    i = int(np.argmax(documents.x >= model.n_terms))
    j = int(np.searchsorted(documents.doc_ptr, i, side="right")) - 1
    raise CorpusError(
        f"{path}:{j + 1}: document {j} has the term {documents.x[i]}, but {model_path} was trained on "
        f"the terms 0 to {model.n_terms - 1}; leave such terms out, or train with them",
        code="term-out-of-range",
    )


class Guests:
    """Test documents seated on top of a model.

    Parameters
    ----------
    model
        The topics, each with at least one table.
    documents
        The test documents, over the terms of the model.
    seed
        The seed of the random numbers.
    """

    def __init__(self, model: SavedModel, documents: Corpus, seed: int) -> None:
        self._n_hosts = model.n_topics
        self._corpus = _together(model, documents)
        self._priors = Priors(alpha=model.alpha, gamma=model.gamma, eta=model.eta)
        state = _seated(model, self._corpus)
        hosts = some_documents(self._corpus, state, 0, self._n_hosts)
        self._likelihood_of_model = joint(*hosts, self._priors).log_joint
        order = np.random.default_rng(seed).permutation(documents.n_documents)
        self._bench = CollapsedSampler(self._corpus, state, self._n_hosts + order)
        self._seed, self._sweeps_done = seed, 0

    @property
    def state(self) -> State:
        """The seating: one document per topic of the model, then the test documents."""
        return self._bench.state

    def sweep(self) -> None:
        """Draw the tables of all test words, then the topics of all their tables."""
        with interrupts_deferred():
            self._bench.gibbs(Key(self._seed, 0, self._sweeps_done, WORD_TABLES))
        self._sweeps_done += 1

    def likelihood(self) -> float:
        """Return log p(test words, their tables, the tables' topics | counts of the model)."""
        return joint(self._corpus, self.state, self._priors).log_joint - self._likelihood_of_model

    def saved(self) -> SavedState:
        """Return the state to save: topics with training and test words, and the seats of the test words."""
        return saved_state(self._corpus, self.state, first_document=self._n_hosts)


def _together(model: SavedModel, documents: Corpus) -> CorpusArrays:
    """Return a document for each topic, then the test documents."""
    counts = model.topic_terms
    x = np.concatenate([np.repeat(counts.indices, counts.data), documents.x])
    doc_ptr = offsets_of(np.concatenate([model.n_k, documents.document_lengths]))
    return Corpus(x, doc_ptr, numbered(model.n_terms)).arrays


def _seated(model: SavedModel, corpus: CorpusArrays) -> State:
    """Return the state in which each topic has its words and tables, and no test word is seated."""
    state = empty_state(corpus, max(64, 2 * model.n_topics))
    state.concentrations[[ALPHA, GAMMA, ETA]] = model.alpha, model.gamma, model.eta
    for k in range(model.n_topics):
        first, end = corpus.doc_ptr[k], corpus.doc_ptr[k + 1]
        # One word per table, and all other words at the last table: the choice does not matter.
        state.t_ji[first:end] = np.minimum(np.arange(end - first), model.m_k[k] - 1)
        state.k_jt[first : first + model.m_k[k]] = k
    seat(corpus, state, 0, model.n_topics, model.n_topics)
    return state
