import numpy as np
import pytest

from franchise.corpus import Corpus, from_counts, from_texts
from franchise.report import documents
from franchise.report.documents import Finder, choose_documents, describe_documents
from tests.unit.report.made import (
    marked,
    posterior_of,
    run_chains,
)

# ---------------------------------------------------------------- marks in texts


def test_marked_topics_are_the_most_probable(small):
    corpus, _, posterior = small
    for one in describe_documents(posterior, corpus, [0, 1, 2, 7]):
        theta = posterior.document_topics[one["number"], :-1]
        for word, topic in marked(one):
            scores = theta * posterior.phi[:, corpus.vocabulary.index(word.lower())]
            assert scores[topic] == pytest.approx(scores.max())


def test_finder_takes_longer_terms_first():
    texts = ["machine learning of the new machine", "machine learning", "new machine learning"]
    corpus = from_texts(texts, ngram_range=(1, 2))
    text = "New Machine of LEARNING: learning"
    found = [(text[s.start : s.end], corpus.vocabulary[s.term]) for s in Finder(corpus)(text)]
    assert found == [
        ("New", "new machine"),
        ("Machine", "new machine"),
        ("LEARNING", "learning"),
        ("learning", "learning"),
    ]


def test_finder_takes_the_group_of_a_pattern():
    corpus = from_texts(["#cat #dog fish", "#cat fish"], token_pattern=r"#(\w+)|fish", stop_words=None)
    text = "a #Cat, fish"
    assert [text[s.start : s.end] for s in Finder(corpus)(text)] == ["Cat"]


def test_finder_without_options_still_finds_words():
    corpus = Corpus([0, 1], [0, 2], ["cat", "the"], texts=["The cat"])
    assert [span.term for span in Finder(corpus)("The cat")] == [1, 0]


def test_words_stand_in_for_texts(small):
    counts = [[2, 0, 1], [0, 3, 1], [1, 1, 0]]
    corpus = from_counts(np.array(counts), vocabulary=["cat", "d<g", "cow"])
    posterior = posterior_of(corpus, run_chains(corpus, 1))
    one, two, _ = describe_documents(posterior, corpus, [0, 1, 2])
    assert one["text"] == "cat ×2 cow"
    assert two["text"] == "d<g ×3 cow"
    assert [word for word, _ in marked(two)] == ["d<g", "cow"]


def test_long_texts_are_cut_between_words(small, monkeypatch):
    corpus, _, posterior = small
    monkeypatch.setattr(documents, "LONGEST_DOCUMENT", 30)
    (one,) = describe_documents(posterior, corpus, [0])
    assert one["cut"]
    assert len(one["text"]) <= 30
    assert corpus.texts[0].startswith(one["text"] + " ")


# ---------------------------------------------------------------- which documents


def test_all_documents_where_there_is_room(small):
    corpus, _, _ = small
    assert choose_documents(corpus, [[3], [1]]) == list(range(corpus.n_documents))


def test_representatives_come_first(small, monkeypatch):
    corpus, _, _ = small
    monkeypatch.setattr(documents, "MOST_DOCUMENTS", 3)
    assert choose_documents(corpus, [[20, 21], [10, 11]]) == [10, 20, 21]
    assert len(choose_documents(corpus, [[20]])) == 3


def test_no_more_text_than_fits(small, monkeypatch):
    corpus, _, _ = small
    lengths = [len(text) for text in corpus.texts]
    monkeypatch.setattr(documents, "MOST_CHARACTERS", lengths[5] + lengths[6] + 1)
    assert choose_documents(corpus, [[5, 6, 7]]) == [5, 6]
