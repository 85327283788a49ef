"""Topics of a posterior beside reference topics."""

import numpy as np
import pandas as pd
import pytest

from franchise.errors import SettingsError
from franchise.posterior.reference_tables import from_array, from_file, from_frame
from franchise.posterior.reference_topics import ReferenceTopics, compare_topics
from tests.raising import raises
from tests.unit.posterior.made import posterior_of_counts

TERMS = ("w0", "w1", "w2", "w3")


def compared(posterior, phi, names=None, terms=TERMS, **options):
    phi = np.asarray(phi, float)
    names = names or tuple(f"r{i}" for i in range(len(phi)))
    labels = [f"topic {k}" for k in range(posterior.n_topics)]
    return compare_topics(posterior, labels, ReferenceTopics(names, terms, phi), **options)


@pytest.fixture
def posterior():
    """Topic 0 is on w0 and w1, topic 1 on w2 and w3."""
    rng = np.random.default_rng(1)
    phi = np.array([[0.7, 0.3, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    draws = [[rng.multinomial(900, phi[0]), rng.multinomial(500, phi[1])] for _ in range(40)]
    return posterior_of_counts([draws[:20], draws[20:]])


def test_cosines_of_many_words_are_those_of_the_distributions(posterior):
    found = compared(posterior, [[0.7, 0.3, 0, 0], [1, 0, 0, 0], [0.25] * 4])
    length = np.hypot(0.7, 0.3)
    expected = [[1.0, 0.7 / length, 0.5 / length], [0.0, 0.0, 0.5 / np.hypot(0.5, 0.5)]]
    np.testing.assert_allclose(found.cosines, expected, atol=0.01)
    assert (found.low <= found.cosines).all()
    assert (found.cosines <= found.high).all()
    assert found.high[0, 0] == 1.0  # its own distribution: the documents cannot tell it from the topic
    assert found.high[0, 1] < 0.95
    np.testing.assert_allclose(found.nearest.sum(axis=1), 1.0)


def test_few_words_have_wide_intervals():
    few = posterior_of_counts([[[[7, 3, 0, 0], [0, 0, 5, 5]]] * 5])
    many = posterior_of_counts([[[[700, 300, 0, 0], [0, 0, 500, 500]]] * 5])
    widths = [(found.high - found.low)[0, 0] for found in (compared(p, [[1, 0, 0, 0]]) for p in (few, many))]
    assert widths[0] > 5 * widths[1]


def test_noise_of_the_draws_does_not_make_topics_dissimilar():
    """The mean cosine of single draws with the truth is far below that of the topic."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(200, 0.5))
    counts = [rng.multinomial(150, phi) for _ in range(60)]
    naive = np.mean([c @ phi / np.linalg.norm(c) / np.linalg.norm(phi) for c in counts])
    posterior = posterior_of_counts([[[c] for c in counts]])
    found = compared(posterior, [phi], terms=posterior.corpus.vocabulary)
    assert naive < 0.9
    assert found.cosines[0, 0] > 0.97
    assert found.high[0, 0] == 1.0


def test_best_match_and_one_to_one(posterior):
    found = compared(posterior, [[0.6, 0.4, 0, 0], [0.7, 0.3, 0, 0.1], [0, 0, 0, 1]], names=("a", "b", "c"))
    best, pairs = found.as_frame(), found.as_frame(one_to_one=True)
    assert best["reference"].tolist() == ["b", "c"]
    assert best["matched"].tolist() == [True, False]
    assert pairs["reference"].tolist() == ["b", ""]
    assert np.isnan(pairs["cosine"][1])
    assert not pairs["matched"][1]
    assert found.unmatched_topics == [1]
    assert found.unmatched_references == ["c"]
    of_references = found.references()
    assert of_references["topic"].tolist() == [0, 0, 1]
    assert of_references["matched"].tolist() == [True, True, False]
    assert "1 of 2 topics have a reference at cosine 0.8 or more, and 2 of 3 references a topic" in str(found)
    assert "Topics without a reference: 1." in str(found)
    assert "References without a topic: c." in str(found)
    assert "<table" in found._repr_html_()


def test_one_to_one_gives_a_reference_to_the_nearer_topic():
    posterior = posterior_of_counts([[[[60, 40, 0, 0], [50, 50, 0, 0]]] * 4])
    found = compared(posterior, [[0.5, 0.5, 0, 0], [0, 0, 1, 0]])
    assert found.as_frame()["reference"].tolist() == ["r0", "r0"]
    assert found.as_frame(one_to_one=True)["reference"].tolist() == ["", "r0"]


def test_terms_that_one_side_lacks_count_as_zero(posterior):
    half = compared(posterior, [[0.35, 0.15, 0.5]], terms=("w0", "w1", "elsewhere"))
    expected = np.hypot(0.35, 0.15) / np.sqrt(0.35**2 + 0.15**2 + 0.25)
    assert half.cosines[0, 0] == pytest.approx(expected, abs=0.01)
    assert half.in_common.tolist() == [0.5]
    turned = compared(posterior, [[0.0, 0.0, 0.3, 0.7]], terms=TERMS[::-1])
    assert turned.cosines[0, 0] == pytest.approx(1.0, abs=0.01)


def test_the_same_question_has_the_same_answer(posterior):
    one, again = (compared(posterior, [[1, 0, 0, 0]]) for _ in range(2))
    np.testing.assert_array_equal(one.low, again.low)


@pytest.mark.parametrize("options", [{"threshold": 1.5}, {"level": 0.0}, {"level": True}])
def test_settings_that_are_none(posterior, options):
    with raises(SettingsError, "not-a-probability", next(iter(options))):
        compared(posterior, [[1, 0, 0, 0]], **options)


# ---------------------------------------------------------------- tables


def table():
    return pd.DataFrame([[2, 1, 0, 1], [0, 0, 3, 3]], ["S1", "S2"], list(TERMS))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_tables_lie_either_way(tmp_path, turned, separator):
    frame = table().T if turned else table()
    path = tmp_path / "reference.csv"
    frame.to_csv(path, sep=separator)
    for found in (from_frame(frame, TERMS, "reference"), from_file(path, TERMS)):
        assert found.names == ("S1", "S2")
        assert found.terms == TERMS
        np.testing.assert_allclose(found.phi, [[0.5, 0.25, 0, 0.25], [0, 0, 0.5, 0.5]])


def test_rows_named_by_another_column(tmp_path):
    """As in the first tables of COSMIC."""
    frame = table().T
    frame.insert(0, "group", ["x", "x", "y", "y"])
    frame.insert(1, "kind", list(TERMS))
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    assert from_file(tmp_path / "a.tsv", TERMS).terms == TERMS
    assert from_frame(frame.reset_index(drop=True), TERMS, "reference").names == ("S1", "S2")


def test_a_file_without_names_of_rows(tmp_path):
    table().to_csv(tmp_path / "a.csv", index=False)
    found = from_file(tmp_path / "a.csv", TERMS)
    assert found.terms == TERMS
    assert found.phi.shape == (2, 4)


def test_numbered_topics_are_no_term(tmp_path):
    table().reset_index(drop=True).rename_axis("topic").to_csv(tmp_path / "a.csv")
    found = from_file(tmp_path / "a.csv", TERMS)
    assert found.terms == TERMS
    assert found.names == ("0", "1")


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda f: f.set_axis(list("abcd"), axis=1), "no-common-terms", "'w0'"),
        (lambda f: f.replace(3, -1), "out-of-range", "below 0"),
        (lambda f: f.replace(3, np.nan), "out-of-range", "empty"),
        (lambda f: f.mul([1, 0], axis=0), "empty-topic", "'S2'"),
        (lambda f: f.set_axis(["w0", "w0", "w2", "w3"], axis=1), "duplicate-term", "'w0'"),
        (lambda f: f.astype(str) + "x", "not-a-number", "numbers"),
    ],
)
def test_tables_that_are_none(change, code, said):
    with raises(SettingsError, code, said):
        from_frame(change(table()), TERMS, "reference")


def test_files_that_are_none(tmp_path):
    with raises(SettingsError, "no-such-file", "nowhere.csv"):
        from_file(tmp_path / "nowhere.csv", TERMS)
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00,")
    with raises(SettingsError, "unreadable-reference", "bad.csv"):
        from_file(tmp_path / "bad.csv", TERMS)
    (tmp_path / "empty.csv").write_text("")
    with raises(SettingsError, "unreadable-reference", "empty.csv"):
        from_file(tmp_path / "empty.csv", TERMS)


@pytest.mark.parametrize(
    ("given", "code"),
    [([1, 2, 3, 4], "wrong-shape"), ([[1, 2]], "wrong-shape"), ([["a"] * 4], "not-a-number")],
)
def test_arrays_that_are_none(given, code):
    with raises(SettingsError, code, "reference"):
        from_array(given, TERMS)
    with raises(SettingsError, "wrong-length", "2 names for 1"):
        from_array([[1, 1, 1, 1]], TERMS, ["a", "b"])
