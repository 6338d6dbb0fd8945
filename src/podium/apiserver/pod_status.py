"""What a pod's status says about its spec: the class of its quality of service."""

from __future__ import annotations

from podium.api import quantity
from podium.apiserver.statuses import Json

_COUNTED = ("cpu", "memory")


def qos_class(spec: Json) -> str:
    """Guaranteed, Burstable or BestEffort, by what the containers request and are limited to."""
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    amounts = [container.get("resources") or {} for container in containers]
    if of_pod := spec.get("resources"):
        amounts = [of_pod]  # said for the pod as a whole, it is no question of its containers
    if not any(_positive(one.get(group)) for one in amounts for group in ("requests", "limits")):
        return "BestEffort"
    return "Guaranteed" if all(map(_is_guaranteed, amounts)) else "Burstable"


def _positive(amounts: Json | None) -> Json:
    return {
        name: value
        for name in _COUNTED
        if (value := quantity.parse((amounts or {}).get(name, 0))) > 0
    }


def _is_guaranteed(resources: Json) -> bool:
    limits = _positive(resources.get("limits"))
    requests = _positive(resources.get("requests")) or limits
    return set(limits) == set(_COUNTED) and {**limits, **requests} == limits
