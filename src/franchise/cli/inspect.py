"""``franchise inspect``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli._input import options_of, read, reading_options, text_options
from franchise.cli._output import format_option, print_facts

if TYPE_CHECKING:
    from franchise.corpus import Corpus


@click.command()
@click.argument("path", type=click.Path(allow_dash=True))
@reading_options
@text_options
@format_option
def command(path: str, format_out: str, **values: Any) -> None:
    """Describe the model folder or the file of documents at PATH.

    \b
    Examples:
      franchise inspect model/
      franchise inspect docword.kos.txt --format json
    """
    from franchise.storage import model as store

    if path != "-" and store.is_model(Path(path)):
        print_facts(_model_facts(path), format_out)
    else:
        print_facts(_corpus_facts(read(path, values, options_of(values), keep_texts=False)), format_out)


def _model_facts(path: str) -> dict[str, Any]:
    from franchise.estimator import HDPTopicModel

    model = HDPTopicModel.load(path)
    schedule = model.chains_[0].schedule
    facts = {
        **_corpus_facts(model.corpus_),
        "chains": len(model.chains_),
        "sweeps made": min(chain.sweeps_done for chain in model.chains_),
        "sweeps planned": schedule.sweeps,
    }
    if hasattr(model, "posterior_"):
        low, high = model.n_topics_interval_
        facts |= {"draws kept": len(model.posterior_.flat_draws), "topics": model.n_topics_}
        facts |= {"topics, 95%": f"{low} to {high}"}
    return facts | model.settings_


def _corpus_facts(corpus: "Corpus") -> dict[str, Any]:
    lengths = corpus.document_lengths
    return {
        "documents": corpus.n_documents,
        "empty documents": int((lengths == 0).sum()),
        "terms": corpus.n_terms,
        "words": corpus.n_words,
        "words per document, median": int(sorted(lengths)[len(lengths) // 2]),
        "fingerprint": corpus.fingerprint(),
    }
