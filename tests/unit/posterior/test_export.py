import json
import pickle
import sys
from datetime import datetime
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation

import franchise
from franchise import Corpus, from_counts, from_tokens
from franchise._text import printable
from franchise.errors import FranchiseError, SettingsError
from franchise.posterior.adapters import to_datatree, to_lda, to_pyldavis
from franchise.posterior.tables import documents_frame, opening, representative_documents, topics_frame
from franchise.sampling import Timetable, Trace
from tests.golden.fingerprint import fixed_chain
from tests.raising import raises


def fake_posterior(corpus, phi, document_topics, weights=None):
    phi, n_topics = np.asarray(phi), len(phi)
    weights = np.full(n_topics, 1 / n_topics) if weights is None else np.asarray(weights)
    return SimpleNamespace(
        read_as="",
        run_support=None,
        phi=phi,
        weights=weights,
        weights_interval=lambda level: np.stack(
            [weights * (1 - level / 10), weights * (1 + level / 10)], axis=1
        ),
        document_topics=np.asarray(document_topics),
        mixtures=lambda documents: np.asarray(document_topics)[documents],
        blocks=lambda: iter([(0, np.asarray(document_topics))]),
        corpus=corpus,
        support=np.linspace(1.0, 0.5, n_topics),
        chain_support=np.linspace(1.0, 0.75, n_topics),
        chain_counts=np.linspace(4, 3, n_topics).round().astype(int),
        draws=[[None]] * 4,
        stability=np.linspace(0.9, 0.6, n_topics),
        nearest=np.roll(np.arange(n_topics), 1),
        nearest_similarity=np.linspace(0.1, 0.3, n_topics),
        n_topics=n_topics,
        n_topics_draws=np.array([n_topics, n_topics + 1]),
    )


@pytest.fixture
def corpus():
    documents = ["cat milk cat", "bone dog bone", "", "cat dog milk bone"]
    vocabulary = ["bone", "cat", "dog", "eel", "milk"]  # no document has an eel
    return from_tokens(
        [text.split() for text in documents], vocabulary=vocabulary, document_names=["A", "B", "C", "D"]
    )


@pytest.fixture
def posterior(corpus):
    return fake_posterior(
        corpus,
        phi=[[0.05, 0.5, 0.05, 0.1, 0.3], [0.5, 0.05, 0.3, 0.1, 0.05]],
        document_topics=[[0.9, 0.06, 0.04], [0.004, 0.9, 0.096], [0.6, 0.3, 0.1], [0.45, 0.45, 0.1]],
        weights=[0.55, 0.41],
    )


# ---------------------------------------------------------------- tables


def test_the_table_of_topics(posterior, corpus):
    expected = pd.DataFrame(
        {
            "topic": [0, 1],
            "label": ["cats", "dogs"],
            "weight": [0.55, 0.41],
            "terms": ["cat, milk, eel", "bone, dog, eel"],  # early: this is what people look for
            "weight_low": [0.55 * 0.905, 0.41 * 0.905],
            "weight_high": [0.55 * 1.095, 0.41 * 1.095],
            "support": [1.0, 0.5],
            "chain_support": [1.0, 0.75],
            "chains": [4, 3],
            "found_by": ["every chain", "most chains"],
            "stability": [0.9, 0.6],
            "nearest": [1, 0],
            "nearest_similarity": [0.1, 0.3],
        }
    )
    table = topics_frame(posterior, n_terms=3, labels=["cats", "dogs"])
    pd.testing.assert_frame_equal(table, expected)
    plain = topics_frame(posterior, n_terms=3)
    pd.testing.assert_frame_equal(plain, expected.drop(columns="label"))


def test_the_interval_of_the_weights_is_of_the_level_asked_for(posterior, corpus):
    table = topics_frame(posterior, level=0.5)
    assert table["weight_low"].tolist() == pytest.approx([0.55 * 0.95, 0.41 * 0.95])


def test_coherence_is_the_last_column(posterior, corpus):
    table = topics_frame(posterior, coherence=[0.25, -0.5])
    assert table.columns.tolist()[-1] == "coherence"
    assert table["coherence"].tolist() == [0.25, -0.5]


def test_the_table_of_documents(posterior, corpus):
    expected = pd.DataFrame(
        {
            "document": ["A", "B", "C", "D"],
            "words": [3, 3, 0, 4],
            "topic": [0, 1, 0, 0],  # of equal shares, the first
            "label": ["cat, milk", "dogs", "cat, milk", "cat, milk"],
            "proportion": [0.9, 0.9, 0.6, 0.45],
            "topics": [
                "0: 0.90, 1 dogs: 0.06",
                "1 dogs: 0.90",
                "0: 0.60, 1 dogs: 0.30",
                "0: 0.45, 1 dogs: 0.45",
            ],
            "unlisted": [0.04, 0.096, 0.1, 0.1],
            "opening": ["cat milk", "bone dog", "", "bone cat dog milk"],  # no texts: frequent words
        }
    )
    named = documents_frame(posterior, labels=["cat, milk", "dogs"], names={1: "dogs"})
    pd.testing.assert_frame_equal(named, expected)
    plain = documents_frame(posterior)
    assert plain.columns.tolist() == [name for name in expected.columns if name != "label"]
    assert plain["topics"][0] == "0: 0.90, 1: 0.06"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A title", "A title"),
        ("A title\n\n  and   more", "A title and more"),
        ("word " * 100, "word " * 13 + "word…"),
        ("x" * 1000, "x" * 71 + "…"),
        ("\ud83d broken", "\ufffd broken"),
        ("", ""),
    ],
)
def test_a_document_is_shown_by_how_it_begins(text, shown):
    corpus = Corpus([0], [0, 1, 1], ["ant"], texts=["ant", text])
    assert opening(corpus, 1) == shown
    assert len(shown) <= 72


def test_the_table_of_documents_names_as_many_topics_as_asked(posterior, corpus):
    assert documents_frame(posterior, n_topics=1)["topics"].tolist() == [
        "0: 0.90",
        "1: 0.90",
        "0: 0.60",
        "0: 0.45",
    ]
    with raises(SettingsError, "not-a-whole-number", "n_topics=0"):
        documents_frame(posterior, n_topics=0)


def test_the_table_of_documents_agrees_with_a_loop(seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(7, 0.3), 40)
    corpus = from_counts(rng.poisson(1.0, (40, 6)) + 1)
    table = documents_frame(fake_posterior(corpus, rng.dirichlet(np.ones(6), 6), shares), n_topics=4)
    for j, row in table.iterrows():
        ranked = sorted(range(6), key=lambda k, j=j: -shares[j, k])[:4]
        assert row["topics"] == ", ".join(f"{k}: {shares[j, k]:.2f}" for k in ranked if shares[j, k] >= 0.005)
        assert (row["topic"], row["proportion"]) == (ranked[0], shares[j, ranked[0]])


# ---------------------------------------------------------------- representative documents


def one_topic_in(shares, lengths, **more):
    corpus = Corpus(np.zeros(sum(lengths), int), np.cumsum([0, *lengths]), ["w"], **more)
    shares = np.c_[shares, 1 - np.array(shares), np.zeros(len(shares))]
    return fake_posterior(corpus, [[1.0], [1.0]], shares)


def test_short_documents_do_not_win_by_accident():
    posterior = one_topic_in([1.0, 0.9, 0.2, 1.0, 0.5], [3, 100, 1000, 0, 40])
    found = representative_documents(posterior, 0)
    assert found["number"].tolist() == [1, 0, 4, 2]  # a document without words is left out
    assert found["proportion"].tolist() == [0.9, 1.0, 0.5, 0.2]
    assert found["words"].tolist() == [100, 3, 40, 1000]


def test_documents_are_ranked_by_scipys_wilson_interval(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 200, 50)
    hits = rng.binomial(lengths, rng.beta(0.5, 0.5, 50))
    posterior = one_topic_in(hits / lengths, lengths)
    found = representative_documents(posterior, 0, n=50)["number"].tolist()
    low = [
        binomtest(int(k), int(n)).proportion_ci(method="wilson").low
        for k, n in zip(hits, lengths, strict=True)
    ]
    assert sorted(found) == list(range(50))
    assert np.all(np.diff([low[j] for j in found]) <= 1e-4)  # their z has more digits than 1.96


def test_the_most_frequent_words_stand_for_a_text_that_is_not_kept(posterior, corpus):
    found = representative_documents(posterior, 1, n=2)
    assert found.columns.tolist() == ["number", "document", "proportion", "words", "text"]
    assert found["document"].tolist() == ["B", "D"]
    assert found["text"].tolist() == ["bone dog", "bone cat dog milk"]


def test_the_text_is_shown_where_it_is_kept(posterior, corpus):
    texts = ["Cats, milk, cats!", "Bone: dog. Bone?", "", "A cat, a dog, milk, bone."]
    posterior.corpus = Corpus(corpus.x, corpus.doc_ptr, corpus.vocabulary, texts=texts)
    found = representative_documents(posterior, 0, n=2)
    assert found["text"].tolist() == ["Cats, milk, cats!", "A cat, a dog, milk, bone."]


@pytest.mark.parametrize("topic", [-1, 2, 0.5])
def test_a_topic_that_is_not_there(posterior, corpus, topic):
    with raises(SettingsError, "not-a-whole-number", f"topic={topic}", "0 to 1"):
        representative_documents(posterior, topic)


# ---------------------------------------------------------------- pyLDAvis


def test_the_arguments_of_pyldavis(posterior, corpus):
    found = to_pyldavis(posterior)
    # The parameters of pyLDAvis.prepare without a default.
    assert list(found) == ["topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"]
    # Without the eel (0.1 of each topic) and without the document that has no words.
    assert found["topic_term_dists"] == pytest.approx(posterior.phi[:, [0, 1, 2, 4]] / 0.9)
    assert found["doc_topic_dists"] == pytest.approx(
        np.array([[0.9 / 0.96, 0.06 / 0.96], [0.004 / 0.904, 0.9 / 0.904], [0.5, 0.5]])
    )
    assert found["doc_lengths"].tolist() == [3, 3, 4]
    assert found["vocab"] == ["bone", "cat", "dog", "milk"]
    assert found["term_frequency"].tolist() == [3, 3, 2, 2]


def test_documents_without_a_listed_topic_are_not_shown(posterior, corpus):
    posterior.document_topics[1] = [0, 0, 1]
    found = to_pyldavis(posterior)
    assert found["doc_lengths"].tolist() == [3, 4]
    assert found["doc_topic_dists"].sum(axis=1) == pytest.approx(1)


def test_pyldavis_needs_two_topics(corpus):
    posterior = fake_posterior(corpus, [np.full(5, 0.2)], np.tile([0.9, 0.1], (4, 1)))
    with raises(FranchiseError, "too-few-topics", "pyLDAvis", "1"):
        to_pyldavis(posterior)


# ---------------------------------------------------------------- LDA

ETA, ALPHA = 0.1, 0.6


@pytest.fixture(scope="module")
def planted():
    """Documents of one of three topics each, the last of them empty, and scikit-learn's own fit to them."""
    rng = np.random.default_rng(3)
    phi = np.kron(np.eye(3), np.full(6, 1 / 6))
    counts = np.vstack(
        [rng.multinomial(40, phi[j % 3], 60 // 3) for j in range(3)] + [np.zeros((1, 18), int)]
    )
    lda = LatentDirichletAllocation(
        3, doc_topic_prior=ALPHA / 3, topic_word_prior=ETA, learning_method="batch", random_state=0
    ).fit(counts)
    return from_counts(counts), lda


def posterior_of(lda, corpus):
    sizes = lda.components_.sum(axis=1)
    shares = np.c_[lda.transform(corpus.to_counts()), np.zeros(corpus.n_documents)]
    weights = (sizes - corpus.n_terms * ETA) / corpus.n_words
    return fake_posterior(corpus, lda.components_ / sizes[:, None], shares, weights)


def test_the_lda_is_the_one_that_scikit_learn_would_have_fitted(planted):
    corpus, fitted = planted
    made = to_lda(posterior_of(fitted, corpus), [ALPHA, 1.0, ETA])
    counts = corpus.to_counts()
    assert set(vars(fitted)) == set(vars(made))
    assert np.allclose(made.components_, fitted.components_)
    assert np.allclose(made.exp_dirichlet_component_, fitted.exp_dirichlet_component_)
    assert np.allclose(made.transform(counts), fitted.transform(counts))
    assert made.score(counts) == pytest.approx(fitted.score(counts))
    assert made.perplexity(counts) == pytest.approx(fitted.perplexity(counts))
    assert made.bound_ == pytest.approx(fitted.bound_)


def test_the_topics_of_the_lda_are_the_posteriors(planted):
    corpus, _ = planted
    phi = np.kron(np.eye(3), np.full(6, 1.0)) + 0.01
    phi /= phi.sum(axis=1, keepdims=True)
    made = to_lda(fake_posterior(corpus, phi, np.full((61, 4), 0.25), [0.3, 0.3, 0.3]), [ALPHA, 1.0, ETA])
    assert made.components_ / made.components_.sum(axis=1, keepdims=True) == pytest.approx(phi, rel=1e-12)
    shares = made.transform(corpus.to_counts())
    assert shares.argmax(axis=1)[:60].tolist() == np.repeat([0, 1, 2], 20).tolist()
    assert shares.max(axis=1)[:60].min() > 0.95
    assert shares[60] == pytest.approx(1 / 3)  # no words, no preference
    assert made.get_feature_names_out().size == made.n_components == 3
    assert made.n_features_in_ == 18


def test_the_lda_can_be_stored_cloned_and_fitted_on(planted):
    corpus, fitted = planted
    made = to_lda(posterior_of(fitted, corpus), [ALPHA, 1.0, ETA])
    counts = corpus.to_counts()
    stored = pickle.loads(pickle.dumps(made))
    assert np.array_equal(stored.transform(counts), made.transform(counts))
    assert clone(made).get_params()["n_components"] == 3
    before = made.components_.copy()
    made.partial_fit(counts)
    assert not np.allclose(made.components_, before)


# ---------------------------------------------------------------- ArviZ


class Trials(NamedTuple):
    complete: bool
    splits_tried: int
    splits: int


def made_trace(sweeps, seed=0, trials_until=10**9):
    rng, trace = np.random.default_rng(seed), Trace()
    for sweep in range(sweeps + 1):
        numbers = dict.fromkeys(["log_p_tables", "log_p_topics", "log_prior"], -1.0) | {
            "sweep": sweep,
            "n_topics": int(rng.poisson(20)),
            "n_tables": int(rng.poisson(200)),
            "log_p_words": rng.normal(-100, 3),
            "log_joint": rng.normal(-120, 3),
            "alpha": rng.gamma(2.0),
            "gamma": rng.gamma(2.0),
            "eta": 0.1,
            "seconds": 0.5,
        }
        made = 0 < sweep <= trials_until
        trace.append(numbers, {"split_merge": Trials(True, 5, int(rng.integers(5)))} if made else {})
    return trace


@pytest.fixture
def tree(posterior, corpus):
    traces = [made_trace(30, seed) for seed in range(3)]
    return to_datatree(traces, posterior, Timetable(sweeps=30, burn_in=10), {"seed": 7, "start": "one"})


def test_the_tree_has_the_groups_and_attributes_of_arviz(tree):
    sweeps = {"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"}
    assert set(tree.children) == sweeps | {"observed_data", "constant_data"}
    for node in (tree, *tree.children.values()):
        assert node.attrs["inference_library"] == "franchise"
        assert node.attrs["inference_library_version"] == franchise.__version__
        assert datetime.fromisoformat(node.attrs["created_at"]).tzinfo is not None
        assert node.attrs["sampling_time"] == pytest.approx(3 * 31 * 0.5)
        assert "chains_cut" not in node.attrs
    assert json.loads(tree.attrs["settings"]) == {"seed": 7, "start": "one"}


def test_the_burn_in_and_the_start_are_warm_up(tree):
    traces = [made_trace(30, seed) for seed in range(3)]
    assert set(tree["posterior"].data_vars) == {
        "n_topics", "n_tables", "alpha", "gamma", "eta", "log_p_words", "log_joint",
    }  # fmt: skip
    assert tree["posterior"]["n_topics"].dims == ("chain", "draw")
    assert tree["posterior"]["draw"].values.tolist() == list(range(11, 31))
    assert tree["warmup_posterior"]["draw"].values.tolist() == list(range(11))
    for chain, trace in enumerate(traces):
        for name in tree["posterior"].data_vars:
            assert np.array_equal(tree["posterior"][name].sel(chain=chain), trace[name][11:]), name
            assert np.array_equal(tree["warmup_posterior"][name].sel(chain=chain), trace[name][:11]), name
        splits = tree["sample_stats"]["split_merge_splits"].sel(chain=chain)
        assert np.array_equal(splits, trace["split_merge.splits"][11:])
    assert set(tree["sample_stats"].data_vars) == {
        "split_merge_splits_tried",
        "split_merge_splits",
        "seconds",
    }
    assert np.isnan(tree["warmup_sample_stats"]["split_merge_splits"].sel(draw=0)).all()


def test_what_was_observed_and_found(tree, posterior):
    assert tree["observed_data"]["document_length"].sel(document="D") == 4
    assert tree["observed_data"]["term_count"].sel(term=["dog", "eel"]).values.tolist() == [2, 0]
    assert np.array_equal(tree["constant_data"]["weights"], posterior.weights)


def test_chains_of_an_interrupted_run_are_cut_to_the_shortest(posterior, corpus):
    traces = [made_trace(30), made_trace(18)]
    tree = to_datatree(traces, posterior, Timetable(sweeps=30, burn_in=10), {})
    assert dict(tree["posterior"].sizes) == {"chain": 2, "draw": 8}
    assert tree["posterior"].attrs["chains_cut"] == "the chains made 30, 18 sweeps; all were cut to 18"


def test_a_move_that_one_chain_never_made_is_nan_there(posterior, corpus):
    traces = [made_trace(12), made_trace(12, trials_until=0)]
    tree = to_datatree(traces, posterior, Timetable(sweeps=12, burn_in=4), {})
    splits = tree["sample_stats"]["split_merge_splits"]
    assert np.isfinite(splits.sel(chain=0)).all()
    assert np.isnan(splits.sel(chain=1)).all()


def test_arviz_computes_its_diagnostics_from_the_tree(tree):
    for name in ("n_topics", "log_joint", "alpha"):
        values = tree["posterior"][name].values
        assert 0.9 < array_stats.rhat(values, chain_axis=0, draw_axis=1) < 1.3, name
        assert 10 < array_stats.ess(values, chain_axis=0, draw_axis=1) < 200, name


def test_settings_that_json_does_not_know_become_text(posterior, corpus):
    schedule = Timetable(sweeps=12, burn_in=4)
    tree = to_datatree([made_trace(12)], posterior, schedule, {"schedule": schedule})
    assert "burn_in=4" in json.loads(tree.attrs["settings"])["schedule"]


def test_the_trace_of_a_real_chain(posterior, corpus):
    chain = fixed_chain()
    chain.run(6)
    tree = to_datatree([chain.trace], posterior, Timetable(sweeps=6, burn_in=2), {})
    assert isinstance(tree, xr.DataTree)
    assert tree["posterior"]["n_topics"].dtype == np.int64
    assert tree["sample_stats"]["split_merge_splits_tried"].sel(draw=3).item() >= 0
    accepted = tree["sample_stats"]["split_merge_merges"] <= tree["sample_stats"]["split_merge_merges_tried"]
    assert accepted.all()


def test_without_xarray_the_error_says_what_to_install(posterior, corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with raises(FranchiseError, "missing-package", "xarray", 'pip install "franchise[arviz]"'):
        to_datatree([made_trace(3)], posterior, Timetable(sweeps=3, burn_in=1), {})


def test_halves_of_characters_do_not_break_a_table():
    assert printable("caf\xe9 \ud800!") == "caf\xe9 \ufffd!"
