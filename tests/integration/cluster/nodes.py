"""A Ray cluster of two nodes on this machine, each with processes of its own, for the tests."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# With a GPU that Ray only believes in, and the smallest store that it takes.
NODE = {"num_cpus": 2, "num_gpus": 1, "object_store_memory": 80 * 2**20}


@contextmanager
def two_nodes() -> Iterator[object]:
    """Start the cluster (seven seconds) and end it, whatever happens in between.

    Its nodes have what `NODE` says. It has `address`, `add_node(**NODE)` and `remove_node(node)`;
    no driver is connected to it yet.
    """
    ray = pytest.importorskip("ray", reason="ray is not installed")
    from ray.cluster_utils import Cluster

    before = {name: os.environ.get(name) for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ADDRESS")}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.pop("RAY_ADDRESS", None)
    cluster = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray's own
            head = {**NODE, "include_dashboard": False}
            cluster = Cluster(initialize_head=True, head_node_args=head)
            cluster.add_node(**NODE)
        yield cluster
    finally:
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
