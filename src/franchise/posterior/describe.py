"""A fitted model in words: what ``print(model)`` says, and the card in a saved model's folder."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from franchise import _html as html
from franchise._files import Facts, to_json
from franchise._markup import markdown_table
from franchise._text import counted
from franchise.corpus import Corpus
from franchise.posterior.advice import Advice, in_python
from franchise.posterior.agreement import FEW_DRAWS, in_words
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.sampling import Chain

if TYPE_CHECKING:
    import pandas as pd

_TOPICS_SHOWN = 10
_NAMED = 3  # of the topics, where the answer is a few lines


def describe(
    posterior: Posterior,
    corpus: Corpus,
    chains: Sequence[Chain],
    diagnosis: Diagnosis,
    labels: Sequence[str] = (),
    chosen: Mapping[str, str] = MappingProxyType({}),
    say: Callable[[Advice], str] = in_python,
) -> str:
    """Answer: how big, what holds, do the chains agree, what next.

    `labels` say what topics are called, `chosen` which settings were chosen for the documents, and `say` puts
    advice into words (`posterior.advice`).
    """
    done, planned = min(chain.sweeps_done for chain in chains), chains[0].schedule.sweeps
    of = "" if done >= planned else f" ({planned:,} planned)"
    lines = [
        f"HDPTopicModel of {counted(corpus.n_documents, 'document')}, {counted(corpus.n_words, 'word')}, "
        f"{counted(corpus.n_terms, 'term')}",
        *(f"  Down-sampled: {one.in_words()}" for one in [corpus.downsampling] if one is not None),
        *(f"  {line}" for line in _topics(posterior, diagnosis)),
        *(f"  For reading: {one}" for one in [posterior.read_as] if one),
        *(f"  {line}" for line in _largest(posterior, labels)),
        *(f"  {say(one)}" for one in diagnosis.advice),
        *(f"  {line}" for line in [chosen_in_words(chosen)] if line),
        f"  {counted(len(chains), 'chain')} of {counted(done, 'sweep')}{of}, {_kept(chains)}",
    ]
    if done < planned:
        lines.append(f"  {say(Advice('unfinished'))}")
    lines.append(f"  {say(Advice('next'))}")
    return "\n".join(lines)


def describe_html(about: str, topics: "pd.DataFrame") -> str:
    """Return what a notebook shows: the answer in words, and the largest topics."""
    first, *lines = about.splitlines()
    shown = topics.head(_TOPICS_SHOWN)
    rows = [
        (str(row.topic), row.label, f"{row.weight:.1%}", row.found_by, *_runs(row), row.terms)
        for row in shown.itertuples()
    ]
    runs = ["runs"] if "runs" in topics.columns else []
    n_more = len(topics) - len(shown)
    more = [html.line(f"{counted(n_more, 'more topic')} in topics()", soft=True)] if n_more else []
    return html.block(
        html.line(first, strong=True),
        *(html.line(text.strip()) for text in lines[:-1]),
        html.table(("topic", "label", "share of words", "found by", *runs, "terms"), rows),
        *more,
        html.line(lines[-1].strip(), soft=True),
    )


def chosen_in_words(chosen: Mapping[str, str]) -> str:
    """Say which settings were chosen for the documents, and why; nothing if none was.

    Examples
    --------
    >>> chosen_in_words({"eta": "1.0 (a count table)", "init": "counts (a count table)"})
    'Chosen for these documents: eta 1.0 (a count table); init counts (a count table)'
    """
    said = "; ".join(f"{name} {value}" for name, value in chosen.items())
    return f"Chosen for these documents: {said}" if said else ""


def settings_in_use(settings: Facts) -> Facts:
    """Return the settings of a model with what was used in place of what they leave open."""
    in_use = dict(settings.get("in_use", {}))
    options = in_use.pop("text_options", None) or {}
    apart = ("in_use", "text_options", "chosen", "schedule")
    shown = {name: value for name, value in settings.items() if name not in apart}
    shown |= settings.get("schedule", {})
    if chosen := settings.get("chosen"):
        shown["chosen"] = "; ".join(f"{name} {value}" for name, value in chosen.items())
    shown |= in_use | options
    if isinstance(trials := shown.get("split_merge"), Mapping):
        until = "" if trials["until"] is None else f" up to sweep {trials['until']}"
        most = "at most " if trials.get("adapt") else ""
        kinds = counted(len(trials["proposals"]), "kind")
        shown["split_merge"] = f"{most}{counted(trials['trials'], 'trial')} per sweep{until}, of {kinds}"
    return shown


def model_card(about: str, topics: "pd.DataFrame", settings: Facts) -> str:
    """Return the text (Markdown) that says what is in a model folder."""
    shown = topics.head(_TOPICS_SHOWN)
    names = ("topic", "label", "share of words", "terms")
    rows = [(str(row.topic), row.label, f"{row.weight:.1%}", row.terms) for row in shown.itertuples()]
    n_more = len(topics) - len(shown)
    more = f"\n{counted(n_more, 'more topic')} in `topics.csv`.\n" if n_more else ""
    return "\n".join(
        [
            "# A topic model\n",
            "Fitted with Franchise: a hierarchical Dirichlet process, by MCMC.\n",
            "```\n" + about + "\n```\n",
            "## The largest topics\n",
            markdown_table(names, rows, (True, False, True, False)) + more,
            "## Settings\n",
            "```json\n" + to_json(settings_in_use(settings)) + "\n```\n",
            "## Use it\n",
            "```python",
            "from franchise import HDPTopicModel",
            "",
            'model = HDPTopicModel.load("this folder")',
            "model.topics()",
            "```",
            "",
        ]
    )


def _largest(posterior: Posterior, labels: Sequence[str]) -> list[str]:
    """Name the largest topics."""
    if not labels:
        return []
    largest = zip(labels[:_NAMED], posterior.weights)
    return [f"Largest: {'; '.join(f'{label} ({weight:.0%})' for label, weight in largest)}"]


def _runs(row: Any) -> list[str]:
    """Return the share of the independent runs that found a topic, if there were any."""
    return [f"{row.runs:.0%}"] if hasattr(row, "runs") else []


def _topics(posterior: Posterior, diagnosis: Diagnosis) -> list[str]:
    """Say how many topics there are, where that is one number: of chains that differ, the messages say it."""
    topics = counted(posterior.n_topics_median, "topic")
    if len(posterior.flat_draws) == 1:
        return [f"{topics} (in the only draw)"]
    if len(posterior.draws) > 1 and diagnosis.agree is None:
        return [f"{topics} so far"]
    if diagnosis.agree is False:
        return []
    low, high = posterior.n_topics_interval
    if min(map(len, posterior.draws)) < FEW_DRAWS:
        draws = counted(len(posterior.flat_draws), "draw")
        return [f"{topics} ({in_words(low, high)} in {draws})" if low < high else f"{topics} (in {draws})"]
    sure = f"95% between {low:,} and {high:,}" if low < high else "the same in at least 95% of the draws"
    n_common = int((posterior.support > 0.5).sum())
    common = "all" if n_common == posterior.n_topics else f"{n_common:,}"
    is_said = posterior.n_topics > 1 and not posterior.read_as
    of_them = f", {common} of them in more than half of the draws" if is_said else ""
    return [f"{topics} ({sure}){of_them}"]


def _kept(chains: Sequence[Chain]) -> str:
    n_kept = sum(len(chain.draws) for chain in chains)
    if not n_kept:
        return "no draws kept yet: this is the current state"
    return f"{counted(n_kept, 'draw')} kept"
