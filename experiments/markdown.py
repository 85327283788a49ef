"""Claims and comparisons as tables of Markdown, for the documentation."""

from collections.abc import Sequence

import pandas as pd

from experiments.claim import Claim
from experiments.corpora import TITLES as CORPORA


def claims_table(claims: Sequence[Claim]) -> str:
    """Return the claims, one row each."""
    rows = [[one.name, one.says, one.measured, f"**{one.verdict}**"] for one in claims]
    return _table(["claim", "the paper says", "measured", "verdict"], rows)


def comparison_table(comparison: pd.DataFrame, settings: Sequence[str]) -> str:
    """Return a row for each setting, and for each measure the mean of Gibbs and what the others have more.

    An asterisk says that the 95% interval of the mean gain does not contain zero.
    """
    measures = list(comparison["measure"].unique())
    rows = []
    for setting, own in comparison.groupby(list(settings), sort=False):
        row = [
            CORPORA.get(value, f"{value:g}" if isinstance(value, float) else str(value)) for value in setting
        ]
        for measure in measures:
            gains = own[own["measure"] == measure].set_index("method")
            digits = _digits(gains["gibbs"].iloc[0])
            row.append(
                f"{gains['gibbs'].iloc[0]:.{digits}f}, "
                + ", ".join(_gain(gains.loc[method], digits) for method in ("paper", "default"))
            )
        rows.append(row)
    return _table([*settings, *measures], rows)


def _digits(level: float) -> int:
    """Return the digits after the point: three for logarithms and shares, none for large numbers."""
    return 3 if abs(level) < 10 else 1 if abs(level) < 100 else 0


def _gain(row: pd.Series, digits: int) -> str:
    star = "" if row["low"] <= 0 <= row["high"] else "\\*"
    return f"{row['mean']:+.{digits}f}{star}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
