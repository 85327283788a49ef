"""Whether the answer can be trusted, in numbers and in plain words.

R-hat and effective sample sizes are in `posterior.convergence`. Whether a run is long enough is judged by the
topics that every chain has (`posterior.settling`), and what chains agree on by `posterior.agreement`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from franchise import _html as html
from franchise.engines import GivenTopics
from franchise.model.state import Array
from franchise.posterior.advice import (
    CONVERGED,
    FIRM_SETTLED,
    ONE_CHAIN,
    ONE_CHAIN_AND_RUNS,
    SETTLED,
    TOO_FEW_DRAWS,
    Run,
    about_doubtful,
    about_drift,
    about_eta,
    about_uneven,
    how_far_apart,
    same_start_as,
    still_changing,
    too_few_sweeps,
    too_short,
    what_to_do,
)
from franchise.posterior.agreement import (
    AGREE,
    APART,
    FEW_DRAWS,
    R_HAT_GOOD,
    SHARED_GOOD,
    SHARED_SOME,
    Agreement,
    agreement,
    alone,
    topics_by_chain,
    verdict_on,
    what_holds,
    what_one_chain_holds,
)
from franchise.posterior.convergence import (
    FEWEST_SWEEPS,
    N_TOPICS,
    Worst,
    drift_of,
    series_of,
    table_of,
    worst_of,
)
from franchise.posterior.estimates import Posterior
from franchise.posterior.settling import Settling, settling
from franchise.sampling import Timetable, Trace
from franchise.sampling.schedule import SHARED

if TYPE_CHECKING:
    import pandas as pd

_ETA_DRIFT = 0.05  # of its logarithm, from the first third to the last: less does not matter
_FOUND = ("fitted", "documents", *SHARED)  # starts that all chains have from the same topics

_DIGITS = {
    "mean": "{:,.2f}",
    "sd": "{:,.2f}",
    "r_hat": "{:.2f}",
    "ess_bulk": "{:,.0f}",
    "ess_tail": "{:,.0f}",
}
_LEGEND = (
    "r_hat: 1.00 where the chains agree, higher where they do not. "
    "ess: how many independent draws the chains are worth."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Diagnosis:
    """Whether chains agree.

    Attributes
    ----------
    table
        Mean, standard deviation, R-hat and effective sample sizes of each number.
    agree
        Whether the chains agree; None where there is only one chain, or too few sweeps.
    converged
        Whether they agree and are settled; None where that is not known.
    drifting
        Whether the number of topics still rises or falls.
    one_chain_topics
        Listed topics that no two chains have.
    messages
        All of this in plain words, with what to do; what holds comes first.
    verdict
        ``"agree"``, ``"agree on most"``, ``"agree on some"`` or ``"do not agree"``; None where that is not
        known.
    solid_topics, likely_topics, doubtful_topics
        Listed topics that every chain has (rely on them), that more than half of the chains have, and the
        others (do not rely on them); all empty where there is only one chain.
    shared
        Share of the words in solid topics; NaN where there is only one chain.
    firm_topics, firm_share
        Listed topics that every chain has, be it only one, and most independent runs found, and their share
        of the words; None and NaN where there were no such runs.
    same_start
        Whether all chains started from the same fitted or given topics: that they agree says less then.
    settled
        Whether the topics that every chain has are the same in both halves of the run, so that a longer one
        would change little; None where that is not known.
    changing_topics
        Topics that are not the same in both halves.
    """

    table: "pd.DataFrame"
    agree: bool | None
    converged: bool | None
    drifting: bool
    one_chain_topics: list[int]
    messages: list[str]
    verdict: str | None = None
    solid_topics: list[int] = field(default_factory=list)
    likely_topics: list[int] = field(default_factory=list)
    doubtful_topics: list[int] = field(default_factory=list)
    shared: float = np.nan
    firm_topics: list[int] | None = None
    firm_share: float = np.nan
    same_start: bool = False
    settled: bool | None = None
    changing_topics: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        table = self.table.to_string(
            formatters={name: form.format for name, form in _DIGITS.items()}, na_rep="-"
        )
        return "\n".join([*self.messages, "", table, "", _LEGEND])

    __repr__ = __str__  # a session shows the answer

    def _repr_html_(self) -> str:
        columns = [name for name in _DIGITS if name in self.table.columns]
        rows = [
            [name, *("-" if np.isnan(row[c]) else _DIGITS[c].format(row[c]) for c in columns)]
            for name, row in self.table.to_dict("index").items()
        ]
        first, *others = self.messages
        lines = [html.line(first, strong=True), *map(html.line, others)]
        return html.block(*lines, html.table(["", *columns], rows), html.line(_LEGEND, soft=True))


def diagnose(
    posterior: Posterior, traces: Sequence[Trace], schedule: Timetable, starts: Sequence[object] = ()
) -> Diagnosis:
    """Compare the chains, and each with itself; `starts` say where they started (`Chain.init`)."""
    series = series_of(posterior, traces, schedule)
    table = table_of(series)
    one_chain = len(traces) == 1 or len(posterior.draws) == 1
    found = agreement(posterior)
    lonely = _one_chain_topics(posterior)
    n_kept = min(int((trace["sweep"] > schedule.burn_in).sum()) for trace in traces)
    run = Run(schedule.sweeps, n_kept, all(trace["sweep"][-1] >= schedule.sweeps for trace in traces))
    if n_kept < FEWEST_SWEEPS:
        found = Agreement([], [], [], np.nan) if one_chain else found
        return Diagnosis(table, None, None, False, lonely, [too_few_sweeps(run)], None, *found)
    drift = drift_of(series[N_TOPICS])
    of_eta = _about_eta(series)
    n_draws = min(map(len, posterior.draws))
    few_draws = n_draws if n_draws < FEW_DRAWS else 0
    if one_chain:
        found = alone(found)
        said, halves = _about_one_chain(posterior, found, run, few_draws, of_eta)
        settled, changing = (None, list[int]()) if halves is None else (halves.settled, halves.changing)
        rest = {"settled": settled, "changing_topics": changing}
        return Diagnosis(table, None, None, bool(drift), lonely, said, None, *found, **rest)  # type: ignore[arg-type]
    # Where chains share little, whether they still change is seen in all topics.
    are_shared = found.shared >= SHARED_SOME
    halves = settling(posterior, found.solid if are_shared else range(posterior.n_topics))
    settled, changing = (None, list[int]()) if halves is None else (halves.settled, halves.changing)
    worst = worst_of(series, table)
    verdict = verdict_on(found.relied_on, worst.r_hat)
    if settled and run.is_short and verdict != AGREE:
        settled = None
    same_start = bool(starts) and all(start in _FOUND or isinstance(start, GivenTopics) for start in starts)
    # Chains on a count table may begin at different numbers of topics.
    same_start &= "counts" not in starts or len({int(trace["n_topics"][0]) for trace in traces}) == 1
    messages = [what_holds(found, posterior.weights, same_start, few_draws)]
    messages += of_eta or _about_length(verdict, halves, run, are_shared)
    if verdict != AGREE:
        messages += _about_differences(verdict, found, worst, run.is_short or not (settled or run.is_long))
        messages += about_uneven(halves) if halves and are_shared and settled else []
    messages += about_drift(drift) if settled and not of_eta else []
    messages += [topics_by_chain(posterior)] if verdict != AGREE else []
    messages += about_doubtful(found.doubtful, posterior.n_topics, len(posterior.draws))
    if same_start and found.firm is None and verdict != APART:
        messages.append(same_start_as(starts[0]))
    return Diagnosis(
        table,
        verdict == AGREE,
        verdict == AGREE and bool(settled) and not of_eta,
        bool(drift),
        lonely,
        messages,
        verdict,
        *found,
        same_start,
        settled,
        changing,
    )


def _about_one_chain(
    posterior: Posterior, found: Agreement, run: Run, few_draws: int, of_eta: list[str]
) -> tuple[list[str], Settling | None]:
    """Say what is known of the only chain, and compare its halves."""
    firm = found.firm
    are_firm = firm is not None and found.firm_share >= SHARED_SOME
    halves = settling(posterior, firm if are_firm and firm else range(posterior.n_topics))
    holds = []
    if firm is not None:
        holds = [what_one_chain_holds(firm, found.firm_share, posterior.n_topics, few_draws)]
    said = [ONE_CHAIN if firm is None else ONE_CHAIN_AND_RUNS]
    if of_eta or halves is None:
        return [*holds, *of_eta, *said], halves
    if not halves.settled:
        said.append(still_changing(halves, run, "firm" if are_firm else ""))
    elif are_firm:
        said.append(too_short(run) if run.is_short else FIRM_SETTLED)
    return [*holds, *said], None if run.is_short and halves.settled and are_firm else halves


def _about_length(verdict: str, halves: Settling | None, run: Run, are_shared: bool) -> list[str]:
    """Say whether a longer run would change the topics."""
    if halves is not None and not halves.settled:  # twice as long, without what should have been left out
        return [still_changing(halves, run, "shared" if are_shared else "")]
    if verdict != AGREE and run.is_short:
        return [too_short(run)]
    if halves is None:
        return [TOO_FEW_DRAWS]
    if verdict == AGREE:
        return [CONVERGED]
    return [SETTLED] if are_shared else []


def _about_differences(verdict: str, found: Agreement, worst: Worst, may_change: bool) -> list[str]:
    """Say how far chains are apart, and what to rely on unless a longer run may bring them together."""
    only_unlisted = found.firm is None and bool(found.solid) and not (found.likely or found.doubtful)
    said = [how_far_apart(verdict, worst, found.relied_on, only_unlisted, found.firm is not None)]
    if may_change:
        return said
    rely_on = "the topics that every chain has" if found.solid else ""
    if found.firm is not None:
        rely_on = "the firm topics" if found.firm else ""
    same_topics = found.relied_on >= SHARED_GOOD
    return said + what_to_do(verdict, rely_on, only_unlisted and worst.r_hat < R_HAT_GOOD, same_topics)


def _about_eta(series: dict[str, list[Array]]) -> list[str]:
    """Say whether an estimate of eta has run away; nothing of an eta that is fixed."""
    if "eta" not in series:
        return []
    logs = [np.log(chain) for chain in series["eta"]]
    return about_eta(float(np.exp(np.mean([chain[-1] for chain in logs]))), drift_of(logs, _ETA_DRIFT))


def _one_chain_topics(posterior: Posterior) -> list[int]:
    n_chains = len(posterior.draws)
    if n_chains == 1:
        return []
    return np.flatnonzero(posterior.chain_support < 1.5 / n_chains).tolist()
