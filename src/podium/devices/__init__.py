"""Devices: which there are, which are taken, and which ones claims get.

It allocates resource claims as kube-scheduler does, with the same devices, and does no I/O.
``framework.cluster_devices`` keeps it up to date.
"""

from podium.devices.allocator import Allocator
from podium.devices.inventory import DeviceInventory
from podium.devices.outcomes import FAILED, FOUND, INVALID_POOLS, REFUSED, TIMED_OUT, Outcomes
from podium.devices.requests import Classes
from podium.devices.rules import DeviceRules
from podium.devices.score import allocated_score
from podium.devices.taint_rules import TaintedSlices
from podium.devices.taken import TakenDevices
from podium.devices.totals import DeviceTotals

__all__ = [
    "FAILED",
    "FOUND",
    "INVALID_POOLS",
    "REFUSED",
    "TIMED_OUT",
    "Allocator",
    "Classes",
    "DeviceInventory",
    "DeviceRules",
    "DeviceTotals",
    "Outcomes",
    "TaintedSlices",
    "TakenDevices",
    "allocated_score",
]
