"""Topics of a fitted model beside tables, files and other models; in Python, on the command line, drawn."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from franchise import HDPTopicModel, SettingsError
from franchise.cli import main
from franchise.corpus import planted
from tests.raising import raises

K, V = 5, 40


@pytest.fixture(scope="module")
def drawn():
    return planted(n_topics=K, n_terms=V, n_documents=80, document_length=60, seed=3, topic_concentration=0.1)


@pytest.fixture(scope="module")
def corpus(drawn):
    corpus = drawn.corpus
    return type(corpus)(corpus.x, corpus.doc_ptr, [f"t{v}" for v in range(V)])


@pytest.fixture(scope="module")
def model(corpus):
    return HDPTopicModel(sweeps=60, chains=2, random_state=1, verbose=0).fit(corpus)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare") / "model"
    model.save(folder)
    return folder


@pytest.fixture(scope="module")
def table(drawn, corpus):
    return pd.DataFrame(drawn.topics, [f"S{k}" for k in range(K)], corpus.vocabulary)


def test_planted_topics_are_found(model, table):
    found = model.compare_topics(table)
    assert sorted(found.as_frame(one_to_one=True)["reference"].head(K)) == list(table.index)
    assert found.unmatched_references == []
    assert found.as_frame()["label"].tolist() == model.topic_labels_


def test_all_forms_give_the_same(model, table, drawn, corpus, tmp_path):
    expected = model.compare_topics(table)
    table.T.to_csv(tmp_path / "table.tsv", sep="\t")
    order = np.random.default_rng(1).permutation(V)
    forms = [
        model.compare_topics(table.T),
        model.compare_topics(tmp_path / "table.tsv"),
        model.compare_topics(drawn.topics, names=list(table.index)),
        model.compare_topics(
            100 * drawn.topics[:, order], terms=[f"t{v}" for v in order], names=list(table.index)
        ),
    ]
    for found in forms:
        assert found.names == expected.names
        np.testing.assert_allclose(found.cosines, expected.cosines)
        np.testing.assert_allclose(found.low, expected.low)


def test_another_model_and_its_folder(model, folder, corpus):
    other = HDPTopicModel(sweeps=60, chains=1, random_state=2, verbose=0).fit(corpus)
    assert (model.compare_topics(other).as_frame()["cosine"].head(K) > 0.95).all()
    itself = [model.compare_topics(given) for given in (model, folder, str(folder))]
    np.testing.assert_allclose(itself[0].cosines, itself[1].cosines)
    assert itself[1].names == itself[2].names == tuple(model.topic_labels_)


def test_merged_topics_are_compared_as_one(folder, table, drawn):
    model = HDPTopicModel.load(folder)
    partners = model.compare_topics(table).as_frame(one_to_one=True)["reference"]
    weights = model.topic_weights_
    model.merge_topics([0, 1])
    both = weights[0] * table.loc[partners[0]] + weights[1] * table.loc[partners[1]]
    found = model.compare_topics(pd.DataFrame([both]))
    k = int(found.cosines[:, 0].argmax())
    assert model.posterior_.members[k] == (0, 1)
    assert found.cosines[k, 0] > 0.97


@pytest.mark.parametrize(
    ("given", "options", "code"),
    [
        (3, {}, "wrong-type"),
        ({"a": 1}, {}, "wrong-type"),
        (np.ones((2, V)), {"names": ["a"]}, "wrong-length"),
        (np.ones((2, V - 1)), {}, "wrong-shape"),
        (np.ones((2, 2)), {"terms": ["x", "y"]}, "no-common-terms"),
        ("nowhere.csv", {}, "no-such-file"),
        (pd.DataFrame({"t0": [1]}), {"terms": ["t0"]}, "does-not-apply"),
        (np.ones((2, V)), {"threshold": 80}, "not-a-probability"),
    ],
)
def test_what_is_refused(model, given, options, code):
    with raises(SettingsError, code):
        model.compare_topics(given, **options)


# ---------------------------------------------------------------- on the command line


def call(*arguments, ending=0):
    result = CliRunner().invoke(main, ["compare-topics", *(str(argument) for argument in arguments)])
    assert result.exit_code == ending, result.output
    return result


def test_on_the_command_line(folder, table, tmp_path, model):
    path = tmp_path / "table.csv"
    table.to_csv(path)
    shown = call(folder, path).stdout
    assert shown.split("\n")[0].split()[:3] == ["topic", "label", "weight"]
    assert "one to one, there are 5 pairs" in shown
    rows = list(csv.DictReader(io.StringIO(call(folder, path, "--format", "csv", "--one-to-one").stdout)))
    assert len(rows) == model.n_topics_
    rows = list(csv.DictReader(io.StringIO(call(folder, path, "--format", "csv", "--by-reference").stdout)))
    assert [row["reference"] for row in rows] == list(table.index)
    call(folder, folder, "--threshold", "0.9", "--figure", tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 1000


def test_wrong_calls(folder, tmp_path):
    assert "nowhere.csv" in call(folder, "nowhere.csv", ending=1).stderr
    assert "--one-to-one" in call(folder, folder, "--one-to-one", "--by-reference", ending=2).stderr
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert "'t0'" in call(folder, tmp_path / "other.csv", ending=1).stderr
    assert "--level" not in call(folder, folder, "--interval", "2", ending=2).stderr


# ---------------------------------------------------------------- the figure


def test_the_figure_shows_both_sides(model, table):
    from franchise.report.figures import plot_reference

    table = pd.concat([table, pd.DataFrame(1.0 / V, ["flat"], table.columns)])
    found = model.compare_topics(table)
    (ax,) = plot_reference(found).axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert len(names) == model.n_topics_ + len(found.unmatched_references)
    best = found.as_frame()
    assert names[0].endswith(f"– {best['reference'][0]}")
    assert any(name.endswith("– flat") for name in names)
    (ax,) = plot_reference(found, one_to_one=True, most=2).axes
    assert len(ax.get_yticks()) == 2 + min(2, len(found.unmatched_references))
    assert ax.get_xlim()[1] > 1.0
