"""Running chains."""

from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule
from franchise.sampling.trace import Draw, Trace

__all__ = ["Chain", "Draw", "Schedule", "Trace"]
