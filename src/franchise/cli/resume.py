"""``franchise resume``."""

from typing import Any

import click

from franchise.cli import _options as options
from franchise.cli._cluster import continue_on
from franchise.cli._model import interruptible, show_fit


@click.command(cls=options.Command)
@click.argument("model", type=click.Path())
@options.option("--sweeps", "Sweeps to make beyond those planned", int, default=0)
@options.option(
    "--burn-in", "Sweeps of all to leave out at the start", int, show_default="as for the fit, or half of all"
)
@options.option(
    "--thin",
    "Keep every N-th sweep after the burn-in",
    int,
    show_default="as for the fit, or such that 25 to 50 are kept",
)
@options.n_jobs
@options.cluster
@options.time_budget
@options.quiet
def command(
    model: str, sweeps: int, n_jobs: int, ray: str | None, workers: int | None, quiet: bool, **values: Any
) -> None:
    """Resume the fit in the folder MODEL, or make a finished one longer.

    An interrupted fit ends, bit for bit, where it would have ended without the interruption. A fit that is
    made longer equals one that was as long from the start if it was planned with 200 sweeps or more; a
    shorter one keeps its shorter warm-up, and a line says so. Draws that a new burn-in or thinning leaves
    out are dropped.

    \b
    Examples:
      franchise resume model/
      franchise resume model/ --sweeps 500
      franchise resume model/ --sweeps 500 --burn-in 700
      franchise resume model/ --ray auto --workers 4
    """
    from franchise.estimator import HDPTopicModel

    with interruptible(model, anew=False):
        fitted = HDPTopicModel.load(model).set_params(n_jobs=n_jobs, verbose=0 if quiet else 1)
        continue_on(ray, workers, fitted)
        fitted.resume(sweeps, checkpoint_dir=model, **values)
        show_fit(fitted, model)
