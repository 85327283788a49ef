"""Ray: reaching a cluster, what its machines offer, and what went wrong with it.

Ray is imported when a cluster is asked for, never before. Only ``actors`` knows of documents and chains: it
holds the workers.
"""

from franchise.engines.pools.ray.agreement import check_nodes, same_gpus, same_versions, versions
from franchise.engines.pools.ray.connecting import Ray, check_address, check_reachable, connected
from franchise.engines.pools.ray.faults import first_line, in_words, lost, ray_module
from franchise.engines.pools.ray.machines import Node, Places, check_memory, nodes, places

__all__ = [
    "Node",
    "Places",
    "Ray",
    "check_address",
    "check_memory",
    "check_nodes",
    "check_reachable",
    "connected",
    "first_line",
    "in_words",
    "lost",
    "nodes",
    "places",
    "ray_module",
    "same_gpus",
    "same_versions",
    "versions",
]
