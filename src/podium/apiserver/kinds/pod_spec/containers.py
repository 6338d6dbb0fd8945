"""Checks of a pod's containers and volumes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podium.api import quantity
from podium.apiserver import statuses
from podium.apiserver.names import label_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_CHOICES = {
    "imagePullPolicy": ["Always", "IfNotPresent", "Never"],
    "terminationMessagePolicy": ["File", "FallbackToLogsOnError"],
}
_PROTOCOLS = ["SCTP", "TCP", "UDP"]
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")


def container_causes(container: Json, path: str, volumes: set[Any]) -> Causes:
    """Yield every validation error of one container; ``volumes`` are mountable names."""
    yield from _name_and_image(container, path)
    for name, choices in _CHOICES.items():
        if container.get(name) is not None and container[name] not in choices:
            yield statuses.unsupported(f"{path}.{name}", container[name], choices)
    yield from _ports(container.get("ports") or [], f"{path}.ports")
    yield from _resources(container.get("resources") or {}, f"{path}.resources")
    for index, mount in enumerate(container.get("volumeMounts") or []):
        if mount.get("name") not in volumes:
            where = f"{path}.volumeMounts[{index}].name"
            message = f'Not found: "{mount.get("name", "")}"'
            yield Cause("FieldValueNotFound", where, message)
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(name), dict):
            yield from _probe(container[name], f"{path}.{name}")


def _name_and_image(container: Json, path: str) -> Causes:
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


def _ports(ports: list[Any], path: str) -> Causes:
    names = [port.get("name") for port in ports]
    taken: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        name, number, host = names[index], port.get("containerPort", 0), port.get("hostPort")
        if name:
            yield from _port_name(name, f"{where}.name")
        if name and name in names[:index]:
            yield statuses.duplicate(f"{where}.name", name)
        if not number:
            yield statuses.required(f"{where}.containerPort")
        elif not 0 < number < 65536:
            yield statuses.bad_value(f"{where}.containerPort", number, _PORT_RANGE)
        if host and not 0 < host < 65536:
            yield statuses.bad_value(f"{where}.hostPort", host, _PORT_RANGE)
        if port.get("protocol", "TCP") not in _PROTOCOLS:
            yield statuses.unsupported(f"{where}.protocol", port["protocol"], _PROTOCOLS)
        used = f"{port.get('protocol', 'TCP')}/{port.get('hostIP', '')}/{host}"
        if host and used in taken:
            yield statuses.duplicate(f"{where}.hostPort", used)
        taken.add(used)


def _port_name(name: str, path: str) -> Causes:
    if len(name) > 15:
        yield statuses.bad_value(path, name, "must be no more than 15 characters")
    if not re.fullmatch("[-a-z0-9]+", name):
        detail = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        yield statuses.bad_value(path, name, detail)
    if not re.search("[a-z]", name):
        yield statuses.bad_value(path, name, "must contain at least one letter (a-z)")


def _resources(resources: Json, path: str) -> Causes:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for group, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            yield from amount_causes(name, amount, f"{path}.{group}[{name}]")
    for name, amount in requests.items():
        extended = _is_extended(name)
        if extended and name not in limits:
            detail = "Limit must be set for non overcommitable resources"
            yield statuses.required(f"{path}.limits", detail)
        if name not in limits:
            continue
        wanted, limit = quantity.parse(amount), quantity.parse(limits[name])
        if extended and wanted != limit:
            detail = f"must be equal to {name} limit of {limits[name]}"
            yield statuses.bad_value(f"{path}.requests", amount, detail)
        elif wanted > limit:
            detail = f"must be less than or equal to {name} limit of {limits[name]}"
            yield statuses.bad_value(f"{path}.requests", amount, detail)


def amount_causes(name: str, amount: Any, path: str) -> Causes:
    value = quantity.parse(amount)
    if "/" not in name and not name.startswith("hugepages-") and name not in _STANDARD:
        for detail in (
            "must be a standard resource type or fully qualified",
            "must be a standard resource for containers",
        ):
            yield statuses.bad_value(path, name, detail)
    if value < 0:
        yield statuses.bad_value(path, amount, "must be greater than or equal to 0")
    if _is_extended(name) and value % quantity.NANO:
        yield statuses.bad_value(path, amount, "must be an integer")


def _is_extended(name: str) -> bool:
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")


def _probe(probe: Json, path: str) -> Causes:
    if not any(probe.get(name) is not None for name in _HANDLERS):
        yield statuses.required(path, "must specify a handler type")
    for name in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds"):
        if probe.get(name, 0) < 0:
            detail = "must be greater than or equal to 0"
            yield statuses.bad_value(f"{path}.{name}", probe[name], detail)


def volume_causes(volumes: list[Any], path: str) -> Causes:
    """Yield validation errors of a pod's volumes, except those of single volume types."""
    names = [volume.get("name") for volume in volumes]
    for index, volume in enumerate(volumes):
        where, name = f"{path}[{index}]", names[index]
        sources = [key for key in volume if key != "name"]
        if len(sources) > 1:
            detail = "may not specify more than 1 volume type"
            yield statuses.not_allowed(f"{where}.{sources[-1]}", detail)
        if not name:
            yield statuses.required(f"{where}.name")
        elif name in names[:index]:
            yield statuses.duplicate(f"{where}.name", name)
        for problem in label_problems(name) if name else ():
            yield statuses.bad_value(f"{where}.name", name, problem)
        if isinstance(volume.get("configMap"), dict) and not volume["configMap"].get("name"):
            yield statuses.required(f"{where}.configMap.name")
