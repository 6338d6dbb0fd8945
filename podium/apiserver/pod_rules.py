"""Semantic checks of pods and pod templates, and what an update of a pod may change."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from podium.api import quantity
from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.metadata import label_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_CHOICES = {
    "restartPolicy": ["Always", "OnFailure", "Never"],
    "dnsPolicy": ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
}
_PULL = ["Always", "IfNotPresent", "Never"]
_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]


def pod_spec_causes(spec: Json, path: str) -> Causes:
    """Everything wrong with a pod's spec, wherever it stands."""
    volumes = {volume.get("name") for volume in spec.get("volumes") or []}
    if not spec.get("containers"):
        yield statuses.required(f"{path}.containers")
    seen: set[str] = set()
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or []):
            where = f"{path}.{group}[{index}]"
            yield from _container(container, where, volumes)
            name = container.get("name", "")
            if name in seen:
                yield statuses.duplicate(f"{where}.name", name)
            seen.add(name)
    for name, choices in _CHOICES.items():
        if spec.get(name) is not None and spec[name] not in choices:
            yield statuses.unsupported(f"{path}.{name}", spec[name], choices)
    yield from _placement(spec, path)


def _container(container: Json, path: str, volumes: set[Any]) -> Causes:
    name = container.get("name", "")
    if not name:
        yield statuses.required(f"{path}.name")
    else:
        for problem in label_problems(name):
            yield statuses.bad_value(f"{path}.name", name, problem)
    image = container.get("image", "")
    if not image:
        yield statuses.required(f"{path}.image")
    elif image != image.strip():
        detail = "must not have leading or trailing whitespace"
        yield statuses.bad_value(f"{path}.image", image, detail)
    policy = container.get("imagePullPolicy")
    if policy is not None and policy not in _PULL:
        yield statuses.unsupported(f"{path}.imagePullPolicy", policy, _PULL)
    yield from _ports(container.get("ports") or [], path)
    yield from _resources(container.get("resources") or {}, f"{path}.resources")
    for index, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("name") not in volumes:
            where = f"{path}.volumeMounts[{index}].name"
            message = f'Not found: "{mount.get("name", "")}"'
            yield Cause("FieldValueNotFound", where, message)


def _ports(ports: list[Any], path: str) -> Causes:
    for index, port in enumerate(ports):
        number = port.get("containerPort", 0)
        if not 0 < number < 65536:
            where = f"{path}.ports[{index}].containerPort"
            yield statuses.bad_value(where, number, "must be between 1 and 65535, inclusive")


def _resources(resources: Json, path: str) -> Causes:
    limits = resources.get("limits") or {}
    for group in ("limits", "requests"):
        for name, amount in (resources.get(group) or {}).items():
            if quantity.parse(amount) < 0:
                where = f"{path}.{group}[{name}]"
                detail = "must be greater than or equal to 0"
                yield statuses.bad_value(where, amount, detail)
    for name, amount in (resources.get("requests") or {}).items():
        if name in limits and quantity.parse(amount) > quantity.parse(limits[name]):
            detail = f"must be less than or equal to {name} limit of {limits[name]}"
            yield statuses.bad_value(f"{path}.requests", amount, detail)


def _placement(spec: Json, path: str) -> Causes:
    for key, value in (spec.get("nodeSelector") or {}).items():
        for problem in (*label_key_problems(key), *label_value_problems(value)):
            yield statuses.bad_value(f"{path}.nodeSelector", key, problem)
    for index, one in enumerate(spec.get("tolerations") or []):
        yield from _toleration(one, f"{path}.tolerations[{index}]")
    for index, one in enumerate(spec.get("topologySpreadConstraints") or []):
        yield from _spread(one, f"{path}.topologySpreadConstraints[{index}]")
    if spec.get("nodeName"):
        for problem in subdomain_problems(spec["nodeName"]):
            yield statuses.bad_value(f"{path}.nodeName", spec["nodeName"], problem)
    for index, gate in enumerate(spec.get("schedulingGates") or []):
        for problem in label_key_problems(gate.get("name", "")):
            where = f"{path}.schedulingGates[{index}]"
            yield statuses.bad_value(where, gate.get("name", ""), problem)


def _toleration(toleration: Json, path: str) -> Causes:
    operator = toleration.get("operator") or "Equal"
    if operator not in ("Equal", "Exists", "Lt", "Gt"):
        yield statuses.unsupported(f"{path}.operator", operator, ["Equal", "Exists", "Gt", "Lt"])
    if operator == "Exists" and toleration.get("value"):
        detail = "value must be empty when `operator` is 'Exists'"
        yield statuses.bad_value(f"{path}.operator", toleration["value"], detail)
    if not toleration.get("key") and operator != "Exists":
        detail = (
            "operator must be Exists when `key` is empty, "
            'which means "match all values and all keys"'
        )
        yield statuses.bad_value(f"{path}.operator", operator, detail)
    effect = toleration.get("effect")
    if effect and effect not in _EFFECTS:
        yield statuses.unsupported(f"{path}.effect", effect, _EFFECTS)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        yield statuses.bad_value(f"{path}.effect", effect or "", detail)


def _spread(constraint: Json, path: str) -> Causes:
    if constraint.get("maxSkew", 0) <= 0:
        detail = "must be greater than zero"
        yield statuses.bad_value(f"{path}.maxSkew", constraint.get("maxSkew", 0), detail)
    if not constraint.get("topologyKey"):
        yield statuses.required(f"{path}.topologyKey", "can not be empty")
    actions = ["DoNotSchedule", "ScheduleAnyway"]
    if constraint.get("whenUnsatisfiable") not in actions:
        value = constraint.get("whenUnsatisfiable")
        yield statuses.unsupported(f"{path}.whenUnsatisfiable", value, actions)


def pod_update_causes(old: Json, new: Json) -> Causes:
    """A pod's spec stays as it is, but for images, deadlines, more tolerations and fewer gates."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    gates = [gate.get("name") for gate in before.get("schedulingGates") or []]
    left = [gate.get("name") for gate in after.get("schedulingGates") or []]
    if not set(left) <= set(gates):
        detail = "only deletion is allowed, but found new scheduling gate"
        yield statuses.not_allowed("spec.schedulingGates", detail)
    tolerations = after.get("tolerations") or []
    if any(one not in tolerations for one in before.get("tolerations") or []):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield statuses.not_allowed("spec.tolerations", detail)
    if _fixed(before, bool(gates)) != _fixed(after, bool(gates)):
        yield statuses.not_allowed(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
            "(allow it to be set to 1 if it was previously negative)",
        )


def _fixed(spec: Json, gated: bool) -> Json:
    """The part of a spec that no update may change; a gated pod may still narrow its nodes."""
    fixed = copy.deepcopy(spec)
    free = ["activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"]
    for name in [*free, "nodeSelector", "affinity"] if gated else free:
        fixed.pop(name, None)
    for group in ("containers", "initContainers"):
        for container in fixed.get(group) or []:
            container.pop("image", None)
            container.pop("imagePullPolicy", None)
    return fixed
