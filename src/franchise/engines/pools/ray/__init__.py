"""Ray: connecting to a cluster, resources of its machines, and errors.

Ray is imported only when a cluster is requested. Only ``actors``, which holds the workers, knows documents
and chains.
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
