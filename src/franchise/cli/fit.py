"""``franchise fit``."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._cluster import engine_of
from franchise.cli._config import options_to_keep, use_config
from franchise.cli._input import MOST_TEXT, read
from franchise.cli._model import interruptible, refuse_to_replace, show_fit

if TYPE_CHECKING:
    from franchise import HDPTopicModel
    from franchise.corpus import Corpus

_MODEL_SETTINGS = (
    "eta", "alpha", "gamma", "sweeps", "burn_in", "chains", "effective_counts", "n_jobs", "random_state"
)  # fmt: skip

_model = partial(options.option, group="Model options")
_chains = partial(options.option, group="Chain options")


@click.command(cls=options.Command)
@click.argument("input", type=click.Path(allow_dash=True))
@options.option("-o, --output", "Folder to write the model to", options.FILE, metavar="MODEL")
@options.option(
    "--config", "TOML file of options", options.FILE, callback=use_config, is_eager=True, metavar="FILE"
)
@options.option("--dry-run", "Only show the size of the input and the expected time of a fit", is_flag=True)
@_model(
    "--eta",
    "Concentration of topics over terms; smaller gives more topics. auto: 0.1 for text, 0.3 for very short "
    "texts, 1 for count tables. A number fixes it, SHAPE,RATE is its Gamma prior",
    options.ETA,
    default="auto",
)
@_model(
    "--alpha",
    "Concentration of documents; larger gives more topics per document. A number fixes it, SHAPE,RATE is its "
    "Gamma prior",
    options.CONCENTRATION,
    default="1,1",
)
@_model(
    "--gamma",
    "Concentration of the collection; larger gives more topics in all. A number fixes it, SHAPE,RATE is its "
    "Gamma prior",
    options.CONCENTRATION,
    default="1,1",
)
@_chains("--sweeps", "Passes of each chain over all words", int, default=500)
@_chains("--burn-in", "Sweeps to leave out at the start", int, show_default="half")
@_chains("--thin", "Keep every N-th sweep after the burn-in", int, show_default="such that 25 to 50 are kept")
@_chains("--chains", "Independent runs, compared to see whether they agree", int, default=4)
@_chains(
    "--init",
    "Start of the chains: consensus (topics that short runs agree on), counts (for count tables), "
    "documents (topics begun at random documents), fitted (topics found by EM), auto (one of these four), "
    "apart (different starts in turn), sequential, one, a number of random topics, or the folder of a model",
    options.START,
    default="auto",
)
@_chains(
    "--seed-words",
    'Seed words to start from, which are no prior: JSON such as {"cosmology": ["galaxy", "redshift"]}, or '
    "CSV lines of a topic's name and its words",
    options.FILE,
)
@_chains(
    "--warm-up",
    "Sweeps at the start in which eta rises to its value, so that topics separate",
    int,
    show_default="40 after init fitted, 60 after documents, at most half of the burn-in; else 0",
)
@_chains(
    "--split-merge",
    "Sweeps in which whole topics are split and merged",
    click.Choice(["always", "burn-in", "off"]),
    default="always",
)
@_chains(
    "--engine",
    "How sweeps are made: collapsed (word by word, one core per chain), parallel (all documents at once, all "
    "cores), gpu, cells (for large counts), ray (parallel on a cluster), ray-gpu (gpu on a cluster); auto: "
    "collapsed below a million words; above it, cells for large counts, gpu from ten million words if there "
    "is one, else parallel",
    click.Choice(["auto", "collapsed", "parallel", "gpu", "cells", "ray", "ray-gpu"]),
    default="auto",
)
@options.reading
@options.metadata
@options.text
@options.drop_duplicates
@options.downsample
@options.effective_counts
@options.random_state
@options.n_jobs
@options.cluster
@options.time_budget
@options.quiet
@options.overwrite
def command(input: str, output: str | None, **values: Any) -> None:
    """Find the topics of the documents in INPUT, and how many there are.

    INPUT is a file or folder: one document per line (.txt), a folder of text files, .csv, .tsv, .jsonl or
    .parquet with --text-column, tables of counts (.csv, .tsv, .parquet), MALLET's text (--input-format
    mallet), LDA-C (.ldac), UCI bag-of-words (docword.*), Matrix Market (.mtx), SciPy's .npz, AnnData's .h5ad
    or Franchise's own (.franchise, made by `franchise convert`, for what is too large for memory), any of
    them gzipped; - is standard input.

    The model is saved in its folder while it is fitted. After Ctrl-C or a crash, `franchise resume MODEL`
    ends where an uninterrupted fit would have ended.

    \b
    Examples:
      franchise fit abstracts.txt -o model/
      franchise fit papers.csv --text-column abstract --id-column doi -o model/ --chains 2
      franchise fit speeches.csv --text-column text --metadata year,party -o model/
      franchise fit mutations.csv --transpose --metadata-file tumours.csv -o model/
      franchise fit cells.mtx --downsample 1000 -o model/
      franchise fit wiki.franchise -o model/ --ray auto --workers 16
      zcat news.jsonl.gz | franchise fit - --input-format jsonl --text-column body -o model/
    """
    from franchise.estimator.settings import check_engine
    from franchise.storage.model import write_config

    if output is None and not values["dry_run"]:
        raise click.UsageError("say where to write the model: -o MODEL")
    if output is not None and not values["dry_run"]:
        refuse_to_replace(Path(output), values["overwrite"])
    if values["seed_words"] is not None and values["init"] != "auto":
        raise click.UsageError("--seed-words and --init both say where chains start; leave out one of them")
    model = _model_of(values)
    # Before documents are read, which may take long.
    check_engine(values["engine"], model.engine, reach=not values["dry_run"])
    corpus = read(input, values, keep_texts=MOST_TEXT)
    if values["dry_run"]:
        _describe(corpus, model)
        return
    with interruptible(str(output), anew=True):
        model.fit(
            corpus, checkpoint_dir=output, time_budget=values["time_budget"], overwrite=values["overwrite"]
        )
        write_config(Path(str(output)), options_to_keep(values) | _taken(values, model.settings_))
        show_fit(model, str(output))


def _taken(values: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what was used for "auto": on another machine, or in another version, it might be another."""
    names = ["engine", "eta"] if values["seed_words"] else ["engine", "eta", "init"]
    return {name: settings[name] for name in names if values[name] == "auto"}


def _model_of(values: dict[str, Any]) -> "HDPTopicModel":
    from franchise import HDPTopicModel, Schedule

    init = values["init"]
    if values["seed_words"] is not None:
        from franchise.cli._seeds import read_seed_words

        init = read_seed_words(values["seed_words"])
    return HDPTopicModel(
        **{name: values[name] for name in _MODEL_SETTINGS},
        init=init,
        engine=engine_of(values),
        schedule=Schedule(**{name: values[name] for name in ("thin", "warm_up", "split_merge")}),
        verbose=0 if values["quiet"] else 1,
    )


def _describe(corpus: "Corpus", model: "HDPTopicModel") -> None:
    from rich.console import Console

    from franchise.cli._output import print_facts
    from franchise.estimator.preview import expected, planned

    facts: dict[str, Any] = {
        "documents": corpus.n_documents,
        "empty documents": int(corpus.documents_of_length[0]),
        "terms": corpus.n_terms,
        "words": corpus.n_words,
        "metadata": ", ".join(corpus.metadata_names) or "none",
    }
    if corpus.downsampling is not None:
        facts["down-sampled"] = corpus.downsampling.in_words()
    facts |= planned(model, corpus)
    with Console(stderr=True).status("timing a few sweeps"):
        facts |= expected(model, corpus)
    print_facts(facts, "table")
