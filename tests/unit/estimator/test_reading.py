"""Topics merged and hidden for reading: what adds up, what stays, what comes back."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from franchise import FranchiseWarning, HDPTopicModel, SettingsError
from franchise.cli import main
from franchise.corpus import planted
from tests.raising import raises


@pytest.fixture(scope="module")
def corpus():
    return planted(n_topics=6, n_terms=60, n_documents=80, document_length=40, seed=2).corpus


@pytest.fixture(scope="module")
def fitted(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading") / "model"
    settings = {"sweeps": 30, "chains": 2, "random_state": 1, "verbose": 0}
    HDPTopicModel(**settings).fit(corpus).save(folder)
    return folder


@pytest.fixture
def model(fitted):
    return HDPTopicModel.load(fitted)


def sums(model, read):
    """Return the table that adds up what the topics of `read` are made of; unlisted is last."""
    members = read.posterior_.members
    to = np.zeros((model.n_topics_ + 1, len(members) + 1))
    to[:, -1] = 1.0
    for k, topics in enumerate(members):
        to[list(topics)] = np.eye(len(members) + 1)[k]
    return to


def test_shares_of_a_merged_topic_are_sums(fitted, model, corpus):
    read = HDPTopicModel.load(fitted).merge_topics([1, 3]).merge_topics([4, 5]).hide_topics(3)
    assert read.n_topics_ == model.n_topics_ - 3 == len(read.topics()) == len(read.topic_labels_)
    to = sums(model, read)
    np.testing.assert_allclose(read.topic_weights_, model.topic_weights_ @ to[:-1, :-1])
    assert (np.diff(read.topic_weights_) <= 0).all()
    np.testing.assert_allclose(
        read.posterior_.weights_by_draw, model.posterior_.weights_by_draw @ to[:-1, :-1]
    )
    np.testing.assert_allclose(read.document_topics(), model.document_topics() @ to, atol=1e-12)
    groups = np.arange(corpus.n_documents) % 3
    shares = [
        one.prevalence(groups).pivot(index="group", columns="topic", values="share") for one in (model, read)
    ]
    np.testing.assert_allclose(shares[1], shares[0].to_numpy() @ to[:-1, :-1])
    new = corpus.select(range(10))
    listed = model.transform(new) @ to[:-1, :-1]
    np.testing.assert_allclose(read.transform(new), listed / listed.sum(axis=1, keepdims=True))
    assert read.score(new) == model.score(new)  # of the model, however it is read
    assert read.n_topics_interval_ == model.n_topics_interval_


def test_a_merged_topic_has_the_words_of_both(fitted, model):
    read = HDPTopicModel.load(fitted).merge_topics([0, 2])
    both = model.topic_weights_[[0, 2]]
    expected = both @ model.components_[[0, 2]] / both.sum()
    np.testing.assert_allclose(read.components_[0], expected, atol=0.01)
    np.testing.assert_allclose(read.components_.sum(axis=1), 1.0)
    low, high = read.posterior_.phi_interval(0, [0, 1, 2]).T
    assert (low <= high).all()
    assert read.posterior_.support[0] >= model.posterior_.support[[0, 2]].max()


def test_it_can_be_undone(fitted, model):
    read = HDPTopicModel.load(fitted).set_topic_labels({0: "a", 2: "c"})
    read.merge_topics(["a", "c"], name="both")
    assert read.named_topics_ == {0: "both"}
    assert read.reading_ == "2 topics merged into 1"
    read.hide_topics("both")
    assert read.reading_ == "2 topics hidden"
    read.restore_topics()
    assert read.reading_ == ""
    assert read.named_topics_ == {0: "a", 2: "c"}
    np.testing.assert_array_equal(read.components_, model.components_)
    assert "members" not in read.topics()


def test_a_merged_topic_has_the_name_of_its_largest(fitted):
    read = HDPTopicModel.load(fitted).set_topic_labels({1: "one", 2: "two"}).merge_topics([0, 1, 2])
    assert read.named_topics_ == {0: "one"}
    assert read.topics()["members"][0] == "0, 1, 2"
    read.set_topic_labels({0: "all", 1: "next"})
    assert read.named_topics_ == {0: "all", 1: "next"}
    read.merge_topics([0, 1])
    assert read.topics()["members"][0] == "0, 1, 2, 3"


def test_it_is_kept_with_the_model(fitted, tmp_path):
    read = HDPTopicModel.load(fitted).merge_topics([0, 1], name="both").hide_topics(2)
    read.save(tmp_path / "model")
    again = HDPTopicModel.load(tmp_path / "model")
    assert again.reading_ == read.reading_ == "2 topics merged into 1 and 1 topic hidden"
    assert again.named_topics_ == {0: "both"}
    np.testing.assert_array_equal(again.components_, read.components_)
    assert "For reading: 2 topics merged into 1 and 1 topic hidden" in str(again)
    assert "merged into 1" in (tmp_path / "model" / "README.md").read_text()
    again.restore_topics().save(tmp_path / "other")
    assert not (tmp_path / "other" / "names.json").exists()


def test_chains_continue_as_if_nothing_were_merged(fitted):
    plain, read = HDPTopicModel.load(fitted), HDPTopicModel.load(fitted).merge_topics([0, 1])
    for one in (plain, read):
        one.resume(5)
    for ours, theirs in zip(plain.chains_, read.chains_, strict=True):
        np.testing.assert_array_equal(ours.trace.as_array()[:, :5], theirs.trace.as_array()[:, :5])
    assert read.reading_ == "2 topics merged into 1"
    np.testing.assert_allclose(read.restore_topics().components_, plain.components_)


def test_topics_that_are_gone_are_told(fitted, tmp_path):
    HDPTopicModel.load(fitted).merge_topics([0, 1]).hide_topics(3).save(tmp_path / "model")
    path = tmp_path / "model" / "names.json"
    facts = json.loads(path.read_text())
    for one in facts["hidden"]:
        one["terms"], one["probabilities"] = [59], [1.0]  # no topic is only that
    path.write_text(json.dumps(facts))
    with pytest.warns(FranchiseWarning, match="1 topic that you had merged or hidden"):
        again = HDPTopicModel.load(tmp_path / "model")
    assert again.reading_ == "2 topics merged into 1"


def test_a_new_fit_shows_all_topics(fitted, corpus):
    model = HDPTopicModel.load(fitted).merge_topics([0, 1])
    model.set_params(sweeps=4).fit(corpus)
    assert model.reading_ == ""


def test_exports_and_the_report_take_it(fitted, tmp_path):
    read = HDPTopicModel.load(fitted).merge_topics([0, 1]).hide_topics([2, 3])
    page = read.report(tmp_path / "report.html").read_text()
    assert "2 topics merged into 1 and 2 topics hidden" in page
    assert read.to_lda().components_.shape[0] == read.n_topics_
    assert read.to_pyldavis()["topic_term_dists"].shape[0] == read.n_topics_
    assert len(read.representative_documents(0)) == 5
    read.diagnose()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda m: m.merge_topics([1]), "too-few-topics"),
        (lambda m: m.merge_topics([1, 1]), "too-few-topics"),
        (lambda m: m.merge_topics([0, 99]), "not-a-whole-number"),
        (lambda m: m.merge_topics([0, "nothing"]), "unknown-topic"),
        (lambda m: m.merge_topics([0, 1], name=" "), "wrong-type"),
        (lambda m: m.hide_topics([]), "too-few-topics"),
        (lambda m: m.hide_topics(range(m.n_topics_)), "too-few-topics"),
    ],
)
def test_what_is_refused(model, call, code):
    with raises(SettingsError, code):
        call(model)
    assert model.reading_ == ""


def test_on_the_command_line(fitted, tmp_path):
    folder = shutil.copytree(fitted, tmp_path / "model")

    def call(*arguments, ending=0):
        result = CliRunner().invoke(main, ["label", str(folder), *arguments])
        assert result.exit_code == ending, result.output
        return result.output

    n_topics = HDPTopicModel.load(folder).n_topics_
    assert call("--merge", "0,2") == f"{n_topics - 1} topics shown; 2 topics merged into 1\n"
    assert "1 topic hidden" in call("--hide", "3")
    assert HDPTopicModel.load(folder).n_topics_ == n_topics - 2
    assert call("--restore") == f"{n_topics} topics shown; none merged or hidden\n"
    assert "one after the other" in call("--merge", "0,2", "--hide", "1", ending=2)
    assert "--merge" in call("--merge", "0", ending=2)
    assert "--hide 99" in call("--hide", "99", ending=2)
