"""Workers of a real cluster that Ray believes to have GPUs; what would run on these runs on the host."""

from functools import cache

import pytest

from franchise import Chain, Priors, Schedule, SplitMerge
from franchise.corpus import planted
from franchise.engines.cuda import engine as on_one
from franchise.engines.cuda.worker_part import CudaWorkerPart
from tests.host_device import HostDevice, needs_compiler
from tests.reference.chains import differences

ray = pytest.importorskip("ray", reason="ray is not installed")

from franchise.engines import ray_crew  # noqa: E402 (after ray is known to be there)

pytestmark = [pytest.mark.slow, needs_compiler]


class PartOnHost(CudaWorkerPart):
    def __init__(self, *given):
        super().__init__(*given, device=HostDevice())


class WorkerOnHost(ray_crew.RayWorker):
    def gpu(self):
        assert len(ray.get_gpu_ids()) == 1
        return "here", "the host"


@cache
def corpus():
    return planted(n_topics=4, n_terms=60, n_documents=80, document_length=40, seed=3).corpus


def new_chain(engine):
    schedule = Schedule(sweeps=4, burn_in=1, thin=1, split_merge=SplitMerge(keep_trials=True))
    return Chain(corpus(), Priors(), schedule, seed=5, start="fitted", engine=engine)


def test_workers_with_gpus(ray_cluster, monkeypatch):
    monkeypatch.setattr(on_one, "gpu", HostDevice)
    monkeypatch.setattr(ray_crew, "CudaWorkerPart", PartOnHost)
    monkeypatch.setattr(ray_crew, "RayWorker", WorkerOnHost)
    alone, chain = new_chain("gpu"), new_chain("ray-gpu")
    alone.run()
    with ray_crew.RayCrew(corpus(), ray_cluster.address, gpus=True) as crew:
        assert (crew.size, crew.machines) == (2, 2)
        chain.use_crew(crew)
        chain.run()
        assert differences(chain, alone) == []
