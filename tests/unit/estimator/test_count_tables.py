"""Count tables with default settings: the number of topics, noisy counts, and models in folders."""

import numpy as np
import pytest

from franchise import Corpus, HDPTopicModel, SettingsError, from_counts, tune_eta
from franchise.corpus.count_tables import is_count_table
from franchise.engines.starts.tables import effective_table, table_topics
from tests.raising import raises, warns

SHORT = {"sweeps": 30, "chains": 2, "random_state": 3, "verbose": 0}


def planted(n_topics, *, noise=None, n_documents=80, n_terms=40, n_words=2_000, seed=1):
    """Draw a table of counts and its topics; the smaller `noise`, the more counts of a document vary."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_terms, 0.15), n_topics)
    p = rng.dirichlet(np.full(n_topics, 0.5), n_documents) @ topics
    if noise is not None:
        p = np.array([rng.dirichlet(noise * row + 1e-6) for row in p])
    return np.array([rng.multinomial(n_words, row) for row in p]), topics


def large(model):
    """Return the topics with at least 1% of the words."""
    return model.components_[model.topic_weights_ >= 0.01]


def all_matched(found, topics):
    unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (found, topics)]
    return bool(((unit[1] @ unit[0].T).max(axis=1) >= 0.9).all())


@pytest.mark.parametrize("n_topics", [3, 6])
def test_the_planted_number_comes_out(n_topics):
    table, topics = planted(n_topics)
    model = HDPTopicModel(**SHORT).fit(table)
    assert (model.settings_["init"], model.settings_["eta"]) == ("counts", 1.0)
    assert model.corpus_.n_words == table.sum()
    assert len(large(model)) == n_topics
    assert all_matched(large(model), topics)
    assert [chain.trace["n_topics"][0] for chain in model.chains_] == [n_topics] * 2


def test_counts_that_vary_together_are_scaled_down():
    table, topics = planted(4, noise=200.0)
    parts = (f"of {table.sum():,} counts", "effective_counts=False", "A typical document is worth 1")
    with warns("overdispersed-counts", *parts):
        model = HDPTopicModel(**SHORT).fit(table)
    assert model.corpus_.downsampling.evenly
    assert 80 * 100 < model.corpus_.n_words < 80 * 400  # each is worth about 2000 x 201 / 2200 counts
    assert all(chain.corpus is model.corpus_ for chain in model.chains_)
    assert len(large(model)) <= 5
    assert all_matched(large(model), topics)
    everything = HDPTopicModel(effective_counts=False, **SHORT).fit(table)
    assert everything.corpus_.n_words == table.sum()
    assert len(large(everything)) > len(large(model))


def test_huge_documents_are_scaled_down():
    table, topics = planted(3, n_words=1_000)
    table[:4] = planted(3, n_words=100_000)[0][:4]
    with warns("scaled-counts", "more than 20,000 counts", f"of {table.sum():,} counts"):
        model = HDPTopicModel(**SHORT).fit(table)
    assert model.corpus_.document_lengths.tolist() == [20_000] * 4 + [1_000] * 76
    assert all_matched(large(model), topics)
    everything = HDPTopicModel(effective_counts=False, **SHORT).fit(table)
    assert everything.corpus_.n_words == table.sum()


def test_no_document_of_a_noisy_table_has_more_either():
    table, _ = planted(3, noise=30_000.0, n_words=20_000)
    table[:4] *= 100
    found = effective_table(from_counts(table), 0)
    assert np.isfinite(found.concentration)
    assert found.corpus.document_lengths.max() <= 20_000


def test_tables_that_were_scaled_down_before_stay_as_they_are():
    table, _ = planted(4, noise=200.0)
    corpus = from_counts(table).downsampled(500, random_state=1)
    assert HDPTopicModel(**SHORT).fit(corpus).corpus_ is corpus


def test_a_fit_goes_on_in_its_folder(tmp_path):
    table, _ = planted(4, noise=200.0)
    whole = dict(SHORT, sweeps=20)
    with warns("overdispersed-counts"):
        one = HDPTopicModel(**whole).fit(table)
    for sweeps in (10, 20):
        model = HDPTopicModel(**dict(whole, sweeps=sweeps, burn_in=5))
        with warns("overdispersed-counts"):
            model.fit(table, checkpoint_dir=tmp_path / "model")
    assert model.corpus_ == one.corpus_
    assert HDPTopicModel.load(tmp_path / "model").corpus_ == one.corpus_
    with warns("overdispersed-counts"):
        other = HDPTopicModel(**dict(whole, burn_in=5)).fit(table)
    assert model.trace_["log_joint"].tolist() == other.trace_["log_joint"].tolist()


def test_the_same_seed_gives_the_same_table_and_topics():
    corpus = from_counts(planted(4, noise=200.0)[0])
    one, same = (effective_table(corpus, 5).corpus for _ in range(2))
    assert one == same
    again = Corpus.from_cells(one.cells, one.vocabulary)  # not the object that was looked at last
    assert table_topics(one, 5, 0).phi.tobytes() == table_topics(again, 5, 0).phi.tobytes()


def test_no_word_is_left_over():
    """There are no common words in a table: no topic of their own takes a share of them."""
    corpus = from_counts(planted(4)[0])
    topics = table_topics(corpus, 1, 0)
    np.testing.assert_allclose(topics.phi.sum(axis=0), 1.0)
    assert topics.common.sum() < 1e-8


def test_few_documents_are_no_table():
    table, _ = planted(3, n_documents=5)
    assert is_count_table(from_counts(table))
    assert not is_count_table(from_counts(table[:4]))
    assert not is_count_table(from_counts(np.minimum(table, 1)))


def test_noise_is_not_looked_for_in_few_documents():
    table = from_counts(planted(2, n_documents=12, noise=50.0)[0])
    assert effective_table(table, 0).corpus.n_words < table.n_words
    few = table.select(np.arange(11))
    assert effective_table(few, 0) == (few, np.inf)


# ---------------------------------------------------------------- tune_eta


def test_values_of_eta_are_tried_as_a_table_is_fitted():
    """Chains start with the number of topics that predicts best, on as many counts as documents are worth."""
    quick = {"etas": (1.0, 2.0), "sweeps": 30, "verbose": 0}
    table, _ = planted(4)
    # Now and then a topic of a word or two is born, so medians reach 5; from fitted topics they are 71.
    assert tune_eta(table, **quick).table["n_topics"].between(4.0, 5.0).all()
    noisy, _ = planted(4, noise=200.0)
    with warns("overdispersed-counts", "effective_counts=False"):
        found = tune_eta(noisy, **quick)
    everything = tune_eta(noisy, effective_counts=False, **quick)
    assert (found.table["n_topics"] < everything.table["n_topics"]).all()
    assert found.found[0].n_j.sum() < 0.2 * everything.found[0].n_j.sum()
    with raises(SettingsError, "not-a-flag", "effective_counts='no'"):
        tune_eta(table, effective_counts="no", **quick)
