"""What is computed of many documents some at a time is, to the bit, what is computed of all at once."""

import numpy as np
import pytest

from franchise._version import versions_here
from franchise.corpus import Corpus, groups_of
from franchise.posterior import align as aligning
from franchise.posterior.align import align
from franchise.posterior.coherence import coherence
from franchise.posterior.estimates import Posterior
from franchise.posterior.methods import Made
from franchise.posterior.prevalence import prevalence
from franchise.posterior.searches import document_topics_frame, documents_like
from franchise.posterior.tables import documents_frame, documents_frames, representative_documents
from franchise.report.data import page_data
from franchise.report.render import as_json
from tests.unit.posterior.made import draw_of_words
from tests.unit.report.made import SETTINGS, diagnose, posterior_of, run_chains, small_texts

LABELS = [f"topic {k}" for k in range(9)]


def new_posterior(n_documents=40):
    """Return the posterior of random draws: some documents have no words, and some are alike."""
    rng = np.random.default_rng(4)
    lengths = rng.integers(0, 9, n_documents)
    lengths[[3, 7]] = 0
    corpus = Corpus(
        rng.integers(0, 12, lengths.sum()), np.cumsum([0, *lengths]), [f"w{v}" for v in range(12)]
    )
    centre = corpus.x % 5

    def draw():
        z = np.where(rng.random(corpus.n_words) < 0.2, rng.integers(0, 5, corpus.n_words), centre)
        return draw_of_words(
            corpus, np.unique(z, return_inverse=True)[1], concentrations=rng.uniform(0.1, 2, 3)
        )

    return Posterior(corpus, [[draw() for _ in range(n)] for n in (4, 3)], [])


@pytest.fixture(scope="module")
def at_once():
    return new_posterior()


@pytest.fixture(params=[1, 30, 100])
def in_blocks(request, monkeypatch):
    """The same posterior, with room for one document, for a few, or for some at a time."""
    monkeypatch.setattr("franchise.posterior.estimates._MOST_KEPT", 0)
    monkeypatch.setattr("franchise.posterior.estimates._CELLS", request.param)
    posterior = new_posterior()
    assert len(list(posterior.blocks())) > 2
    yield posterior
    assert "document_topics" not in vars(posterior)  # all documents were never requested


def test_mixtures(at_once, in_blocks):
    whole = at_once.document_topics
    firsts, blocks = zip(*in_blocks.blocks(), strict=True)
    assert np.concatenate(blocks).tobytes() == whole.tobytes()
    assert list(firsts) == np.cumsum([0, *map(len, blocks)])[:-1].tolist()
    for documents in (slice(5, 11), np.array([30, 2, 2]), np.zeros(0, np.int64)):
        for posterior in (at_once, in_blocks):
            assert posterior.mixtures(documents).tobytes() == whole[documents].tobytes()


def test_all_documents_by_all_topics_where_they_are_asked_for(at_once, monkeypatch):
    monkeypatch.setattr("franchise.posterior.estimates._MOST_KEPT", 0)
    monkeypatch.setattr("franchise.posterior.estimates._CELLS", 20)
    assert new_posterior().document_topics.tobytes() == at_once.document_topics.tobytes()


def test_tables_of_documents(at_once, in_blocks):
    def tables(posterior):
        yield documents_frame(posterior, labels=LABELS, names={1: "one"})
        for n in (1, 5, 100):
            for topic in range(posterior.n_topics):
                yield representative_documents(posterior, topic, n)
        yield documents_like(posterior, np.arange(posterior.n_topics) / 10, 7).drop(columns="similarity")
        yield document_topics_frame(posterior, LABELS[: posterior.n_topics], documents=[8, 3])

    assert len(list(documents_frames(in_blocks))) > 2
    for one, other in zip(tables(at_once), tables(in_blocks), strict=True):
        assert one.equals(other)
        assert one.dtypes.equals(other.dtypes)


def test_the_report(monkeypatch):
    from franchise.corpus import from_texts

    corpus = from_texts(small_texts())
    chains = run_chains(corpus)

    def data():
        posterior = posterior_of(corpus, chains)
        diagnosis = diagnose(posterior, [chain.trace for chain in chains], chains[0].schedule)
        made = Made(posterior, corpus, chains, diagnosis, SETTINGS, versions_here())
        return page_data(made, None, {}), posterior

    whole, _ = data()
    monkeypatch.setattr("franchise.posterior.estimates._MOST_KEPT", 0)
    monkeypatch.setattr("franchise.posterior.estimates._CELLS", 20)
    parts, posterior = data()
    assert "document_topics" not in vars(posterior)
    for one, other in zip(whole["page"]["topics"], parts["page"]["topics"], strict=True):
        assert one["prevalence"].tolist() == other["prevalence"].tolist()
        assert one["documents"] == other["documents"]
    assert as_json(whole["documents"]) == as_json(parts["documents"])


@pytest.mark.parametrize("measure", ["c_npmi", "u_mass"])
@pytest.mark.parametrize("words", [1, 10, 60])
def test_coherence(at_once, monkeypatch, measure, words):
    phi, corpus = at_once.phi, at_once.corpus
    expected = coherence(phi, corpus, measure=measure)
    monkeypatch.setattr("franchise.posterior.coherence._WORDS_AT_ONCE", words)
    assert coherence(phi, corpus, measure=measure).tobytes() == expected.tobytes()


@pytest.mark.parametrize("per", ["word", "document"])
@pytest.mark.parametrize("drawn", [1, 100, 1000])
def test_prevalence(at_once, monkeypatch, per, drawn):
    groups = groups_of(at_once.corpus, list(np.arange(at_once.corpus.n_documents) % 3))
    expected = prevalence(at_once, groups, per=per, replicates=200)
    monkeypatch.setattr("franchise.posterior.prevalence._DRAWN_AT_ONCE", drawn)
    assert prevalence(at_once, groups, per=per, replicates=200).equals(expected)


@pytest.mark.parametrize("pairs", [1, 60, 150])
def test_matching_topics(at_once, monkeypatch, pairs):
    """Sums of roots are added up in another order then, so the last digits may differ."""
    expected = align(at_once.draws)
    monkeypatch.setattr(aligning, "_PAIRS_AT_ONCE", pairs)
    found = align(at_once.draws)
    assert len(aligning._Roots(at_once.flat_draws).groups) > 1
    assert [one.tolist() for one in found.clusters] == [one.tolist() for one in expected.clusters]
    assert found.support.tolist() == expected.support.tolist()
    assert found.stability == pytest.approx(expected.stability, rel=1e-5)
