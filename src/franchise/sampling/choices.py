"""What ``"auto"`` stands for: the start and the eta that suit some documents, and why, in a few words."""

from typing import NamedTuple

from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.corpus.count_tables import is_count_table
from franchise.engines import Start
from franchise.sampling.short_runs import FEWEST_DOCUMENTS

# Of count tables with about a hundred terms, and of text. Sentences are predicted as well with 0.3 as with
# 0.1, and fits then agree on 92% of the words instead of 70%; longer texts are predicted better with 0.1.
ETA_OF_COUNTS, ETA_OF_TEXT, ETA_OF_SHORT_TEXT = 1.0, 0.1, 0.3
_SHORT = 25  # words per document
_MANY_WORDS = 1_000_000  # from which on short runs would take too long

_A_TABLE = "a count table"
_TOO_FEW = f"fewer than {FEWEST_DOCUMENTS} documents"


class _Choice(NamedTuple):
    """A value, and what about the documents it follows from."""

    value: object
    why: str


def start_for(init: Start, corpus: Corpus) -> Start:
    """Return the start that ``"auto"`` stands for with these documents, or the start that was given.

    Text starts from what short runs agree on, as long as that takes minutes; count tables from as many topics
    as predict their counts best; a million words or more from topics that begin at documents; other documents
    from topics that EM finds.
    """
    return _start(corpus).value if is_one_of(init, ["auto"]) else init  # type: ignore[return-value]


def eta_for(eta: object, corpus: Corpus) -> object:
    """Return the eta that ``"auto"`` stands for with these documents, or the eta that was given."""
    return _eta(corpus).value if is_one_of(eta, ["auto"]) else eta


def why_chosen(init: object, eta: object, corpus: Corpus) -> dict[str, str]:
    """Return, for each of the two settings that is ``"auto"``, its value here and why, in words."""
    choices = {"eta": (eta, _eta), "init": (init, _start)}
    found = {name: choose(corpus) for name, (given, choose) in choices.items() if is_one_of(given, ["auto"])}
    return {name: f"{choice.value} ({choice.why})" for name, choice in found.items()}


def _start(corpus: Corpus) -> _Choice:
    if is_count_table(corpus):
        return _Choice("counts", _A_TABLE)
    if corpus.n_words >= _MANY_WORDS:
        return _Choice("documents", "a million words or more")
    if _with_words(corpus) < FEWEST_DOCUMENTS:
        return _Choice("fitted", _TOO_FEW)
    return _Choice("consensus", f"{FEWEST_DOCUMENTS} documents or more")


def _eta(corpus: Corpus) -> _Choice:
    if is_count_table(corpus):
        return _Choice(ETA_OF_COUNTS, _A_TABLE)
    if corpus.n_words >= _SHORT * _with_words(corpus):
        return _Choice(ETA_OF_TEXT, f"{_SHORT} words per document or more")
    if _with_words(corpus) < FEWEST_DOCUMENTS:
        return _Choice(ETA_OF_TEXT, _TOO_FEW)
    return _Choice(ETA_OF_SHORT_TEXT, f"fewer than {_SHORT} words per document")


def _with_words(corpus: Corpus) -> int:
    """Return how many documents have words."""
    return int(corpus.documents_of_length[1:].sum())
