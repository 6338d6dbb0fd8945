"""Leave out of objects what no decision needs, above all what may hold secrets.

Environment variables, commands and probes are the usual places of passwords and tokens;
``last-applied-configuration`` repeats all of them. docs/snapshots.md lists the fields.
"""

from __future__ import annotations

from typing import Any, Final

from podium.snapshot.model import Json

_ANNOTATIONS: Final = ("kubectl.kubernetes.io/last-applied-configuration",)
_CONTAINER_FIELDS: Final = (
    "args",
    "command",
    "env",
    "envFrom",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
)
_CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")
_STATUS_LISTS: Final = (
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
)
# What CSI drivers and flex volumes are configured with.
_VOLUME_FIELDS: Final = {"csi": "volumeAttributes", "flexVolume": "options"}


def trim(obj: Json) -> Json:
    """Remove these fields from an object, in place, and return it."""
    _trim_metadata(obj)
    match obj.get("kind"):
        case "Pod":
            _trim_pod_spec(obj.get("spec"))
            _trim_pod_status(obj.get("status"))
        case "PersistentVolume":
            _trim_volume(obj.get("spec"))
        case "VolumeAttachment":
            _trim_volume(_within(obj, "spec", "source", "inlineVolumeSpec"))
        case "StorageClass":
            obj.pop("parameters", None)
        case "CronJob":
            _trim_metadata(_within(obj, "spec", "jobTemplate"))
            _trim_template(_within(obj, "spec", "jobTemplate"))
        case "ResourceClaimTemplate":
            _trim_metadata(_within(obj, "spec"))
        case "ControllerRevision":
            _trim_template(_within(obj, "data"))
        case _:
            _trim_template(obj)
    return obj


def _trim_metadata(obj: Json) -> None:
    meta = _within(obj, "metadata")
    meta.pop("managedFields", None)
    meta.pop("selfLink", None)
    annotations = _within(meta, "annotations")
    for name in _ANNOTATIONS:
        annotations.pop(name, None)


def _trim_template(workload: Json) -> None:
    template = _within(workload, "spec", "template")
    if template:
        _trim_metadata(template)
        _trim_pod_spec(template.get("spec"))
    for claim in _dicts(_within(workload, "spec").get("volumeClaimTemplates")):
        _trim_metadata(claim)


def _trim_pod_spec(spec: Any) -> None:
    if not isinstance(spec, dict):
        return
    for name in _CONTAINER_LISTS:
        for container in _dicts(spec.get(name)):
            for field in _CONTAINER_FIELDS:
                container.pop(field, None)
    for volume in _dicts(spec.get("volumes")):
        _trim_volume(volume)
        _trim_metadata(_within(volume, "ephemeral", "volumeClaimTemplate"))


def _trim_pod_status(status: Any) -> None:
    for name in _STATUS_LISTS:
        for container in _dicts(_within({"status": status}, "status").get(name)):
            container.pop("lastState", None)
            for state in _within(container, "state").values():
                if isinstance(state, dict):
                    state.pop("message", None)  # the last lines of a container's output


def _trim_volume(volume: Any) -> None:
    for source, field in _VOLUME_FIELDS.items():
        _within({"volume": volume}, "volume", source).pop(field, None)


def _within(obj: Json, *path: str) -> Json:
    """Return the map at this path; an empty one if there is none."""
    for name in path:
        inner = obj.get(name)
        if not isinstance(inner, dict):
            return {}
        obj = inner
    return obj


def _dicts(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
