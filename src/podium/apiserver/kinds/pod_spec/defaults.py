"""Defaults of pod specs, in pods and in templates."""

from __future__ import annotations

import re
from typing import Any

from podium.apiserver.statuses import Json


def set_missing(target: Json, **values: Any) -> None:
    """Set fields that are missing or null."""
    for name, value in values.items():
        if target.get(name) is None:
            target[name] = value


def set_pod_defaults(spec: Json) -> None:
    """Fill in the defaults of a pod spec, in place, in pods and in templates."""
    set_missing(
        spec,
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        securityContext={},
        schedulerName="default-scheduler",
    )
    for container in [*spec.get("containers", []), *spec.get("initContainers", [])]:
        _container(container)
    for volume in spec.get("volumes", []):
        _volume(volume)
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]


def set_defaults_of_pods_only(spec: Json) -> None:
    """Fill in what templates do without."""
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for container in [*spec.get("containers", []), *spec.get("initContainers", [])]:
        _request_limits(container["resources"])
        if spec.get("hostNetwork"):
            for port in container.get("ports", []):
                set_missing(port, hostPort=port.get("containerPort"))


def _container(container: Json) -> None:
    set_missing(
        container,
        resources={},
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy=_pull_policy(container.get("image", "")),
    )
    for port in container.get("ports", []):
        set_missing(port, protocol="TCP")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), dict):
            _probe(container[probe])
    for env in container.get("env", []):
        source = env.get("valueFrom") or {}
        if source.get("fieldRef"):
            set_missing(source["fieldRef"], apiVersion="v1")
        if source.get("resourceFieldRef"):
            set_missing(source["resourceFieldRef"], divisor="0")
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict) and isinstance(handler.get("httpGet"), dict):
            set_missing(handler["httpGet"], path="/", scheme="HTTP")


def _request_limits(resources: Json) -> None:
    """Set missing requests to the limits."""
    if resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, amount in resources["limits"].items():
            requests.setdefault(name, amount)


def _pull_policy(image: str) -> str:
    tag = re.search(r":([^/@]+)(@|$)", image)
    latest = "@" not in image and (tag is None or tag[1] == "latest")
    return "Always" if latest else "IfNotPresent"


def _probe(probe: Json) -> None:
    set_missing(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
    if isinstance(probe.get("httpGet"), dict):
        set_missing(probe["httpGet"], path="/", scheme="HTTP")
    if isinstance(probe.get("grpc"), dict):
        set_missing(probe["grpc"], service="")


_MODES = ("configMap", "secret", "downwardAPI", "projected")


def _volume(volume: Json) -> None:
    if set(volume) <= {"name"}:
        volume["emptyDir"] = {}
    for name in _MODES:
        if isinstance(volume.get(name), dict):
            set_missing(volume[name], defaultMode=420)
    if isinstance(volume.get("hostPath"), dict):
        set_missing(volume["hostPath"], type="")
    if isinstance(volume.get("image"), dict):
        set_missing(volume["image"], pullPolicy=_pull_policy(volume["image"].get("reference", "")))
    if made := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
        set_missing(made, metadata={}, spec={})
        set_missing(made["spec"], volumeMode="Filesystem")
    for source in (volume, *((volume.get("projected") or {}).get("sources") or [])):
        _projection(source)


def _projection(source: Json) -> None:
    for item in (source.get("downwardAPI") or {}).get("items") or []:
        if item.get("fieldRef"):
            set_missing(item["fieldRef"], apiVersion="v1")
    if isinstance(source.get("serviceAccountToken"), dict):
        set_missing(source["serviceAccountToken"], expirationSeconds=3600)
