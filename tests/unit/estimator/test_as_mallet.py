"""The topic of every word, MALLET's state and its diagnostics."""

import csv
import gzip
import io
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, ModelError, SettingsError, from_tokens
from franchise.cli import main
from franchise.corpus import planted
from franchise.model.state import ETA
from tests.raising import raises


@pytest.fixture(scope="module")
def corpus():
    drawn = planted(n_topics=4, n_terms=30, n_documents=40, document_length=25, seed=5).corpus
    names = ["with a blank", "", *(f"d{j}" for j in range(2, 40))]
    terms = ["two words", *(f"t{v}" for v in range(1, 30))]
    return type(drawn)(drawn.x, drawn.doc_ptr, terms, document_names=names)


@pytest.fixture(scope="module")
def fitted(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mallet") / "model"
    HDPTopicModel(sweeps=20, chains=2, random_state=1, verbose=0).fit(corpus).save(folder)
    return folder


@pytest.fixture
def model(fitted):
    return HDPTopicModel.load(fitted)


def best(model):
    return max(model.chains_, key=lambda chain: chain.trace.last["log_joint"])


def test_words_are_those_of_the_documents(model, corpus):
    words = model.word_topics()
    assert list(words.columns) == ["number", "document", "position", "term", "topic"]
    assert len(words) == corpus.n_words
    assert words["term"].tolist() == [corpus.vocabulary[v] for v in corpus.x]
    assert words["document"][0] == "with a blank"
    of_third = words[words["number"] == 3]
    assert of_third["position"].tolist() == list(range(25))
    assert of_third.index[0] == 75


def test_counts_are_those_of_the_last_state(model):
    """The last sweep is kept as a draw, whose counts these are."""
    words, chain = model.word_topics(), best(model)
    draw = chain.draws[-1]
    assert draw.sweep == chain.sweeps_done
    column = model.posterior_.columns[sum(len(one.draws) for one in model.chains_[: chain.number + 1]) - 1]
    listed = column < model.n_topics_
    expected = np.zeros((40, model.n_topics_))
    expected[:, column[listed]] = draw.document_topics.toarray()[:, listed]
    shown = words[words["topic"] >= 0]
    found = pd.crosstab(shown["number"], shown["topic"]).reindex(
        index=range(40), columns=range(model.n_topics_), fill_value=0
    )
    np.testing.assert_array_equal(found.to_numpy(), expected)


def test_a_chain_can_be_chosen(model):
    frames = [model.word_topics(chain=number) for number in (0, 1)]
    assert not frames[0]["topic"].equals(frames[1]["topic"])
    assert model.word_topics().equals(frames[best(model).number])
    with raises(SettingsError, "unknown-choice", "chain=7", "0, 1"):
        model.word_topics(chain=7)


def test_parts_are_the_whole(model, monkeypatch):
    whole = model.word_topics()
    monkeypatch.setattr("franchise.posterior.assignments._AT_ONCE", 60)
    parts = list(model.word_topics_in_parts())
    assert len(parts) == 20
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)


def read_state(path):
    """Read a state as MALLET does (`ParallelTopicModel.initializeFromState`)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = file.read().split("\n")
    assert lines[0] == "#doc source pos typeindex type topic"
    assert lines[1].startswith("#alpha : ")
    alpha = [float(field) for field in lines[1].removeprefix("#alpha : ").split(" ") if field]
    beta = float(lines[2].removeprefix("#beta : "))
    assert lines[-1] == ""
    rows = [line.split(" ") for line in lines[3:-1]]
    assert {len(row) for row in rows} == {6}
    return alpha, beta, rows


def test_mallets_state(model, corpus, tmp_path):
    path = model.write_mallet_state(tmp_path / "state.gz")
    alpha, beta, rows = read_state(path)
    assert len(rows) == corpus.n_words
    assert [int(row[3]) for row in rows] == corpus.x.tolist()
    assert rows[0][1] == "with_a_blank"
    assert rows[25][1] == "NA"
    assert {row[4] for row in rows if row[3] == "0"} == {"two_words"}
    state = best(model).state
    assert beta == state.concentrations[ETA]
    draw = best(model).draws[-1]
    assert sum(alpha) < draw.concentrations[0]
    assert sum(alpha) == pytest.approx(
        draw.concentrations[0] * draw.m_k.sum() / (draw.m_k.sum() + draw.concentrations[1])
    )
    topics = [int(row[5]) for row in rows]
    assert len(alpha) == max(model.n_topics_, max(topics) + 1)
    assert sorted(Counter(topics).values()) == sorted(draw.topic_terms.sum(axis=1).tolist())
    words = model.word_topics()["topic"]
    assert all(topic == k if k >= 0 else topic >= model.n_topics_ for topic, k in zip(topics, words))
    assert all(alpha[topic] > 0 for topic in topics)
    with raises(ModelError, "file-exists", "state.gz"):
        model.write_mallet_state(path)
    once = path.read_bytes()
    assert model.write_mallet_state(path, overwrite=True).read_bytes() == once


def test_merged_and_hidden_topics_are_so_in_both(fitted, tmp_path):
    plain, read = HDPTopicModel.load(fitted), HDPTopicModel.load(fitted)
    read.merge_topics([0, 1]).hide_topics(1)
    before, after = plain.word_topics()["topic"], read.word_topics()["topic"]
    number = {k: i for i, topics in enumerate(read.posterior_.members) for k in topics}
    assert after.tolist() == [number.get(k, -1) for k in before]
    rows = read_state(read.write_mallet_state(tmp_path / "state.gz"))[2]
    assert all(int(row[5]) == k for row, k in zip(rows, after, strict=True) if k >= 0)


def test_an_engine_that_keeps_no_words(tmp_path):
    counts = np.random.default_rng(0).poisson(20, (12, 6))
    model = HDPTopicModel(engine="cells", sweeps=6, chains=1, random_state=0, verbose=0).fit(counts)
    with raises(ModelError, "no-assignments", "cells"):
        model.word_topics()


def test_on_the_command_line(fitted, tmp_path, corpus):
    def call(*arguments, ending=0):
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert result.exit_code == ending, result.output
        return result.stdout

    rows = list(csv.DictReader(io.StringIO(call("words", fitted))))
    assert len(rows) == corpus.n_words
    assert rows[0]["term"] == corpus.vocabulary[corpus.x[0]]
    assert call("words", fitted, "--mallet-state", tmp_path / "s.gz") == f"{tmp_path / 's.gz'}\n"
    call("words", fitted, "--mallet-state", tmp_path / "s.gz", ending=1)
    call("words", fitted, "--mallet-state", tmp_path / "s.gz", "--overwrite")
    call("words", fitted, "--chain", "5", ending=2)
    shown = list(csv.DictReader(io.StringIO(call("topics", fitted, "--diagnostics", "--format", "csv"))))
    assert float(shown[0]["eff_num_words"]) > 1
    assert "rank_1_docs" in call("topics", fitted, "--diagnostics").split("\n")[0]
    shown = call("topics", fitted, "--diagnostics", "--columns", "topic,coherence", "--format", "csv")
    assert shown.startswith("topic,coherence\n")
    call("topics", fitted, "--diagnostics", "--find", "t1", ending=2)


# ---------------------------------------------------------------- diagnostics


def plainly(model, n_terms):
    """Return the numbers of documents, one document after another, as MALLET's loop does."""
    found = []
    for draw, column in zip(model.posterior_.flat_draws, model.posterior_.columns, strict=True):
        alpha, gamma, _ = draw.concentrations
        counts = draw.document_topics.toarray()
        for k, listed in enumerate(column):
            if listed == model.n_topics_:
                continue
            n = counts[:, k][counts[:, k] > 0]
            share = n / n.sum()
            entropy = -sum(p * math.log(p) for p in share)
            alpha_k = alpha * draw.m_k[k] / (draw.m_k.sum() + gamma)
            rank_1, shares = 0, []
            for row in counts:
                if row[k]:
                    rank_1 += int(np.argmax(row) == k)
                    shares.append((row[k] + alpha_k) / (row.sum() + alpha))
            shares = np.array(shares)
            small = (shares >= 0.02).sum()
            ratio = (shares >= 0.5).sum() / small if small else np.nan
            found.append((listed, entropy, rank_1 / n.size, ratio, (shares >= 0.3).sum() / n.size))
    names = ["topic", "document_entropy", "rank_1_docs", "allocation_ratio", "allocation_count"]
    return pd.DataFrame(found, columns=names).groupby("topic").mean()


@pytest.mark.parametrize("at_once", [7, 50_000])
def test_numbers_of_documents(model, monkeypatch, at_once):
    monkeypatch.setattr("franchise.posterior.topic_diagnostics._AT_ONCE", at_once)
    frame, expected = model.topic_diagnostics(), plainly(model, 20)
    for name in expected:
        np.testing.assert_allclose(frame[name], expected[name], err_msg=name)


def test_numbers_of_terms(model, corpus):
    frame = model.topic_diagnostics(n_terms=5)
    phi, p = model.components_, corpus.term_counts / corpus.n_words
    assert frame["tokens"].sum() <= corpus.n_words
    np.testing.assert_allclose(frame["uniform_dist"], (phi * np.log(phi * corpus.n_terms)).sum(axis=1))
    used = p > 0
    np.testing.assert_allclose(
        frame["corpus_dist"], (phi[:, used] * np.log(phi[:, used] / p[used])).sum(axis=1)
    )
    np.testing.assert_allclose(frame["eff_num_words"], 1 / (phi**2).sum(axis=1))
    np.testing.assert_allclose(frame["coherence"], 10 * model.coherence("u_mass", n_terms=5))
    first = np.argsort(-phi[0], kind="stable")[:5]
    assert frame["word_length"][0] == np.mean([len(corpus.vocabulary[v]) for v in first])


def test_one_topic_has_numbers_too():
    model = HDPTopicModel(sweeps=6, chains=1, random_state=0, verbose=0, init="one")
    model.fit(from_tokens([["a", "b"]] * 4))
    frame = model.topic_diagnostics()
    assert frame["rank_1_docs"][0] > 0
