"""Checks of pod specs in pods and templates, and of what an update of a pod may change."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from podium.api.names import label_key_problems
from podium.apiserver import statuses
from podium.apiserver.kinds.pod_spec.claims import claim_causes
from podium.apiserver.kinds.pod_spec.containers import container_causes, volume_causes
from podium.apiserver.kinds.pod_spec.placement import placement_causes
from podium.apiserver.names import label_problems, subdomain_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_CHOICES = {
    "restartPolicy": ["Always", "OnFailure", "Never"],
    "dnsPolicy": ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
}
_DEADLINE = "activeDeadlineSeconds"


def pod_spec_causes(spec: Json, path: str) -> Causes:
    """Yield every validation error in a pod spec, including those in templates."""
    yield from volume_causes(spec.get("volumes") or [], f"{path}.volumes")
    volumes = {volume.get("name") for volume in spec.get("volumes") or []}
    if not spec.get("containers"):
        yield statuses.required(f"{path}.containers")
    seen: set[str] = set()
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or []):
            where = f"{path}.{group}[{index}]"
            yield from container_causes(container, where, volumes)
            name = container.get("name", "")
            if name in seen:
                yield statuses.duplicate(f"{where}.name", name)
            seen.add(name)
    for name, choices in _CHOICES.items():
        if spec.get(name) is not None and spec[name] not in choices:
            yield statuses.unsupported(f"{path}.{name}", spec[name], choices)
    yield from _names(spec, path)
    yield from claim_causes(spec, path)
    yield from _placement(spec, path)


def _names(spec: Json, path: str) -> Causes:
    for name, problems in (
        ("hostname", label_problems),
        ("serviceAccountName", subdomain_problems),
    ):
        for problem in problems(spec.get(name) or "x"):
            yield statuses.bad_value(f"{path}.{name}", spec[name], problem)
    deadline = spec.get(_DEADLINE)
    if deadline is not None and not 1 <= deadline < 2**31:
        detail = f"must be between 1 and {2**31 - 1}, inclusive"
        yield statuses.bad_value(f"{path}.{_DEADLINE}", deadline, detail)
    system = (spec.get("os") or {}).get("name", "linux")
    if system not in ("linux", "windows"):
        yield statuses.unsupported(f"{path}.os", system, ["linux", "windows"])


def _placement(spec: Json, path: str) -> Causes:
    if spec.get("nodeName") and spec.get("schedulingGates"):
        detail = "cannot be set until all schedulingGates have been cleared"
        yield statuses.not_allowed(f"{path}.nodeName", detail)
    if spec.get("nodeName"):
        for problem in subdomain_problems(spec["nodeName"]):
            yield statuses.bad_value(f"{path}.nodeName", spec["nodeName"], problem)
    yield from placement_causes(spec, path)
    gates = [gate.get("name", "") for gate in spec.get("schedulingGates") or []]
    for index, name in enumerate(gates):
        where = f"{path}.schedulingGates[{index}]"
        for problem in label_key_problems(name):
            yield statuses.bad_value(where, name, problem)
        if name in gates[:index]:
            yield statuses.duplicate(where, name)
    if (group := spec.get("schedulingGroup")) is not None:
        yield from _group(group.get("podGroupName"), f"{path}.schedulingGroup.podGroupName")


def _group(name: str | None, path: str) -> Causes:
    if name is None:
        yield statuses.bad_value(path, None, "must specify one of: `podGroupName`")
        return
    for problem in subdomain_problems(name):
        yield statuses.bad_value(path, name, problem)


def pod_update_causes(old: Json, new: Json) -> Causes:
    """Check an update of a pod.

    Only images, deadlines, additional tolerations and fewer scheduling gates are allowed.
    """
    before, after = old.get("spec") or {}, new.get("spec") or {}
    gates = [gate.get("name") for gate in before.get("schedulingGates") or []]
    for index, gate in enumerate(after.get("schedulingGates") or []):
        if gate.get("name") not in gates:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield statuses.not_allowed(f"spec.schedulingGates[{index}].name", detail)
    yield from _deadline_update(before, after)
    allowed = [_lasting(one) for one in after.get("tolerations") or []]
    if any(_lasting(one) not in allowed for one in before.get("tolerations") or []):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield statuses.not_allowed("spec.tolerations", detail)
    if gates:
        yield from _narrowed(before, after)
    if _fixed(before, bool(gates)) != _fixed(after, bool(gates)):
        yield statuses.not_allowed(
            "spec",
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
            "(allow it to be set to 1 if it was previously negative)",
        )


def _lasting(toleration: Json) -> Json:
    return {name: one for name, one in toleration.items() if name != "tolerationSeconds"}


def _deadline_update(before: Json, after: Json) -> Causes:
    old, new, path = before.get(_DEADLINE), after.get(_DEADLINE), f"spec.{_DEADLINE}"
    if old is None or old == new:
        return
    if new is None:
        detail = "must not update from a positive integer to nil value"
        yield statuses.bad_value(path, None, detail)
    elif new > old:
        yield statuses.bad_value(path, new, "must be less than or equal to previous value")


def _narrowed(before: Json, after: Json) -> Causes:
    """Check that a gated pod is only restricted to fewer nodes."""
    old, new = before.get("nodeSelector") or {}, after.get("nodeSelector") or {}
    if any(new.get(key) != value for key, value in old.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield statuses.bad_value("spec.nodeSelector", new, detail)


def _fixed(spec: Json, gated: bool) -> Json:
    """Return the part of a spec that no update may change; a gated pod may restrict its nodes."""
    fixed = copy.deepcopy(spec)
    free = ["activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"]
    for name in [*free, "nodeSelector", "affinity"] if gated else free:
        fixed.pop(name, None)
    for group in ("containers", "initContainers"):
        for container in fixed.get(group) or []:
            container.pop("image", None)
    return fixed
