"""The paper's section 4.2: three text corpora, three values of eta, with and without split-merge."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.corpora import Split, read_split
from experiments.measure import METHODS, Mode, follow, split_merge_of
from experiments.runs import Array, Pause, Run
from franchise import Chain, Priors
from franchise.predict.heldout import completion_densities
from franchise.sampling import Timetable
from franchise.sampling.paper_heldout import paper_held_out

ETAS = (0.1, 0.2, 0.5)
UNTIL = 50  # the last sweep with the paper's split-merge
HELD_OUT = ("completion", "completion_of_mode", "paper_held_out", "mode_sweep")
_TEST_SWEEPS = 20
_GAMMA = (1.0, 1.0)


@dataclass(frozen=True)
class Size:
    """How much of the experiment to run."""

    runs: int
    sweeps: int
    looks: tuple[int, ...]  # the sweeps after which test documents are scored


FULL = Size(runs=20, sweeps=500, looks=(0, 1, 2, 5, 10, 20, 50, 100, 200, 350, 500))
QUICK = Size(runs=3, sweeps=100, looks=(0, 1, 5, 20, 50, 100))


def runs_of(size: Size, corpora: Sequence[str], folder: Path | None) -> list[Run]:
    """Return all runs, the first of each setting first, so that a batch cut short is still balanced."""
    splits = {name: read_split(name, folder) for name in corpora}
    return [
        _run(size, splits[name], eta, method, run)
        for run in range(1, size.runs + 1)
        for name in corpora
        for eta in ETAS
        for method in METHODS
    ]


def priors_of(eta: float) -> Priors:
    """Return the paper's priors on text."""
    return Priors(alpha=_GAMMA, gamma=_GAMMA, eta=eta)


def _run(size: Size, split: Split, eta: float, method: str, run: int) -> Run:
    schedule = Timetable(sweeps=size.sweeps, burn_in=size.sweeps, split_merge=split_merge_of(method, UNTIL))
    settings = {"corpus": split.name, "eta": eta, "method": method, "run": run}
    settings |= {"schedule": repr(schedule), "priors": repr(priors_of(eta))}
    settings |= {"looks": list(size.looks), "test_sweeps": _TEST_SWEEPS}
    settings |= {"training": split.training.fingerprint(), "test": split.test.fingerprint()}
    name = f"{split.name}_eta-{eta}_{method}_run-{run:02}"

    def work(pause: Pause) -> dict[str, Array]:
        # Methods of one run share the seed: they start alike, and differ by accepted trials only.
        return _measured(
            Chain(split.training, priors_of(eta), schedule, random_state=run), split, size.looks, pause
        )

    return Run(name, run, settings, work)


def _measured(chain: Chain, split: Split, looks: Sequence[int], pause: Pause) -> dict[str, Array]:
    """Run a chain, scoring the test documents at some sweeps."""
    scores: list[tuple[float, ...]] = []

    def visit(mode: Mode) -> None:
        if chain.sweeps_done in looks:
            scores.append(_scores(chain, split, mode, scores[-1] if scores else None))

    numbers = follow(chain, visit, pause)
    final = chain.draw().topic_terms
    return numbers | {
        "looks": np.array(looks),
        "held_out": np.array(scores),
        "topic_terms.data": final.data,
        "topic_terms.indices": final.indices,
        "topic_terms.indptr": final.indptr,
    }


def _scores(chain: Chain, split: Split, mode: Mode, last: tuple[float, ...] | None) -> tuple[float, ...]:
    """Return `HELD_OUT`; the mode's are those of the last look if it is still the mode."""
    now = completion_densities([[chain.draw()]], split.test).held_out([1.0]).per_word
    if last and mode.sweep == last[-1]:
        return now, *last[1:]
    of_mode = completion_densities([[mode.draw(chain)]], split.test).held_out([1.0]).per_word
    arguments = (split.training, mode.state, chain.priors, split.test)
    paper = paper_held_out(*arguments, sweeps=_TEST_SWEEPS, random_state=chain.seed).per_word
    return now, of_mode, paper, mode.sweep
