"""Simulated kubelets, the part that reports on nodes: conditions, addresses and leases.

Every node of the cluster gets a kubelet, unless it is annotated with ``podium.dev/kubelet: none``.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from heapq import heappop, heappush

from podium.api.nodes import HOSTNAME
from podium.api.times import micro_time_text, time_text
from podium.apiserver.api import Call
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.pods import seconds
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key
from podium.release import Release

KUBELET = "podium.dev/kubelet"
LEASES, LEASE_NAMESPACE = "leases.coordination.k8s.io", "kube-node-lease"
_RENEW_SECONDS = 10.0
_LEASE_TERMS = 4  # missed renewals until a lease expires
_RENEWALS_PER_SECOND = (
    500  # with more nodes kubelets renew less often, since they share one process
)
_HEARTBEAT_SECONDS = 300.0
_CAPACITY = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}
_CONDITIONS = [
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
]
_REASONS = {reason for _, _, reason, _ in _CONDITIONS}


class NodeAgent:
    """The part of all simulated kubelets that reports on nodes.

    Each node has a number, which its addresses are made of. Every number below the largest one used
    is either in ``_numbers`` or in ``_free``. ``_renewed`` has the time of the last lease renewal
    of each node that has a lease.
    """

    name = "kubelet-node"

    def __init__(self, cluster: Cluster, speed: float = 1.0) -> None:
        """``speed`` is how fast the cluster's time passes; renewals are limited by real time."""
        self._cluster = cluster
        self._most_renewals = _RENEWALS_PER_SECOND / speed
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []
        self._renewed: dict[str, float] = {}

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"nodes": itself}

    def reconcile(self, key: Key) -> float | None:
        node = self._cluster.find("nodes", key)
        if node is None:
            self._leave(key[1])
            return None
        if not is_simulated(node):
            return None
        self._report(node)
        return self._renew(node)

    def _report(self, node: Json) -> None:
        now = self._cluster.clock.now()
        number = self._number(node["metadata"]["name"])
        if node["metadata"]["uid"] in self._cluster.restored:
            wanted = addressed(node, number)
        else:
            wanted = completed(node, number, time_text(now), self._cluster.api.release)
        heartbeat(wanted, now)
        if wanted == node:
            return
        key = ("", node["metadata"]["name"])
        if (wanted["metadata"], wanted["spec"]) != (node["metadata"], node["spec"]):
            self._cluster.put("nodes", {**wanted, "status": node["status"]})
        wanted["metadata"].pop("resourceVersion")
        # Through the API, whose admission adds the taints that follow from conditions.
        call = Call(subresource="status")
        self._cluster.api.update(self._cluster.api.kind("nodes"), key, wanted, call)

    def _number(self, name: str) -> int:
        """Return the node's number, for its addresses; numbers of removed nodes are used again."""
        if name not in self._numbers:
            self._numbers[name] = heappop(self._free) if self._free else len(self._numbers)
        return self._numbers[name]

    def _leave(self, name: str) -> None:
        if name in self._numbers:
            heappush(self._free, self._numbers.pop(name))
        self._renewed.pop(name, None)
        if self._cluster.store.find(LEASES, (LEASE_NAMESPACE, name)) is not None:
            self._cluster.delete(LEASES, (LEASE_NAMESPACE, name))

    def _renew(self, node: Json) -> float:
        """Renew the lease if it is due. Return the seconds until the next renewal."""
        name, now = node["metadata"]["name"], self._cluster.clock.now()
        every = max(_RENEW_SECONDS, self._cluster.store.count("nodes") / self._most_renewals)
        left = self._renewed.get(name, 0.0) + every - now
        if left > 0:
            return left
        self._renewed[name] = now
        lease = self._cluster.find(LEASES, (LEASE_NAMESPACE, name))
        if lease is None:
            self._cluster.create(LEASES, new_lease(node, int(every * _LEASE_TERMS), now))
        else:
            lease["spec"]["renewTime"] = micro_time_text(now)
            self._cluster.put(LEASES, lease)
        return every


def is_simulated(node: Json) -> bool:
    return (node["metadata"].get("annotations") or {}).get(KUBELET) != "none"


def new_lease(node: Json, duration: int, now: float) -> Json:
    meta = node["metadata"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": meta["name"], "uid": meta["uid"]}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": meta["name"],
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [owner],
        },
        "spec": {
            "holderIdentity": meta["name"],
            "leaseDurationSeconds": duration,
            "renewTime": micro_time_text(now),
        },
    }


def addressed(node: Json, number: int) -> Json:
    """Return the node with addresses. They are all that a node of another cluster may lack.

    Labels, resources and conditions stay as they were there, since decisions depend on them.
    """
    node = copy.deepcopy(node)
    node.setdefault("spec", {}).setdefault("podCIDR", pod_range(number))
    node["spec"].setdefault("podCIDRs", [node["spec"]["podCIDR"]])
    status = node.setdefault("status", {})
    if not any(one and one.get("type") == "InternalIP" for one in status.get("addresses") or []):
        status["addresses"] = [
            {"type": "InternalIP", "address": host_address(number)},
            {"type": "Hostname", "address": node["metadata"]["name"]},
        ]
    return node


def completed(node: Json, number: int, now: str, release: Release) -> Json:
    """Return the node with all that its kubelet reports; existing values stay as they are."""
    node = addressed(node, number)
    name = node["metadata"]["name"]
    labels = node["metadata"].get("labels") or {}
    node["metadata"]["labels"] = {**_labels(name), **labels}
    status = node["status"]
    _add_resources(status)
    there = {one.get("type") for one in status.get("conditions") or [] if one}
    missing = [_condition(one, now) for one in _CONDITIONS if one[0] not in there]
    if missing:
        status["conditions"] = [*(status.get("conditions") or []), *missing]
    if not (status.get("daemonEndpoints") or {}).get("kubeletEndpoint", {}).get("Port"):
        status["daemonEndpoints"] = {"kubeletEndpoint": {"Port": 10250}}
    given = {key: value for key, value in (status.get("nodeInfo") or {}).items() if value}
    status["nodeInfo"] = {**_node_info(name, release), **given}
    return node


def _labels(name: str) -> dict[str, str]:
    return {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        HOSTNAME: name,
        "kubernetes.io/os": "linux",
    }


def _add_resources(status: Json) -> None:
    """Give a node without capacity a usual size, and any node room for pods."""
    capacity = status.get("capacity") or {}
    allocatable = status.get("allocatable") or {}
    extra = {"pods": _CAPACITY["pods"]} if capacity or allocatable else _CAPACITY
    status["capacity"] = {**allocatable, **extra, **capacity}
    status["allocatable"] = {**status["capacity"], **allocatable}


def _condition(said: tuple[str, str, str, str], now: str) -> Json:
    type_, status, reason, message = said
    return {
        "type": type_,
        "status": status,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def heartbeat(node: Json, now: float) -> None:
    """Renew the times of our own conditions when they are old."""
    for one in node["status"].get("conditions") or ():
        last = one.get("lastHeartbeatTime")
        if one.get("reason") in _REASONS and last and now - seconds(last) >= _HEARTBEAT_SECONDS:
            one["lastHeartbeatTime"] = time_text(now)


def _node_info(name: str, release: Release) -> Json:
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "podium (simulated)",
        "kernelVersion": "0.0.0-podium",
        "kubeletVersion": f"v{release}.0",
        "kubeProxyVersion": "",
        "containerRuntimeVersion": "podium://0.1.0",
        "machineID": name,
        "systemUUID": name,
        "bootID": name,
    }


def host_address(number: int) -> str:
    """Return the address of a node, from 172.16.0.0/12."""
    number += 2
    return f"172.{16 + (number >> 16) % 16}.{number >> 8 & 255}.{number & 255}"


def pod_range(number: int) -> str:
    """Return the 256 addresses for a node's pods, from 10.0.0.0/8."""
    return f"10.{number >> 8 & 255}.{number & 255}.0/24"
