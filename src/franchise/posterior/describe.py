"""A fitted model in words: what ``print(model)`` says, and the card in a saved model's folder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from franchise._storage import Facts, to_json
from franchise.corpus import Corpus
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.sampling import Chain

if TYPE_CHECKING:
    import pandas as pd

_TOPICS_SHOWN = 10


def describe(posterior: Posterior, corpus: Corpus, chains: Sequence[Chain], diagnosis: Diagnosis) -> str:
    """Answer: how big, how many topics, did it converge, what next."""
    low, high = posterior.n_topics_interval
    done, planned = min(chain.sweeps_done for chain in chains), chains[0].schedule.sweeps
    of = "" if done >= planned else f" of {planned} planned"
    lines = [
        f"HDPTopicModel of {_counted(corpus.n_documents, 'document')}, {_counted(corpus.n_words, 'word')}, "
        f"{_counted(corpus.n_terms, 'term')}",
        f"  {_counted(posterior.n_topics, 'topic')} (95% between {low} and {high})",
        f"  {_counted(len(chains), 'chain')} of {_counted(done, 'sweep')}{of}, "
        f"{_counted(len(posterior.flat_draws), 'draw')} kept",
        *(f"  {message}" for message in diagnosis.messages),
    ]
    if done < planned:
        lines.append("  The run is not finished: go on with resume().")
    lines.append("  Next: topics(), documents(), diagnose(), save(path).")
    return "\n".join(lines)


def model_card(about: str, topics: "pd.DataFrame", settings: Facts) -> str:
    """Return the text (Markdown) that tells a person what is in a model folder."""
    shown = topics.head(_TOPICS_SHOWN)
    rows = [f"| {row.topic} | {row.weight:.1%} | {row.terms} |" for row in shown.itertuples()]
    more = f"\n{len(topics) - len(shown)} more are in `topics.csv`.\n" if len(topics) > len(shown) else ""
    return "\n".join(
        [
            "# A topic model\n",
            "Fitted with Franchise: a hierarchical Dirichlet process, by MCMC.\n",
            "```\n" + about + "\n```\n",
            "## The largest topics\n",
            "| topic | share of words | terms |",
            "|---|---|---|",
            *rows,
            more,
            "## Settings\n",
            "```json\n" + to_json(settings) + "\n```\n",
            "## Use it\n",
            "```python",
            "from franchise import HDPTopicModel",
            "",
            "model = HDPTopicModel.load('this folder')",
            "model.topics()",
            "```",
            "",
        ]
    )


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'s' * (n != 1)}"
