"""Nodes and namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.names import label_key_problems, label_value_problems
from podium.apiserver import statuses
from podium.apiserver.admission.node_taints import taint_by_condition, taint_new_node
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ONE_AT_A_TIME, ApiKind
from podium.apiserver.kinds.columns import AGE, NAME, NONE, Cell, column, value_column
from podium.apiserver.kinds.core.pods import set_condition_times
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.pod_spec.placement import EFFECTS
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.names import label_without_dots_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36

Causes = Iterator[Cause]

_EMPTY_NODE_INFO = dict.fromkeys(
    (
        "machineID",
        "systemUUID",
        "bootID",
        "kernelVersion",
        "osImage",
        "containerRuntimeVersion",
        "kubeletVersion",
        "kubeProxyVersion",
        "operatingSystem",
        "architecture",
    ),
    "",
)


def _set_node_defaults(node: Json) -> None:
    spec = spec_of(node)
    if spec.get("podCIDR"):
        set_missing(spec, podCIDRs=[spec["podCIDR"]])
    status = node.setdefault("status", {})
    set_condition_times(status, "lastHeartbeatTime", "lastTransitionTime")
    if status.get("capacity"):
        status["allocatable"] = {**status["capacity"], **(status.get("allocatable") or {})}


def _start_node(node: Json, now: str) -> None:
    status = node.setdefault("status", {})
    status["daemonEndpoints"] = status.get("daemonEndpoints") or {"kubeletEndpoint": {"Port": 0}}
    status["nodeInfo"] = {**_EMPTY_NODE_INFO, **(status.get("nodeInfo") or {})}


def _check_node(obj: Json) -> Causes:
    seen = set()
    for index, taint in enumerate((obj.get("spec") or {}).get("taints") or []):
        path = f"metadata.taints[{index}]"  # kube-apiserver's path in messages
        yield from _taint(taint, path)
        pair = (taint.get("key"), taint.get("effect"))
        if pair in seen:
            shown = {"Key": pair[0], "Value": taint.get("value", ""), "Effect": pair[1]}
            message = statuses.duplicate(path, {**shown, "TimeAdded": None}).message
            why = f"{message}: taints must be unique by key and effect pair"
            yield Cause("FieldValueDuplicate", path, why)
        seen.add(pair)


def _taint(taint: Json, path: str) -> Causes:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    for problem in label_key_problems(key):
        yield statuses.bad_value(f"{path}.key", key, problem)
    for problem in label_value_problems(value):
        yield statuses.bad_value(f"{path}.value", value, problem)
    if not effect:
        yield statuses.required(f"{path}.effect")
    elif effect not in EFFECTS:
        yield statuses.unsupported(f"{path}.effect", effect, EFFECTS)


def _check_node_update(old: Json, new: Json) -> Causes:
    before, after = (at(one, "spec.providerID") or "" for one in (old, new))
    if before and after != before:
        change = "modified" if after else "cleared"
        yield statuses.bad_value("spec.providerID", None, f"field cannot be {change} once set")


def _forbid_new_provider(old: Json, new: Json) -> Causes:
    """Refuse a change of providerID in the words of 1.36."""
    before, after = (one.get("spec") or {} for one in (old, new))
    if before.get("providerID") and before["providerID"] != after.get("providerID"):
        detail = 'node updates may not change providerID except from "" to valid'
        yield statuses.not_allowed("spec.providerID", detail)


def _node_status(node: Json) -> str:
    ready = [c for c in at(node, "status.conditions") or [] if c.get("type") == "Ready"]
    texts = ["Ready" if one.get("status") == "True" else "NotReady" for one in ready] or ["Unknown"]
    if at(node, "spec.unschedulable"):
        texts.append("SchedulingDisabled")
    return ",".join(texts)


def _node_roles(node: Json) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = at(node, "metadata.labels") or {}
    found = {key.removeprefix(prefix) for key in labels if key.startswith(prefix)}
    if labels.get("kubernetes.io/role"):
        found.add(labels["kubernetes.io/role"])
    return ",".join(sorted(found)) or NONE


def _node_info(name: str) -> Cell:
    return lambda node: at(node, f"status.nodeInfo.{name}") or "<unknown>"


def _address(kind: str) -> Cell:
    def cell(node: Json) -> str:
        for one in at(node, "status.addresses") or []:
            if one.get("type") == kind:
                return str(one.get("address", ""))
        return NONE

    return cell


NODE = ApiKind(
    "",
    "v1",
    "Node",
    "nodes",
    short_names=("no",),
    namespaced=False,
    subresources=("status",),
    created_with_status=True,  # a node registers together with its status
    status_sets_metadata=True,
    set_defaults=_set_node_defaults,
    admissions=(taint_new_node, taint_by_condition),
    start=_start_node,
    check=_check_node,
    check_update=_check_node_update,
    checks_required=False,  # the check above reports them by other paths
    columns=(
        NAME,
        column("Status", _node_status),
        column("Roles", _node_roles),
        AGE,
        value_column("Version", "status.nodeInfo.kubeletVersion"),
        column("Internal-IP", _address("InternalIP"), wide=True),
        column("External-IP", _address("ExternalIP"), wide=True),
        column("OS-Image", _node_info("osImage"), wide=True),
        column("Kernel-Version", _node_info("kernelVersion"), wide=True),
        column("Container-Runtime", _node_info("containerRuntimeVersion"), wide=True),
    ),
    selectable_fields=("spec.unschedulable",),
    unknown_field=NOT_SELECTABLE,
    earlier={V1_36: {"check_update": _forbid_new_provider}},
)


def _set_namespace_defaults(namespace: Json) -> None:
    spec_of(namespace)
    labels = namespace["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = namespace["metadata"].get("name", "")


def _start_namespace(namespace: Json, now: str) -> None:
    namespace["status"] = {"phase": "Active"}
    spec = namespace.setdefault("spec", {})
    if "kubernetes" not in spec.setdefault("finalizers", []):
        spec["finalizers"].append("kubernetes")


def _keep_finalizers(old: Json, new: Json) -> Json:
    """Keep the finalizers in the spec: only /finalize changes them."""
    kept = old["spec"].get("finalizers")
    return {**new, "spec": {**(new.get("spec") or {}), "finalizers": kept}}


def _namespace_deletion_refusal(name: str) -> str:
    is_kept = name in ("default", "kube-system", "kube-public")
    return "this namespace may not be deleted" if is_kept else ""


def _until_empty(namespace: Json, asked: int | None) -> None:
    """Return no grace period: a namespace is removed when it is empty."""


def _mark_terminating(namespace: Json) -> None:
    namespace["status"] = {**namespace.get("status", {}), "phase": "Terminating"}


NAMESPACE = ApiKind(
    "",
    "v1",
    "Namespace",
    "namespaces",
    short_names=("ns",),
    namespaced=False,
    verbs=ONE_AT_A_TIME,
    subresources=("status", "finalize"),
    name_problems=label_without_dots_problems,
    keep_from_old=_keep_finalizers,
    set_defaults=_set_namespace_defaults,
    start=_start_namespace,
    columns=(NAME, value_column("Status", "status.phase"), AGE),
    selectable_fields=("status.phase",),
    unknown_field=NOT_SELECTABLE,
    deletion_refusal=_namespace_deletion_refusal,
    failed_precondition="Precondition failed",
    grace=_until_empty,
    mark_deleted=_mark_terminating,
    shown_when_deleted=True,
)
