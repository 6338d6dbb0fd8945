"""What a client leaves out and the server fills in, for the kinds that clients rely on."""

from __future__ import annotations

import base64
from collections.abc import Callable

from podium.apiserver.pod_defaults import pod_spec, set_missing
from podium.apiserver.statuses import Json


def apply_defaults(resource: str, obj: Json) -> None:
    """Fill in a kind's defaults, in place."""
    default = _BY_RESOURCE.get(resource)
    if default is not None:
        default(obj)


def _spec(obj: Json) -> Json:
    spec: Json = obj.setdefault("spec", {})
    return spec


def _pod(obj: Json) -> None:
    spec = _spec(obj)
    pod_spec(spec)
    set_missing(spec, enableServiceLinks=True)
    status = obj.get("status") or {}
    _condition_times(status, "lastProbeTime", "lastTransitionTime")
    if status.get("podIP") and not status.get("podIPs"):
        status["podIPs"] = [{"ip": status["podIP"]}]


def _condition_times(status: Json, *names: str) -> None:
    """Times of conditions are always there, null when nobody said when."""
    for condition in status.get("conditions") or []:
        for name in names:
            condition.setdefault(name, None)


def _template(spec: Json) -> None:
    pod_spec(spec.setdefault("template", {}).setdefault("spec", {}))
    spec["template"].setdefault("metadata", {})


def _deployment(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    set_missing(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = spec["strategy"]
    set_missing(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_missing(strategy, rollingUpdate={})
        set_missing(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")


def _replica_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    set_missing(spec, replicas=1)


def _replication_controller(obj: Json) -> None:
    spec = _spec(obj)
    set_missing(spec, replicas=1)
    if "template" not in spec:
        return
    _template(spec)
    labels = spec["template"]["metadata"].get("labels")
    if labels:
        set_missing(spec, selector=dict(labels))
        set_missing(obj["metadata"], labels=dict(labels))


def _stateful_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
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
        _claim(claim)


def _daemon_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    set_missing(spec, revisionHistoryLimit=10, updateStrategy={})
    annotations = obj["metadata"].setdefault("annotations", {})
    annotations.setdefault("deprecated.daemonset.template.generation", "1")
    strategy = spec["updateStrategy"]
    set_missing(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        set_missing(strategy, rollingUpdate={})
        set_missing(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)


def _job(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        set_missing(spec, completions=1)
    is_per_index = spec.get("backoffLimitPerIndex") is not None
    set_missing(
        spec,
        parallelism=1,
        backoffLimit=2**31 - 1 if is_per_index else 6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=False,
        podReplacementPolicy="TerminatingOrFailed",
    )


def _cron_job(obj: Json) -> None:
    made = _spec(obj).setdefault("jobTemplate", {})
    made.setdefault("metadata", {})
    _template(made.setdefault("spec", {}))
    set_missing(
        _spec(obj),
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )


def _service(obj: Json) -> None:
    spec = _spec(obj)
    set_missing(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] != "ExternalName":
        set_missing(spec, internalTrafficPolicy="Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        set_missing(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        set_missing(spec, allocateLoadBalancerNodePorts=True)
    for port in spec.get("ports", []):
        set_missing(port, protocol="TCP", targetPort=port.get("port"))


def _claim(obj: Json) -> None:
    set_missing(_spec(obj), volumeMode="Filesystem")


def _volume_object(obj: Json) -> None:
    set_missing(_spec(obj), persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    host = obj["spec"].get("hostPath")
    if isinstance(host, dict):
        set_missing(host, type="")


def _storage_class(obj: Json) -> None:
    set_missing(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _priority_class(obj: Json) -> None:
    set_missing(obj, preemptionPolicy="PreemptLowerPriority")


def _namespace(obj: Json) -> None:
    _spec(obj)
    labels = obj["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = obj["metadata"].get("name", "")


def _node(obj: Json) -> None:
    spec = _spec(obj)
    if spec.get("podCIDR"):
        set_missing(spec, podCIDRs=[spec["podCIDR"]])
    status = obj.setdefault("status", {})
    _condition_times(status, "lastHeartbeatTime", "lastTransitionTime")
    if status.get("capacity"):
        status["allocatable"] = {**status["capacity"], **(status.get("allocatable") or {})}


def _secret(obj: Json) -> None:
    set_missing(obj, type="Opaque")
    if obj.get("stringData"):
        data = obj.setdefault("data", {})
        for name, text in obj.pop("stringData").items():
            data[name] = base64.b64encode(text.encode()).decode()


def _csi_node(obj: Json) -> None:
    for driver in _spec(obj).get("drivers") or []:
        driver.setdefault("topologyKeys", None)


def _endpoints(obj: Json) -> None:
    for subset in obj.get("subsets") or []:
        for port in subset.get("ports") or []:
            set_missing(port, protocol="TCP")


def _limit_range(obj: Json) -> None:
    for limit in _spec(obj).get("limits") or []:
        if limit.get("type") == "Container" and limit.get("max"):
            limit["default"] = {**limit["max"], **(limit.get("default") or {})}
        if limit.get("type") == "Container" and (limit.get("default") or limit.get("min")):
            amounts = limit.get("min") or limit["default"]
            limit["defaultRequest"] = {**amounts, **(limit.get("defaultRequest") or {})}


def _definition(obj: Json) -> None:
    spec = _spec(obj)
    set_missing(spec, conversion={"strategy": "None"})
    names = spec.get("names")
    if isinstance(names, dict) and names.get("kind"):
        set_missing(names, singular=names["kind"].lower(), listKind=f"{names['kind']}List")


_RBAC = "rbac.authorization.k8s.io"


def _role_binding(obj: Json) -> None:
    if isinstance(obj.get("roleRef"), dict):
        set_missing(obj["roleRef"], apiGroup=_RBAC)
    for subject in obj.get("subjects") or []:
        if subject.get("kind") in ("User", "Group"):
            set_missing(subject, apiGroup=_RBAC)


def _device_claim(obj: Json) -> None:
    _devices(_spec(obj))


def _device_claim_template(obj: Json) -> None:
    spec = _spec(obj)
    spec.setdefault("metadata", {})
    _devices(spec.setdefault("spec", {}))


def _devices(spec: Json) -> None:
    for request in (spec.get("devices") or {}).get("requests") or []:
        for one in (request.get("exactly"), *(request.get("firstAvailable") or [])):
            if isinstance(one, dict):
                set_missing(one, allocationMode="ExactCount")
                if one["allocationMode"] == "ExactCount":
                    set_missing(one, count=1)


def _network_policy(obj: Json) -> None:
    spec = _spec(obj)
    set_missing(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def _scaler(obj: Json) -> None:
    """Either version: with nothing to go by it keeps the CPU at 80 % of what is requested."""
    spec = _spec(obj)
    set_missing(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1":
        set_missing(spec, targetCPUUtilizationPercentage=80)
    elif not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]


def _endpoint_slice(obj: Json) -> None:
    for endpoint in obj.get("endpoints") or []:
        set_missing(endpoint, conditions={})
    for port in obj.get("ports") or []:
        set_missing(port, name="", protocol="TCP")


def _csi_driver(obj: Json) -> None:
    set_missing(
        _spec(obj),
        attachRequired=True,
        podInfoOnMount=False,
        requiresRepublish=False,
        seLinuxMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        volumeLifecycleModes=["Persistent"],
    )


_BY_RESOURCE: dict[str, Callable[[Json], None]] = {
    "pods": _pod,
    "podtemplates": _template,
    "horizontalpodautoscalers.autoscaling": _scaler,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "nodes": _node,
    "namespaces": _namespace,
    "secrets": _secret,
    "services": _service,
    "endpoints": _endpoints,
    "customresourcedefinitions.apiextensions.k8s.io": _definition,
    "limitranges": _limit_range,
    "rolebindings.rbac.authorization.k8s.io": _role_binding,
    "clusterrolebindings.rbac.authorization.k8s.io": _role_binding,
    "resourceclaims.resource.k8s.io": _device_claim,
    "resourceclaimtemplates.resource.k8s.io": _device_claim_template,
    "networkpolicies.networking.k8s.io": _network_policy,
    "csidrivers.storage.k8s.io": _csi_driver,
    "csinodes.storage.k8s.io": _csi_node,
    "persistentvolumes": _volume_object,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": _replication_controller,
    "deployments.apps": _deployment,
    "replicasets.apps": _replica_set,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "cronjobs.batch": _cron_job,
    "storageclasses.storage.k8s.io": _storage_class,
    "priorityclasses.scheduling.k8s.io": _priority_class,
}
