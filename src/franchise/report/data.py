"""Everything that the page shows, gathered: what the template writes, and what the scripts take."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from franchise._progress import advance
from franchise._text import counted
from franchise.corpus import Corpus
from franchise.posterior.advice import for_readers
from franchise.posterior.agreement import FIRM_RUNS
from franchise.posterior.describe import settings_in_use
from franchise.posterior.diagnostics import Diagnosis
from franchise.posterior.estimates import Posterior
from franchise.posterior.methods import Made
from franchise.posterior.methods import for_readers as for_paper
from franchise.report.chains import describe_runs, started
from franchise.report.documents import choose_documents, describe_documents
from franchise.report.groups import describe_groups, facts_of, usable_groupings
from franchise.report.ranks import describe_ranks
from franchise.report.topics import TERMS_SHOWN, describe_topics, look_at_documents, topic_colours
from franchise.report.words import about_the_number, findings, headline, verdict, what_is_divided
from franchise.sampling import Chain

_NOT_SHOWN = ("in_place", "n_jobs", "verbose", "text_options")  # of no effect, or shown with the collection
_R_HAT_OF_NOTE = 100  # above this, chains never leave their own numbers, and by how much says nothing


def page_data(made: Made, title: str | None, labels: Mapping[int, str]) -> dict[str, Any]:
    """Return `words` for the template, `page` and `documents` for the scripts."""
    posterior, corpus, chains, diagnosis, settings, versions = made
    paragraphs, references = for_paper(made)
    found = look_at_documents(posterior, corpus)
    advance()
    chosen = choose_documents(corpus, found.best)
    mixtures = posterior.mixtures(np.array(chosen, np.int64))
    place = {j: i for i, j in enumerate(chosen)}
    topics = describe_topics(posterior, corpus)
    for k, row in enumerate(topics["topics"]):
        shown = [place[j] for j in found.best[k] if j in place]
        row["documents"] = [(i, mixtures[i, k]) for i in shown]
        row["prevalence"] = found.prevalence[k]
    advance()
    groupings, left_out = usable_groupings(corpus, posterior.n_topics)
    runs = describe_runs(posterior, chains)
    ranks = describe_ranks(posterior, chains, diagnosis)
    advance()
    _add_colours(topics["topics"], runs["chains"])
    verb = "is" if corpus.n_documents == 1 else "are"
    heading = title or f"What {counted(corpus.n_documents, 'document')} {verb} about"
    page = {
        **topics,
        **runs,
        "terms_shown": TERMS_SHOWN,
        "firm_runs": FIRM_RUNS,
        "same_start": diagnosis.same_start,
        "n_documents": corpus.n_documents,
        "n_words": corpus.n_words,
        "has_texts": corpus.texts is not None,
        "groups": describe_groups(posterior, groupings),
        "ranks": ranks,
        "facts": list(corpus.metadata_names),
        "identity": _identity(posterior),
        "labels": {str(k): name for k, name in labels.items()},  # names given to topics, by number
    }
    advance()
    words = {
        **_answer(posterior, chains, diagnosis),
        "title": heading,
        "rows": _table(topics),
        "n_chains": len(posterior.draws),
        "has_runs": posterior.run_support is not None,
        "shown_on_map": topics["shown_on_map"],
        "n_documents": corpus.n_documents,
        "n_shown": len(chosen),
        "has_texts": corpus.texts is not None,
        "grouped_by": [one.groups.name for one in groupings],
        "left_out": left_out,
        "chains": [chain["number"] for chain in runs["chains"]],
        "ranked": [(one["name"], _figure("r_hat", one["r_hat"])) for one in ranks],
        "grouped": runs["band_ends"] != list(range(1, len(runs["band_ends"]) + 1)),
        "fixed": runs["fixed"],
        "varying": [name for name in ("alpha", "gamma", "eta") if name not in runs["fixed"]],
        "corpus": _corpus_facts(corpus),
        "run": _run_facts(posterior, chains, runs),
        "settings": _settings(settings),
        "versions": versions,
        "methods": paragraphs,
        "references": references,
    }
    described = describe_documents(posterior, corpus, chosen)
    for one, facts in zip(described, facts_of(corpus, chosen), strict=True):
        one["groups"] = [int(grouping.groups.of[one["number"]]) for grouping in groupings]
        one["facts"] = facts
    advance()
    return {"words": words, "page": page, "documents": described}


def _add_colours(topics: list[dict[str, Any]], chains: list[dict[str, Any]]) -> None:
    place = np.array([(row["x"], row["y"]) for row in topics])
    lanes = [[life["topic"] for life in chain["family"]["lives"]] for chain in chains]
    for row, colour in zip(topics, topic_colours(place, lanes), strict=True):
        row["colour"] = colour


def _identity(posterior: Posterior) -> str:
    """Return a mark of this answer, so that names given to its topics do not turn up in another's report."""
    return hashlib.sha256(posterior.phi.tobytes()).hexdigest()[:16]


def _answer(posterior: Posterior, chains: Sequence[Chain], diagnosis: Diagnosis) -> dict[str, Any]:
    divided = what_is_divided(posterior.corpus)
    return {
        "n_topics": posterior.n_topics,
        "headline": headline(posterior, diagnosis, divided, _n_runs(posterior, chains))._asdict(),
        "verdict": verdict(diagnosis, len(started(chains)))._asdict(),
        "findings": findings(posterior, chains, diagnosis, divided),
        "about_the_number": about_the_number(posterior, chains, chains[0].priors, divided)._asdict(),
        "messages": [for_readers(one) for one in diagnosis.advice],
        "diagnosis": [
            {"name": name, **{column: _figure(column, value) for column, value in row.items()}}
            for name, row in diagnosis.table.to_dict("index").items()
        ],
    }


def _n_runs(posterior: Posterior, chains: Sequence[Chain]) -> int | None:
    """Return how many short runs there were, 0 if that is not known; None if there were none."""
    if posterior.run_support is None:
        return None
    return next((chain.runs.number for chain in chains if chain.runs is not None), 0)


def _figure(column: str, value: float) -> str:
    if np.isnan(value):
        return "-"
    if column == "r_hat":
        return f"{value:.2f}" if value < _R_HAT_OF_NOTE else f"over {_R_HAT_OF_NOTE}"
    return f"{value:,.0f}" if abs(value) >= 100 or column.startswith("ess") else f"{value:,.2f}"


def _table(topics: dict[str, Any]) -> list[dict[str, Any]]:
    names = ("colour", "weight", "low", "high", "support", "chain_support", "runs", "stability", "coherence")
    return [
        {"topic": k, "terms": terms, **{name: row[name] for name in names}}
        for k, (row, terms) in enumerate(zip(topics["topics"], topics["top"], strict=True))
    ]


def _corpus_facts(corpus: Corpus) -> dict[str, str]:
    lengths = corpus.document_lengths
    facts = {
        "documents": f"{corpus.n_documents:,}",
        "words": f"{corpus.n_words:,}",
        "terms": f"{corpus.n_terms:,}",
        "words per document": f"{np.median(lengths):,.0f} (median), {lengths.min():,} to {lengths.max():,}",
    }
    if empty := int(np.count_nonzero(lengths == 0)):
        facts["documents without words"] = f"{empty:,}"
    if corpus.downsampling is not None:
        facts["down-sampled"] = corpus.downsampling.in_words()
    facts["fingerprint"] = corpus.fingerprint()[:16]
    if corpus.text_options is not None:
        options = corpus.text_options.resolved(corpus.n_documents).as_dict()
        facts |= {name.replace("_", " "): _setting(value) for name, value in options.items()}
    return facts


def _run_facts(posterior: Posterior, chains: Sequence[Chain], runs: dict[str, Any]) -> dict[str, str]:
    schedule = chains[0].schedule
    done = [chain["sweeps"] for chain in runs["chains"]]
    minutes = sum(chain["seconds"] for chain in runs["chains"]) / 60.0
    return {
        "chains": f"{len(chains)}",
        "sweeps of each chain": f"{min(done):,}"
        if min(done) == max(done)
        else f"{min(done):,} to {max(done):,}",
        "burn-in": f"{schedule.burn_in:,} sweeps",
        "draws kept": f"{len(posterior.flat_draws):,}, every {schedule.thin} sweeps",
        "computing time": f"{minutes:,.1f} minutes, all chains together",
        "seed": f"{chains[0].seed}",
    }


def _settings(settings: dict[str, Any]) -> dict[str, str]:
    """Return the settings that decide the answer, in words."""
    shown = {name: value for name, value in settings.items() if name not in _NOT_SHOWN}
    options = settings.get("in_use", {}).get("text_options") or {}  # shown with the collection
    used = {name: value for name, value in settings_in_use(shown).items() if name not in options}
    used |= {name: str(seed) for name, seed in used.items() if name == "random_state"}  # no quantity
    return {name.replace("_", " "): _setting(value) for name, value in sorted(used.items())}


def _setting(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        if not value:
            return "none"
        return ", ".join(map(str, value)) if len(value) <= 20 else f"{len(value)} of them"
    return str(value)
