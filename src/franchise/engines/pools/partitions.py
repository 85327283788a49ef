"""Makes the partitions of a process, by their kind."""

from typing import Any, Protocol

from franchise.corpus import CorpusArrays
from franchise.engines.instantiation import Instantiator
from franchise.engines.partitions.cells import CellsPartition
from franchise.engines.partitions.cuda.device import Device, gpu
from franchise.engines.partitions.cuda.partition import CudaPartition, MemoryShare
from franchise.engines.partitions.host import HostPartition
from franchise.engines.partitions.partition import Partition
from franchise.engines.pools.ranges import Assigned


class Factory(Protocol):
    """Makes partitions that share what one process needs once."""

    def make(self, documents: Assigned) -> Partition:
        """Return a partition whose words sit nowhere yet."""

    def use_threads(self, number: int) -> None:
        """Let partitions that are made from now on work in so many threads."""


class _OnHost:
    """Makes partitions in memory, which share the terms of topics."""

    def __init__(self, new_partition: Any, documents: list[Assigned], longest: int, threads: int) -> None:
        self._new_partition, self._threads = new_partition, threads
        n_terms = documents[0].n_terms
        self._instantiator = Instantiator(n_terms, longest, threads, partitions=len(documents))

    def make(self, documents: Assigned) -> Partition:
        """Return a partition in memory."""
        own = documents.documents, documents.place, self._threads, self._instantiator
        partition: Partition = self._new_partition(*own)
        return partition

    def use_threads(self, number: int) -> None:
        """Work in so many threads from now on."""
        self._threads = number
        self._instantiator.use_threads(number)


class _OnGpu:
    """Makes partitions on the GPU, which share its memory."""

    def __init__(self, documents: list[Assigned], is_whole: bool, threads: int) -> None:
        self._share = MemoryShare(len(documents))
        self._is_alone, self._threads = is_whole and len(documents) == 1, threads

    def make(self, documents: Assigned) -> Partition:
        """Return a partition for the GPU."""
        assert isinstance(documents.documents, CorpusArrays)
        return CudaPartition(
            documents.documents,
            documents.place,
            self._threads,
            is_alone=self._is_alone,
            share=self._share,
            device=_present_gpu,
        )

    def use_threads(self, number: int) -> None:
        """Work in so many threads from now on."""
        self._threads = number


def _present_gpu() -> Device:
    """Return the GPU that there is when it is needed."""
    return gpu()


def new_factory(kind: str, documents: list[Assigned], threads: int, is_whole: bool = True) -> Factory:
    """Return what makes partitions of a kind; `is_whole` says that there are no documents elsewhere."""
    if kind == "cuda":
        return _OnGpu(documents, is_whole, threads)
    if kind == "cells":  # no words are seated one after another
        return _OnHost(CellsPartition, documents, 0, threads)
    return _OnHost(HostPartition, documents, documents[0].place.longest, threads)
