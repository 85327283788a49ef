"""Fits on a real cluster: processes that are killed, a node that goes and another that comes."""

import os
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from franchise import Chain, Corpus, HDPTopicModel, Priors, Ray, SplitMerge
from franchise.corpus import open_shards, planted, shard
from franchise.sampling import Timetable
from franchise.storage.chain import load_chain
from tests.integration.cluster.nodes import NODE
from tests.reference.chains import differences

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason="ray is not installed")

from franchise.engines.pools.ray.actors import RayWorkers  # noqa: E402 (after ray is known to be there)

SWEEPS = 8


@cache
def corpus():
    return planted(n_topics=8, n_terms=400, n_documents=300, document_length=100, seed=3).corpus


def new_chain(engine, workers=None):
    schedule = Timetable(sweeps=SWEEPS, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True))
    chain = Chain(corpus(), Priors(), schedule, random_state=5, init="fitted", engine=engine)
    if workers is not None:
        chain.use_workers(workers)
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
    with RayWorkers(corpus(), ray_cluster.address, 3) as workers:
        chain, before = new_chain("ray", workers), workers.generation
        chain.run(2)
        soon(ray.kill, workers._actors[0])
        chain.run(2)
        soon(os.kill, process_of(workers._actors[1]), signal.SIGKILL)
        chain.run(2)
        for actor in workers._actors:  # and all at once
            ray.kill(actor)
        chain.run(2)
        assert workers.generation == before + 3
        assert differences(chain, by_threads()) == []
        assert workers.sent > 0
        assert workers.received > 0


@pytest.mark.filterwarnings("ignore:a worker was lost")
def test_a_node_that_goes_and_one_that_comes(ray_cluster):
    ray_cluster.add_node(**NODE)
    with RayWorkers(corpus(), ray_cluster.address, 3) as workers:
        chain, before = new_chain("ray", workers), workers.generation
        chain.run(3)
        # Neither that of the cluster's own processes, nor that of this process.
        needed = {ray_cluster.head_node.node_id, ray.get_runtime_context().get_node_id()}
        goes = next(node for node in ray_cluster.list_all_nodes() if node.node_id not in needed)
        assert goes.node_id in {node_of(actor) for actor in workers._actors}
        ray_cluster.remove_node(goes, allow_graceful=False)
        comes = ray_cluster.add_node(**NODE)
        chain.run()
        assert workers.generation > before
        assert differences(chain, by_threads()) == []
    ray_cluster.remove_node(comes)  # two again, for the other tests


# ---------------------------------------------------------------- models

SETTINGS = {"chains": 2, "sweeps": 12, "burn_in": 4, "random_state": 3, "verbose": 0}


def numbers(model):
    return model.trace_.drop(columns="seconds")


@pytest.mark.filterwarnings("ignore:interrupted")
@pytest.mark.filterwarnings("ignore:there are .* topics")
def test_interrupted_and_resumed_on_other_workers(ray_cluster, tmp_path):
    shard(corpus(), tmp_path / "shards", shards=7)
    alone = HDPTopicModel(engine="parallel", **SETTINGS).fit(corpus())

    def interrupt(chain):
        if chain.sweeps_done == 5:
            os.kill(os.getpid(), signal.SIGINT)

    model = HDPTopicModel(engine=Ray(ray_cluster.address, workers=2), **SETTINGS)
    model.fit(open_shards(tmp_path / "shards"), checkpoint_dir=tmp_path / "model", callback=interrupt)
    assert model.ending_ == "interrupted"
    again = HDPTopicModel.load(tmp_path / "model")
    assert again.chains_[0].sweeps_done < 12
    again.set_params(engine=Ray(ray_cluster.address, workers=3)).resume()
    assert numbers(again).equals(numbers(alone))
    assert np.array_equal(again.components_, alone.components_)
    loaded = HDPTopicModel.load(tmp_path / "model")
    for chain, other in zip(loaded.chains_, alone.chains_, strict=True):
        assert differences(chain, other) == []


_KILLED = """
import os, signal, sys
from pathlib import Path
from franchise import Priors, SplitMerge
from franchise.sampling import Timetable
from franchise.corpus import open_shards, planted, shard
from franchise.engines.pools.ray.actors import RayWorkers
from franchise.sampling.plan import Plan
from franchise.sampling.run import run_chains
from franchise.storage.checkpoints import Checkpoints

corpus = planted(n_topics=8, n_terms=400, n_documents=300, document_length=100, seed=3).corpus
schedule = Timetable(sweeps=8, burn_in=2, thin=2, split_merge=SplitMerge(keep_trials=True))
plan = Plan(priors=Priors(), schedule=schedule, starts=("fitted",), seed=5, engine="ray")

def kill(chain):
    if chain.sweeps_done == 5:
        os.kill(os.getpid(), signal.SIGKILL)

with RayWorkers(corpus, sys.argv[1], 2) as workers:
    chains, folder = plan.chains(corpus), Path(sys.argv[2])
    run_chains(chains, keeper=Checkpoints(folder, 0), callback=kill, workers=workers)
"""


def test_killed_and_resumed_on_other_workers(ray_cluster, tmp_path):
    answer = subprocess.run(
        [sys.executable, "-c", _KILLED, ray_cluster.address, str(tmp_path)],
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert answer.returncode == -signal.SIGKILL, answer.stderr
    chain = load_chain(tmp_path / "0", corpus())
    assert 4 <= chain.sweeps_done <= 5
    with RayWorkers(corpus(), ray_cluster.address, 1) as workers:
        chain.use_workers(workers)
        chain.run()
        assert differences(chain, by_threads()) == []


_MEMORY = """
import sys
from franchise import HDPTopicModel, Ray, open_shards

settings = dict(chains=1, sweeps=3, burn_in=1, random_state=0, verbose=0)
model = HDPTopicModel(engine=Ray(sys.argv[1]), **settings)
model.fit(open_shards(sys.argv[2]), checkpoint_dir=sys.argv[3])
with open("/proc/self/status") as status:  # getrusage would count what the parent had, too
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024)
"""


@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory from /proc")
def test_the_driver_does_not_grow_with_the_documents(ray_cluster, tmp_path):
    peaks = []
    for n_documents in (10_000, 200_000):
        x = np.random.default_rng(0).integers(0, 500, 40 * n_documents)
        many = Corpus(x, np.arange(0, x.size + 1, 40), [str(v) for v in range(500)])
        folder = tmp_path / str(n_documents)
        shard(many, folder, shards=8)
        arguments = [ray_cluster.address, folder, tmp_path / f"model {n_documents}"]
        answer = subprocess.run(
            [sys.executable, "-c", _MEMORY, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert answer.returncode == 0, answer.stderr
        peaks.append(float(answer.stdout.split()[-1]))
    # The words alone are 31 MB, with their seats and one draw 150 MB.
    assert peaks[1] < peaks[0] + 20, peaks
