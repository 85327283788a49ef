"""Fits on a real cluster: processes that are killed, a node that goes and another that comes."""

import os
import signal
import threading
from functools import cache

import pytest

from franchise import Chain, Priors, Schedule, SplitMerge
from franchise.corpus import planted
from tests.ray_cluster import NODE
from tests.reference.chains import differences

ray = pytest.importorskip("ray", reason="ray is not installed")

from franchise.engines.ray_crew import RayCrew  # noqa: E402 (after ray is known to be there)

SWEEPS = 8


@cache
def corpus():
    return planted(n_topics=8, n_terms=400, n_documents=300, document_length=100, seed=3).corpus


def new_chain(engine, crew=None):
    schedule = Schedule(sweeps=SWEEPS, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True))
    chain = Chain(corpus(), Priors(), schedule, seed=5, start="fitted", engine=engine)
    if crew is not None:
        chain.use_crew(crew)
    return chain


@cache
def by_threads():
    chain = new_chain("parallel")
    chain.run()
    return chain


def process_of(actor):
    return ray.get(actor.__ray_call__.remote(lambda worker: os.getpid()))


def node_of(actor):
    return ray.get(actor.__ray_call__.remote(lambda worker: ray.get_runtime_context().get_node_id()))


def soon(action, *arguments):
    """Do something in the middle of what comes next."""
    threading.Timer(0.05, action, arguments).start()


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_workers_that_are_killed(ray_cluster):
    with RayCrew(corpus(), ray_cluster.address, 3) as crew:
        chain, before = new_chain("ray", crew), crew.generation
        chain.run(2)
        soon(ray.kill, crew._actors[0])
        chain.run(2)
        soon(os.kill, process_of(crew._actors[1]), signal.SIGKILL)
        chain.run(2)
        for actor in crew._actors:  # and all at once
            ray.kill(actor)
        chain.run(2)
        assert crew.generation == before + 3
        assert differences(chain, by_threads()) == []
        assert crew.sent > 0
        assert crew.received > 0


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_a_node_that_goes_and_one_that_comes(ray_cluster):
    ray_cluster.add_node(**NODE)
    with RayCrew(corpus(), ray_cluster.address, 3) as crew:
        chain, before = new_chain("ray", crew), crew.generation
        chain.run(3)
        # Neither that of the cluster's own processes, nor that of this process.
        needed = {ray_cluster.head_node.node_id, ray.get_runtime_context().get_node_id()}
        goes = next(node for node in ray_cluster.list_all_nodes() if node.node_id not in needed)
        assert goes.node_id in {node_of(actor) for actor in crew._actors}
        ray_cluster.remove_node(goes, allow_graceful=False)
        ray_cluster.add_node(**NODE)
        chain.run()
        assert crew.generation > before
        assert differences(chain, by_threads()) == []
