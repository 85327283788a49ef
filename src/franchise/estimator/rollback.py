"""A call that fails leaves a model as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from franchise.sampling import Chain


@contextmanager
def all_or_nothing(model: Any, chains: Sequence[Chain] = ()) -> Iterator[None]:
    """Undo what the block has changed in a model if it raises.

    Parameters
    ----------
    model
        Its attributes are replaced in the block, never changed in place.
    chains
        The model's chains, where the block does change these in place. They take a copy of their states.
    """
    before = dict(vars(model))
    remembered = [chain.remembered() for chain in chains]
    try:
        yield
    except BaseException:
        if remembered:
            before["chains_"] = [again() for again in remembered]
        vars(model).clear()
        vars(model).update(before)
        raise
