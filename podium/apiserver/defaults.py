"""What a client leaves out and the server fills in, for the kinds that clients rely on."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from podium.apiserver.statuses import Json


def apply_defaults(resource: str, obj: Json) -> None:
    """Fill in a kind's defaults, in place."""
    default = _BY_RESOURCE.get(resource)
    if default is not None:
        default(obj)


def _set(target: Json, **values: Any) -> None:
    for name, value in values.items():
        if target.get(name) is None:
            target[name] = value


def _spec(obj: Json) -> Json:
    spec: Json = obj.setdefault("spec", {})
    return spec


def pod_spec(spec: Json) -> None:
    """The defaults of a pod, wherever its spec stands."""
    _set(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        securityContext={},
        schedulerName="default-scheduler",
    )
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for container in [*spec.get("containers", []), *spec.get("initContainers", [])]:
        _container(container)
        if spec.get("hostNetwork"):
            for port in container.get("ports", []):
                _set(port, hostPort=port.get("containerPort"))
    for volume in spec.get("volumes", []):
        _volume(volume)
    if isinstance(spec.get("resources"), dict):
        _request_limits(spec["resources"])
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]


def _container(container: Json) -> None:
    _set(
        container,
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy=_pull_policy(container.get("image", "")),
    )
    for port in container.get("ports", []):
        _set(port, protocol="TCP")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), dict):
            _probe(container[probe])
    for env in container.get("env", []):
        source = env.get("valueFrom") or {}
        if source.get("fieldRef"):
            _set(source["fieldRef"], apiVersion="v1")
        if source.get("resourceFieldRef"):
            _set(source["resourceFieldRef"], divisor="0")
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict) and isinstance(handler.get("httpGet"), dict):
            _set(handler["httpGet"], path="/", scheme="HTTP")
    _request_limits(container["resources"])


def _request_limits(resources: Json) -> None:
    """What is limited and not requested is requested up to the limit."""
    if resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, amount in resources["limits"].items():
            requests.setdefault(name, amount)


def _pull_policy(image: str) -> str:
    tag = re.search(r":([^/@]+)(@|$)", image)
    latest = "@" not in image and (tag is None or tag[1] == "latest")
    return "Always" if latest else "IfNotPresent"


def _probe(probe: Json) -> None:
    _set(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    if isinstance(probe.get("httpGet"), dict):
        _set(probe["httpGet"], path="/", scheme="HTTP")
    if isinstance(probe.get("grpc"), dict):
        _set(probe["grpc"], service="")


_MODES = ("configMap", "secret", "downwardAPI", "projected")


def _volume(volume: Json) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    for name in _MODES:
        if isinstance(volume.get(name), dict):
            _set(volume[name], defaultMode=420)
    if isinstance(volume.get("hostPath"), dict):
        _set(volume["hostPath"], type="")


def _pod(obj: Json) -> None:
    spec = _spec(obj)
    pod_spec(spec)
    _set(spec, enableServiceLinks=True)
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
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = spec["strategy"]
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy, rollingUpdate={})
        _set(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")


def _replica_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    _set(spec, replicas=1)


def _replication_controller(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    labels = spec["template"]["metadata"].get("labels")
    _set(spec, replicas=1)
    if labels:
        _set(spec, selector=dict(labels))
        _set(obj["metadata"], labels=dict(labels))


def _stateful_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    _set(
        spec,
        replicas=1,
        revisionHistoryLimit=10,
        podManagementPolicy="OrderedReady",
        updateStrategy={},
        persistentVolumeClaimRetentionPolicy={},
    )
    _set(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    _set(spec["updateStrategy"], type="RollingUpdate")
    if spec["updateStrategy"]["type"] == "RollingUpdate":
        _set(spec["updateStrategy"], rollingUpdate={})
        _set(spec["updateStrategy"]["rollingUpdate"], partition=0)
    for claim in spec.get("volumeClaimTemplates", []):
        _set(claim, apiVersion="v1", kind="PersistentVolumeClaim", status={"phase": "Pending"})
        _claim(claim)


def _daemon_set(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    _set(spec, revisionHistoryLimit=10, updateStrategy={})
    annotations = obj["metadata"].setdefault("annotations", {})
    annotations.setdefault("deprecated.daemonset.template.generation", "1")
    strategy = spec["updateStrategy"]
    _set(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _set(strategy, rollingUpdate={})
        _set(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)


def _job(obj: Json) -> None:
    spec = _spec(obj)
    _template(spec)
    if spec.get("completions") is None and spec.get("parallelism") is None:
        _set(spec, completions=1)
    is_per_index = spec.get("backoffLimitPerIndex") is not None
    _set(
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
    _set(
        _spec(obj),
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )


def _service(obj: Json) -> None:
    spec = _spec(obj)
    _set(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] != "ExternalName":
        _set(spec, internalTrafficPolicy="Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        _set(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        _set(spec, allocateLoadBalancerNodePorts=True)
    for port in spec.get("ports", []):
        _set(port, protocol="TCP", targetPort=port.get("port"))


def _claim(obj: Json) -> None:
    _set(_spec(obj), volumeMode="Filesystem")


def _volume_object(obj: Json) -> None:
    _set(_spec(obj), persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
    host = obj["spec"].get("hostPath")
    if isinstance(host, dict):
        _set(host, type="")


def _storage_class(obj: Json) -> None:
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _priority_class(obj: Json) -> None:
    _set(obj, preemptionPolicy="PreemptLowerPriority", value=0)


def _namespace(obj: Json) -> None:
    _spec(obj)
    labels = obj["metadata"].setdefault("labels", {})
    labels["kubernetes.io/metadata.name"] = obj["metadata"].get("name", "")


def _node(obj: Json) -> None:
    status = obj.setdefault("status", {})
    _condition_times(status, "lastHeartbeatTime", "lastTransitionTime")
    if status.get("capacity"):
        status["allocatable"] = {**status["capacity"], **(status.get("allocatable") or {})}
    _spec(obj)


def _secret(obj: Json) -> None:
    _set(obj, type="Opaque")
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
            _set(port, protocol="TCP")


def _limit_range(obj: Json) -> None:
    for limit in _spec(obj).get("limits") or []:
        if limit.get("type") == "Container" and limit.get("max"):
            limit["default"] = {**limit["max"], **(limit.get("default") or {})}
        if limit.get("type") == "Container" and (limit.get("default") or limit.get("min")):
            amounts = limit.get("min") or limit["default"]
            limit["defaultRequest"] = {**amounts, **(limit.get("defaultRequest") or {})}


_RBAC = "rbac.authorization.k8s.io"


def _role_binding(obj: Json) -> None:
    if isinstance(obj.get("roleRef"), dict):
        _set(obj["roleRef"], apiGroup=_RBAC)
    for subject in obj.get("subjects") or []:
        if subject.get("kind") in ("User", "Group"):
            _set(subject, apiGroup=_RBAC)


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
                _set(one, allocationMode="ExactCount")
                if one["allocationMode"] == "ExactCount":
                    _set(one, count=1)


def _network_policy(obj: Json) -> None:
    spec = _spec(obj)
    _set(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def _csi_driver(obj: Json) -> None:
    _set(
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
    "nodes": _node,
    "namespaces": _namespace,
    "secrets": _secret,
    "services": _service,
    "endpoints": _endpoints,
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
