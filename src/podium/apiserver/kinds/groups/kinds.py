"""Workload, PodGroup and CompositePodGroup, as the feature gates of a server choose them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from podium.apiserver import statuses
from podium.apiserver.admission.priority import resolve_group_priority
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, column
from podium.apiserver.kinds.groups.rules import (
    SHARED,
    Rule,
    fields,
    immutable,
    long_name,
    named_items,
    needed,
    one_of,
    optional,
    path_name,
    policy,
    short_name,
    struct,
    workload_ref,
)
from podium.apiserver.kinds.groups.workload_tree import tree_causes
from podium.apiserver.kinds.resource.allocations import condition_causes
from podium.apiserver.kinds.resource.values import in_order
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_37

Causes = Iterator[Cause]
Features = frozenset[str]

GROUP: Final = "scheduling.k8s.io"
STORED: Final = f"{GROUP}/v1beta1"
PROTECTION: Final = f"{GROUP}/podgroup-protection"
# The fields of groups and templates that a gate enables.
GATES: Final = {
    "parentCompositePodGroupName": "CompositePodGroup",
    "compositePodGroupTemplates": "CompositePodGroup",
    "schedulingConstraints": "TopologyAwareWorkloadScheduling",
    "resourceClaims": "DRAWorkloadResourceClaims",
    "preemptionPolicy": "PodGroupPreemptionPolicy",
}
_TEMPLATES, _COMPOSITES = "podGroupTemplates", "compositePodGroupTemplates"


def _workload_ref(after: Any, before: Any, path: str) -> Causes:
    """Check the workload of a composite group, which must have one."""
    yield from immutable(optional(workload_ref))(after, before, path)
    if after is None:
        yield statuses.required(path)


_GROUP_RULES: Final[dict[str, Rule]] = {
    "parentCompositePodGroupName": immutable(optional(long_name)),
    "workloadRef": immutable(optional(workload_ref)),
    "schedulingPolicy": policy("minCount"),
    **SHARED,
}
_COMPOSITE_RULES: Final[dict[str, Rule]] = {
    **_GROUP_RULES,
    "workloadRef": _workload_ref,
    "schedulingPolicy": immutable(policy("minGroupCount")),
}
_TEMPLATE: Final = struct(
    {"name": needed(short_name), "schedulingPolicy": policy("minCount"), **SHARED}
)


def _composite_template(after: Any, before: Any, path: str) -> Causes:
    """Check a template that has templates inside."""
    yield from _COMPOSITE_TEMPLATE(after, before, path)


_COMPOSITE_TEMPLATE: Final = struct(
    {
        "name": needed(short_name),
        "schedulingPolicy": policy("minGroupCount"),
        **SHARED,
        _TEMPLATES: named_items(_TEMPLATE, 8, fixed=True),
        _COMPOSITES: named_items(_composite_template, 8, fixed=True),
    }
)
_CONTROLLER: Final = struct(
    {"apiGroup": optional(long_name), "kind": needed(path_name), "name": needed(path_name)}
)
_WORKLOAD_RULES: Final[dict[str, Rule]] = {
    "controllerRef": immutable(optional(_CONTROLLER)),
    _TEMPLATES: named_items(_TEMPLATE, 8, fixed=True),
    _COMPOSITES: named_items(_composite_template, 8, fixed=True),
}


def group_kinds(features: Features) -> tuple[ApiKind, ...]:
    """Return the kinds that a server with these features serves; none without GenericWorkload."""
    if "GenericWorkload" not in features:
        return ()
    kinds = (_pod_group(features), _workload(features))
    older = tuple(replace(kind, version="v1alpha3", stored_version=STORED) for kind in kinds)
    if "CompositePodGroup" in features:
        older += (_composite_pod_group(features),)
    return (*kinds, *older)


def _pod_group(features: Features) -> ApiKind:
    return ApiKind(
        GROUP,
        "v1beta1",
        "PodGroup",
        "podgroups",
        subresources=("status",),
        since=V1_37,
        update_needs_version=True,
        checks_required=False,
        checks_updates=False,
        set_defaults=_group_defaults(features),
        admissions=(_protect, resolve_group_priority("pod group", features)),
        complete=_without_disabled(features, "spec"),
        check=_check_group,
        check_update=_updated(_GROUP_RULES),
        check_status=_check_status,
        prepare_status=_without_claims(features),
        columns=(
            NAME,
            column("Policy", _policy_of),
            column("Workload", _workload_of),
            column("Status", _status_of),
            AGE,
        ),
    )


def _composite_pod_group(features: Features) -> ApiKind:
    return ApiKind(
        GROUP,
        "v1alpha3",
        "CompositePodGroup",
        "compositepodgroups",
        subresources=("status",),
        since=V1_37,
        update_needs_version=True,
        checks_required=False,
        checks_updates=False,
        set_defaults=_group_defaults(features),
        admissions=(resolve_group_priority("composite pod group", features),),
        complete=_without_disabled(features, "spec"),
        check=lambda obj: fields(_COMPOSITE_RULES, obj.get("spec") or {}, None, "spec"),
        check_update=_updated(_COMPOSITE_RULES),
        check_status=_check_status,
        columns=(NAME, column("Policy", _policy_of), column("Workload", _workload_of), AGE),
    )


def _workload(features: Features) -> ApiKind:
    return ApiKind(
        GROUP,
        "v1beta1",
        "Workload",
        "workloads",
        since=V1_37,
        update_needs_version=True,
        checks_required=False,
        checks_updates=False,
        set_defaults=_workload_defaults,
        complete=_complete_workload(features),
        check=_check_workload,
        check_update=_check_workload_update,
    )


# --- defaults -------------------------------------------------------------------------------------


def _group_defaults(features: Features) -> Callable[[Json], None]:
    has_policy = GATES["preemptionPolicy"] in features

    def set_defaults(group: Json) -> None:
        spec = group.setdefault("spec", {})
        spec.setdefault("schedulingPolicy", {})
        spec.setdefault("disruptionMode", {"single": {}})
        if has_policy:
            spec.setdefault("preemptionPolicy", "PreemptLowerPriority")

    return set_defaults


def _workload_defaults(workload: Json) -> None:
    _complete_templates(workload.setdefault("spec", {}))


def _complete_templates(inside: Json) -> None:
    """Write what Go always writes: policies and constraints, even if there are none."""
    for template in inside.get(_TEMPLATES) or ():
        template.setdefault("schedulingPolicy", {})
        template.setdefault("schedulingConstraints", None)
    for template in inside.get(_COMPOSITES) or ():
        template.setdefault("schedulingPolicy", {})
        _complete_templates(template)


def _without_disabled(features: Features, where: str) -> Callable[[Json], None]:
    """Return a function that drops the fields of gates that are off, after they got an owner."""
    disabled = [name for name, gate in GATES.items() if gate not in features]

    def drop(obj: Json) -> None:
        spec = obj.get(where) or {}
        for name in disabled:
            spec.pop(name, None)

    return drop


def _complete_workload(features: Features) -> Callable[[Json], None]:
    disabled = [name for name, gate in GATES.items() if gate not in features]

    def drop(inside: Json) -> None:
        for name in disabled:
            if name in inside:
                inside.pop(name)
        for templates in (_TEMPLATES, _COMPOSITES):
            for template in inside.get(templates) or ():
                drop(template)

    def complete(workload: Json) -> None:
        spec = workload.setdefault("spec", {})
        drop(spec)
        spec.setdefault(_TEMPLATES, None)
        _complete_templates(spec)

    return complete


def _without_claims(features: Features) -> Callable[[Json, Json], None]:
    is_enabled = GATES["resourceClaims"] in features

    def prepare(old: Json, new: Json) -> None:
        if not is_enabled:
            new.get("status", {}).pop("resourceClaimStatuses", None)

    return prepare


# --- admission ------------------------------------------------------------------------------------


def _protect(group: Json, old: Json | None, reader: object) -> None:
    """Put a finalizer on new groups: they stay as long as pods use them."""
    if old is None:
        finalizers = group["metadata"].setdefault("finalizers", [])
        if PROTECTION not in finalizers:
            finalizers.append(PROTECTION)


# --- checks ---------------------------------------------------------------------------------------


def _check_group(group: Json) -> Causes:
    spec = group.get("spec") or {}
    if spec.get("parentCompositePodGroupName") is not None and spec.get("workloadRef") is None:
        detail = "must be set when parentCompositePodGroupName is set"
        yield statuses.required("spec.workloadRef", detail)
    yield from fields(_GROUP_RULES, spec, None, "spec")


def _updated(rules: dict[str, Rule]) -> Callable[[Json, Json], Causes]:
    def check(old: Json, new: Json) -> Causes:
        return fields(rules, new.get("spec") or {}, old.get("spec") or {}, "spec")

    return check


def _check_status(old: Json, new: Json) -> Causes:
    status = new.get("status") or {}
    conditions = status.get("conditions") or []
    yield from in_order(condition_causes(conditions, "status.conditions", V1_37), V1_37)
    known = {one.get("name") for one in (new.get("spec") or {}).get("resourceClaims") or ()}
    for index, one in enumerate(status.get("resourceClaimStatuses") or ()):
        if one.get("name") not in known:
            where = f"status.resourceClaimStatuses[{index}].name"
            detail = "must match the name of an entry in `spec.resourceClaims`"
            yield statuses.bad_value(where, one.get("name", ""), detail)


def _check_workload(workload: Json) -> Causes:
    spec = workload.get("spec") or {}
    yield from tree_causes(spec)
    yield from one_of((_TEMPLATES, _COMPOSITES), spec, "spec")
    yield from fields(_WORKLOAD_RULES, spec, None, "spec")


def _check_workload_update(old: Json, new: Json) -> Causes:
    before, after = old.get("spec") or {}, new.get("spec") or {}
    yield from tree_causes(after)
    if before != after:
        yield from one_of((_TEMPLATES, _COMPOSITES), after, "spec")
        yield from fields(_WORKLOAD_RULES, after, before, "spec")


# --- columns --------------------------------------------------------------------------------------


def _policy_of(group: Json) -> str:
    return "Gang" if "gang" in group["spec"].get("schedulingPolicy", {}) else "Basic"


def _workload_of(group: Json) -> str:
    name: str = (group["spec"].get("workloadRef") or {}).get("workloadName", "<none>")
    return name


def _status_of(group: Json) -> str:
    conditions = {one["type"]: one for one in group.get("status", {}).get("conditions") or ()}
    if disrupted := conditions.get("DisruptionTarget"):
        return str(disrupted["reason"])
    scheduled = conditions.get("PodGroupInitiallyScheduled")
    if scheduled is None:
        return "Pending"
    return "Scheduled" if scheduled["status"] == "True" else "Unschedulable"
