"""``franchise resume``."""

import click

from franchise.cli import INTERRUPTED
from franchise.cli._cluster import cluster_options, quiet_ray, use_cluster_for
from franchise.cli._model import interruptible
from franchise.cli.fit import DURATION


@click.command()
@click.argument("model", type=click.Path())
@click.option("--sweeps", type=int, default=0, show_default=True, help="Sweeps to make beyond those planned.")
@click.option(
    "--burn-in",
    type=int,
    help="Sweeps to leave out, of all.  [default: as for the fit; if not given there, half of all]",
)
@click.option(
    "--thin",
    type=int,
    help="Keep one sweep out of this many.  [default: as for the fit; if not given there, to keep 25 to 50]",
)
@click.option(
    "--jobs",
    type=int,
    default=-1,
    help="Number of threads; does not change the answer.  [default: all cores]",
)
@cluster_options("Resume a fit of engine ray or ray-gpu")
@click.option("--time-budget", type=DURATION, metavar="TIME", help="Stop after this time (90, 10m, 2h).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.pass_context
def command(
    ctx: click.Context,
    model: str,
    sweeps: int,
    burn_in: int | None,
    thin: int | None,
    jobs: int,
    ray: str | None,
    workers: int | None,
    time_budget: float | None,
    quiet: bool,
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

    quiet_ray()
    with interruptible(model, anew=False):
        fitted = HDPTopicModel.load(model).set_params(n_jobs=jobs, verbose=0 if quiet else 1)
        use_cluster_for(fitted, ray, workers)
        fitted.resume(sweeps, burn_in=burn_in, thin=thin, checkpoint_dir=model, time_budget=time_budget)
        click.echo(fitted.in_commands(model))
    if fitted.ending_ == "interrupted":
        ctx.exit(INTERRUPTED)
