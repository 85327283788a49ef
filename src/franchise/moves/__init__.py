"""The Markov moves, one per file: compiled, silent, without input or output.

A move is a function ``move(key, corpus, state, scratch, ...) -> Info``, where `scratch` is the working memory
of that move. It changes the arrays of `state` in place, allocates nothing, and returns a small NamedTuple of
numbers, which is logged and never fed back. A move that may open a topic has ``complete`` in its Info: see
`complete_move`.
"""

from collections.abc import Callable
from typing import Any

from franchise._arrays import CorpusArrays
from franchise.model.capacity import grown
from franchise.model.state import State
from franchise.moves.shared.scratch import Scratch, grown_scratch
from franchise.random import Key


def complete_move(
    move: Callable[..., Any],
    key: Key,
    corpus: CorpusArrays,
    state: State,
    scratch: Scratch,
    own: str,
    *more_arguments: Any,
) -> tuple[State, Scratch, Any]:
    """Run a move to its end, with more room for topics whenever it needs it.

    `own` is the name of the move's part of the scratch. Returns the state and scratch, which are new tuples
    if room was made, and the move's Info, summed over its calls.
    """
    info = move(key, corpus, state, getattr(scratch, own), *more_arguments)
    while not info.complete:
        state, scratch = grown(state), grown_scratch(scratch)
        more = move(key, corpus, state, getattr(scratch, own), *more_arguments)
        info = type(info)(more.complete, *(a + b for a, b in zip(info[1:], more[1:], strict=True)))
    return state, scratch, info
