"""The partially collapsed engines: the pieces of each, and which steps it makes in which sweep."""

import math
from typing import Any, NamedTuple

from franchise.engines.engine import Trials

# Words per sweep, about, whose tables and topics are sampled one by one. With more, the number of topics
# moves faster, but nothing else does, and one thread does all this work.
COLLAPSED_WORDS = 50_000
# The same for count tables: cells of documents whose tables are sampled one by one.
TABLE_CELLS = 10_000
# Trials of ten sweeps are made at once where listing the words of tables takes long.
MANY_WORDS, EVERY = 1_000_000, 10


class Kind(NamedTuple):
    """An engine: the kind of its partitions, and the pool that holds them."""

    name: str
    partition: str  # "host", "cells" or "cuda" (`partitions`)
    pool: str = "local"  # or "ray" (`pools`)
    at_once: int | None = None  # how many chains can sweep at the same time; None: as cores allow
    # With up to a tenth of this number of words, the trials of ten sweeps are made at once. Larger corpora
    # have fewer trials, as their topics are larger.
    most_at_once: int = 20_000_000
    words_to_keep: int = 20_000_000  # of tables listed for trials

    @property
    def on_gpu(self) -> bool:
        """Whether documents are on a GPU."""
        return self.partition == "cuda"

    @property
    def has_counts(self) -> bool:
        """Whether documents are cells with counts."""
        return self.partition == "cells"

    @property
    def seats_in_turn(self) -> bool:
        """Whether words can be seated one after another (the sequential start)."""
        return self.pool == "local" and not self.has_counts

    def is_due(self, sweep: int, n_words: int) -> bool:
        """Return whether a sweep has collapsed moves: fetching counts from a GPU takes long."""
        return not self.on_gpu or n_words < MANY_WORDS or sweep % EVERY == 0

    def turn(self, sweep: int, n_words: int, n_cells: int) -> tuple[int, int]:
        """Return which turn a sweep is for sampling documents one by one, and how many turns there are."""
        share = n_cells / TABLE_CELLS if self.has_counts else n_words / COLLAPSED_WORDS
        n_turns = max(1, math.ceil(share))
        every = EVERY if self.on_gpu and n_words >= MANY_WORDS else 1
        return sweep // every % n_turns, n_turns

    def trials_due(self, trials: Trials | None, sweep: int, n_words: int) -> Trials | None:
        """Return the trials to make in a sweep."""
        if trials is None or self.has_counts or n_words < MANY_WORDS:
            return trials
        if sweep % EVERY:
            return None
        times = min(max(1, self.most_at_once // n_words), EVERY)
        return trials._replace(number=times * trials.number)


# Sweeps on a GPU are short, so there are more trials, and more tables are listed for them.
_ON_GPU: dict[str, Any] = {"at_once": 2, "most_at_once": 2_000_000_000, "words_to_keep": 100_000_000}

KINDS = {
    kind.name: kind
    for kind in (
        Kind("parallel", "host"),
        Kind("gpu", "cuda", **_ON_GPU),
        Kind("cells", "cells"),
        Kind("ray", "host", "ray"),
        Kind("ray-gpu", "cuda", "ray", **_ON_GPU),
    )
}
