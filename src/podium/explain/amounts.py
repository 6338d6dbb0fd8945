"""Amounts of resources as people write them, and who holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from podium.api import quantity, resources
from podium.api.objects import Pod
from podium.explain.values import Holder
from podium.state.pod_info import PodInfo

MOST_HOLDERS: Final = 5
_BYTES: Final = (resources.MEMORY, resources.EPHEMERAL_STORAGE)


def show(resource: str, amount: int) -> str:
    """Return an amount in the scheduler's units as a quantity: exact, and as short as possible."""
    if resource == resources.CPU:
        return quantity.format(amount * quantity.MILLI)
    is_bytes = resource in _BYTES or resource.startswith("hugepages-")
    style = quantity.Style.BINARY_SI if is_bytes else quantity.Style.DECIMAL_SI
    return quantity.format(amount * quantity.NANO, style)


def owner_of(pod: Pod) -> str:
    """Return the controller of a pod, such as ``DaemonSet/agent``; empty if it has none."""
    controller = pod.controller
    return "" if controller is None else f"{controller.kind}/{controller.name}"


def holder(info: PodInfo, amount: str = "") -> Holder:
    return Holder(info.key, amount, info.priority, owner_of(info.pod))


def largest(
    infos: Iterable[PodInfo], amount_of: Callable[[PodInfo], int], resource: str
) -> tuple[Holder, ...]:
    """Return the pods that hold most of a resource, the largest first."""
    held = [(amount_of(info), info) for info in infos]
    held = sorted((pair for pair in held if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].key))
    return tuple(holder(info, show(resource, amount)) for amount, info in held[:MOST_HOLDERS])


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return ``a, b and 4 more``."""
    known = list(names)
    if len(known) <= most:
        return " and ".join([", ".join(known[:-1]), known[-1]] if len(known) > 1 else known)
    return f"{', '.join(known[:most])} and {len(known) - most} more"


def plural(count: int, one: str) -> str:
    return f"{count} {one}{'' if count == 1 else 's'}"
