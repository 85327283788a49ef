"""Looking things up: the topics of a term, documents like another, shares by name."""

import numpy as np
import pytest

from franchise import from_tokens
from franchise.errors import SettingsError
from franchise.posterior.estimates import Posterior
from franchise.posterior.searches import (
    document_topics_frame,
    documents_like,
    number_of_document,
    number_of_topic,
    topics_with,
)
from tests.raising import raises
from tests.unit.posterior.made import draw_of_words

TEXTS = ["cat milk cat milk", "dog bone dog bone", "cat milk dog bone", "", "dog dog bone cat"]
Z = [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0]


@pytest.fixture(scope="module")
def corpus():
    return from_tokens([text.split() for text in TEXTS], document_names=["A", "B", "C", "D", "E"])


@pytest.fixture(scope="module")
def posterior(corpus):
    return Posterior(corpus, [[draw_of_words(corpus, Z), draw_of_words(corpus, Z)]], [])


@pytest.fixture(scope="module")
def cats(posterior, corpus):
    """Return the number of the topic of cats; the larger topic is the first."""
    return int(posterior.phi[:, corpus.vocabulary.index("milk")].argmax())


LABELS = ["first", "second"]


# ---------------------------------------------------------------- documents by topics


def test_documents_by_topics(posterior, corpus):
    frame = document_topics_frame(posterior, LABELS)
    assert frame.columns.tolist() == ["first", "second", "unlisted"]
    assert frame.index.tolist() == list(corpus.document_names)
    assert frame.index.name == "document"
    np.testing.assert_array_equal(frame, posterior.document_topics)
    np.testing.assert_allclose(frame.sum(axis=1), 1.0)


def test_documents_by_topics_of_one_name(posterior, corpus):
    frame = document_topics_frame(posterior, ["unlisted", "unlisted"])
    assert frame.columns.tolist() == ["unlisted (0)", "unlisted (1)", "unlisted"]


def test_some_documents_with_intervals(posterior, corpus):
    frame = document_topics_frame(posterior, LABELS, documents=[4, 0], interval=True, level=0.5)
    assert frame.index.tolist() == ["E", "A"]
    expected = posterior.document_topics_interval([4, 0], 0.5)
    for k, label in enumerate(LABELS):
        np.testing.assert_array_equal(frame[label, "share"], posterior.document_topics[[4, 0], k])
        np.testing.assert_array_equal(frame[label][["low", "high"]], expected[:, k])
    assert frame["unlisted"].columns.tolist() == ["share"]


@pytest.mark.parametrize("documents", [[5], [-1], [0.5], ["A"], [True]])
def test_documents_that_are_not_there(documents, posterior, corpus):
    with raises(SettingsError, "not-a-whole-number", "documents="):
        document_topics_frame(posterior, LABELS, documents=documents)


# ---------------------------------------------------------------- topics of a term


def test_the_topics_of_a_term(posterior, corpus, cats):
    frame = topics_with(posterior, LABELS, "milk")
    assert frame["topic"].tolist() == [cats]  # the other one has it by the prior alone
    assert frame["label"][0] == LABELS[cats]
    v = corpus.vocabulary.index("milk")
    np.testing.assert_allclose(frame["probability"], posterior.phi[frame["topic"], v])
    assert frame["share"][0] > 0.8  # of all three occurrences
    assert len(topics_with(posterior, LABELS, "cat milk dog bone")) == 1


@pytest.mark.parametrize("terms", [["dog", "bone"], "dog bone", "Dog BONE", ("bone", "dog", "dog")])
def test_several_terms_must_be_there_together(terms, posterior, corpus, cats):
    frame = topics_with(posterior, LABELS, terms)
    assert frame["topic"][0] == 1 - cats
    both = posterior.phi[1 - cats, [corpus.vocabulary.index("dog"), corpus.vocabulary.index("bone")]]
    assert frame["probability"][0] == pytest.approx(np.sqrt(both.prod()))


def test_an_unknown_term_gets_the_nearest(posterior, corpus):
    with raises(SettingsError, "unknown-term", "'boned'", "did you mean bone?"):
        topics_with(posterior, LABELS, "boned")
    with raises(SettingsError, "unknown-term", "'xyzzy'", "4 terms"):
        topics_with(posterior, LABELS, "xyzzy")


@pytest.mark.parametrize("terms", ["", "  ", [], ["dog", ""]])
def test_no_term_at_all(terms, posterior, corpus):
    with raises(SettingsError, "wrong-type", f"terms={terms!r}"):
        topics_with(posterior, LABELS, terms)


# ---------------------------------------------------------------- documents like another


def test_documents_like_one_of_them(posterior, corpus):
    frame = documents_like(posterior, posterior.document_topics[1, :-1], but=1)
    assert frame["document"].tolist() == ["E", "C", "A"]  # neither itself nor the empty one
    assert frame["number"].tolist() == [4, 2, 0]
    assert frame["similarity"].is_monotonic_decreasing
    assert frame["opening"][0] == "dog bone cat"


def test_the_similarity_is_the_affinity_of_the_mixtures(posterior, corpus):
    mixture = np.array([0.3, 0.7])
    frame = documents_like(posterior, mixture, 1)
    shares = posterior.document_topics[frame["number"][0], :-1]
    expected = np.sqrt(mixture * shares / shares.sum()).sum()
    assert frame["similarity"][0] == pytest.approx(expected)
    same = documents_like(posterior, posterior.document_topics[2, :-1], 1)
    assert same["document"].tolist() == ["C"]
    assert same["similarity"][0] == pytest.approx(1.0)


def test_documents_by_number_or_name(corpus):
    assert number_of_document("C", corpus) == number_of_document(2, corpus) == 2
    assert number_of_document("a new text", corpus) is None
    with raises(SettingsError, "not-a-whole-number", "document=5", "0 to 4"):
        number_of_document(5, corpus)


def test_topics_by_number_or_name():
    names = {0: "cats", 2: "Dogs", 3: "birds", 4: "birds"}
    assert [number_of_topic(topic, 5, names) for topic in (2, "2", "Dogs", " dogs")] == [2] * 4
    for topic, code, *facts in (
        ("birds", "ambiguous-topic", "'birds'", "3 and 4"),
        ("dog", "unknown-topic", "'dog'", "'Dogs'"),
        ("7", "not-a-whole-number", "topic=7", "0 to 4"),
    ):
        with raises(SettingsError, code, *facts):
            number_of_topic(topic, 5, names)
