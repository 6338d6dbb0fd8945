"""Services and endpoints."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.admission.service_addresses import assign_addresses
from podium.apiserver.json_path import at
from podium.apiserver.kinds.api_kind import NOT_SELECTABLE, ApiKind
from podium.apiserver.kinds.columns import (
    AGE,
    NAME,
    NONE,
    column,
    first_of,
    labels_text,
    value_column,
)
from podium.apiserver.kinds.pod_spec.defaults import set_missing
from podium.apiserver.kinds.workloads import spec_of
from podium.apiserver.names import label_problems
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]

_PROTOCOLS = ["SCTP", "TCP", "UDP"]


def _set_service_defaults(obj: Json) -> None:
    spec = spec_of(obj)
    set_missing(spec, type="ClusterIP", sessionAffinity="None")
    if spec["type"] != "ExternalName":
        set_missing(spec, internalTrafficPolicy="Cluster")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        set_missing(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        set_missing(spec, allocateLoadBalancerNodePorts=True)
    for port in spec.get("ports", []):
        set_missing(port, protocol="TCP", targetPort=port.get("port"))


def start_load_balancer(obj: Json, now: str) -> None:
    """Start with the status of a service or an ingress that has no address yet."""
    obj["status"] = {"loadBalancer": {}}


def _check_service(obj: Json) -> Causes:
    spec = obj.get("spec") or {}
    kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
    if spec.get("type") not in kinds:
        yield statuses.unsupported("spec.type", spec.get("type"), kinds)
    if spec.get("type") == "ExternalName" and not spec.get("externalName"):
        yield statuses.required("spec.externalName")
    if spec.get("sessionAffinity", "None") not in ("ClientIP", "None"):
        choices = ["ClientIP", "None"]
        yield statuses.unsupported("spec.sessionAffinity", spec["sessionAffinity"], choices)
    ports = spec.get("ports") or []
    if not ports and spec.get("type") != "ExternalName" and spec.get("clusterIP") != "None":
        yield statuses.required("spec.ports")
    for index, port in enumerate(ports):
        for name in ("port", "targetPort"):
            number = port.get(name, 0)
            if isinstance(number, int) and not 0 < number < 65536:
                detail = "must be between 1 and 65535, inclusive"
                yield statuses.bad_value(f"spec.ports[{index}].{name}", number, detail)
        if port.get("protocol", "TCP") not in _PROTOCOLS:
            path = f"spec.ports[{index}].protocol"
            yield statuses.unsupported(path, port["protocol"], _PROTOCOLS)
        if len(ports) > 1 and not port.get("name"):
            yield statuses.required(f"spec.ports[{index}].name")


def _service_ports(service: Json) -> str:
    parts = []
    for port in at(service, "spec.ports") or []:
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        parts.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(parts) or NONE


def _external_ip(service: Json) -> str:
    kind = at(service, "spec.type")
    if kind == "ExternalName":
        return at(service, "spec.externalName") or NONE
    listed = at(service, "spec.externalIPs") or []
    if kind == "LoadBalancer":
        ingress = at(service, "status.loadBalancer.ingress") or []
        listed = [one.get("ip") or one.get("hostname", "") for one in ingress] + listed
        return ",".join(listed) or "<pending>"
    return ",".join(listed) or NONE


SERVICE = ApiKind(
    "",
    "v1",
    "Service",
    "services",
    short_names=("svc",),
    categories=("all",),
    subresources=("status",),
    name_problems=label_problems,
    put_creates=True,
    set_defaults=_set_service_defaults,
    admissions=(assign_addresses,),
    start=start_load_balancer,
    check=_check_service,
    columns=(
        NAME,
        value_column("Type", "spec.type"),
        value_column("Cluster-IP", "spec.clusterIP", NONE),
        column("External-IP", _external_ip),
        column("Port(s)", _service_ports),
        AGE,
        column("Selector", lambda o: labels_text(at(o, "spec.selector") or {}), wide=True),
    ),
    selectable_fields=("spec.clusterIP", "spec.type"),
    unknown_field=NOT_SELECTABLE,
    shown_when_deleted=True,
)


def _set_endpoints_defaults(endpoints: Json) -> None:
    for subset in endpoints.get("subsets") or []:
        for port in subset.get("ports") or []:
            set_missing(port, protocol="TCP")


def _addresses(obj: Json) -> str:
    found = []
    for subset in obj.get("subsets") or []:
        for address in subset.get("addresses") or []:
            for port in subset.get("ports") or [{}]:
                found.append(
                    f"{address.get('ip')}:{port['port']}" if port else address.get("ip", "")
                )
    return first_of(found, 3) or NONE


ENDPOINTS = ApiKind(
    "",
    "v1",
    "Endpoints",
    "endpoints",
    short_names=("ep",),
    deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    put_creates=True,
    set_defaults=_set_endpoints_defaults,
    columns=(NAME, column("Endpoints", _addresses), AGE),
)
