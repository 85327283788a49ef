"""Whether the answer can be trusted, in numbers and in plain words.

R-hat and effective sample sizes are in `posterior.convergence`. Whether a run is long enough is judged by the
topics that every chain has (`posterior.settling`), and what chains agree on by `posterior.agreement`. The
words for all of this are in `posterior.advice`.

More sweeps help where topics still change, and where there are very few sweeps. They do not help chains that
have settled in different modes, and nothing asks for more than `_LONG` kept sweeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from franchise import _html as html
from franchise._arrays import Array
from franchise.posterior.advice import Advice, as_command, in_python
from franchise.posterior.agreement import (
    AGREE,
    APART,
    FEW_DRAWS,
    PARTLY,
    R_HAT_GOOD,
    SHARED_GOOD,
    SHARED_SOME,
    Agreement,
    agreement,
    verdict_on,
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
from franchise.posterior.settling import FEWEST_DRAWS, Settling, settling
from franchise.sampling import Timetable, Trace
from franchise.sampling.schedule import SHARED

if TYPE_CHECKING:
    import pandas as pd

# Kept sweeps of a default fit; with fewer, chains that differ may only be too short. Halves of fewer are near
# in time: of 500 abstracts with 100 such sweeps they agreed, yet in four times as many sweeps the sizes of
# topics with 56% of the words changed by more than a fifth.
_FEW_SWEEPS = 250
# Kept sweeps beyond which no more are asked for: two doublings of a default fit. A topic that still wanders
# then wanders slowly, so its interval says more than a longer run would.
_LONG = 1000
_ROUND = 100  # sweeps are asked for in multiples of this
_ETA_DRIFT = 0.05  # of its logarithm, from the first third to the last: less does not matter
_ETA_USUAL = 0.01  # and more, in what people fit
# Starts that all chains have from the same topics, and what to call these topics.
_GIVEN = {
    "topics": "given topics",
    "seed words": "seed words",
    "continued": "earlier model",
    "fitted": "fitted topics",
}
_FOUND = (*_GIVEN, "documents", *SHARED)

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
    advice
        All of this, and what to do (`franchise.posterior.advice.Advice`); what holds comes first.
    messages
        The advice in plain words.
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
    advice: tuple[Advice, ...]
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

    @property
    def messages(self) -> list[str]:
        """The advice in plain words, for people who program."""
        return [in_python(one) for one in self.advice]

    def __str__(self) -> str:
        return self._text(self.messages)

    __repr__ = __str__  # a session shows the answer

    def in_commands(self, model: str) -> str:
        """Return what is printed, with commands for the model in a folder instead of calls."""
        return self._text([as_command(one, model) for one in self.advice])

    def _text(self, messages: list[str]) -> str:
        table = self.table.to_string(
            formatters={name: form.format for name, form in _DIGITS.items()}, na_rep="-"
        )
        return "\n".join([*messages, "", table, "", _LEGEND])

    def _repr_html_(self) -> str:
        columns = [name for name in _DIGITS if name in self.table.columns]
        rows = [
            [name, *("-" if np.isnan(row[c]) else _DIGITS[c].format(row[c]) for c in columns)]
            for name, row in self.table.to_dict("index").items()
        ]
        first, *others = self.messages
        lines = [html.line(first, strong=True), *map(html.line, others)]
        return html.block(*lines, html.table(["", *columns], rows), html.line(_LEGEND, soft=True))


class _Run(NamedTuple):
    """How long a run is."""

    sweeps: int  # planned
    n_kept: int  # sweeps after the burn-in, of the shortest chain
    is_finished: bool

    @property
    def is_long(self) -> bool:
        """Whether it is long enough never to ask for more."""
        return self.is_finished and self.n_kept >= _LONG

    @property
    def is_short(self) -> bool:
        """Whether chains that differ may only be too short."""
        return not self.is_finished or self.n_kept < _FEW_SWEEPS

    def longer(self) -> Advice:
        """Ask for enough sweeps to judge by."""
        if not self.is_finished:
            return Advice("resume", {"sweeps": 0, "burn_in": None})
        # By default half of all sweeps are counted; if the user gave a burn-in, all further ones are.
        missing = max(2 * _FEW_SWEEPS - self.sweeps, _FEW_SWEEPS - self.n_kept, 1)
        return Advice("resume", {"sweeps": -(-missing // _ROUND) * _ROUND, "burn_in": None})

    def doubled(self) -> Advice:
        """Ask for as many sweeps again, without those that were kept so far."""
        if not self.is_finished:
            return self.longer()
        burn_in = max(self.sweeps, _FEW_SWEEPS)
        return Advice("resume", {"sweeps": 2 * burn_in - self.sweeps, "burn_in": burn_in})


def diagnose(
    posterior: Posterior, traces: Sequence[Trace], schedule: Timetable, starts: Sequence[str | int] = ()
) -> Diagnosis:
    """Compare the chains, and each with itself; `starts` say where they started (`Chain.started_from`)."""
    series = series_of(posterior, traces, schedule)
    table = table_of(series)
    is_alone = len(traces) == 1 or len(posterior.draws) == 1
    found = agreement(posterior)
    firm = {"firm_topics": found.firm, "firm_share": found.firm_share}
    compared = {
        "solid_topics": found.solid,
        "likely_topics": found.likely,
        "doubtful_topics": found.doubtful,
        "shared": found.shared,
    }
    lonely = _one_chain_topics(posterior)
    n_kept = min(int((trace["sweep"] > schedule.burn_in).sum()) for trace in traces)
    run = _Run(schedule.sweeps, n_kept, all(trace["sweep"][-1] >= schedule.sweeps for trace in traces))
    if n_kept < FEWEST_SWEEPS:
        advice = (Advice("too few sweeps", {"n_kept": n_kept}), run.longer())
        known = {} if is_alone else compared | firm
        return Diagnosis(table, None, None, False, lonely, advice, **known)  # type: ignore[arg-type]
    drift = drift_of(series[N_TOPICS])
    of_eta = _about_eta(series)
    n_draws = min(map(len, posterior.draws))
    few_draws = n_draws if n_draws < FEW_DRAWS else 0
    if is_alone:
        said, halves = _about_one_chain(posterior, found, run, few_draws, of_eta)
        known = firm | _settled(halves)
        return Diagnosis(table, None, None, bool(drift), lonely, tuple(said), **known)  # type: ignore[arg-type]
    # Where chains share little, whether they still change is seen in all topics.
    are_shared = found.shared >= SHARED_SOME
    halves = settling(posterior, found.solid if are_shared else range(posterior.n_topics))
    worst = worst_of(series, table)
    verdict = verdict_on(found.relied_on, worst.r_hat)
    settled = _settled(halves)
    if settled["settled"] and run.is_short and verdict != AGREE:
        settled["settled"] = None
    is_settled = bool(settled["settled"])
    same_start = bool(starts) and all(start in _FOUND for start in starts)
    # Chains on a count table may begin at different numbers of topics.
    same_start &= "counts" not in starts or len({int(trace["n_topics"][0]) for trace in traces}) == 1
    said = [Advice("holds", {"found": found, "same_start": same_start, "few_draws": few_draws})]
    said += of_eta or _about_length(verdict, halves, run, are_shared)
    if verdict != AGREE:
        said += _about_differences(verdict, found, worst, run.is_short or not (is_settled or run.is_long))
        if halves and halves.uneven and are_shared and is_settled:
            uneven = {"topics": halves.uneven, "n_topics": halves.n_topics, "share": halves.uneven_share}
            said.append(Advice("uneven", uneven))
    if drift and is_settled and not of_eta:
        said.append(Advice("drift", {"by": drift}))
    if verdict != AGREE:
        said.append(Advice("by chain", {"ranges": dict(enumerate(posterior.n_topics_by_chain))}))
    if found.doubtful:
        doubtful = {
            "topics": found.doubtful,
            "n_topics": posterior.n_topics,
            "n_chains": len(posterior.draws),
        }
        said.append(Advice("doubtful", doubtful))
    if same_start and found.firm is None and verdict != APART:
        topics = _GIVEN.get(str(starts[0]), "topics")
        said += [Advice("same start", {"topics": topics}), Advice("start apart")]
    return Diagnosis(
        table,
        verdict == AGREE,
        verdict == AGREE and is_settled and not of_eta,
        bool(drift),
        lonely,
        tuple(said),
        verdict,
        same_start=same_start,
        **compared | firm | settled,  # type: ignore[arg-type]
    )


def _settled(halves: Settling | None) -> dict[str, Any]:
    """Return what a diagnosis says of the halves of a run."""
    if halves is None:
        return {"settled": None, "changing_topics": []}
    return {"settled": halves.settled, "changing_topics": halves.changing}


def _about_one_chain(
    posterior: Posterior, found: Agreement, run: _Run, few_draws: int, of_eta: list[Advice]
) -> tuple[list[Advice], Settling | None]:
    """Say what is known of the only chain, and compare its halves."""
    firm, n_topics = found.firm, posterior.n_topics
    are_firm = firm is not None and found.firm_share >= SHARED_SOME
    halves = settling(posterior, firm if are_firm and firm else range(n_topics))
    said = []
    if firm is not None:
        holds = {"firm": firm, "share": found.firm_share, "n_topics": n_topics, "few_draws": few_draws}
        said.append(Advice("one chain holds", holds))
    said += of_eta
    said += [Advice("one chain" if firm is None else "one chain and runs"), Advice("more chains")]
    if of_eta or halves is None:
        return said, halves
    if not halves.settled:
        said += _still_changing(halves, run, "firm" if are_firm else "")
    elif are_firm and run.is_short:
        return said + _too_short(run), None
    elif are_firm:
        said.append(Advice("settled", {"which": "firm"}))
    return said, halves


def _about_length(verdict: str, halves: Settling | None, run: _Run, are_shared: bool) -> list[Advice]:
    """Say whether a longer run would change the topics."""
    if halves is not None and not halves.settled:
        return _still_changing(halves, run, "shared" if are_shared else "")
    if verdict != AGREE and run.is_short:
        return _too_short(run)
    if halves is None:
        return [Advice("too few draws"), Advice("keep more draws", {"fewest": FEWEST_DRAWS})]
    if verdict == AGREE:
        return [Advice("converged")]
    return [Advice("settled", {"which": "shared"})] if are_shared else []


def _still_changing(halves: Settling, run: _Run, which: str) -> list[Advice]:
    """Say which topics a longer run would change; `which` topics were looked at, by default all."""
    changing = {"topics": halves.changing, "n_topics": halves.n_topics, "share": halves.changing_share}
    return [
        Advice("still changing", changing | {"which": which}),
        Advice("long") if run.is_long else run.doubled(),
    ]


def _too_short(run: _Run) -> list[Advice]:
    return [Advice("too short", {"n_kept": run.n_kept, "is_finished": run.is_finished}), run.longer()]


def _about_differences(verdict: str, found: Agreement, worst: Worst, may_change: bool) -> list[Advice]:
    """Say how the chains differ, and what to rely on unless a longer run may bring them together."""
    has_runs = found.firm is not None
    only_unlisted = not has_runs and bool(found.solid) and not (found.likely or found.doubtful)
    missing = "are not listed" if only_unlisted else "are not firm" if has_runs else "not every chain has"
    same_topics, same_numbers = found.relied_on >= SHARED_GOOD, worst.r_hat < R_HAT_GOOD
    differ = {
        "verdict": verdict,
        "missing": "" if same_topics else missing,
        "share": 1.0 - found.relied_on,
        "r_hat": worst.r_hat,
        "number": "" if same_numbers else worst.name,
    }
    said = [Advice("differ", differ)]
    if may_change:
        return said
    rely_on = "no single topic, but on what all chains together say of documents"
    if found.firm if has_runs else found.solid:
        rely_on = "the firm topics" if has_runs else "the topics that every chain has"
    why = "same topics" if same_topics else "own answers"
    if only_unlisted and same_numbers:
        why = "many answers"
    said += [Advice(why), Advice("rely", {"topics": rely_on})]
    further = [Advice("go further")] if why == "own answers" and verdict in (PARTLY, APART) else []
    return said + further


def _about_eta(series: dict[str, list[Array]]) -> list[Advice]:
    """Say whether an estimate of eta has run away; nothing of an eta that is fixed."""
    if "eta" not in series:
        return []
    logs = [np.log(chain) for chain in series["eta"]]
    eta, drift = float(np.exp(np.mean([chain[-1] for chain in logs]))), drift_of(logs, _ETA_DRIFT)
    if not drift and eta >= _ETA_USUAL:
        return []
    return [Advice("eta", {"eta": eta, "drift": drift}), Advice("fix eta")]


def _one_chain_topics(posterior: Posterior) -> list[int]:
    n_chains = len(posterior.draws)
    if n_chains == 1:
        return []
    return np.flatnonzero(posterior.chain_support < 1.5 / n_chains).tolist()
