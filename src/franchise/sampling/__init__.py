"""Running chains."""

from franchise._draws import Draw
from franchise.sampling.chain import Chain
from franchise.sampling.schedule import Schedule, Timetable
from franchise.sampling.trace import Trace
from franchise.sampling.trials import Event, Proposal, SplitMerge, Trial

__all__ = ["Chain", "Draw", "Event", "Proposal", "Schedule", "SplitMerge", "Timetable", "Trace", "Trial"]
