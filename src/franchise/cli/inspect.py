"""``franchise inspect``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from franchise.cli import _options as options
from franchise.cli._input import MOST_TEXT, read
from franchise.cli._output import print_facts

if TYPE_CHECKING:
    from franchise.corpus import Corpus
    from franchise.estimator import HDPTopicModel


@click.command(cls=options.Command)
@click.argument("path", type=click.Path(allow_dash=True))
@options.reading
@options.text
@options.drop_duplicates
@options.downsample
@options.random_state
@options.printing
def command(path: str, format: str, **values: Any) -> None:
    """Describe the model folder or the file of documents at PATH.

    \b
    Examples:
      franchise inspect model/
      franchise inspect docword.kos.txt --format json
    """
    from franchise.corpus.data_warnings import corpus_warnings
    from franchise.estimator.inputs import warn_of
    from franchise.storage import model as store

    if path != "-" and store.is_model(Path(path)):
        print_facts(_model_facts(path), format)
    else:
        corpus = read(path, values, keep_texts=MOST_TEXT)
        warn_of(corpus_warnings(corpus), stacklevel=1)
        print_facts(_corpus_facts(corpus), format)


def _model_facts(path: str) -> dict[str, Any]:
    from franchise.estimator import HDPTopicModel
    from franchise.posterior.describe import settings_in_use

    model = HDPTopicModel.load(path)
    schedule = model.chains_[0].schedule
    facts = {
        **_corpus_facts(model.corpus_),
        "chains": len(model.chains_),
        "sweeps made": min(chain.sweeps_done for chain in model.chains_),
        "sweeps planned": schedule.sweeps,
    }
    if hasattr(model, "posterior_"):
        facts |= {"draws kept": len(model.posterior_.flat_draws), "topics": model.n_topics_}
        facts |= _agreement_facts(model)
    return facts | settings_in_use(model.settings_)


def _agreement_facts(model: "HDPTopicModel") -> dict[str, Any]:
    """Return how sure the number of topics is: of chains that differ, each has its own range."""
    from franchise.posterior.agreement import FEW_DRAWS, in_words

    posterior, diagnosis = model.posterior_, model.diagnose()
    several = len(posterior.draws) > 1
    pooled = in_words(*posterior.n_topics_interval) if diagnosis.agree or not several else "differs by chain"
    n_draws = min(map(len, posterior.draws))
    topics = "topics, 95%" if n_draws >= FEW_DRAWS else f"topics, of few draws ({n_draws} per chain)"
    facts: dict[str, Any] = {topics: pooled}
    if several:
        ranges = enumerate(posterior.n_topics_by_chain)
        facts |= {f"{topics}, chain {i}": in_words(*one) for i, one in ranges}
        facts["the chains"] = diagnosis.verdict or "cannot be compared yet"
        facts["topics found by every chain"] = len(diagnosis.solid_topics)
        facts["share of the words in them"] = round(diagnosis.shared, 3)
    if diagnosis.firm_topics is not None:
        facts["firm topics"] = len(diagnosis.firm_topics)
        facts["share of the words in firm topics"] = round(diagnosis.firm_share, 3)
    if several:
        settled = {True: "yes", False: "no", None: "not known"}
        facts["settled"] = settled[diagnosis.settled]
    return facts


def _corpus_facts(corpus: "Corpus") -> dict[str, Any]:
    from franchise.corpus.metadata import described

    of_length = corpus.documents_of_length
    median = (of_length.cumsum() > corpus.n_documents // 2).argmax()
    facts: dict[str, Any] = {
        "documents": corpus.n_documents,
        "empty documents": int(of_length[0]),
        "terms": corpus.n_terms,
        "words": corpus.n_words,
        "words per document, median": int(median),
    }
    if corpus.downsampling is not None:
        facts["down-sampled"] = corpus.downsampling.in_words()
    if corpus.metadata is not None:
        facts["metadata"] = ", ".join(described(corpus.metadata[name]) for name in corpus.metadata)
    return facts | {"fingerprint": corpus.fingerprint()}
