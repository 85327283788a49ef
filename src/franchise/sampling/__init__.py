"""Running chains."""

from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule, Timetable
from franchise.sampling.trace import Draw, Trace
from franchise.sampling.trials import Event, Proposal, SplitMerge, Trial

__all__ = ["Chain", "Draw", "Event", "Proposal", "Schedule", "SplitMerge", "Timetable", "Trace", "Trial"]
