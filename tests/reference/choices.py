"""Three ways to choose by weights, so that one twin serves three proofs.

`Drawn` chooses as the kernels do, from the same keyed streams: draw for draw the twin must agree with
the kernel. `Bordering` makes up uniform numbers that only just fall on one side of a border between two
choices: a kernel agrees on them all only if its weights do to ten digits. `outcomes` follows every choice
with its probability: the move's exact transition probabilities.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import Protocol, TypeVar

import numpy as np

from tests.reference.streams import Stream

Outcome = TypeVar("Outcome", bound=Hashable)
Label = TypeVar("Label", bound=Hashable)


class Choose(Protocol):
    """What a twin asks for random choices."""

    def start(self, item: int) -> None:
        """Begin the stream of a document."""

    def __call__(self, weights: Sequence[float]) -> int:
        """Return an index with probability in proportion to its weight."""

    def uniform(self) -> float:
        """Return a number from [0, 1)."""

    def one_of(self, labels: Sequence[Label]) -> Label:
        """Return one of the labels, all alike."""


class Drawn:
    """Choices by the streams of a key."""

    def __init__(self, key: tuple[int, int, int, int]) -> None:
        self._key = key

    def start(self, item: int) -> None:
        self._stream = Stream.named(self._key, item)

    def __call__(self, weights: Sequence[float]) -> int:
        return _falls_on(self._stream.uniform(), weights)

    def uniform(self) -> float:
        """Return the next number of the stream itself."""
        return self._stream.uniform()

    def one_of(self, labels: Sequence[Label]) -> Label:
        return labels[self([1.0] * len(labels))]


def _falls_on(u: float, weights: Sequence[float]) -> int:
    """Return the first index whose cumulated weight exceeds u times the total."""
    u *= sum(weights)
    return next((i for i, end in enumerate(accumulate(weights)) if end > u), len(weights) - 1)


class Bordering:
    """Choices by uniform numbers close to borders, kept in `uniforms` for the kernel to use."""

    GAP = 1e-10

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.uniforms: list[float] = []

    def start(self, item: int) -> None:
        pass

    def __call__(self, weights: Sequence[float]) -> int:
        borders = [end / sum(weights) for end in accumulate(weights)]
        u = self._random.choice([0.0, *borders]) + self._random.choice([-self.GAP, self.GAP])
        # Beyond the ends, or where two borders are so close that rounding decides: anything will do.
        if not 0.0 <= u < 1.0 or any(abs(u - border) < 0.9 * self.GAP for border in borders):
            u = self._random.random()
        self.uniforms.append(u)
        return _falls_on(u, weights)


class _Scripted:
    """Choices by a script; after its end, the first that is possible, the others being noted."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script = script
        self._made: tuple[int, ...] = ()
        self.probability = 1.0
        self.not_taken: list[tuple[int, ...]] = []

    def start(self, item: int) -> None:
        pass

    def __call__(self, weights: Sequence[float]) -> int:
        if len(self._made) < len(self._script):
            choice = self._script[len(self._made)]
        else:
            choice, *others = [i for i, weight in enumerate(weights) if weight > 0]
            self.not_taken += [(*self._made, other) for other in others]
        self._made += (choice,)
        self.probability *= weights[choice] / sum(weights)
        return choice

    def one_of(self, labels: Sequence[Label]) -> Label:
        times = Counter(labels)
        return list(times)[self(list(times.values()))]


def _paths(run: Callable[[Choose], Outcome]) -> Iterator[tuple[Outcome, float]]:
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        choose = _Scripted(scripts.pop())
        yield run(choose), choose.probability
        scripts += choose.not_taken


def outcomes(run: Callable[[Choose], Outcome]) -> dict[Outcome, float]:
    """Return the exact distribution of `run(choose)` by following every choice."""
    total: dict[Outcome, float] = defaultdict(float)
    for outcome, probability in _paths(run):
        total[outcome] += probability
    return dict(total)


def transition_matrix(states: Sequence[Outcome], move: Callable[[Outcome, Choose], Outcome]) -> np.ndarray:
    """Return P[a, b], the probability that `move` leads from state a to state b."""
    number = {state: i for i, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, state in enumerate(states):
        for outcome, probability in outcomes(lambda choose, state=state: move(state, choose)).items():
            matrix[i, number[outcome]] = probability
    return matrix
