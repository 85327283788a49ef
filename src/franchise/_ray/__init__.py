"""Ray: reaching a cluster, what its machines offer, and what went wrong with it.

Ray is imported when a cluster is asked for, never before. Nothing here knows of documents or chains: what
runs on a cluster is in `engines`.
"""

from franchise._ray.agreement import check_nodes, same_gpus, same_versions, versions
from franchise._ray.cluster import Ray
from franchise._ray.connecting import check_address, check_reachable, connected
from franchise._ray.faults import first_line, in_words, lost, ray_module
from franchise._ray.machines import Node, Places, check_memory, nodes, places

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
