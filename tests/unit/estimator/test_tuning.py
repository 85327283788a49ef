"""What several values of eta come to, and what is recommended."""

import io
import os
import signal
import threading
from html import escape

import numpy as np
import pytest

from franchise import CorpusError, HDPTopicModel, SettingsError, tune_eta
from franchise._progress import Bar
from franchise.corpus import planted
from franchise.errors import FranchiseError
from franchise.estimator.eta_tuning import AtEta, EtaTuning
from franchise.estimator.tuning import splits_of
from franchise.predict.heldout import put_together
from franchise.report.figures import plot_eta
from tests.raising import raises, warns

QUICK = {"sweeps": 12, "verbose": 0}


@pytest.fixture(scope="module")
def corpus():
    return planted(n_topics=5, n_terms=50, n_documents=60, document_length=30, seed=2).corpus


@pytest.fixture(scope="module")
def found(corpus):
    return tune_eta(corpus, (0.5, 0.1, 20.0), **QUICK)


# ---------------------------------------------------------------- the search


def test_a_row_for_each_value(found):
    table = found.table
    assert table["eta"].tolist() == [0.1, 0.5, 20.0]
    assert table["per_word"].idxmax() == table["behind"].idxmin()
    assert table.loc[table["eta"] == found.best, "behind"].item() == 0.0
    assert (table["behind"] >= 0).all()
    assert table["n_topics"].iloc[0] >= table["n_topics"].iloc[-1]
    assert table["shared"].between(0, 1).all()


def test_the_numbers_are_those_of_a_fit_to_the_split(corpus, found):
    (split,) = splits_of(corpus, 1, 0)
    model = HDPTopicModel(eta=0.5, chains=2, random_state=0, **QUICK).fit(corpus.select(split.train))
    row = found.table.iloc[1]
    assert row["n_topics"] == np.mean([np.median(chain.trace["n_topics"][7:]) for chain in model.chains_])
    assert row["shared"] == pytest.approx(model.diagnose().shared, abs=1e-12)
    assert row["per_word"] == pytest.approx(model.score(corpus.select(split.test)), abs=0.02)


def test_the_answer_is_the_same_again_in_any_number_of_threads(corpus, found):
    again = tune_eta(corpus, (0.1, 0.5, 20.0), n_jobs=1, **QUICK).table
    columns = [name for name in again.columns if name != "seconds"]
    assert again[columns].equals(found.table[columns])


def test_every_document_is_predicted_once_with_folds(corpus):
    found = tune_eta(corpus, (0.1, 5.0), folds=3, chains=1, **QUICK)
    n_scored = -(-corpus.document_lengths // 2)
    np.testing.assert_array_equal(found.found[0].n_j, n_scored)
    assert found.found[0].score.n_documents == corpus.n_documents
    assert np.isnan(found.table["shared"]).all()  # one chain
    assert "all chains" not in found.recommendation
    splits = splits_of(corpus, 3, 0)
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(60))
    assert all(not set(split.test) & set(split.train) for split in splits)


def test_other_settings_reach_the_chains(corpus, found):
    other = tune_eta(corpus, (0.5, 20.0), init="one", alpha=3.0, **QUICK)
    assert other.table["per_word"].iloc[0] != found.table["per_word"].iloc[1]


@pytest.mark.unix
def test_ctrl_c_leaves_what_is_done(corpus):
    class Struck(Bar):
        def note(self, text):
            super().note(text)
            if "nats per word" in text:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("franchise.estimator.tuning.Bar", Struck)
        with warns("interrupted", "1 of 3 values"):
            found = tune_eta(corpus, (0.1, 1.0, 20.0), n_jobs=1, **QUICK)
    assert found.table["eta"].tolist() == [20.0]
    assert "only 1 of 3 values" in found.recommendation


@pytest.mark.unix
def test_ctrl_c_before_anything_is_done(corpus):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        tune_eta(corpus, (0.1, 1.0), sweeps=10**6, verbose=0)


def test_progress_is_shown_line_by_line_outside_a_terminal(corpus):
    stream = io.StringIO()
    with Bar("fitting", 10, stream=stream) as monitor:
        monitor.note("eta 0.1: 5 topics")
    assert stream.getvalue() == "eta 0.1: 5 topics\n"
    with Bar("fitting", 10, verbose=0) as silent:
        silent.note("nothing")


@pytest.mark.parametrize(
    ("etas", "settings", "code", "fact"),
    [
        ((0.1,), {}, "too-few-values", "etas=(0.1,)"),
        ((0.1, 0.1), {}, "too-few-values", "etas=(0.1, 0.1)"),
        (0.1, {}, "too-few-values", "etas=0.1"),
        ((0.1, -1), {}, "not-a-positive-number", "-1"),
        ((0.1, "sample"), {}, "not-a-positive-number", "'sample'"),
        ("0.1", {}, "not-a-positive-number", "'0.1'"),
        ((0.1, 1), {"folds": 0}, "not-a-whole-number", "folds=0"),
        ((0.1, 1), {"n_jobs": 0}, "not-a-whole-number", "n_jobs=0"),
        ((0.1, 1), {"sweeps": 0}, "not-a-whole-number", "sweeps=0"),
        ((0.1, 1), {"chains": 0}, "not-a-whole-number", "chains=0"),
        ((0.1, 1), {"alphas": 3}, "unknown-setting", "'alphas'"),
        ((0.1, 1), {"random_state": -1}, "not-a-seed", "random_state=-1"),
    ],
)
def test_settings_are_refused(corpus, etas, settings, code, fact):
    with raises(SettingsError, code, fact):
        tune_eta(corpus, etas, **{"verbose": 0, **settings})


def test_too_few_documents(corpus):
    with raises(CorpusError, "too-few-documents", "9 documents", "one in 5"):
        tune_eta(corpus.select(range(9)), verbose=0)
    with pytest.raises(FranchiseError):
        tune_eta([], verbose=0)


# ---------------------------------------------------------------- the recommendation


def made(*rows, n_planned=None):
    """Return a tuning of (eta, log p of each document, topics, shared); each document has 10 words."""
    n_j = np.full(len(rows[0][1]), 10)
    found = [
        AtEta(eta, put_together("", np.array(log_p, float), n_j), n_j, n_topics, 0.1 * eta, shared, 1.0)
        for eta, log_p, n_topics, shared in rows
    ]
    return EtaTuning(found, n_planned or len(rows))


def test_fewest_topics_within_one_standard_error():
    rows = [
        (0.1, [-70, -50, -90, -60], 90, 0.5),
        (0.2, [-69, -52, -90, -60], 40, 0.7),  # 0.025 behind, and the error of that is larger
        (0.5, [-75, -55, -95, -65], 20, 0.95),  # 0.5 behind, on every document alike
    ]
    found = made(*rows)
    assert (found.best, found.recommended, found.to_read) == (0.1, 0.2, 0.5)
    table = found.table
    assert table["behind"].tolist() == pytest.approx([0.0, 0.025, 0.5])
    # d = -1, 2, 0, 0 of 10 words each: sqrt(4 / 3 * sum (d - mean)^2) / 40.
    assert table["behind_error"].tolist() == pytest.approx([0.0, np.sqrt(4 / 3 * 4.75) / 40, 0.0])
    text = found.recommendation
    assert "Best prediction: eta=0.1, -6.7500 nats per word, with 90 topics." in text
    assert "Fewest topics within one standard error of it: eta=0.2, with 40 topics (0.0250 behind" in text
    assert "To read topics rather than to predict: eta=0.5, with 20 topics" in text
    assert "The best value is the smallest that was tried" in text


def test_what_is_not_said():
    found = made((0.1, [-80, -60], 90, 0.5), (0.2, [-70, -50], 40, 0.97), (0.5, [-90, -70], 20, 0.9))
    text = found.recommendation
    assert (found.best, found.recommended, found.to_read) == (0.2, 0.2, 0.2)
    assert "No value with fewer topics comes within one standard error" in text
    assert "To read" not in text
    assert "tried" not in text
    one_document = made((0.1, [-8.0], 3, np.nan), (1.0, [-9.0], 2, np.nan))
    assert one_document.recommended == 0.1
    assert "nan" not in str(one_document)


def test_the_largest_value_is_best():
    text = made((0.1, [-80, -60], 90, 0.5), (0.2, [-70, -50], 40, 0.97)).recommendation
    assert "the largest that was tried; larger ones may predict better still: try some." in text


def test_a_session_shows_the_answer(found):
    assert repr(found) == str(found)
    assert str(found).endswith(found.recommendation)
    shown = found._repr_html_()
    assert shown.count("<tr>") == 1 + len(found.table)
    assert all(escape(line) in shown for line in found.recommendation.splitlines())


# ---------------------------------------------------------------- the picture


def test_the_picture(found, tmp_path):
    figure = found.plot()
    assert [ax.get_ylabel().replace("\n", " ") for ax in figure.axes] == [
        "nats per word",
        "topics",
        "words in topics of all chains",
        "coherence",
    ]
    line = figure.axes[1].lines[0]
    np.testing.assert_allclose(line.get_xdata(), found.table["eta"])
    np.testing.assert_allclose(line.get_ydata(), found.table["n_topics"])
    figure.savefig(tmp_path / "eta.svg")
    one_chain = found.table.assign(shared=np.nan)
    assert len(plot_eta(one_chain).axes) == 3
    with raises(SettingsError, "missing-column", "table", "behind_error"):
        plot_eta(found.table.drop(columns="behind_error"))
