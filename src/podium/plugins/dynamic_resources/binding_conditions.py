"""Devices that must be prepared before a pod can use them, and whether they are.

A driver reports it in the status of the claim.
"""

from __future__ import annotations

import msgspec

from podium.api.objects import (
    AllocatedDeviceStatus,
    Condition,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from podium.api.times import NANOSECONDS, parse_time


class BindingFailed(Exception):
    """A driver reports that a device cannot be prepared. The text is upstream's."""


def results_of(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def must_be_prepared(claim: ResourceClaim) -> bool:
    """Return whether a device of the claim has conditions for binding."""
    return any(result.binding_conditions for result in results_of(claim))


def is_ready(claim: ResourceClaim) -> bool:
    """Return whether all devices are prepared; raise ``BindingFailed`` if one cannot be."""
    for result in results_of(claim):
        if not result.binding_conditions:
            continue
        device = _status_of(claim, result)
        if device is None:
            return False
        for name in result.binding_failure_conditions:
            failed = _condition(device, name)
            if failed is not None and failed.status == "True":
                message = msgspec.json.encode(failed.message).decode()  # in quotes, as upstream
                what = f"reason={failed.reason}, message={message}"
                raise BindingFailed(f"device binding failed: claim={claim.name}, {what}")
        for name in result.binding_conditions:
            condition = _condition(device, name)
            if condition is None or condition.status != "True":
                return False
    return True


def is_late(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Return whether a claim with conditions was allocated longer ago than the timeout."""
    allocation = claim.status.allocation
    if allocation is None or not allocation.allocation_timestamp or not must_be_prepared(claim):
        return False
    allocated = parse_time(allocation.allocation_timestamp)
    return allocated + int(timeout * NANOSECONDS) < int(now * NANOSECONDS)


def cannot_become_ready(claim: ResourceClaim, timeout: float, now: float) -> bool:
    """Return whether a device of the claim cannot be prepared, or was not prepared in time."""
    try:
        return not is_ready(claim) and is_late(claim, timeout, now)
    except BindingFailed:
        return True


def _status_of(
    claim: ResourceClaim, result: DeviceRequestAllocationResult
) -> AllocatedDeviceStatus | None:
    wanted = result.driver, result.pool, result.device
    for status in claim.status.devices:
        if (status.driver, status.pool, status.device) == wanted:
            return status
    return None


def _condition(device: AllocatedDeviceStatus, name: str) -> Condition | None:
    return next((each for each in device.conditions if each.type == name), None)
