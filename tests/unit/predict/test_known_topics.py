"""From known topics to mixtures and scores: what that shares with its parts, and what is refused."""

from functools import partial

import numpy as np
import pytest

from franchise import Chain, SettingsError
from franchise.corpus import planted
from franchise.corpus.documents import encode
from franchise.predict.fixed_topics import mixtures
from franchise.predict.known_topics import KnownTopics
from franchise.sampling import Timetable
from franchise.sampling.paper_heldout import held_out_of_chain
from tests.raising import raises
from tests.unit.predict.scores import document_completion, left_to_right


@pytest.fixture(scope="module")
def chain():
    corpus = planted(n_topics=4, n_terms=30, n_documents=20, document_length=30, seed=3).corpus
    chain = Chain(corpus, schedule=Timetable(sweeps=6, burn_in=4, thin=1), random_state=1)
    chain.run()
    return chain


def topics_of(seated, **changes):
    """Return the topics of its draws; the smallest of each is not listed."""
    columns = [np.minimum(np.arange(draw.names.size), 2) for draw in seated.draws]
    columns = [np.where(np.arange(own.size) == own.size - 1, -1, own) for own in columns]
    given = {"corpus": seated.corpus, "draws": seated.draws, "columns": columns, "n_topics": 3}
    return KnownTopics(**given | changes)


def test_mixtures_are_of_the_listed_topics(chain):
    topics, new = topics_of(chain), encode(chain.corpus, chain.corpus)
    theta = topics.mixtures(new)
    whole = mixtures(chain.draws, new.arrays, topics.columns, 4)[:, :3]
    assert np.array_equal(theta, whole / whole.sum(axis=1, keepdims=True))
    assert np.array_equal(theta, topics.mixtures(new, jobs=2))


def test_scores_are_those_of_the_methods(chain):
    topics, new = (
        topics_of(chain, paper=partial(held_out_of_chain, chain)),
        encode(chain.corpus, chain.corpus),
    )
    assert topics.held_out(new).per_word == document_completion(chain.draws, new.arrays).per_word
    one = topics.held_out(new, "left-to-right", jobs=2, particles=3).per_word
    assert one == left_to_right(chain.draws, new.arrays, particles=3).per_word
    assert topics.held_out(new, "paper", sweeps=2).log_p.size == 2


@pytest.mark.parametrize("method", ["perplexity", ["completion"], None])
def test_a_method_that_is_none(chain, method):
    with raises(SettingsError, "unknown-choice", "method=", "'completion'", "'left-to-right'", "'paper'"):
        topics_of(chain).held_out(encode(chain.corpus, chain.corpus), method)


def test_the_paper_s_number_needs_documents(chain):
    with raises(SettingsError, "incomplete-model", "method='paper'", "folder", ".bin", "`franchise hdp`"):
        topics_of(chain).held_out(encode(chain.corpus, chain.corpus), "paper")
