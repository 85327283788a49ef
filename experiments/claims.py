"""The paper's claims, one by one, against the tables."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.table import Table

from experiments import claims_synthetic, claims_text, tables
from experiments.claim import Case, Claim
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
    tables.write(folder, {f"{name}_comparison": _CHECKS[name].comparison(folder) for name in names})
    (folder / TIMINGS / "claims.md").write_text(as_markdown(claims), encoding="utf-8")
    return _as_table(claims)


def as_markdown(claims: Sequence[Claim]) -> str:
    """Return the claims as a table of Markdown."""
    rows = [f"| {one.name} | {one.says} | {one.measured} | **{one.verdict}** |" for one in claims]
    return "\n".join(["| claim | the paper says | measured | verdict |", "|---|---|---|---|", *rows]) + "\n"


def _as_table(claims: Sequence[Claim]) -> Table:
    table = Table("claim", "measured", "verdict", show_lines=True)
    for one in claims:
        table.add_row(one.name, one.measured, one.verdict)
    return table
