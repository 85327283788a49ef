"""Topics taken together, or left out, by people who read them; the chains know nothing of it.

A *reading* says which topics of a posterior are merged into one, and which are hidden. Read that way, a
posterior is another one: in each of its draws, merged topics are one topic that has the words and the tables
of all, and hidden topics are not listed. So whatever is computed from it adds up: the share of a merged topic
is the sum of the shares, in every table and draw; the words of hidden topics are in the unlisted part. Shown
topics are renumbered, largest first.

Statements about the model do not change: the number of topics and its interval, traces, scores.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from franchise._arrays import Array
from franchise._draws import Draw, MergedCounts
from franchise._text import counted
from franchise.posterior.align import described
from franchise.posterior.estimates import Posterior
from franchise.posterior.labels import Named, carried, remember


class Merged(NamedTuple):
    """Topics that are read as one."""

    topics: tuple[int, ...]  # by their numbers in the posterior
    name: str | None = None


class Reading(NamedTuple):
    """What people have merged and hidden, by the numbers of topics in the posterior."""

    merged: tuple[Merged, ...] = ()
    hidden: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is merged or hidden."""
        return bool(self.merged or self.hidden)

    def with_merged(self, topics: Sequence[int], name: str | None) -> "Reading":
        """Return this reading with topics merged; those that are merged already keep no name of their own."""
        together = set(topics)
        for one in self.merged:
            if together & set(one.topics):
                together |= set(one.topics)
        apart = [one for one in self.merged if not together & set(one.topics)]
        return Reading((*apart, Merged(tuple(sorted(together)), name)), self.hidden)

    def with_hidden(self, topics: Sequence[int]) -> "Reading":
        """Return this reading with topics hidden; they are no longer merged."""
        gone = set(topics)
        apart = [one for one in self.merged if not gone & set(one.topics)]
        return Reading(tuple(apart), tuple(sorted(gone | set(self.hidden))))

    def names(self, names: Mapping[int, str], members: Sequence[tuple[int, ...]]) -> dict[int, str]:
        """Return the names of the topics as read, given those of the posterior's topics.

        A merged topic has the name that was given to it, else that of the largest of its topics with one.
        """
        given = {one.topics: one.name for one in self.merged if one.name is not None}
        read = {}
        for k, topics in enumerate(members):
            name = given.get(topics) or next((names[topic] for topic in topics if topic in names), None)
            if name is not None:
                read[k] = name
        return read

    def renamed(
        self, names: Mapping[int, str], new: Mapping[int, str], members: Sequence[tuple[int, ...]]
    ) -> tuple[dict[int, str], "Reading"]:
        """Return names of the posterior's topics, and a reading, that give topics as read their new names.

        What is hidden keeps its name. So do topics that are merged, unless their topic now has none.
        """
        kept = {k: name for k, name in names.items() if k in self.hidden}
        merged = {one.topics: one for one in self.merged}
        for k, topics in enumerate(members):
            if topics in merged:
                merged[topics] = merged[topics]._replace(name=new.get(k))
                kept |= {topic: names[topic] for topic in topics if topic in names and k in new}
            elif k in new:
                kept[topics[0]] = new[k]
        return kept, self._replace(merged=tuple(merged.values()))

    def in_words(self) -> str:
        """Say what is merged and hidden; nothing if nothing is."""
        parts = []
        if self.merged:
            n_topics = sum(len(one.topics) for one in self.merged)
            parts.append(f"{counted(n_topics, 'topic')} merged into {len(self.merged):,}")
        if self.hidden:
            parts.append(f"{counted(len(self.hidden), 'topic')} hidden")
        return " and ".join(parts)


class RememberedReading(NamedTuple):
    """A reading with what its topics are about, so that it can be found again in another answer."""

    merged: tuple[tuple[str | None, tuple[Named, ...]], ...] = ()
    hidden: tuple[Named, ...] = ()

    def in_terms(self, terms: Sequence[str], vocabulary: Sequence[str]) -> "RememberedReading":
        """Return the same in the numbers of another vocabulary; topics without a term of it are left out."""
        index = {term: v for v, term in enumerate(vocabulary)}

        def of(topics: Sequence[Named]) -> tuple[Named, ...]:
            found = []
            for one in topics:
                pairs = zip(one.terms, one.probabilities, strict=True)
                known = [(index[terms[v]], p) for v, p in pairs if terms[v] in index]
                if known:
                    numbers, probabilities = map(list, zip(*known, strict=True))
                    found.append(one._replace(terms=numbers, probabilities=probabilities))
            return tuple(found)

        return RememberedReading(tuple((name, of(topics)) for name, topics in self.merged), of(self.hidden))


def remembered(reading: Reading, phi: Array) -> RememberedReading:
    """Return a reading with the most probable terms of its topics."""

    def of(topics: Sequence[int]) -> tuple[Named, ...]:
        return tuple(remember(dict.fromkeys(topics, ""), phi))

    return RememberedReading(tuple((one.name, of(one.topics)) for one in reading.merged), of(reading.hidden))


def found_again(given: RememberedReading, phi: Array) -> tuple[Reading, int]:
    """Return a reading in the topics of another answer, and how many topics of it are gone.

    Topics are found as names are (`posterior.labels.carried`). What is left of a merged topic
    stays merged, if there are two or more.
    """
    groups = [*(topics for _, topics in given.merged), given.hidden]
    members = [one._replace(name=str(i)) for i, topics in enumerate(groups) for one in topics]
    where, lost = carried(members, phi)
    found = [tuple(k for k, group in sorted(where.items()) if group == str(i)) for i in range(len(groups))]
    merged = [
        Merged(topics, name)
        for (name, _), topics in zip(given.merged, found, strict=False)
        if len(topics) > 1
    ]
    return Reading(tuple(merged), found[-1]), len(lost)


def read_as(base: Posterior, reading: Reading) -> Posterior:
    """Return a posterior as it is read."""
    if not reading:
        return base
    once = {k for one in reading.merged for k in one.topics} | set(reading.hidden)
    groups = [one.topics for one in reading.merged]
    groups += [(k,) for k in range(base.n_topics) if k not in once]
    groups.sort(key=lambda topics: -base.weights[list(topics)].sum())
    n_topics = len(groups)
    number = numbers_of(groups, base.n_topics)
    draws, clusters = [], []
    for draw, column, cluster in zip(base.flat_draws, base.columns, base.alignment.clusters, strict=True):
        listed = number[column]
        taken_for = np.where(listed < n_topics, listed, n_topics + cluster)
        merged, found = _merged(draw, taken_for)
        draws.append(merged)
        clusters.append(found)
    # The others come after the listed, and have no gaps between them.
    others = np.unique(np.concatenate(clusters))
    rank = np.zeros(others[-1] + 1, np.int64)
    rank[others] = np.arange(others.size)
    of_chains = np.split(np.arange(len(draws)), np.cumsum([len(chain) for chain in base.draws])[:-1])
    chains = [[draws[i] for i in chain] for chain in of_chains]
    runs = base.run_support
    # Runs that have found all topics of a merged one have found that.
    support = None if runs is None else np.array([runs[list(topics)].min() for topics in groups])
    read = Posterior(
        base.corpus,
        chains,
        base.traces,
        base.mode,
        None if support is None else lambda _: support,
        described(chains, [rank[one] for one in clusters]),
    )
    read.n_topics, read.members, read.read_as = n_topics, groups, reading.in_words()
    for name in ("n_topics_draws", "n_topics_interval", "n_topics_by_chain", "n_topics_median"):
        setattr(read, name, getattr(base, name))
    return read


def numbers_of(members: Sequence[tuple[int, ...]], n_topics: int) -> Array:
    """Return the number, as read, of each topic of a posterior and of what it does not list."""
    number = np.full(n_topics + 1, len(members))
    for k, topics in enumerate(members):
        number[list(topics)] = k
    return number


def _merged(draw: Draw, taken_for: Array) -> tuple[Draw, Array]:
    """Return a draw in which topics that are taken for the same are one, and what each of its topics is."""
    found, place = np.unique(taken_for, return_inverse=True)
    if found.size == taken_for.size:
        return draw, taken_for
    sizes = np.bincount(place, draw.topic_terms.sum(axis=1))
    order = np.argsort(-sizes, kind="stable")
    rank = np.argsort(order)
    place = rank[place]
    topics = np.arange(place.size)
    to = sp.csr_array(
        (np.ones(place.size, draw.topic_terms.dtype), (place, topics)), shape=(found.size, place.size)
    )
    _, largest = np.unique(place, return_index=True)  # topics come by size
    merged = draw._replace(
        names=draw.names[largest],
        topic_terms=sp.csr_array(to @ draw.topic_terms),
        document_counts=MergedCounts(draw.document_counts, place, found.size),
        m_k=np.bincount(place, draw.m_k).astype(draw.m_k.dtype),
    )
    return merged, found[order]
