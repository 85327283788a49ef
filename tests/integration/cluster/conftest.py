import pytest

from tests.integration.cluster.nodes import two_nodes


@pytest.fixture(scope="package")
def ray_cluster():
    """Start one cluster for all tests of the folder: two nodes with two CPUs and a pretended GPU each."""
    with two_nodes() as cluster:
        yield cluster
