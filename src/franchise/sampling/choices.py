"""The meaning of ``"auto"``: the start and the eta that suit a corpus, with the reason in a few words."""

from typing import NamedTuple

from franchise._settings import is_one_of
from franchise.corpus import Corpus
from franchise.corpus.count_tables import is_count_table
from franchise.engines import Start
from franchise.sampling.short_runs import FEWEST_DOCUMENTS

# For count tables with about a hundred terms, and for text. With 0.3, sentences are predicted as well as with
# 0.1, and fits agree on 92% of the words instead of 70%. Longer texts are predicted better with 0.1.
ETA_OF_COUNTS, ETA_OF_TEXT, ETA_OF_SHORT_TEXT = 1.0, 0.1, 0.3
_SHORT = 25  # words per document
_MANY_WORDS = 1_000_000  # with this many words or more, short runs take too long

_A_TABLE = "a count table"
_TOO_FEW = f"fewer than {FEWEST_DOCUMENTS} documents"


class _Choice(NamedTuple):
    """A value, and the property of the documents that it follows from."""

    value: object
    why: str


def start_for(init: Start, corpus: Corpus) -> Start:
    """Return the start that ``"auto"`` means for these documents; return any other `init` unchanged.

    Text starts from the topics that short runs agree on, if these take only minutes. Count tables start from
    the number of topics that predicts their counts best, corpora with a million words or more from topics
    that begin at documents, and other documents from topics found by EM.
    """
    return _start(corpus).value if is_one_of(init, ["auto"]) else init  # type: ignore[return-value]


def eta_for(eta: object, corpus: Corpus) -> object:
    """Return the eta that ``"auto"`` means for these documents; return any other `eta` unchanged."""
    return _eta(corpus).value if is_one_of(eta, ["auto"]) else eta


def why_chosen(init: object, eta: object, corpus: Corpus) -> dict[str, str]:
    """Return the value, and the reason in words, of each of the two settings that is ``"auto"``."""
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
