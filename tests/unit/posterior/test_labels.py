"""Names of topics: which terms set a topic apart, what may be given, and where a name goes."""

import numpy as np
import pandas as pd
import pytest

from franchise.errors import SettingsError
from franchise.posterior.labels import (
    carried,
    distinct,
    given_labels,
    labels_frame,
    own_terms,
    remember,
    topic_labels,
)
from tests.raising import raises

VOCABULARY = ["model", "star", "galaxy", "quark", "gluon", "never"]
COUNTS = np.array([400, 160, 140, 160, 140, 0])
PHI = np.array([[0.4, 0.3, 0.26, 0.02, 0.01, 0.01], [0.4, 0.02, 0.02, 0.3, 0.25, 0.01]])


# ---------------------------------------------------------------- automatic names


def test_own_terms_are_not_those_that_every_topic_has():
    assert [[VOCABULARY[v] for v in row] for row in own_terms(PHI, COUNTS, 2)] == [
        ["star", "galaxy"],
        ["quark", "gluon"],
    ]


def test_own_terms_by_the_formula():
    used = COUNTS > 0
    for row, own in zip(PHI, own_terms(PHI, COUNTS, 5)):
        share = COUNTS[used] / COUNTS.sum()
        relevance = 0.3 * np.log(row[used]) + 0.7 * np.log(row[used] / share)
        assert own.tolist() == np.argsort(-relevance).tolist()


def test_terms_that_never_occur_name_nothing():
    assert all("never" not in label for label in topic_labels(PHI, COUNTS, VOCABULARY, {}))
    assert own_terms(PHI, COUNTS, 99).shape == (2, 5)


def test_a_name_that_is_given_goes_first():
    assert topic_labels(PHI, COUNTS, VOCABULARY, {1: "particles"}) == ["star, galaxy, model", "particles"]


def test_labels_are_one_line_whatever_the_terms_are():
    assert topic_labels([[1.0]], [1], ["a\n\ud83d"], {}) == ["a \ufffd"]


def test_labels_that_name_columns_are_all_different():
    assert distinct(["a", "b", "a", "unlisted"], ["unlisted"]) == ["a (0)", "b", "a (2)", "unlisted (3)"]


# ---------------------------------------------------------------- names that people give


@pytest.mark.parametrize(
    "given",
    [
        {1: "particles"},
        {"1": " particles\n", 0: ""},
        {np.int64(1): "particles", 0: None},
        [None, "particles"],
        ("", "particles"),
        pd.Series({1: "particles"}),
        pd.DataFrame({"topic": [1], "name": ["particles"]}),
        pd.DataFrame({"topic": [0.0, 1.0], "label": [np.nan, "particles"], "other": [1, 2]}),
    ],
)
def test_what_may_be_given(given):
    assert given_labels(given, PHI, VOCABULARY) == {1: "particles"}


@pytest.mark.parametrize("nothing", [None, {}, [None, ""]])
def test_no_names(nothing):
    assert given_labels(nothing, PHI, VOCABULARY) == {}


@pytest.mark.parametrize(
    ("given", "code", "facts"),
    [
        ({2: "x"}, "unknown-topic", ["labels", "2", "0 to 1"]),
        ({-1: "x"}, "unknown-topic", ["-1"]),
        ({"one": "x"}, "unknown-topic", ["'one'"]),
        ({True: "x"}, "unknown-topic", ["True"]),
        ({0.5: "x"}, "unknown-topic", ["0.5"]),
        ({0: 7}, "wrong-type", ["topic 0", "7"]),
        (["a"], "wrong-length", ["1 names", "2 topics"]),
        (7, "wrong-type", ["labels=7"]),
        (
            pd.DataFrame({"topic": [0], "terms": ["a"]}),
            "missing-column",
            ["topic and name", "topic, terms"],
        ),
        (pd.DataFrame({"topic": [0, 0], "name": ["a", "b"]}), "duplicate-name", ["topic 0", "'a'", "'b'"]),
    ],
)
def test_what_may_not_be_given(given, code, facts):
    with raises(SettingsError, code, *facts):
        given_labels(given, PHI, VOCABULARY)


@pytest.mark.parametrize(
    "text",
    [
        "topic,name\n1,NA\n",
        '\ufefftopic,name,terms\r\n0,"","model, star"\r\n1,"NA","model, quark, gluon"\r\n',
        "Topic;Name\n0;\n1;NA\n",
        "topic\tname\n1\tNA",
    ],
)
def test_files_of_the_report_and_of_spreadsheets(text, tmp_path):
    path = tmp_path / "names.csv"
    path.write_bytes(text.encode())
    assert given_labels(path, PHI, VOCABULARY) == {1: "NA"}  # no missing value
    assert given_labels(str(path), PHI, VOCABULARY) == {1: "NA"}


def test_the_table_is_what_is_read(tmp_path):
    names = {1: 'particles, "mostly"'}
    frame = labels_frame(names, PHI, VOCABULARY)
    assert frame.columns.tolist() == ["topic", "name", "terms"]
    assert frame["terms"][0] == "model, star, galaxy, quark, gluon, never"
    frame.to_csv(tmp_path / "names.csv", index=False)
    assert given_labels(tmp_path / "names.csv", PHI, VOCABULARY) == names


@pytest.mark.parametrize(
    ("content", "code", "facts"),
    [
        (None, "no-such-file", ["topic and name"]),
        (b"", "unreadable-label-file", ["CSV"]),
        (b"\xff\xfe\x00\x01", "wrong-encoding", ["UTF-8"]),
        (b"PK\x03\x04\xf0\x28", "wrong-encoding", ["UTF-8"]),
        (b"topic,name\n5,x\n", "unknown-topic", ["'5'"]),
        (b"number,title\n1,x\n", "missing-column", ["topic and name", "number, title"]),
    ],
)
def test_files_that_are_not_names(content, code, facts, tmp_path):
    if content is not None:
        (tmp_path / "names.csv").write_bytes(content)
    with raises(SettingsError, code, "names.csv", *facts):
        given_labels(tmp_path / "names.csv", PHI, VOCABULARY)


def test_a_file_of_other_topics_is_refused(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('topic,name,terms\n0,x,"cat, dog, milk, bone"\n')
    with raises(SettingsError, "topics-mismatch", path, "topic 0"):
        given_labels(path, PHI, VOCABULARY)


# ---------------------------------------------------------------- where names go


def some_topics(n_topics=6, n_terms=300, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_terms, 0.05), n_topics)


def test_names_follow_their_topics():
    phi = some_topics()
    order = [4, 2, 0, 5, 1, 3]
    remembered = remember({0: "zero", 5: "five"}, phi)
    later = 0.9 * phi[order] + 0.1 * some_topics(seed=1)
    assert carried(remembered, later) == ({2: "zero", 3: "five"}, [])
    assert carried(remembered, phi) == ({0: "zero", 5: "five"}, [])


def test_names_of_topics_that_are_gone_are_lost():
    phi = some_topics()
    names, lost = carried(remember({0: "zero", 5: "five"}, phi), phi[:5])
    assert names == {0: "zero"}
    assert lost == ["five"]


def test_two_names_never_go_to_one_topic():
    phi = some_topics(2)
    both = remember({0: "a", 1: "b"}, np.stack([phi[0], phi[0]]))
    names, lost = carried(both, phi)
    assert len(names) == len(lost) == 1
    assert carried(both, phi[:1])[0].keys() == {0}


def test_nothing_to_carry():
    assert carried([], PHI) == ({}, [])
