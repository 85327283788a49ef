"""Shares of topics in groups: right on draws made by hand, and intervals that cover as often as they say."""

import numpy as np
import pandas as pd
import pytest

from franchise.corpus import Corpus, from_counts, groups_of
from franchise.corpus.groups import MISSING
from franchise.errors import CorpusError, SettingsError
from franchise.posterior.estimates import Posterior
from franchise.posterior.prevalence import REPLICATES, Shares, prevalence
from tests.raising import raises
from tests.unit.posterior.made import draw_of_words

# Words of terms 0 and 1 have topic 0, those of terms 2 and 3 topic 1: nothing is in doubt.
CERTAIN = np.array([0, 0, 1, 1])


def certain(counts, n_draws=3):
    """Return a corpus of these counts of four terms, and a posterior that is sure of every word."""
    corpus = from_counts(counts)
    draws = [draw_of_words(corpus, CERTAIN[corpus.x]) for _ in range(n_draws)]
    return corpus, Posterior(corpus, [draws], [])


def shares(frame, topic, column="share"):
    return frame[frame["topic"] == topic].set_index("group")[column].to_dict()


def test_shares_of_words_and_of_documents():
    # Topic 0 is the larger one: 19 of 30 words.
    corpus, posterior = certain([[5, 4, 1, 0], [0, 0, 5, 5], [5, 5, 0, 0], [0, 0, 0, 0]])
    groups = groups_of(corpus, ["a", "a", None, "b"])
    frame = prevalence(posterior, groups)
    assert list(frame.columns) == ["group", "topic", "terms", "share", "low", "high", "n_documents"]
    assert shares(frame, 0) == pytest.approx({"a": 9 / 20, MISSING: 1.0})
    assert shares(frame, 1) == pytest.approx({"a": 11 / 20, MISSING: 0.0})
    assert shares(frame, 0, "n_documents") == {"a": 2, MISSING: 1}  # b has no words
    assert frame["terms"].tolist()[0].startswith("0, 1")
    longer = groups_of(from_counts([[9, 1, 0, 0], [0, 0, 1, 1]]), ["a", "a"])
    _, uneven = certain([[9, 1, 0, 0], [0, 0, 1, 1]])
    assert shares(prevalence(uneven, longer), 0) == pytest.approx({"a": 10 / 12})
    assert shares(prevalence(uneven, longer, per="document"), 0) == pytest.approx({"a": 0.5})


def test_all_documents_together_have_the_weights():
    rng = np.random.default_rng(1)
    corpus = from_counts(rng.poisson(2.0, (20, 4)))
    draws = [
        draw_of_words(corpus, np.where(rng.random(corpus.n_words) < 0.9, CERTAIN[corpus.x], 2))
        for _ in range(4)
    ]
    posterior = Posterior(corpus, [draws], [])
    frame = prevalence(posterior, groups_of(corpus, ["all"] * 20))
    assert frame["share"].tolist() == pytest.approx(posterior.weights.tolist())


def test_a_topic_that_a_draw_does_not_have_is_zero_there():
    corpus = from_counts(np.tile([4, 4, 4, 4], (6, 1)))
    split = [draw_of_words(corpus, np.where(corpus.x == 3, 2, CERTAIN[corpus.x])) for _ in range(3)]
    whole = draw_of_words(corpus, CERTAIN[corpus.x])
    posterior = Posterior(corpus, [[*split, whole]], [])
    frame = prevalence(posterior, groups_of(corpus, [1, 1, 1, 2, 2, 2]))
    assert posterior.n_topics == 3
    last = frame[frame["topic"] == 2]
    assert last["share"].tolist() == pytest.approx([0.25 * 3 / 4] * 2)
    assert last["low"].tolist() == [0.0, 0.0]


def test_one_document_has_the_interval_of_the_draws():
    corpus = from_counts([[10, 10, 10, 10]])
    rng = np.random.default_rng(0)
    # Some words of term 1 change their topic from draw to draw: the topics stay the same ones.
    draws = []
    for _ in range(40):
        z = CERTAIN[corpus.x]
        z[10:20] = rng.random(10) < rng.random()
        draws.append(draw_of_words(corpus, z))
    posterior = Posterior(corpus, [draws], [])
    frame = prevalence(posterior, groups_of(corpus, ["one"]), interval=0.5)
    of_draws = np.array([draw.document_topics.toarray()[0, 0] for draw in draws]) / 40
    first = int(posterior.columns[0][0])
    row = frame[frame["topic"] == first].iloc[0]
    assert row["share"] == pytest.approx(of_draws.mean())
    assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(of_draws, [0.25, 0.75])), abs=0.03)


def test_intervals_cover_what_was_planted_about_as_often_as_they_say():
    """Documents of two groups of 12, whose shares differ around 0.3 and 0.6.

    Of 2 * 150 intervals of 90%, 270 should cover. Bounds are quantiles of a bootstrap over 12 documents,
    which is known to cover a little less: 0.86 is expected. At 0.80 to 0.95 a right program fails less than
    once in a thousand runs; one that leaves the documents out covers less than 0.5, one with twice the width
    0.99.
    """
    rng = np.random.default_rng(20)
    covered = []
    for seed in range(150):
        share = np.concatenate([rng.beta(3, 7, 12), rng.beta(6, 4, 12)])
        first = rng.binomial(30, share)
        counts = np.stack([first, 0 * first, 30 - first, 0 * first], axis=1)
        corpus, posterior = certain(counts, n_draws=2)
        topic = int(posterior.columns[0][0])
        frame = prevalence(
            posterior, groups_of(corpus, [0] * 12 + [1] * 12), interval=0.9, topics=[topic], random_state=seed
        )
        covered += ((frame["low"] <= [0.3, 0.6]) & (frame["high"] >= [0.3, 0.6])).tolist()
    assert 0.80 <= np.mean(covered) <= 0.95


def test_replicates_spread_as_the_mean_of_documents_does():
    """For 7 equally long documents: s / sqrt(7). Resampling 7 of them would give 8% less."""
    first = np.random.default_rng(2).integers(0, 41, 7)
    corpus, posterior = certain(np.stack([first, 0 * first, 40 - first, 0 * first], axis=1))
    topic = int(posterior.columns[0][0])
    replicates = Shares(posterior, groups_of(corpus, ["a"] * 7), "word").replicates(0)[:, 0, topic]
    assert len(replicates) >= REPLICATES
    assert np.std(replicates) == pytest.approx(np.std(first / 40, ddof=1) / np.sqrt(7), rel=0.04)


def test_the_same_seed_gives_the_same_bounds():
    rng = np.random.default_rng(3)
    corpus, posterior = certain(rng.poisson(3.0, (30, 4)))
    groups = groups_of(corpus, np.arange(30) % 4)
    one, again, other = (prevalence(posterior, groups, random_state=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert one["share"].equals(other["share"])
    assert not one["low"].equals(other["low"])
    # A topic's bounds do not depend on the other topics in the table.
    chosen = prevalence(posterior, groups, topics=[1], random_state=1)
    assert chosen["high"].tolist() == one[one["topic"] == 1]["high"].tolist()


def test_wrong_settings():
    corpus, posterior = certain([[5, 5, 1, 0], [0, 0, 5, 5]])
    groups = groups_of(corpus, ["a", "b"])
    for options, code, *facts in [
        ({"interval": 1.0}, "not-a-probability", "interval=1.0"),
        ({"interval": "95%"}, "not-a-probability", "interval='95%'"),
        ({"topics": [2]}, "not-a-whole-number", "topics=2", "0 to 1"),
        ({"per": "page"}, "unknown-choice", "per='page'", "'word'", "'document'"),
        ({"random_state": -1}, "not-a-whole-number", "random_state=-1"),
    ]:
        with raises(SettingsError, code, *facts):
            prevalence(posterior, groups, **options)
    with pytest.raises(CorpusError, match="groups has 1 values for 2 documents"):
        prevalence(posterior, groups_of(Corpus([0], [0, 1], ["a"]), ["a"]))
