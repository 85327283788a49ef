"""Workers of a real cluster that Ray believes to have GPUs; what would run on these runs on the host."""

from functools import cache

import pytest

from franchise import Chain, Priors, SplitMerge
from franchise.corpus import planted
from franchise.engines.pools import local
from franchise.sampling import Timetable
from tests.host_device import HostDevice, needs_compiler
from tests.reference.chains import differences

ray = pytest.importorskip("ray", reason="ray is not installed")

from franchise.engines.pools.ray import actors as on_ray  # noqa: E402 (after ray is known to be there)

pytestmark = [pytest.mark.slow, needs_compiler]


class WorkerOnHost(on_ray.RayWorker):
    def __init__(self, *given):
        super().__init__(*given)
        local.gpu = HostDevice  # in a process of its own

    def gpu(self):
        assert len(ray.get_gpu_ids()) == 1
        return "here", "the host"


@cache
def corpus():
    return planted(n_topics=4, n_terms=60, n_documents=80, document_length=40, seed=3).corpus


def new_chain(engine):
    schedule = Timetable(sweeps=4, burn_in=1, thin=1, split_merge=SplitMerge(keep_trials=True))
    return Chain(corpus(), Priors(), schedule, random_state=5, init="fitted", engine=engine)


def test_workers_with_gpus(ray_cluster, monkeypatch):
    monkeypatch.setattr(local, "gpu", HostDevice)
    monkeypatch.setattr(on_ray, "RayWorker", WorkerOnHost)
    alone, chain = new_chain("gpu"), new_chain("ray-gpu")
    alone.run()
    with on_ray.RayWorkers(corpus(), ray_cluster.address, gpus=True) as workers:
        assert (workers.size, workers.machines) == (2, 2)
        chain.use_workers(workers)
        chain.run()
        assert differences(chain, alone) == []
