"""Simulations: what the scheduler would do with a cluster that exists only in memory."""

from podium.simulation.figures import DomainUse, Figures, ResourceUse
from podium.simulation.results import (
    Blocked,
    DrainResult,
    FitResult,
    Limit,
    Move,
    NodeCount,
    Placement,
    ScheduleResult,
    Unplaced,
    Victim,
)
from podium.simulation.simulation import Simulation

__all__ = [
    "Blocked",
    "DomainUse",
    "DrainResult",
    "Figures",
    "FitResult",
    "Limit",
    "Move",
    "NodeCount",
    "Placement",
    "ResourceUse",
    "ScheduleResult",
    "Simulation",
    "Unplaced",
    "Victim",
]
