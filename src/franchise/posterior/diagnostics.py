"""Whether the answer can be trusted, in numbers and in plain words.

R-hat and effective sample sizes (Vehtari et al. 2021, by ArviZ) are computed of numbers that do not depend on
the labels of topics, which switch. Whether a run is long enough is judged by the topics that every chain has
(`posterior.settling`), and what chains agree on by `posterior.agreement`.
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
    ONE_CHAIN,
    SETTLED,
    TOO_FEW_DRAWS,
    Run,
    Worst,
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
    topics_by_chain,
    verdict_on,
    what_holds,
)
from franchise.posterior.estimates import Posterior
from franchise.posterior.settling import Settling, settling
from franchise.sampling import Draw, Schedule, Trace
from franchise.sampling.chain import SHARED

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_DRAWS = 8  # a chain, for its halves to be compared
_DRIFT = 6.0  # standard errors between the first and the last third: few, of short chains, are known badly
_ETA_DRIFT = 0.05  # of its logarithm, between the same: less does not matter
_FOUND = ("fitted", *SHARED)  # starts that all chains have from the same topics
_LARGE = 0.01  # share of the words of a topic that is not small

_N_TOPICS, _N_LARGE = "number of topics", "number of topics of 1% or more"
_OF_TRACES = {
    "n_topics": _N_TOPICS,
    "n_tables": "number of tables",
    "log_p_words": "log probability of the words",
    "log_joint": "log joint",
    "alpha": "alpha",
    "gamma": "gamma",
    "eta": "eta",
}
# What chains must agree on to agree; the others are for the curious.
_VITAL = (_N_TOPICS, "log probability of the words", _N_LARGE, "entropy of topic sizes")

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
        Solid topics that most independent runs found, and their share of the words; None and NaN where there
        were no such runs.
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
    posterior: Posterior, traces: Sequence[Trace], schedule: Schedule, starts: Sequence[object] = ()
) -> Diagnosis:
    """Compare the chains, and each with itself; `starts` say where they started (`Chain.start_from`)."""
    series = _series(posterior, traces, schedule)
    table = _table(series)
    one_chain = len(traces) == 1 or len(posterior.draws) == 1
    found = Agreement([], [], [], np.nan) if one_chain else agreement(posterior)
    lonely = _one_chain_topics(posterior)
    n_kept = min(int((trace["sweep"] > schedule.burn_in).sum()) for trace in traces)
    run = Run(schedule.sweeps, n_kept, all(trace["sweep"][-1] >= schedule.sweeps for trace in traces))
    if n_kept < _FEWEST_DRAWS:
        return Diagnosis(table, None, None, False, lonely, [too_few_sweeps(run)], None, *found)
    drift = _drift(series[_N_TOPICS])
    of_eta = _about_eta(series)
    # Where chains share little, whether they still change is seen in all topics.
    are_shared = not one_chain and found.shared >= SHARED_SOME
    halves = settling(posterior, found.solid if are_shared else range(posterior.n_topics))
    settled, changing = (None, list[int]()) if halves is None else (halves.settled, halves.changing)
    if one_chain:
        said = [ONE_CHAIN, *of_eta]
        if halves and not settled and not of_eta:
            said.append(still_changing(halves, run, are_shared=False))
        return Diagnosis(
            table, None, None, bool(drift), lonely, said, settled=settled, changing_topics=changing
        )
    worst = _worst(series, table)
    verdict = verdict_on(found.relied_on, worst.r_hat)
    if settled and run.is_short and verdict != AGREE:
        settled = None
    same_start = bool(starts) and all(start in _FOUND or isinstance(start, GivenTopics) for start in starts)
    # Chains on a count table may begin at different numbers of topics.
    same_start &= "counts" not in starts or len({int(trace["n_topics"][0]) for trace in traces}) == 1
    n_draws = min(map(len, posterior.draws))
    few_draws = n_draws if n_draws < FEW_DRAWS else 0
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


def _about_length(verdict: str, halves: Settling | None, run: Run, are_shared: bool) -> list[str]:
    """Say whether a longer run would change the topics."""
    if halves is not None and not halves.settled:  # twice as long, without what should have been left out
        return [still_changing(halves, run, are_shared)]
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


# ---------------------------------------------------------------- numbers


def _series(posterior: Posterior, traces: Sequence[Trace], schedule: Schedule) -> dict[str, list[Array]]:
    """Return each number as one array per chain, without the burn-in."""
    kept = [trace["sweep"] > schedule.burn_in for trace in traces]
    is_early = not all(one.any() for one in kept)
    if is_early:  # interrupted: all that there is
        kept = [np.ones(len(trace), bool) for trace in traces]
    series = {
        name: [trace[column][rows] for trace, rows in zip(traces, kept, strict=True)]
        for column, name in _OF_TRACES.items()
    }
    of_draws = [[_sizes(draw) for draw in chain] for chain in posterior.draws]
    series[_N_LARGE] = [np.array([(p >= _LARGE).sum() for p in chain]) for chain in of_draws]
    series["entropy of topic sizes"] = [
        np.array([-(p * np.log(p)).sum() for p in chain]) for chain in of_draws
    ]
    series["share of the largest topic"] = [np.array([p.max() for p in chain]) for chain in of_draws]
    # What is fixed by the user says nothing about the run, nor does an eta that is held by a warm-up.
    fixed = [name for name in ("alpha", "gamma", "eta") if np.ptp(np.concatenate(series[name])) == 0.0]
    if is_early and schedule.warm_up:
        fixed.append("eta")
    return {name: chains for name, chains in series.items() if name not in fixed}


def _sizes(draw: Draw) -> Array:
    sizes = draw.topic_terms.sum(axis=1)
    return sizes / sizes.sum()


def _square(chains: list[Array]) -> Array:
    """Return the last of each chain, as many as the shortest has: (chain, draw)."""
    length = min(map(len, chains))
    return np.array([chain[len(chain) - length :] for chain in chains], float)


def _table(series: dict[str, list[Array]]) -> "pd.DataFrame":
    import pandas as pd

    rows = {}
    for name, chains in series.items():
        together = np.concatenate(chains).astype(float)
        rows[name] = {"mean": together.mean(), "sd": together.std(), **_convergence(_square(chains))}
    return pd.DataFrame.from_dict(rows, orient="index")


def _convergence(square: Array) -> dict[str, float]:
    """Return R-hat and effective sample sizes of an array (chain, draw)."""
    from arviz_stats.base import array_stats

    if square.shape[1] < _FEWEST_DRAWS:
        return {"r_hat": np.nan, "ess_bulk": np.nan, "ess_tail": np.nan}
    if np.ptp(square) == 0.0:  # the same number everywhere: no chain disagrees
        r_hat = 1.0 if len(square) > 1 else np.nan
        return {"r_hat": r_hat, "ess_bulk": float(square.size), "ess_tail": float(square.size)}
    with np.errstate(all="ignore"):
        r_hat = float(array_stats.rhat(square)) if len(square) > 1 else np.nan
        bulk = float(array_stats.ess(square, method="bulk"))
        tail = float(array_stats.ess(square, method="tail", prob=(0.05, 0.95)))
    # Where no chain ever leaves a number of its own, R-hat divides by rounding errors.
    return {"r_hat": np.inf if r_hat > 1e6 else r_hat, "ess_bulk": bulk, "ess_tail": tail}


def _worst(series: dict[str, list[Array]], table: "pd.DataFrame") -> Worst:
    """Return the vital number of the largest R-hat; 1 where none is larger than chance makes it."""
    found = [
        Worst(float(table.loc[name, "r_hat"]), name)
        for name in _VITAL
        if table.loc[name, "r_hat"] > _r_hat_by_chance(_square(series[name]).shape)
    ]
    return max(found, key=lambda number: number.r_hat, default=Worst(1.0, ""))


def _r_hat_by_chance(shape: tuple[int, ...]) -> float:
    """Return the R-hat that independent draws (chain, draw) exceed once in a thousand times.

    That of few draws is large: of two chains with 8 draws each, 1.9. The means of the 2 C half chains vary
    as the draws in them tell, or an F variable times as much.
    """
    from scipy.stats import f

    halves, length = 2 * shape[0], shape[1] // 2
    ratio = f.ppf(0.999, halves - 1, halves * (length - 1))
    return float(np.sqrt((length - 1 + ratio) / length))


def _about_eta(series: dict[str, list[Array]]) -> list[str]:
    """Say whether an estimate of eta has run away; nothing of an eta that is fixed."""
    if "eta" not in series:
        return []
    logs = [np.log(chain) for chain in series["eta"]]
    return about_eta(float(np.exp(np.mean([chain[-1] for chain in logs]))), _drift(logs, _ETA_DRIFT))


def _drift(chains: list[Array], least: float = 1.0) -> float:
    """Return by how much K rises (falls) from the first to the last third.

    It is 0 where that may be chance, or less than matters.
    """
    square = _square(chains)
    length = square.shape[1]
    third = length // 3
    if third < _FEWEST_DRAWS // 2:
        return 0.0
    weights = np.zeros(length)
    weights[:third], weights[-third:] = -1.0 / third, 1.0 / third
    rises = square @ weights
    rise = float(rises.mean())
    same_way = np.mean(np.sign(rises) == np.sign(rise)) > 0.5
    if not same_way or abs(rise) < least:
        return 0.0
    return rise if abs(rise) > _DRIFT * _standard_error(square, weights) else 0.0


def _standard_error(square: Array, weights: Array) -> float:
    """Return the standard error of a weighted sum of each chain's numbers, averaged over the chains.

    It is that of numbers which always come back to their mean, AR(1). How slowly is seen after a smooth
    course (a parabola) is taken off; what that takes off the correlation is added again (Kendall's bias).
    Rounding to whole numbers blurs the first correlation, but not the ratio of the second to it.
    """
    from scipy.signal import correlate

    n_chains, length = square.shape
    parabolas = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, length), 3))[0]
    rest = square - (square @ parabolas) @ parabolas.T
    lags = [float((rest[:, lag:] * rest[:, : length - lag]).sum()) for lag in range(3)]
    if lags[0] < 1e-9 * square.size:
        return 0.0
    rho = lags[1] / lags[0]
    if rho > 0.5:
        rho = max(rho, lags[2] / lags[1])
    rho = float(np.clip((length * rho + 3.0) / (length - 5.0), 0.0, 0.999))
    noise = ((rest[:, 1:] - rho * rest[:, :-1]) ** 2).sum() / (n_chains * (length - 5.0))
    apart = np.abs(np.arange(1 - length, length))
    variance = noise / (1.0 - rho**2) * (rho**apart @ correlate(weights, weights))
    return float(np.sqrt(variance / n_chains))


def _one_chain_topics(posterior: Posterior) -> list[int]:
    n_chains = len(posterior.draws)
    if n_chains == 1:
        return []
    return np.flatnonzero(posterior.chain_support < 1.5 / n_chains).tolist()
