"""Resources of a pod as a whole: what is filled in from its containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podium.api import quantity
from podium.apiserver import statuses
from podium.apiserver.statuses import Cause, Json

_HUGE_PAGES = "hugepages-"
_OVERCOMMITTED = ("cpu", "memory")  # their limits may exceed their requests

Texts = dict[str, str]


def set_resources(spec: Json) -> None:
    """Complete the resources of a pod that has any."""
    if _is_set(spec):
        _set_huge_pages(spec)
        _set_requests(spec)
        _set_limits(spec)


def set_requests_beside_limits(spec: Json) -> None:
    """Complete the resources of a pod as 1.36 does: no limits, and requests only beside limits."""
    if _is_set(spec):
        _set_huge_pages(spec)
        if spec["resources"].get("limits"):
            _set_requests(spec)


def _is_set(spec: Json) -> bool:
    resources = spec.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _set_huge_pages(spec: Json) -> None:
    resources = spec["resources"]
    limits = dict(resources.get("limits") or {})
    for name, amount in total(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name not in (resources.get("requests") or {}):
            limits.setdefault(name, amount)
    if limits:
        resources["limits"] = limits


def _set_requests(spec: Json) -> None:
    """Fill in the requests that containers have, and those that follow from limits of the pod."""
    requests = dict(spec["resources"].get("requests") or {})
    for name, amount in total(spec, "requests").items():
        if name in _OVERCOMMITTED:
            requests.setdefault(name, amount)
    spec["resources"]["requests"] = {**(spec["resources"].get("limits") or {}), **requests}


def _set_limits(spec: Json) -> None:
    """Fill in limits that every container has: their total, or the pod's request if it is more."""
    resources = spec["resources"]
    requests, limits = resources["requests"], dict(resources.get("limits") or {})
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    totals = total(spec, "limits")
    for name in requests.keys() - limits.keys():
        if all(name in _amounts(container, "limits") for container in containers):
            limits[name] = max(totals[name], requests[name], key=quantity.parse)
    if limits:
        resources["limits"] = limits


def request_causes(spec: Json, path: str) -> Iterator[Cause]:
    """Yield a cause for each request that is too small for the containers."""
    if not _is_set(spec):
        return
    totals = total(spec, "requests")
    for name, amount in (spec["resources"].get("requests") or {}).items():
        needed = totals.get(name, "0")
        if quantity.parse(needed) > quantity.parse(amount):
            detail = f"must be greater than or equal to aggregate container requests of {needed}"
            yield statuses.bad_value(f"{path}.resources.requests[{name}]", amount, detail)


def total(spec: Json, group: str) -> Texts:
    """Return what containers need at most at a time; ``group`` is "requests" or "limits".

    Init containers run one after the other, next to the sidecars that were started before.
    """
    sidecars: Texts = {}
    peak: Texts = {}
    for container in spec.get("initContainers") or []:
        needed = _sum(sidecars, _amounts(container, group))
        if container.get("restartPolicy") == "Always":
            sidecars = needed
        peak = _larger(peak, needed)
    running = sidecars
    for container in spec.get("containers") or []:
        running = _sum(running, _amounts(container, group))
    return _larger(running, peak)


def _amounts(container: Json, group: str) -> Mapping[str, str]:
    return (container.get("resources") or {}).get(group) or {}


def _sum(left: Texts, right: Mapping[str, str]) -> Texts:
    return {**left, **{name: quantity.plus(left.get(name), one) for name, one in right.items()}}


def _larger(left: Texts, right: Texts) -> Texts:
    return {
        name: max(left.get(name, "0"), right.get(name, "0"), key=quantity.parse)
        for name in {**left, **right}
    }
