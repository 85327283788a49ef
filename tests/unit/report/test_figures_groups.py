"""Figures of two groups side by side, and of groups by two columns."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from franchise.errors import SettingsError
from franchise.posterior.differences import ALL
from franchise.report.figures import plot_prevalence, plot_prevalence_difference
from tests.raising import raises
from tests.unit.report.drawn import data_lines, prevalence_table, seen_texts


def differences_of(shares, first, second, within=()):
    """Return what `prevalence_difference` would for these shares, in the rows that the figures look at."""
    rows = []
    for topic in shares["topic"].unique():
        for label in within or (None,):
            of = {
                group: shares[(shares["topic"] == topic) & (shares["group"] == group)]["share"].mean()
                for group in (first, second)
            }
            d = of[first] - of[second]
            place = {} if label is None else {"within": label}
            row = {"topic": topic, "terms": "ant, bee, cow, dog", "first": first, "second": second}
            rows.append(row | place | {"difference": d, "low": d - 0.1, "high": d + 0.1})
    return pd.DataFrame(rows)


def by_two_columns(groups, places, n_topics=3):
    """Return what `prevalence` would by two columns."""
    pairs = [(one, place) for one in groups for place in places]
    table = prevalence_table(list(range(len(pairs))), n_topics)
    chosen = [pairs[i] for i in table["group"]]
    return table.assign(group=[one for one, _ in chosen], within=[place for _, place in chosen])


def test_two_groups_side_by_side_and_their_difference():
    shares = prevalence_table(["D", "R"], n_topics=4)
    table = differences_of(shares, "D", "R")
    figure = plot_prevalence_difference(table, shares)
    left, right = figure.axes
    order = table.sort_values("difference", ascending=False)["topic"].tolist()
    assert [tick.get_text()[0] for tick in left.get_yticklabels()] == [str(topic) for topic in order]
    drawn = {name: points[:, 0] for name, points in zip("DR", data_lines(left))}
    for name, x in drawn.items():
        own = shares[shares["group"] == name].set_index("topic")["share"]
        assert x.tolist() == pytest.approx(own[order].tolist())
    points = next(line for line in data_lines(right) if len(line) == len(order))
    assert points[:, 0].tolist() == pytest.approx(table.set_index("topic")["difference"][order].tolist())
    assert "D minus R" in right.get_xlabel()
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["D", "R"]


def test_topics_are_drawn_in_the_order_that_is_given():
    shares = prevalence_table(["D", "R"], n_topics=4)
    figure = plot_prevalence_difference(differences_of(shares, "D", "R"), shares, [3, 0])
    assert [tick.get_text()[0] for tick in figure.axes[0].get_yticklabels()] == ["3", "0"]


@pytest.mark.parametrize("n_topics", [1, 40])
def test_nothing_is_cut_or_covered(n_topics):
    shares = prevalence_table(["a group with quite a long name", "R"], n_topics)
    figure = plot_prevalence_difference(differences_of(shares, "a group with quite a long name", "R"), shares)
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in seen_texts(figure):
        assert box.x0 > -1, text
        assert box.x1 < width + 1, text
        assert box.y0 > -1, text
        assert box.y1 < height + 1, text
    assert len(figure.axes[0].get_yticks()) == min(15, n_topics)


@pytest.mark.parametrize("places", [[2019, 2020, 2021], ["2019-01", "2019-02"], ["cs", "math"]])
def test_a_panel_for_each_topic(places):
    shares = by_two_columns(["D", "R"], [*places, "(missing)"])
    figure = plot_prevalence(shares, name="year")
    assert len(figure.axes) == 3
    for topic, panel in enumerate(figure.axes):
        assert panel.get_title(loc="left").startswith(f"{topic}: ")
        first, second = (line for line in data_lines(panel) if len(line) == len(places))
        own = shares[(shares["topic"] == topic) & shares["within"].isin(places)]
        assert first[:, 1].tolist() == pytest.approx(own[own["group"] == "D"]["share"].tolist())
        assert second[:, 1].tolist() == pytest.approx(own[own["group"] == "R"]["share"].tolist())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["D", "R"]


def test_differences_of_all_together_are_above_the_panels():
    shares = by_two_columns(["D", "R"], [2019, 2020])
    table = differences_of(shares, "D", "R", within=(2019, 2020, ALL))
    figure = plot_prevalence_difference(table, shares, name="year")
    for topic, panel in enumerate(figure.axes):
        points = 100 * table[(table["topic"] == topic) & (table["within"] == ALL)]["difference"].iloc[0]
        assert panel.get_title(loc="left").endswith(
            f"{points:+.1f} points ({points - 10:+.1f} to {points + 10:+.1f})"
        )


def test_own_axes():
    shares = prevalence_table(["D", "R"])
    table = differences_of(shares, "D", "R")
    axes = Figure().subplots(1, 2)
    assert plot_prevalence_difference(table, shares, axes=axes) is axes[0].figure
    with raises(SettingsError, "wrong-length", "3 axes"):
        plot_prevalence_difference(table, shares, axes=Figure().subplots(1, 3))
    two = by_two_columns(["D", "R"], [2019, 2020])
    ax = Figure().subplots()
    plot_prevalence(two, [1], ax=ax)
    assert len(data_lines(ax)) == 2
    with raises(SettingsError, "wrong-length", "1 axes", "3 topics"):
        plot_prevalence(two, ax=ax)


def test_wrong_tables():
    shares = prevalence_table(["D", "R"])
    table = differences_of(shares, "D", "R")
    for wrong in (
        lambda: plot_prevalence_difference(shares, shares),
        lambda: plot_prevalence_difference(table, table),
        lambda: plot_prevalence_difference(table, shares[shares["group"] == "D"]),
        lambda: plot_prevalence_difference(table, by_two_columns(["D", "R"], [1, 2])),
    ):
        with raises(SettingsError, "wrong-table"):
            wrong()
    with raises(SettingsError, "unknown-topic", "9"):
        plot_prevalence_difference(table, shares, [9])
