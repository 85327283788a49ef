import pytest
from matplotlib.dates import num2date

from franchise.corpus.groups import MISSING
from franchise.errors import SettingsError
from franchise.report.figures import plot_prevalence
from tests.raising import raises
from tests.unit.report.drawn import prevalence_table as table


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_over_years():
    frame = table([2019, 2020, 2022])
    ax = plot_prevalence(frame, name="year").axes[0]
    assert len(ax.lines) == 3
    assert ax.lines[1].get_xdata().tolist() == [2019, 2020, 2022]
    assert ax.lines[1].get_ydata().tolist() == frame[frame["topic"] == 1]["share"].tolist()
    assert len(ax.collections) == 3  # bands
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(frame[frame["topic"] == 0]["high"].max())
    assert sorted(labels(ax)) == ["0: ant, bee, cow", "1: ant, bee, cow", "2: ant, bee, cow"]
    assert ax.get_xlabel() == "year"
    assert ax.get_ylim()[0] == 0


def test_lines_over_dates(ax):
    plot_prevalence(table(["2025-Q1", "2025-Q2", "2025-Q4"]), ax=ax)
    ax.figure.canvas.draw()
    found = [num2date(x).strftime("%Y-%m") for x in ax.convert_xunits(ax.lines[0].get_xdata())]
    assert found == ["2025-01", "2025-04", "2025-10"]


def test_missing_values_stand_apart(ax):
    frame = table([2019, 2020, MISSING])
    plot_prevalence(frame, topics=[2], ax=ax)
    assert ax.lines[0].get_xdata().tolist() == [2019, 2020]
    apart = ax.lines[1]
    assert apart.get_xdata()[0] > 2020
    assert apart.get_ydata().tolist() == frame[frame["topic"] == 2]["share"].tolist()[-1:]
    assert "missing" in [text.get_text() for text in ax.texts]


def test_bars_over_categories(ax):
    frame = table(["cat", "dog", MISSING])
    plot_prevalence(frame, name="animal", ax=ax)
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(frame["share"].tolist())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["cat", "dog", MISSING]
    assert ax.get_ylabel() == "animal"


def test_few_of_many_categories(ax):
    plot_prevalence(table([f"g{i:02}" for i in range(20)]), ax=ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"g{i:02}" for i in range(5, 20)]
    assert "15 of 20 groups" in ax.get_xlabel()


def test_one_year_is_no_line(ax):
    plot_prevalence(table([2019]), ax=ax)
    assert len(ax.patches) == 3


def test_few_of_many_topics(ax):
    plot_prevalence(table([1, 2], n_topics=30), ax=ax)
    assert len(labels(ax)) == 6


@pytest.mark.parametrize(
    ("frame", "topics", "code", "facts"),
    [
        (table([1, 2]), [3], "unknown-topic", ["topics", "3", "[0, 1, 2]"]),
        (table([1, 2]), [], "empty-setting", ["topics"]),
        (table([1, 2]).drop(columns="low"), None, "wrong-table", ["prevalence()"]),
        (table([1, 2])[:0], None, "wrong-table", ["prevalence()", "one row"]),
    ],
)
def test_bad_input(frame, topics, code, facts):
    with raises(SettingsError, code, *facts):
        plot_prevalence(frame, topics)
