import numpy as np
import pytest

from franchise.corpus import from_texts
from franchise.corpus.groups import groups_of
from franchise.posterior.prevalence import prevalence
from franchise.report import groups
from franchise.report.groups import describe_groups, facts_of, round_step, usable_groupings
from tests.unit.report.made import posterior_of, run_chains, small_report, small_texts
from tests.unit.report.test_page import Elements

N = 30
COLUMNS = {
    "year": [None if j == 3 else 2000 + j // 10 for j in range(N)],
    "kind": ["animals", "money", "both"] * 10,
    "day": [f"2020-0{1 + j % 3}-01" for j in range(N)],
    "same": ["x"] * N,
    "title": [f"title {j}" for j in range(N)],
}


@pytest.fixture(scope="module")
def fitted():
    corpus = from_texts(small_texts(N), metadata=COLUMNS)
    return corpus, posterior_of(corpus, run_chains(corpus))


def test_columns_that_group_documents_are_used(fitted):
    corpus, posterior = fitted
    found, left_out = usable_groupings(corpus, posterior.n_topics)
    assert [one.groups.name for one in found] == ["year", "kind", "day"]
    assert left_out == ["same", "title"]


def test_without_metadata_there_is_nothing_to_group_by():
    corpus = from_texts(small_texts(N))
    assert usable_groupings(corpus, 5) == ([], [])
    assert facts_of(corpus, [0, 1]) == [[], []]


def test_columns_come_as_long_as_there_is_room(fitted, monkeypatch):
    corpus, _ = fitted
    monkeypatch.setattr(groups, "MOST_NUMBERS", 3 * 10 * (4 + 3))
    found, left_out = usable_groupings(corpus, 10)
    assert [one.groups.name for one in found] == ["year", "kind"]
    assert left_out == ["day", "same", "title"]


def test_shares_are_those_of_prevalence(fitted):
    corpus, posterior = fitted
    found, _ = usable_groupings(corpus, posterior.n_topics)
    for one in describe_groups(posterior, found):
        frame = prevalence(posterior, groups_of(corpus, one["name"]))
        for name in ("share", "low", "high"):
            np.testing.assert_allclose(np.array(one[name]).ravel(), frame[name])
        assert one["labels"] == [str(label) for label in frame["group"].unique()]
        assert sum(one["documents"]) == N
    year, kind, _ = describe_groups(posterior, found)
    assert year["at"] == [2000, 2001, 2002, None]
    assert year["missing"] == 3
    assert kind["missing"] is None


def test_a_group_without_words_has_no_shares():
    texts = [*small_texts(20), "", ""]
    corpus = from_texts(texts, metadata={"kind": ["full"] * 10 + ["other"] * 10 + ["empty"] * 2})
    posterior = posterior_of(corpus, run_chains(corpus, 1))
    (one,) = describe_groups(posterior, usable_groupings(corpus, posterior.n_topics)[0])
    assert one["labels"] == ["empty", "full", "other"]
    assert list(one["documents"]) == [0, 10, 10]
    assert np.isnan(one["share"][0][0])
    assert not np.isnan(one["share"][0][1:]).any()


def test_many_numbers_are_put_together():
    corpus = from_texts(["cat dog"] * 200, metadata={"year": [1820 + j for j in range(200)]}, max_df=1.0)
    ((one, step),), _ = usable_groupings(corpus, 1)
    assert step == 10
    assert len(one.labels) == 20
    assert groups._label(one.labels[0], step) == "1820 to 1829"


def test_values_of_which_every_document_has_its_own_are_put_together():
    days = [str(np.datetime64("2020-01-06") + j) for j in range(40)]
    columns = {"score": np.linspace(0, 1, 40).tolist(), "day": days}
    corpus = from_texts(["cat dog"] * 40, metadata=columns, max_df=1.0)
    (score, day), _ = usable_groupings(corpus, 1)
    assert score.step == 0.2
    assert [groups._label(one, score.step) for one in score.groups.labels[:2]] == ["0 to 0.2", "0.2 to 0.4"]
    assert day.groups.labels == [
        "2020-01-06",
        "2020-01-13",
        "2020-01-20",
        "2020-01-27",
        "2020-02-03",
        "2020-02-10",
    ]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1850, 2020), (-3e-5, 4e-5), (0, 1e12), (5, 5.1)])
def test_round_steps(low, high):
    step = round_step(low, high, 30)
    assert 5 <= (high - low) / step <= 30.01
    assert f"{step:.0e}"[0] in "125"


def test_what_is_known_of_documents_is_written_as_it_was(fitted):
    corpus, _ = fitted
    assert facts_of(corpus, [3, 0]) == [
        ["", "animals", "2020-01", "x", "title 3"],
        ["2000", "animals", "2020-01", "x", "title 0"],
    ]
    when = from_texts(
        ["cat dog"] * 3,
        metadata={"at": ["2020-01-02 10:30", None, "2020-01-05"], "note": ["y" * 500, 1.5, 2]},
    )
    (first, note), second, _ = facts_of(when, [0, 1, 2])
    assert first == "2020-01-02 10:30:00"
    assert len(note) == 120
    assert second == ["", "1.5"]


def test_the_page_has_the_groups_of_its_documents(tmp_path):
    elements = Elements(small_report(tmp_path / "r.html").read_text(encoding="utf-8"))
    assert elements.data("report-data")["groups"] == []
    assert not [one for one, _ in elements.all("section") if one["id"] == "groups"]
    assert elements.data("report-documents")[0]["groups"] == []


def test_a_large_collection_is_drawn_anew_less_often(fitted, monkeypatch):
    corpus, posterior = fitted
    found, _ = usable_groupings(corpus, posterior.n_topics)
    asked = []
    monkeypatch.setattr(groups, "prevalence", lambda *_, replicates: asked.append(replicates) or 1 / 0)
    for work, expected in ((10**9, 2000), (N * 3 * 500, 500), (1, 200)):
        monkeypatch.setattr(groups, "_MOST_WORK", work)
        with pytest.raises(ZeroDivisionError):
            describe_groups(posterior, found)
        assert asked[-1] == expected
