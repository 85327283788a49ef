"""Why few trials are accepted: the paper's move in its first 50 sweeps, one thing changed at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.corpora import Split, read_split
from experiments.measure import SCANNED, follow
from experiments.runs import Array, Pause, Run
from experiments.text import ETAS, UNTIL, priors_of
from franchise import Chain, Proposal, SplitMerge
from franchise.sampling import Timetable

_TRIALS = 10  # per sweep, for more trials to count; the paper has one
VARIANTS = {
    "uniform": (Proposal(),),
    "balanced": (Proposal(anchors="balanced"),),
    "uniform, 3 scans": (Proposal(scans=3),),
    "default": SCANNED,
}
TITLES = {
    "uniform": "tables chosen uniformly (as published)",
    "balanced": "as many splits as merges",
    "uniform, 3 scans": "uniformly, and 3 restricted scans",
    "default": "franchise's default",
}


@dataclass(frozen=True)
class Size:
    """How much of the experiment to run."""

    runs: int


FULL = Size(runs=5)
QUICK = Size(runs=1)


def runs_of(size: Size, corpora: Sequence[str], folder: Path | None) -> list[Run]:
    """Return all runs, the first of each setting first."""
    splits = {name: read_split(name, folder) for name in corpora}
    return [
        _run(splits[name], eta, variant, run)
        for run in range(1, size.runs + 1)
        for name in corpora
        for eta in ETAS
        for variant in VARIANTS
    ]


def _run(split: Split, eta: float, variant: str, run: int) -> Run:
    trials = SplitMerge(trials=_TRIALS, proposals=VARIANTS[variant], keep_trials=True)
    schedule = Timetable(sweeps=UNTIL, burn_in=UNTIL, split_merge=trials)
    settings = {"corpus": split.name, "eta": eta, "variant": variant, "run": run}
    settings |= {"schedule": repr(schedule), "priors": repr(priors_of(eta))}
    settings |= {"training": split.training.fingerprint()}
    name = f"{split.name}_eta-{eta}_{variant.replace(', ', '-').replace(' ', '-')}_run-{run:02}"

    def work(pause: Pause) -> dict[str, Array]:
        chain = Chain(split.training, priors_of(eta), schedule, random_state=run)
        return follow(chain, lambda _: None, pause)

    return Run(name, run, settings, work)
