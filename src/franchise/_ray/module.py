"""Ray itself, once it is needed."""

from typing import Any

from franchise._extras import needed


def ray_module() -> Any:
    """Return Ray; where it is missing, the error says what to install."""
    with needed("a cluster", "ray"):
        import ray
        import ray.exceptions
        import ray.util.client
        import ray.util.scheduling_strategies
    return ray
