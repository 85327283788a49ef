"""Pieces of work as Ray's tasks: a few at a time, their results in the order of the pieces."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from franchise._ray.agreement import check_nodes
from franchise._ray.connecting import connected
from franchise._ray.faults import in_words
from franchise._ray.machines import nodes, warn_if_busy
from franchise._ray.module import ray_module

_RETRIES = 10  # of a piece whose worker or machine is lost
_AHEAD = 2  # pieces for each CPU, so that none waits for the next

T = TypeVar("T")


class OnRay(NamedTuple):
    """On which cluster to do something, and how many pieces at a time; None for all it has room for."""

    address: str | None = None
    workers: int | None = None


def in_tasks(
    where: OnRay, work: Callable[[Any, Any], Any], shared: Any, pieces: Iterable[tuple[T, Any]]
) -> Iterator[tuple[T, Any]]:
    """Yield ``work(shared, sent)`` for all pieces, pairs of what is kept here and what is sent.

    Pieces are taken as there is room for them, so that they need not all exist at the same time. One that is
    lost with its worker or machine is done again. Whoever stops early, as by Ctrl-C, leaves no work behind.

    Parameters
    ----------
    where
        The cluster.
    work
        A function that the workers can import.
    shared
        What all pieces need; it is sent once to each machine.
    pieces
        What comes back beside the result, and what is sent.
    """
    ray = ray_module()
    with connected(where.address):
        check_nodes()
        warn_if_busy(1)
        most = where.workers or _AHEAD * sum(node.cpus for node in nodes())
        task = ray.remote(work).options(num_cpus=1, max_retries=_RETRIES, scheduling_strategy="SPREAD")
        under_way: deque[tuple[T, Any]] = deque()
        try:
            everywhere = ray.put(shared)
            for kept, sent in pieces:
                if len(under_way) >= most:
                    yield under_way[0][0], ray.get(under_way[0][1])
                    under_way.popleft()
                under_way.append((kept, task.remote(everywhere, sent)))
            while under_way:
                yield under_way[0][0], ray.get(under_way[0][1])
                under_way.popleft()
        except ray.exceptions.RayError as error:
            raise in_words(error) from None
        finally:
            _cancel([one for _, one in under_way])


def _cancel(tasks: list[Any]) -> None:
    """Stop tasks, those that are being done as soon as they look up."""
    ray = ray_module()
    if tasks:
        # Not by force: a worker that is killed while its answer is under way makes Ray abort this process.
        for one in ray.wait(tasks, num_returns=len(tasks), timeout=0)[1]:
            ray.cancel(one)
