"""Semantic checks of kinds that nothing here acts on: they are kept as data, and still refused
when they lack what a real server insists on. `rules.py` calls them by resource."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podium.apiserver import statuses
from podium.apiserver.metadata import subdomain_problems
from podium.apiserver.pod_rules import pod_spec_causes
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_CRON_NAME_LENGTH = 52  # what a job adds to the name must fit too


def _event(event: Json) -> Causes:
    """Of either version; the newer one also says when and what."""
    is_newer = event["apiVersion"] != "v1"
    about = (event.get("regarding") if is_newer else event.get("involvedObject")) or {}
    inside, given = event["metadata"].get("namespace", ""), about.get("namespace", "")
    if given != inside:
        detail = "does not match event.namespace"
        yield statuses.bad_value("involvedObject.namespace", given, detail)
    if is_newer and not event.get("eventTime"):
        yield statuses.required("eventTime")
    if is_newer and event.get("type") not in ("Normal", "Warning"):
        kind = event.get("type") or ""
        yield statuses.bad_value("type", kind, f"has invalid value: {kind}")


def _revision(revision: Json) -> Causes:
    if revision.get("data") is None:
        yield statuses.required("data", "data is mandatory")


def _pod_template(template: Json) -> Causes:
    yield from pod_spec_causes((template.get("template") or {}).get("spec") or {}, "template.spec")


def _cron_job(cron_job: Json) -> Causes:
    name = cron_job["metadata"].get("name", "")
    if len(name) > _CRON_NAME_LENGTH:
        detail = f"must be no more than {_CRON_NAME_LENGTH} characters"
        yield statuses.bad_value("metadata.name", name, detail)
    spec = cron_job.get("spec") or {}
    if not spec.get("schedule"):
        yield statuses.required("spec.schedule")
    pod, path = spec["jobTemplate"]["spec"]["template"]["spec"], "spec.jobTemplate.spec.template"
    yield from pod_spec_causes(pod, f"{path}.spec")
    if pod.get("restartPolicy") not in ("OnFailure", "Never"):
        valid = 'valid values: "OnFailure", "Never"'
        yield statuses.required(f"{path}.spec.restartPolicy", valid)


def _scaler(scaler: Json) -> Causes:
    spec = scaler.get("spec") or {}
    most, least = spec.get("maxReplicas") or 0, spec.get("minReplicas") or 1
    if most < 1:
        yield statuses.required("spec.maxReplicas", "must be set and greater than 0")
    if most < least:
        detail = "must be greater than or equal to `minReplicas`"
        yield statuses.bad_value("spec.maxReplicas", most, detail)
    target = spec.get("scaleTargetRef") or {}
    for name in ("kind", "name"):
        if not target.get(name):
            yield statuses.required(f"spec.scaleTargetRef.{name}")
    version = target.get("apiVersion") or ""
    if not version:
        detail = "apiVersion must specify API group"
        yield statuses.bad_value("spec.scaleTargetRef.apiVersion", version, detail)


def _capacity(capacity: Json) -> Causes:
    name = capacity.get("storageClassName") or ""
    for problem in subdomain_problems(name):
        yield statuses.bad_value("storageClassName", name, problem)


def _attachment(attachment: Json) -> Causes:
    spec = attachment.get("spec") or {}
    if not spec.get("attacher"):
        yield statuses.required("spec.attacher")
    sources = ("inlineVolumeSpec", "persistentVolumeName")
    if not any((spec.get("source") or {}).get(name) for name in sources):
        detail = f"must specify exactly one of {' and '.join(sources)}"
        yield statuses.required("spec.source", detail)
    node = spec.get("nodeName") or ""
    for problem in subdomain_problems(node):
        yield statuses.bad_value("spec.nodeName", node, problem)


def _attributes_class(attributes: Json) -> Causes:
    if not attributes.get("driverName"):
        yield statuses.required("driverName")
    if not attributes.get("parameters"):
        yield statuses.required("parameters", "must contain at least one key/value pair")


def _binding(*kinds: str) -> Callable[[Json], Causes]:
    def check(binding: Json) -> Causes:
        ref = binding.get("roleRef") or {}
        if ref.get("kind") not in kinds:
            yield statuses.unsupported("roleRef.kind", ref.get("kind") or "", kinds)
        if not ref.get("name"):
            yield statuses.required("roleRef.name")

    return check


def _ingress(ingress: Json) -> Causes:
    spec = ingress.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        detail = "either `defaultBackend` or `rules` must be specified"
        yield statuses.bad_value("spec", spec.get("rules"), detail)


def _ingress_class(ingress_class: Json) -> Causes:
    if not (ingress_class.get("spec") or {}).get("controller"):
        yield statuses.required("spec.controller")


def _slice(resource_slice: Json) -> Causes:
    spec = resource_slice.get("spec") or {}
    if not spec.get("driver"):
        yield statuses.required("spec.driver")
    pool = spec.get("pool") or {}
    if not pool.get("name"):
        yield statuses.required("spec.pool.name")
    count = pool.get("resourceSliceCount") or 0
    if count < 1:
        yield statuses.bad_value("spec.pool.resourceSliceCount", count, "must be greater than zero")
    places = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
    if not any(spec.get(name) for name in places):
        listed = ", ".join(f"`{name}`" for name in places)
        yield statuses.required("spec", f"exactly one of {listed} is required")


DATA_RULES: dict[str, Callable[[Json], Causes]] = {
    "events": _event,
    "controllerrevisions.apps": _revision,
    "podtemplates": _pod_template,
    "cronjobs.batch": _cron_job,
    "horizontalpodautoscalers.autoscaling": _scaler,
    "csistoragecapacities.storage.k8s.io": _capacity,
    "volumeattachments.storage.k8s.io": _attachment,
    "volumeattributesclasses.storage.k8s.io": _attributes_class,
    "rolebindings.rbac.authorization.k8s.io": _binding("Role", "ClusterRole"),
    "clusterrolebindings.rbac.authorization.k8s.io": _binding("ClusterRole"),
    "ingresses.networking.k8s.io": _ingress,
    "ingressclasses.networking.k8s.io": _ingress_class,
    "resourceslices.resource.k8s.io": _slice,
}

# Required fields of the schemas that a server does not miss, or whose parts the rules above name.
NOT_MISSED = {
    "CSINodeSpec": ("drivers",),
    "CSIStorageCapacity": ("storageClassName",),
    "ClusterRoleBinding": ("roleRef",),
    "ControllerRevision": ("revision",),
    "CustomResourceDefinitionSpec": ("group", "names", "scope", "versions"),
    "DaemonSetSpec": ("selector",),
    "DeviceClass": ("spec",),
    "Event": ("involvedObject", "metadata"),
    "HorizontalPodAutoscaler": ("spec",),
    "HorizontalPodAutoscalerSpec": ("maxReplicas", "scaleTargetRef"),
    "LimitRangeSpec": ("limits",),
    "ResourceSlice": ("spec",),
    "ResourceSliceSpec": ("driver", "pool"),
    "ResourcePool": ("name", "generation", "resourceSliceCount"),
    "RoleBinding": ("roleRef",),
    "VolumeAttachment": ("spec",),
    "VolumeAttachmentSpec": ("attacher", "nodeName", "source"),
}
