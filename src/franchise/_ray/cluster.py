"""Which cluster chains run on, as users say it."""

from dataclasses import dataclass

from franchise._ray.connecting import check_address
from franchise._settings import flag, whole_number


@dataclass(frozen=True)
class Ray:
    """An engine on a Ray cluster: the chains of ``"parallel"``, or with GPUs those of ``"gpu"``, to the bit.

    Parameters
    ----------
    address
        ``"auto"`` (a cluster that runs), ``"local"`` (this machine), HOST:PORT; or None, which is ``"auto"``
        where a cluster runs, else ``"local"``. It changes no answer.
    workers
        How many processes share the documents; by default one per machine, or per GPU. It changes no answer.
    gpu
        Whether each worker has a GPU.

    Examples
    --------
    >>> from franchise import HDPTopicModel, Ray
    >>> model = HDPTopicModel(engine=Ray("10.0.0.1:6379", workers=16))
    """

    address: str | None = "auto"
    workers: int | None = None
    gpu: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be; nothing is reached for."""
        check_address(self.address)
        if self.workers is not None:
            object.__setattr__(self, "workers", whole_number("workers", self.workers, 1))
        object.__setattr__(self, "gpu", flag("gpu", self.gpu))
