"""What a paper says of the data, the model, its settings and its diagnosis, as paragraphs to paste into it.

Sentences are made once, with marks in place of citations and of literal characters; the
marks become text, Markdown or LaTeX (`_markup`) when all is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from franchise import _markup as markup
from franchise._files import Facts
from franchise._settings import is_one_of
from franchise._text import counted
from franchise.corpus import Corpus, TextOptions
from franchise.errors import SettingsError
from franchise.posterior.agreement import FEW_DRAWS, FIRM_RUNS, in_words
from franchise.posterior.convergence import N_TOPICS
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.posterior.references import HDP, R_HAT, SPLIT_MERGE, Reference, software
from franchise.sampling.short_runs import NUMBER, SHARE

if TYPE_CHECKING:
    from franchise.sampling import Chain

FORMATS = ("text", "markdown", "latex", "bibtex")
_LIBRARIES = {
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "numba": "Numba",
    "scikit-learn": "scikit-learn",
}
_USUAL_PATTERN = TextOptions().token_pattern
_CITED = re.compile("\x00(.*?)\x00")

_ENGINES = {
    "collapsed": "one word after the other, with topics and shares integrated out",
    "parallel": "all documents at once, given topics and topic weights that are sampled in each sweep",
}
_STARTS = {
    "consensus": f"topics that {NUMBER} independent short runs, each on {SHARE:.0%} of the documents, share",
    "counts": "topics fitted to the counts, as many as predicted held-out counts best",
    "documents": "topics that began at randomly chosen documents",
    "fitted": "topics found by expectation maximisation",
    "sequential": "an empty state to which documents were added one by one",
    "one": "a single topic",
}


class Made(NamedTuple):
    """A fitted model and all that is said of it.

    Attributes
    ----------
    posterior, corpus, chains, diagnosis
        What was learned, of which documents, by which chains, and whether it can be trusted.
    settings
        `HDPTopicModel.settings_`.
    versions
        Versions of the libraries that it was fitted with.
    """

    posterior: Posterior
    corpus: Corpus
    chains: Sequence[Chain]
    diagnosis: Diagnosis
    settings: Facts
    versions: Mapping[str, str]


def methods(made: Made, format: str = "text") -> str:
    """Return the paragraphs, or, as ``"bibtex"``, the references that they cite."""
    if not is_one_of(format, FORMATS):
        raise SettingsError(
            f"format={format!r}: give {', '.join(map(repr, FORMATS[:-1]))} or {FORMATS[-1]!r}",
            code="unknown-choice",
        )
    if format in ("text", "markdown"):
        paragraphs, references = for_readers(made, markdown=format == "markdown")
        heading = "References" if format == "text" else "### References"
        return "\n\n".join([*paragraphs, heading, "\n".join(f"- {one}" for one in references)]) + "\n"
    paragraphs, cited = _written(made)
    if format == "bibtex":
        return "\n".join(one.as_bibtex() for one in cited.values())
    found = [
        _marked(text, markup.latex, markup.latex_code, lambda key: rf"\cite{{{key}}}") for text in paragraphs
    ]
    return "\n\n".join(found) + "\n"


def for_readers(made: Made, *, markdown: bool = False) -> tuple[list[str], list[str]]:
    """Return the paragraphs and the references as text, or as Markdown."""
    escape: Callable[[str], str] = markup.markdown if markdown else str
    code = markup.markdown_code if markdown else "“{}”".format
    paragraphs, cited = _written(made)
    return (
        [_marked(text, escape, code, lambda key: f"({cited[key].short})") for text in paragraphs],
        [escape(one.as_text()) for one in cited.values()],
    )


def _written(made: Made) -> tuple[list[str], dict[str, Reference]]:
    """Return the paragraphs with marks in them, and what they cite, by key."""
    parts = (_data(made), _model(made), _sampling(made), _diagnosis(made), _software(made))
    paragraphs = [" ".join(sentences) for sentences in parts]
    citable = {one.key: one for one in (software(made.versions["franchise"]), HDP, SPLIT_MERGE, R_HAT)}
    cited = [key for text in paragraphs for key in _CITED.findall(text)]
    return paragraphs, {key: one for key, one in citable.items() if key in cited}


def _marked(
    text: str, escape: Callable[[str], str], code: Callable[[str], str], cite: Callable[[str], str]
) -> str:
    """Return a text with its marks replaced, and everything else escaped."""
    pieces = re.split("(\x00.*?\x00|\x01.*?\x01)", text)
    ways = {"\x00": cite, "\x01": code}
    return "".join(
        ways[piece[0]](piece[1:-1]) if piece[:1] in ways else escape(piece) for piece in pieces if piece
    )


def _cite(one: Reference) -> str:
    return f"\x00{one.key}\x00"


def _code(text: object) -> str:
    return f"\x01{' '.join(str(text).split())}\x01"


# ---------------------------------------------------------------- data


def _data(made: Made) -> Iterable[str]:
    corpus = made.corpus
    lengths = corpus.document_lengths
    yield (
        f"The collection has {counted(corpus.n_documents, 'document')} with "
        f"{counted(corpus.n_words, 'word')} of {counted(corpus.n_terms, 'different term')}; a document has "
        f"{np.median(lengths):,.0f} words (median; from {lengths.min():,} to {lengths.max():,})."
    )
    if corpus.text_options is None:
        yield "The words were counted before; the program left out none for what they are."
    else:
        yield from _words(corpus.text_options.resolved(corpus.n_documents))
    if corpus.downsampling is not None:
        yield f"Counts were reduced: {corpus.downsampling.in_words()}."
    if empty := int(np.count_nonzero(lengths == 0)):
        yield f"{counted(empty, 'document')} {'has' if empty == 1 else 'have'} no words left."


def _words(options: TextOptions) -> Iterable[str]:
    """Say how texts became words, and which words were left out by which rule."""
    word = "words of two or more letters, digits or underscores"
    if options.token_pattern != _USUAL_PATTERN:
        word = f"words that match {_code(options.token_pattern)}"
    case = "put into lower case and " if options.lowercase else ""
    if options.strip_html:
        yield "HTML tags were removed from the texts, and HTML entities decoded."
    shortest, longest = options.ngram_range
    terms = ""
    if (shortest, longest) != (1, 1):
        length = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
        terms = f"; a term is a sequence of {length} words"
    html = "stripped of HTML, " if options.strip_html else ""
    yield f"Texts were {html}{case}split into {word}{terms}."
    left_out = [*_stop_words(options.stop_words), *_frequencies(options)]
    if left_out:
        yield f"We left out {_listed(left_out)}."
    else:
        yield "No word was left out."
    if options.max_features is not None:
        yield f"Of the other terms, the {options.max_features:,} with the most words were kept."


def _listed(things: Sequence[str]) -> str:
    """Return several things as a sentence lists them.

    Examples
    --------
    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else things)


def _stop_words(stop_words: str | Sequence[str] | None) -> list[str]:
    if stop_words is None:
        return []
    if isinstance(stop_words, str):
        whose = "scikit-learn" if stop_words == "english" else "the program"
        return [f"stop words ({whose}'s list for {stop_words.capitalize()})"]
    return [f"{counted(len(stop_words), 'stop word')} of our own list"]


def _frequencies(options: TextOptions) -> list[str]:
    left_out = []
    low, high = options.min_df, options.max_df
    if low is not None and (low > 1 if isinstance(low, int) else low > 0):
        fewest = f"{low:,} documents" if isinstance(low, int) else f"{100 * low:g}% of the documents"
        left_out.append(f"terms in fewer than {fewest}")
    if high is not None and (isinstance(high, int) or high < 1):
        most = f"{high:,} documents" if isinstance(high, int) else f"{100 * high:g}% of the documents"
        left_out.append(f"terms in more than {most}")
    return left_out


# ---------------------------------------------------------------- model


def _model(made: Made) -> Iterable[str]:
    yield (
        f"We fitted a hierarchical Dirichlet process topic model {_cite(HDP)}, which estimates the number of "
        "topics together with the topics."
    )
    table, priors = made.diagnosis.table, made.chains[0].priors
    settings = dict(zip(("alpha", "gamma", "eta"), priors.settings, strict=True))
    what = {
        "eta": "The prior of a topic over terms is a symmetric Dirichlet distribution with parameter η",
        "alpha": "The concentration parameter α of the topics in a document",
        "gamma": "the concentration parameter γ of the topics in the collection",
    }
    eta = settings.pop("eta")
    if isinstance(eta, tuple):
        yield f"{what['eta']}, which has {_prior(eta)} and was estimated{_mean(table, 'eta')}."
    else:
        why = made.settings.get("chosen", {}).get("eta")
        because = f", which the program chooses for such documents ({_reason(why)})" if why else ""
        yield f"{what['eta']} = {eta:g}{because}."
    said = [
        f"{what[name]} has {_prior(value)} and was estimated{_mean(table, name)}"
        if isinstance(value, tuple)
        else f"{what[name]} is {value:g}"
        for name, value in settings.items()
    ]
    yield f"{'; '.join(said)}."


def _prior(value: tuple[float, float]) -> str:
    return f"a Gamma({value[0]:g}, {value[1]:g}) prior (shape, rate)"


def _mean(table: object, name: str) -> str:
    """Return the posterior mean of a concentration, in brackets; nothing before anything is kept."""
    if name not in table.index:  # type: ignore[attr-defined]
        return ""
    return f" (posterior mean {table.loc[name, 'mean']:.3g})"  # type: ignore[attr-defined]


def _reason(why: str) -> str:
    """Return the reason of a choice such as ``"0.1 (25 words per document or more)"``."""
    return why.partition("(")[2].removesuffix(")") or why


# ---------------------------------------------------------------- sampling


def _sampling(made: Made) -> Iterable[str]:
    chains, schedule = made.chains, made.chains[0].schedule
    engine = _ENGINES["collapsed" if made.settings.get("engine") == "collapsed" else "parallel"]
    trials = schedule.split_merge
    moves = ""
    if trials is not None:
        until = "" if trials.until is None else f" up to sweep {trials.until:,}"
        moves = f"; topics were also split and merged{until} {_cite(SPLIT_MERGE)}"
    program = f"franchise {made.versions['franchise']}"
    yield (
        f"We sampled from the posterior by Markov chain Monte Carlo with {program} "
        f"{_cite(software())}, in the representation as a Chinese restaurant franchise: {engine}{moves}."
    )
    done = min(chain.sweeps_done for chain in chains)
    planned = "" if done >= schedule.sweeps else f" of {schedule.sweeps:,} planned"
    made_of = "One chain" if len(chains) == 1 else f"Each of {len(chains)} independent chains"
    n_draws = sum(len(chain.draws) for chain in chains)
    every = "every sweep" if schedule.thin == 1 else f"every {_ordinal(schedule.thin)} sweep"
    kept = f"{every}, {counted(n_draws, 'draw')} in all" if n_draws else "none yet"
    yield (
        f"{made_of} made {done:,} sweeps{planned} through all words; the first {schedule.burn_in:,} were "
        f"left out as burn-in, and of the others we kept {kept}."
    )
    yield from _starts(chains)
    if schedule.warm_up:
        yield f"In the first {counted(schedule.warm_up, 'sweep')} η rose to its value from a smaller one."
    if schedule.merges:
        sweeps = _listed(list(map(str, schedule.merges)))
        yield f"Copies of topics were merged in the burn-in (after sweep {sweeps})."
    yield f"The random seed was {chains[0].seed}."


def _starts(chains: Sequence[Chain]) -> Iterable[str]:
    different = list(dict.fromkeys(_start(chain) for chain in chains))
    which = "The chain" if len(chains) == 1 else "All chains" if len(different) == 1 else "The chains"
    yield f"{which} started from {'; or from '.join(different)}."


def _start(chain: Chain) -> str:
    init = chain.init
    if isinstance(init, str | int):
        return _STARTS.get(str(init), f"{init} random topics")
    of = {"topics": "given topics", "continued": "its state on the earlier documents alone"}
    return f"{of.get(init.kind, init.kind)} ({counted(init.n_topics, 'topic')})"


def _ordinal(n: int) -> str:
    """Return a number that counts.

    Examples
    --------
    >>> [_ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{n}{'th' if n // 10 % 10 == 1 else endings.get(n % 10, 'th')}"


# ---------------------------------------------------------------- diagnosis


def _diagnosis(made: Made) -> Iterable[str]:
    posterior, found = made.posterior, made.diagnosis
    yield from _number_of_topics(posterior, found)
    n_chains = len(posterior.draws)
    if n_chains > 1 and not np.isnan(found.shared):
        n = len(found.solid_topics)
        yield (
            "Topics of different draws and chains were matched by their terms. "
            f"{counted(n, 'topic')} {'was' if n == 1 else 'were'} found by every chain, with "
            f"{found.shared:.0%} of the words."
        )
    if found.firm_topics is not None:
        n, those = len(found.firm_topics), "of these" if n_chains > 1 else "of the topics"
        yield (
            f"{n:,} {those} {'was' if n == 1 else 'were'} also found by at least {FIRM_RUNS:.0%} of the "
            f"short runs ({found.firm_share:.0%} of the words)."
        )
    if n_chains == 1:
        yield "There is one chain, so whether another one would find the same topics was not examined."
    if found.settled is not None:
        n = len(found.changing_topics)
        halves = "from the first to the second half of the draws"
        shared = "These topics" if n_chains > 1 else "The topics"
        yield (
            f"{shared} changed little in terms and size {halves}."
            if found.settled
            else f"{counted(n, 'topic')} still changed in terms or size {halves}."
        )
    yield from _r_hat(found)
    yield "Shares of topics are means over all kept draws, with central 95% intervals."


def _number_of_topics(posterior: Posterior, found: Diagnosis) -> Iterable[str]:
    median = posterior.n_topics_median
    if posterior.read_as:
        yield f"After the fit, {posterior.read_as}."
    low, high = posterior.n_topics_interval
    few = min(map(len, posterior.draws)) < FEW_DRAWS
    if found.agree is False:
        ranges = ", ".join(in_words(*one) for one in posterior.n_topics_by_chain)
        kind = "range" if few else "central 95%"
        yield (
            f"We list {counted(median, 'topic')}, the median number. The number differs between "
            f"chains ({kind} by chain: {ranges})."
        )
        return
    kind = "in the draws" if few else "95% interval"
    yield f"The number of topics is {median:,} (posterior median; {kind} {in_words(low, high)})."


def _r_hat(found: Diagnosis) -> Iterable[str]:
    """Say how well chains mix in numbers, where there are several long enough."""
    names = [N_TOPICS, "log probability of the words"]
    table = found.table.loc[[name for name in names if name in found.table.index]]
    table = table[table["r_hat"].notna()]
    if table.empty:
        return
    said = [
        f"{'over 100' if row['r_hat'] > 100 else format(row['r_hat'], '.2f')} for the {name}"
        for name, row in table.to_dict("index").items()
    ]
    fewest = table["ess_bulk"].min()
    yield (
        f"R-hat {_cite(R_HAT)} is {' and '.join(said)}; the smaller effective sample size of the two is "
        f"{fewest:,.0f}."
        if len(said) > 1
        else f"R-hat {_cite(R_HAT)} is {said[0]}, and the effective sample size {fewest:,.0f}."
    )


def _software(made: Made) -> Iterable[str]:
    versions = made.versions
    others = [f"{shown} {versions[name]}" for name, shown in _LIBRARIES.items() if name in versions]
    yield (
        f"The program is franchise {versions['franchise']}, used with {_listed(others)}. "
        "The same versions, documents, settings and seed give the same result."
    )
