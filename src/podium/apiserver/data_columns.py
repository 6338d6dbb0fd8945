"""The columns of kinds that are kept as data: ingresses, policies, autoscalers, runtime classes."""

from __future__ import annotations

from collections.abc import Callable

from podium.apiserver.json_path import at
from podium.apiserver.printing import NONE, UNSET, Column, column, labels_text
from podium.apiserver.statuses import Json


def _hosts(ingress: Json) -> str:
    hosts = [one.get("host") for one in at(ingress, "spec.rules") or [] if one.get("host")]
    more = f" + {len(hosts) - 3} more..." if len(hosts) > 3 else ""
    return ",".join(hosts[:3]) + more or "*"


def _addresses(ingress: Json) -> str:
    listed = at(ingress, "status.loadBalancer.ingress") or []
    return ",".join(one.get("ip") or one.get("hostname", "") for one in listed)


def _reference(scaler: Json) -> str:
    target = at(scaler, "spec.scaleTargetRef") or {}
    return f"{target.get('kind')}/{target.get('name')}"


def _targets(scaler: Json) -> str:
    """Nothing measures anything here, so what is there now is unknown."""
    resources = [one.get("resource") or {} for one in at(scaler, "spec.metrics") or []]
    shown = [f"{one.get('name')}: <unknown>/{_target(one)}" for one in resources if one]
    more = f" + {len(shown) - 2} more..." if len(shown) > 2 else ""
    return ", ".join(shown[:2]) + more or NONE


def _target(resource: Json) -> str:
    percent = at(resource, "target.averageUtilization")
    return f"{percent}%" if percent is not None else str(at(resource, "target.averageValue"))


def _used(quota: Json, is_shown: Callable[[str], bool]) -> str:
    hard, used = at(quota, "status.hard") or {}, at(quota, "status.used") or {}
    return ", ".join(
        f"{key}: {used.get(key, 0)}/{hard[key]}" for key in sorted(hard) if is_shown(key)
    )


def _controller(revision: Json) -> str:
    owners = [one for one in at(revision, "metadata.ownerReferences") or [] if one["controller"]]
    group = owners[0]["apiVersion"].rpartition("/")[0] if owners else ""
    return f"{owners[0]['kind'].lower()}.{group}/{owners[0]['name']}" if owners else NONE


def _claim_state(claim: Json) -> str:
    states = [] if "deletionTimestamp" not in claim["metadata"] else ["deleted"]
    if at(claim, "status.allocation") is None:
        return ",".join([*states, "pending"])
    reserved = ["reserved"] if at(claim, "status.reservedFor") else []
    return ",".join([*states, "allocated", *reserved])


def _token_requests(driver: Json) -> str:
    listed = [one.get("audience", "") for one in at(driver, "spec.tokenRequests") or []]
    return ",".join(listed) or UNSET


def _parameters(ingress_class: Json) -> str:
    given = at(ingress_class, "spec.parameters")
    if not given:
        return NONE
    kind = f"{given['kind']}.{given['apiGroup']}" if given.get("apiGroup") else given["kind"]
    return f"{kind}/{given['name']}"


def _slice_ports(endpoint_slice: Json) -> str:
    return _some([str(one.get("port", "*")) for one in endpoint_slice.get("ports") or []])


def _slice_addresses(endpoint_slice: Json) -> str:
    listed = [one.get("addresses") or [] for one in endpoint_slice.get("endpoints") or []]
    return _some([address for addresses in listed for address in addresses])


def _some(texts: list[str]) -> str:
    """The first few; how many more there are."""
    if not texts:
        return UNSET
    more = f" + {len(texts) - 3} more..." if len(texts) > 3 else ""
    return ",".join(texts[:3]) + more


def _yes(path: str) -> Callable[[Json], bool]:
    return lambda obj: bool(at(obj, path))


DATA_COLUMNS: dict[str, list[Column]] = {
    "ingresses.networking.k8s.io": [
        column("Class", lambda o: at(o, "spec.ingressClassName") or NONE),
        column("Hosts", _hosts),
        column("Address", _addresses),
        column("Ports", lambda o: "80, 443" if at(o, "spec.tls") else "80"),
    ],
    "networkpolicies.networking.k8s.io": [
        column("Pod-Selector", lambda o: labels_text(at(o, "spec.podSelector.matchLabels") or {})),
    ],
    "horizontalpodautoscalers.autoscaling": [
        column("Reference", _reference),
        column("Targets", _targets),
        column("MinPods", lambda o: str(at(o, "spec.minReplicas") or UNSET)),
        column("MaxPods", lambda o: at(o, "spec.maxReplicas"), kind="integer"),
        column("Replicas", lambda o: at(o, "status.currentReplicas") or 0, kind="integer"),
    ],
    "resourcequotas": [
        column("Request", lambda o: _used(o, lambda name: not name.startswith("limits."))),
        column("Limit", lambda o: _used(o, lambda name: name.startswith("limits."))),
    ],
    "controllerrevisions.apps": [
        column("Controller", _controller),
        column("Revision", lambda o: o.get("revision", 0), kind="integer"),
    ],
    "resourceclaims.resource.k8s.io": [column("State", _claim_state)],
    "resourceslices.resource.k8s.io": [
        column("Node", lambda o: at(o, "spec.nodeName") or UNSET),
        column("Driver", lambda o: at(o, "spec.driver")),
        column("Pool", lambda o: at(o, "spec.pool.name")),
    ],
    "csidrivers.storage.k8s.io": [
        column("AttachRequired", _yes("spec.attachRequired"), kind="boolean"),
        column("PodInfoOnMount", _yes("spec.podInfoOnMount"), kind="boolean"),
        column("StorageCapacity", _yes("spec.storageCapacity"), kind="boolean"),
        column("TokenRequests", _token_requests),
        column("RequiresRepublish", _yes("spec.requiresRepublish"), kind="boolean"),
        column("Modes", lambda o: ",".join(at(o, "spec.volumeLifecycleModes") or []) or NONE),
    ],
    "volumeattachments.storage.k8s.io": [
        Column("Attacher", "string", 0, lambda o, now: at(o, "spec.attacher"), "name"),
        column("PV", lambda o: at(o, "spec.source.persistentVolumeName") or ""),
        column("Node", lambda o: at(o, "spec.nodeName")),
        column("Attached", _yes("status.attached"), kind="boolean"),
    ],
    "volumeattributesclasses.storage.k8s.io": [
        column("DriverName", lambda o: o.get("driverName", "")),
    ],
    "ingressclasses.networking.k8s.io": [
        column("Controller", lambda o: at(o, "spec.controller")),
        column("Parameters", _parameters),
    ],
    "endpointslices.discovery.k8s.io": [
        column("AddressType", lambda o: o.get("addressType", "")),
        column("Ports", _slice_ports),
        column("Endpoints", _slice_addresses),
    ],
    "runtimeclasses.node.k8s.io": [column("Handler", lambda o: o.get("handler", ""))],
}
