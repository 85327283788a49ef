"""Differences between two groups: right on draws made by hand; intervals cover as often as they say."""

import numpy as np
import pandas as pd
import pytest

from franchise.corpus import from_counts, groupings_of, groups_of
from franchise.errors import CorpusError, SettingsError
from franchise.posterior.differences import ALL, OTHERS, differences, two_groups
from franchise.posterior.prevalence import prevalence
from tests.raising import raises
from tests.unit.posterior.test_prevalence import certain


def first_topic(posterior):
    """Return the listed topic whose words are terms 0 and 1."""
    return int(posterior.columns[0][0])


def random_counts(n, seed=0, length=30):
    rng = np.random.default_rng(seed)
    first = rng.binomial(length, rng.beta(2, 3, n))
    return np.stack([first, 0 * first, length - first, 0 * first], axis=1)


def test_differences_of_shares():
    corpus, posterior = certain([[5, 4, 1, 0], [0, 0, 5, 5], [5, 5, 0, 0], [0, 0, 5, 5]])
    groups = groups_of(corpus, ["a", "a", "b", "c"])
    frame = differences(posterior, two_groups(groups, ("b", "a")))
    assert list(frame.columns) == [
        "topic", "terms", "first", "second", "share_first", "share_second", "difference", "low", "high",
        "probability", "n_first", "n_second",
    ]  # fmt: skip
    row = frame.iloc[first_topic(posterior)]
    assert (row["first"], row["second"], row["n_first"], row["n_second"]) == ("b", "a", 1, 2)
    assert (row["share_first"], row["share_second"]) == pytest.approx((1.0, 9 / 20))
    assert row["difference"] == pytest.approx(11 / 20)
    assert frame["difference"].sum() == pytest.approx(0.0)  # shares of all topics sum to one
    other_way = differences(posterior, two_groups(groups, ("a", "b")))
    assert other_way["difference"].tolist() == pytest.approx((-frame["difference"]).tolist())
    assert other_way["low"].tolist() == pytest.approx((-frame["high"]).tolist(), abs=0.02)
    assert other_way["probability"].tolist() == pytest.approx((1 - frame["probability"]).tolist(), abs=0.02)


def test_one_group_is_compared_with_all_others():
    corpus, posterior = certain([[9, 0, 1, 0], [0, 0, 5, 5], [2, 0, 8, 0], [10, 0, 0, 0]])
    frame = differences(posterior, two_groups(groups_of(corpus, ["a", "b", "c", None]), "a"))
    row = frame.iloc[first_topic(posterior)]
    # Missing values are in neither.
    assert (row["second"], row["n_second"], row["share_second"]) == (OTHERS, 2, pytest.approx(0.1))


def test_the_groups_of_a_column_with_two_need_no_name():
    corpus, posterior = certain(random_counts(8))
    groups = groups_of(corpus, [2019, 2020, None, 2019] * 2)
    given, by_text = (
        differences(posterior, two_groups(groups, of)) for of in ((2019, 2020), ("2019", "2020"))
    )
    pd.testing.assert_frame_equal(differences(posterior, two_groups(groups)), given)
    pd.testing.assert_frame_equal(by_text, given)


def within_months(counts, party, month, **options):
    corpus, posterior = certain(counts)
    corpus = corpus.with_metadata({"party": party, "month": month})
    groups, months = groupings_of(corpus, ["party", "month"])
    return posterior, differences(posterior, two_groups(groups, ("D", "R")), within=months, **options)


def test_all_together_is_the_coefficient_of_a_regression():
    """Of the shares on party and month; documents have different lengths, so the two ways differ."""
    rng = np.random.default_rng(4)
    party = rng.choice(["D", "R"], 60, p=[0.7, 0.3]).tolist()
    month = rng.integers(1, 5, 60).tolist()
    counts = random_counts(60, 1) + random_counts(60, 2, length=100) * (rng.random((60, 1)) < 0.5)
    dummies = np.column_stack([np.array(party) == "D", np.array(month)[:, None] == np.arange(1, 5)]).astype(
        float
    )
    share, words = counts[:, 0] / counts.sum(axis=1), counts.sum(axis=1)
    for per, weight in (("document", np.ones(60)), ("word", words.astype(float))):
        posterior, frame = within_months(counts, party, month, per=per)
        root = np.sqrt(weight)
        coefficient = np.linalg.lstsq(dummies * root[:, None], share * root, rcond=None)[0][0]
        rows = frame[frame["topic"] == first_topic(posterior)].set_index("within")
        assert rows.loc[ALL, "difference"] == pytest.approx(coefficient)
        assert rows.loc[ALL, "n_first"] == rows["n_first"].iloc[:-1].sum() == party.count("D")


def test_rows_of_single_months_are_those_of_their_documents():
    party, month = ["D", "R"] * 12, [1, 1, 2, 2, 3, 3] * 4
    posterior, frame = within_months(random_counts(24), party, month, topics=[1, 0])
    assert frame["topic"].tolist() == [1] * 4 + [0] * 4
    assert frame["within"].tolist() == [1, 2, 3, ALL] * 2
    corpus = posterior.corpus
    only_second = [party if month == 2 else None for party, month in zip(party, month)]
    alone = differences(posterior, two_groups(groups_of(corpus, only_second)), topics=[1])
    second = frame.iloc[1]
    assert second["difference"] == pytest.approx(alone["difference"].iloc[0])
    assert (second["low"], second["high"]) == pytest.approx(
        (alone["low"].iloc[0], alone["high"].iloc[0]), abs=0.03
    )


def test_months_with_fewer_than_two_documents_of_a_group_are_left_out():
    party = ["D", "D", "R", "R", "D", "D", "R", "D", "D"]
    month = [1, 1, 1, 1, 2, 2, 2, 3, 3]
    _, frame = within_months(random_counts(9), party, month, topics=[0])
    assert frame["within"].tolist() == [1, ALL]
    with raises(CorpusError, "nothing-to-compare", "'month'", "'D'", "'R'"):
        within_months(random_counts(3), ["D", "R", "R"], [1, 1, 2])


def test_months_that_hide_a_difference():
    """R speaks in the month in which both speak more of topic 0: the raw difference has the wrong sign."""
    counts = [[7, 0, 3, 0]] * 3 + [[3, 0, 7, 0]] * 9 + [[6, 0, 4, 0]] * 9 + [[2, 0, 8, 0]] * 3
    party, month = ["D"] * 12 + ["R"] * 12, [1] * 3 + [2] * 9 + [1] * 9 + [2] * 3
    posterior, frame = within_months(counts, party, month)
    topic = first_topic(posterior)
    together = frame[(frame["topic"] == topic) & (frame["within"] == ALL)].iloc[0]
    assert together["difference"] == pytest.approx(0.1)
    raw = differences(posterior, two_groups(groups_of(posterior.corpus, party)), topics=[topic])
    assert raw["difference"].iloc[0] == pytest.approx(-0.1)


def test_intervals_cover_what_was_planted_about_as_often_as_they_say():
    """Two groups of 15 documents, whose shares differ around 0.3 and 0.5.

    Of 300 intervals of 90%, 270 should cover; a bootstrap of 15 documents is known to cover a little less:
    0.88 is expected. At 0.82 to 0.95 a right program fails less than once in a thousand runs; one whose
    intervals are as wide as those of one group alone covers 0.75.
    """
    rng = np.random.default_rng(21)
    covered, above = [], []
    for seed in range(300):
        share = np.concatenate([rng.beta(3, 7, 15), rng.beta(5, 5, 15)])
        first = rng.binomial(40, share)
        corpus, posterior = certain(np.stack([first, 0 * first, 40 - first, 0 * first], axis=1), n_draws=1)
        two = two_groups(groups_of(corpus, [0] * 15 + [1] * 15))
        options = {"topics": [first_topic(posterior)], "random_state": seed, "replicates": 500}
        row = differences(posterior, two, interval=0.9, **options).iloc[0]
        covered.append(row["low"] <= -0.2 <= row["high"])
        above.append(row["probability"])
    assert 0.82 <= np.mean(covered) <= 0.95
    assert np.mean(np.array(above) < 0.05) > 0.8


def test_the_probability_of_no_difference_is_spread_evenly():
    """Both groups are alike: a tenth of the probabilities is below 0.1; 200 corpora show 0.04 to 0.18."""
    rng = np.random.default_rng(22)
    found = []
    for seed in range(200):
        first = rng.binomial(40, rng.beta(4, 6, 40))
        corpus, posterior = certain(np.stack([first, 0 * first, 40 - first, 0 * first], axis=1), n_draws=1)
        two = two_groups(groups_of(corpus, [0, 1] * 20))
        frame = differences(
            posterior, two, topics=[first_topic(posterior)], random_state=seed, replicates=300
        )
        found.append(frame["probability"].iloc[0])
    assert 0.04 <= np.mean(np.array(found) < 0.1) <= 0.18
    assert 0.4 <= np.mean(np.array(found) < 0.5) <= 0.6


def test_prevalence_by_two_columns():
    corpus, posterior = certain(random_counts(12))
    corpus = corpus.with_metadata({"party": ["D", "R"] * 6, "year": [2019] * 6 + [2020] * 6})
    groups, years = groupings_of(corpus, ["party", "year"])
    frame = prevalence(posterior, groups, within=years, topics=[0])
    assert list(frame.columns[:3]) == ["group", "within", "topic"]
    assert list(zip(frame["group"], frame["within"])) == [("D", 2019), ("D", 2020), ("R", 2019), ("R", 2020)]
    own = [f"{party} {year}" for party, year in zip(["D", "R"] * 6, [2019] * 6 + [2020] * 6)]
    by_hand = prevalence(posterior, groups_of(corpus, own), topics=[0])
    assert frame["share"].tolist() == by_hand["share"].tolist()
    assert frame["low"].tolist() == by_hand["low"].tolist()


def test_columns_and_steps():
    corpus = from_counts(random_counts(4)).with_metadata(
        {
            "party": ["D", "D", "R", "R"],
            "day": ["2020-01-03", "2020-02-01", "2020-02-02", "2021-01-01"],
            "n": [1, 2, 3, 4],
        }
    )
    assert [one.labels for one in groupings_of(corpus, ["party", "day"], "year")] == [
        ["D", "R"],
        [2020, 2021],
    ]
    assert [one.labels for one in groupings_of(corpus, ("n", "day"), [2, "year"])] == [
        [0, 2, 4],
        [2020, 2021],
    ]
    assert [one.labels for one in groupings_of(corpus, ["party"])] == [["D", "R"]]
    # One value per document, not names of columns.
    assert [one.labels for one in groupings_of(corpus, ["x", "y", "x", "y"])] == [["x", "y"]]
    for by, step, code, *facts in [
        (["party", "dya"], None, "unknown-column", "'dya'", "'day'"),
        (["party", "day", "n"], None, "too-many-columns", "party"),
        (["party", "party"], None, "too-many-columns", "party"),
        (["n", "day"], "year", "wrong-length", "'year'"),
        (["party", "day"], ["year"], "wrong-length", "'year'"),
        (["party", "day"], 3, "unknown-choice", "3", "'day'"),
    ]:
        with pytest.raises((CorpusError, SettingsError)) as caught:
            groupings_of(corpus, by, step)
        assert caught.value.code == code
        assert all(fact in str(caught.value) for fact in facts)


def test_wrong_groups():
    corpus, _ = certain(random_counts(6))
    groups = groups_of(corpus, ["a", "b", "c", "a", "b", "c"])
    for of, code, *facts in [
        (None, "not-two-groups", "3 groups", "a, b, c"),
        (("a", "a"), "not-two-groups", "'a'"),
        (("a", "b", "c"), "not-two-groups", "'c'"),
        (("a", "d"), "unknown-group", "'d'", "'a', 'b', 'c'"),
        ([], "not-two-groups", "[]"),
    ]:
        with raises(SettingsError, code, *facts):
            two_groups(groups, of)
    corpus, posterior = certain([[5, 5, 1, 0], [0, 0, 0, 0], [0, 0, 4, 4]])
    with raises(CorpusError, "empty-group", "'b'"):
        differences(posterior, two_groups(groups_of(corpus, ["a", "b", "c"]), ("a", "b")))
