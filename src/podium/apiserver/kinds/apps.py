"""The group apps: deployments, replica sets, stateful sets, daemon sets and their revisions."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.columns import (
    AGE,
    NAME,
    NONE,
    column,
    count_column,
    labels_text,
)
from podium.apiserver.kinds.core.volumes import set_claim_defaults
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import (
    REPLICA_COLUMNS,
    TEMPLATE_COLUMNS,
    amount_causes,
    immutable,
    ready_cell,
    set_template_defaults,
    spec_of,
    workload_causes,
)
from podium.apiserver.names import label_problems
from podium.apiserver.statuses import Cause, Json
from podium.release import V1_36

Causes = Iterator[Cause]

_READY = column("Ready", ready_cell("status.readyReplicas", "spec.replicas"))


def _set_deployment_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_template_defaults(spec)
    set_missing(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = spec["strategy"]
    set_missing(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_missing(strategy, rollingUpdate={})
        set_missing(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")


def _check_deployment(obj: Json) -> Causes:
    yield from workload_causes(obj)
    spec = obj.get("spec") or {}
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None and deadline <= ready:
        detail = "must be greater than minReadySeconds"
        yield statuses.bad_value("spec.progressDeadlineSeconds", deadline, detail)
    strategy, path = spec.get("strategy") or {}, "spec.strategy"
    if strategy.get("type") not in ("Recreate", "RollingUpdate"):
        shown = {"Type": strategy.get("type"), "RollingUpdate": strategy.get("rollingUpdate")}
        yield statuses.unsupported(path, shown, ["Recreate", "RollingUpdate"])
    elif strategy["type"] == "Recreate" and strategy.get("rollingUpdate"):
        detail = "may not be specified when strategy `type` is 'Recreate'"
        yield statuses.not_allowed(f"{path}.rollingUpdate", detail)
    elif strategy["type"] == "RollingUpdate":
        yield from _check_rolling(strategy.get("rollingUpdate") or {}, f"{path}.rollingUpdate")


def _check_rolling(update: Json, path: str) -> Causes:
    for name in ("maxUnavailable", "maxSurge"):
        yield from amount_causes(update.get(name), f"{path}.{name}", most=name == "maxUnavailable")
    if all(update.get(name) in (0, "0%") for name in ("maxUnavailable", "maxSurge")):
        detail = "may not be 0 when `maxSurge` is 0"
        yield statuses.bad_value(f"{path}.maxUnavailable", update["maxUnavailable"], detail)


DEPLOYMENT = ApiKind(
    "apps",
    "v1",
    "Deployment",
    "deployments",
    short_names=("deploy",),
    categories=("all",),
    subresources=("status", "scale"),
    counts_generations=True,
    generation_counts=("annotations",),  # its controller reads some of them
    set_defaults=_set_deployment_defaults,
    check=_check_deployment,
    check_update=immutable("spec.selector"),
    columns=(
        NAME,
        _READY,
        count_column("Up-to-date", "status.updatedReplicas"),
        count_column("Available", "status.availableReplicas"),
        AGE,
        *TEMPLATE_COLUMNS,
    ),
)


def _set_replica_set_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_template_defaults(spec)
    set_missing(spec, replicas=1)


REPLICA_SET = ApiKind(
    "apps",
    "v1",
    "ReplicaSet",
    "replicasets",
    short_names=("rs",),
    categories=("all",),
    subresources=("status", "scale"),
    counts_generations=True,
    set_defaults=_set_replica_set_defaults,
    check=workload_causes,
    check_update=immutable("spec.selector"),
    columns=(NAME, *REPLICA_COLUMNS, AGE, *TEMPLATE_COLUMNS),
)


def _set_stateful_set_defaults(obj: Json) -> None:
    _set_stateful_set_basics(obj)
    strategy = obj["spec"]["updateStrategy"]
    if strategy["type"] == "RollingUpdate":
        set_missing(strategy["rollingUpdate"], maxUnavailable=1)


def _set_stateful_set_basics(obj: Json) -> None:
    """Fill in the defaults of both releases, which are all that 1.36 has."""
    spec = spec_of(obj)
    set_template_defaults(spec)
    set_missing(
        spec,
        replicas=1,
        revisionHistoryLimit=10,
        podManagementPolicy="OrderedReady",
        updateStrategy={},
        persistentVolumeClaimRetentionPolicy={},
    )
    set_missing(
        spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain"
    )
    set_missing(spec["updateStrategy"], type="RollingUpdate")
    if spec["updateStrategy"]["type"] == "RollingUpdate":
        set_missing(spec["updateStrategy"], rollingUpdate={})
        set_missing(spec["updateStrategy"]["rollingUpdate"], partition=0)
    for claim in spec.get("volumeClaimTemplates", []):
        set_missing(
            claim, apiVersion="v1", kind="PersistentVolumeClaim", status={"phase": "Pending"}
        )
        set_claim_defaults(claim)


def _start_stateful_set(workload: Json, now: str) -> None:
    workload["status"] = {"replicas": 0, "availableReplicas": 0}
    workload["spec"].setdefault("serviceName", "")


_CHANGEABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


def _check_only_changeable(old: Json, new: Json) -> Causes:
    """Refuse any other change with one cause for the whole spec, as 1.36 does."""
    before, after = (
        {name: one for name, one in obj["spec"].items() if name not in _CHANGEABLE}
        for obj in (old, new)
    )
    if before != after:
        listed = ", ".join(f"'{name}'" for name in _CHANGEABLE[:-1])
        detail = (
            f"updates to statefulset spec for fields other than {listed} and '{_CHANGEABLE[-1]}' "
            "are forbidden"
        )
        yield statuses.not_allowed("spec", detail)


STATEFUL_SET = ApiKind(
    "apps",
    "v1",
    "StatefulSet",
    "statefulsets",
    short_names=("sts",),
    categories=("all",),
    subresources=("status", "scale"),
    name_problems=label_problems,
    counts_generations=True,
    set_defaults=_set_stateful_set_defaults,
    start=_start_stateful_set,
    check=workload_causes,
    check_update=immutable(
        "spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"
    ),
    columns=(NAME, _READY, AGE, *TEMPLATE_COLUMNS[:2]),
    earlier={
        V1_36: {
            "set_defaults": _set_stateful_set_basics,
            "check_update": _check_only_changeable,
        }
    },
)


def _set_daemon_set_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_template_defaults(spec)
    set_missing(spec, revisionHistoryLimit=10, updateStrategy={})
    annotations = obj["metadata"].setdefault("annotations", {})
    annotations.setdefault("deprecated.daemonset.template.generation", "1")
    strategy = spec["updateStrategy"]
    set_missing(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_missing(strategy, rollingUpdate={})
        set_missing(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)


def _check_daemon_set(obj: Json) -> Causes:
    yield from workload_causes(obj)
    rolling = ((obj.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    path = "spec.updateStrategy.rollingUpdate"
    unavailable, surge = (rolling.get(name, 0) for name in ("maxUnavailable", "maxSurge"))
    is_set = [value not in (0, "0%") for value in (unavailable, surge)]
    if rolling and all(is_set):
        detail = "may not be set when maxUnavailable is non-zero"
        yield statuses.bad_value(f"{path}.maxSurge", surge, detail)
    elif rolling and not any(is_set):
        yield statuses.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


DAEMON_SET = ApiKind(
    "apps",
    "v1",
    "DaemonSet",
    "daemonsets",
    short_names=("ds",),
    categories=("all",),
    subresources=("status",),
    counts_generations=True,
    set_defaults=_set_daemon_set_defaults,
    check=_check_daemon_set,
    check_update=immutable("spec.selector"),
    not_required={"DaemonSetSpec": ("selector",)},
    columns=(
        NAME,
        count_column("Desired", "status.desiredNumberScheduled"),
        count_column("Current", "status.currentNumberScheduled"),
        count_column("Ready", "status.numberReady"),
        count_column("Up-to-date", "status.updatedNumberScheduled"),
        count_column("Available", "status.numberAvailable"),
        column(
            "Node Selector",
            lambda o: labels_text(at(o, "spec.template.spec.nodeSelector") or {}),
        ),
        AGE,
        *TEMPLATE_COLUMNS,
    ),
)


def _check_revision(revision: Json) -> Causes:
    if revision.get("data") is None:
        yield statuses.required("data", "data is mandatory")


def _controller(revision: Json) -> str:
    owners = [one for one in at(revision, "metadata.ownerReferences") or [] if one["controller"]]
    group = owners[0]["apiVersion"].rpartition("/")[0] if owners else ""
    return f"{owners[0]['kind'].lower()}.{group}/{owners[0]['name']}" if owners else NONE


CONTROLLER_REVISION = ApiKind(
    "apps",
    "v1",
    "ControllerRevision",
    "controllerrevisions",
    complete=lambda revision: revision.setdefault("revision", 0),
    check=_check_revision,
    check_update=immutable("data"),
    earlier={V1_36: {"not_required": {"ControllerRevision": ("revision",)}}},
    columns=(
        NAME,
        column("Controller", _controller),
        column("Revision", lambda o: o.get("revision", 0), kind="integer"),
        AGE,
    ),
)

KINDS = (DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, CONTROLLER_REVISION)
