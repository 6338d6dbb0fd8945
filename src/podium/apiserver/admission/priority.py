"""Priority: the class of a pod decides its priority and preemption policy."""

from __future__ import annotations

from podium.apiserver import statuses
from podium.apiserver.admission import Admission, Reader
from podium.apiserver.statuses import Json

CLASSES = "priorityclasses.scheduling.k8s.io"
_LOWER = "PreemptLowerPriority"


def resolve_priority(pod: Json, old: Json | None, reader: Reader) -> None:
    """Set the priority, its class and preemptionPolicy; refuse a contradicting priority."""
    spec = pod.setdefault("spec", {})
    if old is not None:  # it was decided when the pod was created
        for field in ("priority", "preemptionPolicy"):
            if field in old.get("spec", {}):
                spec.setdefault(field, old["spec"][field])
        return
    name = spec.get("priorityClassName") or ""
    found = _class(name, reader, pod) if name else _default_class(reader)
    value = found["value"] if found else 0
    policy = (found or {}).get("preemptionPolicy", _LOWER)
    _agree(pod, "priority", value, "the integer value of priority")
    _agree(pod, "preemptionPolicy", policy, "the string value of PreemptionPolicy")
    spec["priority"], spec["preemptionPolicy"] = value, policy
    if found and not name:
        spec["priorityClassName"] = found["metadata"]["name"]


def resolve_group_priority(what: str, features: frozenset[str]) -> Admission:
    """Return the admission of pod groups; ``what`` they are called in messages."""
    resource = f"{what.replace(' ', '')}s.scheduling.k8s.io"
    has_policy = "PodGroupPreemptionPolicy" in features

    def resolve(group: Json, old: Json | None, reader: Reader) -> None:
        if old is not None:
            return
        spec, subject = group["spec"], group["metadata"].get("name", "")
        name = spec.get("priorityClassName") or ""
        found = _class(name, reader, group, resource) if name else _default_class(reader)
        value = found["value"] if found else 0
        if spec.get("priority") not in (None, value):
            why = (
                f"priority set in the {what} ({spec['priority']}) must match the priority computed "
                f"({value}) based on the priority class set in the spec"
            )
            raise statuses.forbidden(resource, subject, why)
        spec["priority"] = value
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]
        policy = (found or {}).get("preemptionPolicy", _LOWER)
        if has_policy and spec.get("preemptionPolicy") not in (None, policy):
            why = (
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
                f"provided in {what} spec; priority admission controller computed {policy} from "
                "the given PriorityClass name"
            )
            raise statuses.forbidden(resource, subject, why)
        if has_policy:
            spec["preemptionPolicy"] = policy

    return resolve


def _class(name: str, reader: Reader, obj: Json, resource: str = "pods") -> Json:
    item = reader.find(CLASSES, ("", name))
    if item is None:
        subject = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
        why = f"no PriorityClass with name {name} was found"
        raise statuses.forbidden(resource, subject, why)
    return item.decode()


def _default_class(reader: Reader) -> Json | None:
    """Return the default class; of several the one with the lowest value."""
    defaults = [one for one in reader.objects(CLASSES) if one.get("globalDefault")]
    return min(defaults, key=lambda one: one["value"], default=None)


def _agree(pod: Json, field: str, value: object, what: str) -> None:
    given = pod["spec"].get(field)
    if given is not None and given != value:
        why = (
            f"{what} ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name"
        )
        raise statuses.forbidden("pods", pod["metadata"].get("name", ""), why)


def check_priority_class(new: Json, old: Json | None, reader: Reader) -> None:
    """Refuse a second default class."""
    if not new.get("globalDefault"):
        return
    name = new["metadata"].get("name", "")
    for other in reader.objects(CLASSES):
        if other.get("globalDefault") and other["metadata"]["name"] != name:
            why = (
                f"PriorityClass {other['metadata']['name']} is already marked as default. "
                "Only one default can exist"
            )
            raise statuses.forbidden(CLASSES, name, why)
