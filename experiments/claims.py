"""The paper's claims, one by one, against the tables."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.table import Table

from experiments import claims_synthetic, claims_text, tables
from experiments.claim import Case, Claim
from experiments.markdown import claims_table, comparison_table
from experiments.tables import TIMINGS

_CHECKS = {"synthetic": claims_synthetic, "text": claims_text}


def write(folder: Path, names: Sequence[str]) -> Table:
    """Check the claims of the experiments named, write them, and return them as a table to look at."""
    names = [name for name in names if name in _CHECKS]
    claims = [claim for name in names for claim in _CHECKS[name].check(folder)]
    for timed, place in ((False, "claims"), (True, f"{TIMINGS}/claims")):
        checked = [claim for claim in claims if claim.timed == timed]
        if checked:
            cases = [one.cases.assign(claim=one.name, verdict=one.verdict) for one in checked]
            tables.write(folder, {place: pd.concat(cases)[["claim", *Case._fields, "verdict"]]})
    _write_text(folder / TIMINGS / "claims.md", claims_table(claims))
    for name in names:
        comparison = _CHECKS[name].comparison(folder)
        tables.write(folder, {f"{name}_comparison": comparison})
        _write_text(folder / f"{name}_comparison.md", comparison_table(comparison, _CHECKS[name].SETTINGS))
    return _as_table(claims)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _as_table(claims: Sequence[Claim]) -> Table:
    table = Table("claim", "measured", "verdict", show_lines=True)
    for one in claims:
        table.add_row(one.name, one.measured, one.verdict)
    return table
