"""Which resources a node lacks for a pod, how much, and which pods have most of them."""

from __future__ import annotations

from podium.api import resources
from podium.explain.amounts import MOST_HOLDERS, holder, largest, show
from podium.explain.case import Case
from podium.explain.values import Holder, Shortfall
from podium.framework.status import Status
from podium.state.pod_info import PodInfo

PLUGIN = "NodeResourcesFit"


def requests_of(case: Case) -> dict[str, int]:
    """Return what the pod requests, in the scheduler's units."""
    return {name: amount for name, amount in resources.spec_requests(case.pod)[0].items() if amount}


def provided_to(case: Case) -> tuple[str, ...]:
    """Return the resources that the pod requests and that device classes provide."""
    return case.core.services.devices.extended_resources.requested_by(case.pod)


def insufficient(case: Case, status: Status, row: int) -> list[Shortfall]:
    requests = requests_of(case)
    found = []
    for message in status.reasons:
        name = message.removeprefix("Insufficient ")
        if message == "Too many pods":
            found.append(_crowded(case, message, row))
        elif name in requests:
            found.append(_short(case, message, name, row))
    return found


def _short(case: Case, message: str, name: str, row: int) -> Shortfall:
    node, wanted = case.node(row), requests_of(case)[name]
    promised = sum(info.requests.get(name, 0) for info in nominated_ahead(case, row))
    free, offered = node.free(name) - promised, node.allocatable(name)
    details = {
        "resource": name,
        "requested": show(name, wanted),
        "free": show(name, free),
        "allocatable": show(name, offered),
        "missing": show(name, wanted - free),
    }
    if promised:
        details["promised"] = show(name, promised)
    if not offered:
        text = f"it has no {name}"
    elif wanted > offered:
        text = (
            f"it has {show(name, offered)} {name} in all, and the pod requests {show(name, wanted)}"
        )
    else:
        left = f"{show(name, free)} of {show(name, offered)} is free"
        if free < 0:
            left = f"its pods have {show(name, -free)} more than its {show(name, offered)}"
        text = f"{show(name, wanted - free)} {name} too little: {left}"
    holders = largest(node.pods, lambda info: info.requests.get(name, 0), name)
    return Shortfall("InsufficientResource", PLUGIN, message, text, details, holders)


def _crowded(case: Case, message: str, row: int) -> Shortfall:
    node = case.node(row)
    count, most = len(node.pods), node.allocatable(resources.PODS)
    text = f"it has {count} pods, and can have {most}"
    holders: tuple[Holder, ...] = tuple(map(holder, node.pods[:MOST_HOLDERS]))
    details = {"resource": "pods", "pods": count, "allocatable": most}
    return Shortfall("TooManyPods", PLUGIN, message, text, details, holders)


def nominated_ahead(case: Case, row: int) -> list[PodInfo]:
    """Return the pods of the same or a higher priority for which room is kept on this node."""
    name = case.cluster.table.names[row]
    return [
        info
        for info in case.core.nominator.on(name)
        if info.priority >= case.pod.priority and info.uid != case.pod.uid
    ]
