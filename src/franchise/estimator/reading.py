"""Topics merged and hidden by people who read them (`franchise.posterior.reading`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from franchise._text import counted
from franchise.errors import FranchiseWarning, SettingsError
from franchise.posterior.reading import Reading, RememberedReading, found_again, read_as, remembered

if TYPE_CHECKING:
    from franchise.posterior.estimates import Posterior

_Topics = int | str | Sequence[int | str]


class Reads:
    """The part of `HDPTopicModel` that says which topics are read as one, and which are left out."""

    posterior_: Posterior
    _all_topics: Posterior
    _reading: Reading
    _remembered_reading: RememberedReading
    _numbers: Callable[[Any], list[int] | None]
    _rename: Callable[..., Self]

    @property
    def reading_(self) -> str:
        """What is merged and hidden, in words; empty if nothing is."""
        return self._reading.in_words()

    def merge_topics(self, topics: _Topics, name: str | None = None) -> Self:
        """Read several topics as one, in all tables, figures, the report and exports.

        The chains stay as they are, and so do scores and what is said of the number of topics. The share of
        the merged topic is the sum of the shares, in every document and draw. The remaining topics are
        renumbered, largest first; `restore_topics` undoes it all. As with names, a merge belongs to what
        topics are about: it is kept with the model, survives `resume`, and ends with a new `fit`.

        Parameters
        ----------
        topics
            Two topics or more, by their present numbers or by their names.
        name
            What to call the merged topic; by default the name of the largest of them that has one.

        Returns
        -------
        HDPTopicModel
            The model.

        Examples
        --------
        >>> from franchise import HDPTopicModel, from_tokens
        >>> corpus = from_tokens([["cat", "milk", "cat"], ["bond", "stock"], ["sun", "rain"]] * 20)
        >>> model = HDPTopicModel(sweeps=40, random_state=0, verbose=0).fit(corpus)
        >>> before = model.topic_weights_
        >>> merged = model.merge_topics([0, 1]).topic_weights_
        >>> len(merged) == len(before) - 1, round(float(merged[0] - before[0] - before[1]), 12)
        (True, 0.0)
        """
        check_is_fitted(self)
        if name is not None and not " ".join(str(name).split()):
            raise SettingsError("name: it is empty; give a text, or None", code="wrong-type")
        chosen = list(dict.fromkeys(self._numbers(topics) or ()))
        if len(chosen) < 2:
            raise SettingsError(
                f"topics={topics!r}: give two different topics or more to merge", code="too-few-topics"
            )
        name = None if name is None else " ".join(str(name).split())
        return self._read(self._reading.with_merged(self._among_all(chosen), name))

    def hide_topics(self, topics: _Topics) -> Self:
        """Leave topics out of all tables, figures, the report and exports.

        Their words count as unlisted, and shares of other topics stay what they are. All else is as for
        `merge_topics`; hidden topics that were merged are no longer.

        Parameters
        ----------
        topics
            The topics, by their present numbers or by their names.

        Returns
        -------
        HDPTopicModel
            The model.
        """
        check_is_fitted(self)
        chosen = set(self._numbers(topics) or ())
        if not chosen:
            raise SettingsError(f"topics={topics!r}: give one topic or more to hide", code="too-few-topics")
        if len(chosen) == self.posterior_.n_topics:
            raise SettingsError(
                "topics: these are all topics, and nothing would be left; hide fewer", code="too-few-topics"
            )
        return self._read(self._reading.with_hidden(self._among_all(sorted(chosen))))

    def restore_topics(self) -> Self:
        """Show all topics again as the chains have them, with their numbers and names of before."""
        check_is_fitted(self)
        return self._read(Reading())

    def _among_all(self, topics: Sequence[int]) -> list[int]:
        """Return the topics of the chains that these are."""
        return [k for topic in topics for k in self.posterior_.members[topic]]

    def _read(self, reading: Reading) -> Self:
        """Read the topics in another way, here and in the folder of the model, or neither."""
        return self._rename(
            **self._as_read(reading), _remembered_reading=remembered(reading, self._all_topics.phi)
        )

    def _as_read(self, reading: Reading) -> dict[str, Any]:
        read = read_as(self._all_topics, reading)
        n_topics = read.n_topics
        return {"_reading": reading, "posterior_": read, "n_topics_": n_topics, "_n_features_out": n_topics}

    def _carry_reading(self) -> None:
        """Find the merged and hidden topics among the present ones."""
        phi = self._all_topics.phi
        reading, lost = Reading(), 0
        if any(self._remembered_reading):
            reading, lost = found_again(self._remembered_reading, phi)
        vars(self).update(self._as_read(reading))
        self._remembered_reading = remembered(reading, phi) if reading else RememberedReading()
        if lost:
            warnings.warn(
                FranchiseWarning(
                    f"{counted(lost, 'topic')} that you had merged or hidden are gone: merge or hide those "
                    "that took their place",
                    code="reading-changed",
                ),
                stacklevel=5,
            )
