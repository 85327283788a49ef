"""``franchise fit``."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import INTERRUPTED
from franchise.cli._cluster import cluster_options, use_cluster
from franchise.cli._config import options_to_keep, use_config
from franchise.cli._input import (
    MOST_TEXT,
    downsample_option,
    effective_counts_option,
    metadata_option,
    options_of,
    read,
    reading_options,
    text_options,
)
from franchise.cli._model import interruptible

if TYPE_CHECKING:
    from franchise.corpus import Corpus
    from franchise.estimator import HDPTopicModel

_MODEL_SETTINGS = (
    "sweeps",
    "burn_in",
    "thin",
    "chains",
    "eta",
    "alpha",
    "gamma",
    "alpha_prior",
    "gamma_prior",
    "init",
    "effective_counts",
    "warm_up",
    "split_merge",
    "engine",
)
_STARTS = ("auto", "consensus", "counts", "documents", "fitted", "apart", "sequential", "one")


class _NumberOr(click.ParamType):  # type: ignore[type-arg]
    """A number, or one of some words."""

    name = "number"

    def __init__(self, kind: type, *words: str) -> None:
        self._kind, self._words = kind, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value; one from a configuration file may be a number."""
        if value in self._words:
            return value
        try:
            if isinstance(value, bool) or (self._kind is int and isinstance(value, float)):
                raise TypeError
            return self._kind(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a number nor one of {', '.join(self._words)}", param, ctx)


class _Init(_NumberOr):
    """Where chains start; the folder of a model may be given too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the value."""
        if isinstance(value, str) and value not in self._words and Path(value).is_dir():
            return value
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            known = ", ".join(self._words)
            what = f"{value!r} is neither a number nor one of {known}, nor the folder of a model"
            self.fail(what, param, ctx)


class _Duration(click.ParamType):  # type: ignore[type-arg]
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read seconds, or a number followed by s, m or h."""
        units = {"s": 1.0, "m": 60.0, "h": 3600.0}
        text = str(value)
        try:
            seconds = float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
            if 0 < seconds < math.inf:
                return seconds
        except ValueError:
            pass
        self.fail(f"{value!r} is not a duration; give seconds, or 10m, or 2h", param, ctx)


class _Gamma(click.ParamType):  # type: ignore[type-arg]
    """Shape and rate of a Gamma prior: ``2,0.5``, or a list in a configuration file."""

    name = "shape,rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read two positive numbers."""
        parts = value.split(",") if isinstance(value, str) else value
        try:
            if any(isinstance(part, bool) for part in parts):
                raise TypeError
            shape, rate = (float(part) for part in parts)
            if 0 < shape < math.inf and 0 < rate < math.inf:
                return shape, rate
        except (TypeError, ValueError):
            pass
        self.fail(f"{value!r} is no Gamma prior; give shape and rate, such as 1,1 or 2,0.5", param, ctx)


DURATION, GAMMA = _Duration(), _Gamma()


@click.command()
@click.argument("input", type=click.Path(allow_dash=True))
@click.option("-o", "--output", type=click.Path(), metavar="MODEL", help="Folder to write the model to.")
@click.option("--force", is_flag=True, help="Replace an existing model.")
@click.option(
    "--config",
    type=click.Path(),
    callback=use_config,
    is_eager=True,
    metavar="FILE",
    help="TOML file of options.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only show how large the input is, and how long a fit would take."
)
@reading_options
@metadata_option
@text_options
@downsample_option
@click.option("--sweeps", type=int, default=500, show_default=True, help="Passes over all words, per chain.")
@click.option("--burn-in", type=int, help="Sweeps at the start to leave out of the answer.  [default: half]")
@click.option(
    "--thin", type=int, help="Keep one sweep out of this many.  [default: such that 25 to 50 are kept]"
)
@click.option(
    "--chains",
    type=int,
    default=4,
    show_default=True,
    help="Independent runs, compared to see whether they agree.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    metavar="INTEGER",
    default=0,
    show_default="0",
    help="The same seed gives the same model.",
)
@click.option(
    "--eta",
    type=_NumberOr(float, "auto", "sample"),
    default="auto",
    show_default=True,
    help="How evenly a topic spreads over terms; smaller gives more topics. auto: 0.1 for text, 0.3 for very "
    "short texts, 1 for count tables; sample: estimated.",
)
@click.option(
    "--alpha", type=float, help="Fix alpha (larger: more topics per document) instead of estimating it."
)
@click.option("--gamma", type=float, help="Fix gamma (larger: more topics in all) instead of estimating it.")
@click.option(
    "--alpha-prior",
    type=GAMMA,
    metavar="SHAPE,RATE",
    help="Gamma prior under which alpha is estimated.  [default: 1,1]",
)
@click.option(
    "--gamma-prior",
    type=GAMMA,
    metavar="SHAPE,RATE",
    help="Gamma prior under which gamma is estimated.  [default: 1,1]",
)
@click.option(
    "--init",
    type=_Init(int, *_STARTS),
    default="auto",
    show_default=True,
    help="Where chains start: consensus (topics that short runs agree on), counts (for count tables), "
    "documents (topics begun at random documents), fitted (topics found by EM), auto (one of these four), "
    "apart (different starts in turn), sequential, one, a number of random topics, or the folder of an "
    "earlier model, to start from its topics.",
)
@effective_counts_option
@click.option(
    "--seed-words",
    type=click.Path(),
    metavar="FILE",
    help='Start from seed words: JSON such as {"cosmology": ["galaxy", "redshift"]}, or CSV lines of a '
    "topic's name and its words. A start, not a prior.",
)
@click.option(
    "--warm-up",
    type=int,
    help="First sweeps with a smaller eta, so that topics separate.  [default: 40 if --init is fitted, 60 if "
    "it is documents, but no more than half of the burn-in; 0 for other starts or if eta is estimated]",
)
@click.option(
    "--split-merge",
    type=click.Choice(["always", "burn-in", "off"]),
    default="always",
    show_default=True,
    help="When to split and merge whole topics.",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "collapsed", "parallel", "gpu", "cells", "ray", "ray-gpu"]),
    default="auto",
    show_default=True,
    help="How sweeps are made: collapsed (word by word, one core per chain), parallel (all documents at "
    "once, all cores), gpu (on a GPU), cells (all words of a term in a document at once, for large counts), "
    "ray (as parallel, on a cluster), ray-gpu (as gpu, on the GPUs of a cluster), or auto: collapsed below a "
    "million words, above it cells for large counts, else parallel, from ten million on gpu if there is one.",
)
@click.option("--jobs", type=int, help="Number of threads; does not change the answer.  [default: all cores]")
@cluster_options("Fit")
@click.option(
    "--time-budget",
    type=DURATION,
    metavar="TIME",
    help="Stop after this time (90, 10m, 2h), but not before the chains have started; `resume` continues.",
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.pass_context
def command(ctx: click.Context, /, input: str, output: str | None, **values: Any) -> None:
    """Find the topics of the documents in INPUT, and how many there are.

    INPUT is a file or folder: one document per line (.txt), a folder of text files, .csv, .tsv, .jsonl or
    .parquet with --text-column, MALLET's text (--format-in mallet), LDA-C (.ldac), UCI bag-of-words
    (docword.*), Matrix Market (.mtx), SciPy's .npz, AnnData's .h5ad or Franchise's own (.franchise, made by
    `franchise convert`, for what is too large for memory), any of them gzipped; - is standard input.

    The model is saved in its folder while it is fitted. After Ctrl-C or a crash, `franchise resume MODEL`
    ends where an uninterrupted fit would have ended.

    \b
    Examples:
      franchise fit abstracts.txt -o model/
      franchise fit papers.csv --text-column abstract --id-column doi -o model/ --chains 2
      franchise fit speeches.csv --text-column text --metadata year,party -o model/
      franchise fit mutations.mtx --downsample 1000 -o model/
      franchise fit wiki.franchise -o model/ --ray auto --workers 16
      zcat news.jsonl.gz | franchise fit - --format-in jsonl --text-column body -o model/
    """
    from franchise.storage.model import write_config

    use_cluster(values)
    for name in ("alpha", "gamma"):
        if values[name] is not None and values[f"{name}_prior"] is not None:
            raise click.UsageError(f"--{name} fixes {name}, which needs no --{name}-prior; leave out one")
    if output is None and not values["dry_run"]:
        raise click.UsageError("say where to write the model: -o MODEL")
    if output is not None and not values["dry_run"]:
        _refuse(Path(output), values["force"])
    if values["seed_words"] is not None and values["init"] != "auto":
        raise click.UsageError("--seed-words and --init both say where chains start; leave out one of them")
    model = model_of(values, None if values["dry_run"] else output)
    _refuse_without_gpu(model)
    corpus = read(input, values, options_of(values), keep_texts=MOST_TEXT)
    if values["dry_run"]:
        _describe(corpus, model)
        return
    with interruptible(str(output), anew=True):
        model.fit(corpus, time_budget=values["time_budget"], overwrite=values["force"])
        write_config(Path(str(output)), options_to_keep(values) | _taken(values, model.settings_))
        click.echo(model.in_commands(str(output)))
    click.echo(f"  The model is in {output}")
    if model.ending_ == "interrupted":
        ctx.exit(INTERRUPTED)


def _taken(values: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what was used for "auto": on another machine, or in another version, it might be another."""
    names = ["engine", "eta"] if values["seed_words"] else ["engine", "eta", "init"]
    return {name: settings[name] for name in names if values[name] == "auto"}


def model_of(values: dict[str, Any], output: str | None) -> "HDPTopicModel":
    """Return the estimator for a command's values."""
    from franchise.estimator import HDPTopicModel

    given = {name: values[name] for name in _MODEL_SETTINGS if name != "init"}
    priors = ("alpha_prior", "gamma_prior")  # of which None is no value
    return HDPTopicModel(
        **{name: value for name, value in given.items() if name not in priors or value is not None},
        init=_init(values),
        random_state=values["seed"],
        n_jobs=values["jobs"],
        ray_address=values.get("ray"),
        ray_workers=values.get("workers"),
        checkpoint_dir=output,
        verbose=0 if values["quiet"] else 1,
    )


def _init(values: dict[str, Any]) -> Any:
    """Return where chains start, as the estimator takes it."""
    if values["seed_words"] is not None:
        from franchise.cli._seeds import read_seed_words

        return read_seed_words(values["seed_words"])
    return values["init"]


def _refuse(output: Path, force: bool) -> None:
    from franchise.errors import ModelError
    from franchise.storage import model as store

    if store.is_model(output) and not force:
        raise ModelError(
            f"{output}: a model already exists there; continue it with `franchise resume {output}`, "
            "replace it with --force, or give another name",
            code="folder-exists",
        )
    store.refuse_to_replace(output, force)


def _refuse_without_gpu(model: "HDPTopicModel") -> None:
    """Say that there is no GPU for the engine before documents are read, which may take long."""
    from franchise.estimator.settings import check_gpu

    check_gpu(model.engine, model.ray_address)


def _describe(corpus: "Corpus", model: "HDPTopicModel") -> None:
    from rich.console import Console

    from franchise.cli._output import print_facts
    from franchise.engines import ON_RAY, RAY_GPU
    from franchise.engines.compiling import is_compiled
    from franchise.engines.partitions.cuda.availability import problem
    from franchise.estimator.settings import of_chains
    from franchise.sampling.choices import why_chosen
    from franchise.sampling.plan import plan_of

    facts: dict[str, Any] = {
        "documents": corpus.n_documents,
        "empty documents": int(corpus.documents_of_length[0]),
        "terms": corpus.n_terms,
        "words": corpus.n_words,
        "metadata": ", ".join(corpus.metadata_names) or "none",
    }
    if corpus.downsampling is not None:
        facts["down-sampled"] = corpus.downsampling.in_words()
    plan = plan_of(**of_chains(model.get_params()), seed=0)  # says what cannot be
    facts |= why_chosen(model.init, model.eta, corpus)
    facts["engine"] = _in_words(plan.engine_of(corpus))
    if model.engine == RAY_GPU and problem() is not None:
        facts["time"] = "not known: a few sweeps would be timed here, and this machine has no GPU"
    elif is_compiled():
        with Console(stderr=True).status("timing a few sweeps"):
            expected = model.forecast(corpus)
        alone = " on this machine alone" if model.engine in ON_RAY else ""
        facts |= {"memory": f"about {expected.memory / 1e6:,.0f} MB", "time": f"about {expected.text}{alone}"}
    else:
        facts["time"] = "not known before the first fit, which compiles for about half a minute"
    print_facts(facts, "table")


def _in_words(engine: str) -> str:
    """Return the name of an engine, and on what it would run where that is not plain."""
    from franchise.engines import GPU
    from franchise.engines.partitions.cuda.availability import gpu_facts

    return f"{engine}: {gpu_facts().in_words()}" if engine == GPU else engine
