"""Topics that the user gives as a start: those of an earlier model, or seed words for each topic.

Chains that continue an earlier model on more documents (`engines.enlarged`) start from states instead; their
topics here only record what the earlier model had found.

Given topics are neither a prior nor a constraint. Chains are exact from there on, and may leave them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

import numpy as np

from franchise._arrays import Array
from franchise._text import counted
from franchise.corpus import Corpus
from franchise.errors import CorpusError

TOPICS, SEED_WORDS, CONTINUED = "topics", "seed words", "continued"
_NAMED = 5  # seed words in one message


class TopicsOfTerms(NamedTuple):
    """Given topics over the terms of a corpus, in the form that engines take."""

    phi: Array  # (topic, term): rows sum to one, unless terms are missing in the corpus
    known: Array  # of each term: whether the topics contain it
    are_seeds: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenTopics:
    """Topics to start from. Two are equal if they have the same digest.

    Parameters
    ----------
    kind
        ``"topics"``; ``"seed words"``: all seed words of a topic equally likely; or ``"continued"``: the
        topics of a model to which documents were added.
    phi
        Topics by terms; rows sum to one. None in a chain that was read from disk, which has started and no
        longer needs them.
    terms
        The terms of the columns; None for those of the corpus, in its order.
    n_topics, digest
        Number of topics, and a digest of kind, topics and terms; left out, they are computed.
    names
        Names of some topics, by number.
    """

    kind: str
    phi: Array | None
    terms: tuple[str, ...] | None = None
    n_topics: int = -1
    digest: str = ""
    names: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compute the digest and the number of topics."""
        if self.phi is not None:
            object.__setattr__(self, "n_topics", len(self.phi))
            object.__setattr__(self, "digest", _digest(self.kind, self.phi, self.terms))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenTopics) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        topics = counted(self.n_topics, "topic")
        said = {TOPICS: f"{topics} given", CONTINUED: f"{topics} continued"}
        return f"{said.get(self.kind, f'seed words of {topics}')} ({self.digest[:8]})"

    def check(self, corpus: Corpus) -> None:
        """Refuse topics that contain no term of a corpus."""
        if self.phi is None:
            return
        if self.terms is None:
            if self.phi.shape[1] != corpus.n_terms:
                raise CorpusError(
                    f"init: the topics have {self.phi.shape[1]:,} columns, but the documents have "
                    f"{corpus.n_terms:,} terms; give one column per term, or a DataFrame with the terms as "
                    "columns",
                    code="wrong-shape",
                )
            return
        if self.kind == SEED_WORDS:
            _refuse_unknown(self.terms, corpus.vocabulary)
            return
        known = set(corpus.vocabulary)
        if not self.phi[:, [term in known for term in self.terms]].any():
            raise CorpusError(
                "init: the topics and the documents have no term in common; give topics over terms such as "
                f"{', '.join(map(repr, corpus.vocabulary[:3]))}",
                code="no-common-terms",
            )

    def in_terms_of(self, corpus: Corpus) -> TopicsOfTerms:
        """Return the topics over the terms of a corpus, without topics that have none of its terms."""
        if self.phi is None:
            raise ValueError("the topics were not kept with the chain")
        self.check(corpus)
        phi, known = self.phi, np.ones(corpus.n_terms, bool)
        if self.terms is not None:
            phi = np.zeros((len(self.phi), corpus.n_terms))
            column = {term: i for i, term in enumerate(self.terms)}
            place = np.array([column.get(term, -1) for term in corpus.vocabulary])
            known = place >= 0
            phi[:, known] = self.phi[:, place[known]]
        have_any = phi.any(axis=1)
        if not have_any.all():
            phi = phi[have_any]
        return TopicsOfTerms(phi, known, self.kind == SEED_WORDS)


def _refuse_unknown(words: Sequence[str], vocabulary: Sequence[str]) -> None:
    """Refuse seed words that no document has; the error lists similar terms."""
    terms = set(vocabulary)
    unknown = [word for word in words if word not in terms]
    if not unknown:
        return
    said = []
    by_lower_case = {term.lower(): term for term in vocabulary}
    for word in unknown[:_NAMED]:
        near = [by_lower_case[one] for one in get_close_matches(word.lower(), by_lower_case, n=3)]
        said.append(f"{word!r}" + (f" (there is {', '.join(map(repr, near))})" if near else ""))
    more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
    raise CorpusError(
        f"seed words that are not among the {len(terms):,} terms of the documents: {', '.join(said)}{more}; "
        "correct them, or leave them out",
        code="unknown-term",
    )


def _digest(kind: str, phi: Array, terms: tuple[str, ...] | None) -> str:
    digest = hashlib.blake2b(f"{kind} {phi.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(phi, "<f8").data)
    for term in terms or ():
        encoded = term.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()
