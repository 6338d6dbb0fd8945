"""Simulated kubelets, the part that runs pods: admit, start, run, end and stop them by the Clock.

No container is ever started. Annotations of a pod say how long things take:

    podium.dev/start-after   from admission to Running; 1s by default
    podium.dev/duration      from Running to the end; by default a Job's pods run 5s, others and
                             restored ones forever
    podium.dev/exit-code     the exit code at the end; 0 by default
    podium.dev/stop-after    from deletion to the end; 1s by default, at most the grace period
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from podium import durations
from podium.api import objects
from podium.apiserver import kubelet_status as stages
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import controller_of
from podium.apiserver.controllers.pods import FINISHED, seconds
from podium.apiserver.controllers.resource_claims import CLAIMS, claim_name
from podium.apiserver.controllers.runner import Change, Mapper
from podium.apiserver.kubelet_admission import Need, Usage, reject
from podium.apiserver.kubelet_nodes import is_simulated
from podium.apiserver.kubelet_status import PodAddresses
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

START, DURATION = "podium.dev/start-after", "podium.dev/duration"
EXIT_CODE, STOP = "podium.dev/exit-code", "podium.dev/stop-after"
_START_SECONDS = 1.0
_STOP_SECONDS = 1.0
_JOB_SECONDS = 5.0
_TERMINATED = 143  # the exit code of a program that was ended by SIGKILL
_RESTART_SECONDS = 10.0  # the least time between two starts of one container
_LOOK_AGAIN = 1.0
_FIRST_ADDRESS = 2  # the first two are those of the network and its gateway


@dataclass(slots=True)
class _Machine:
    """The node as its kubelet sees it: which pods use what, and which addresses are taken."""

    usage: Usage = field(default_factory=Usage)
    addresses: dict[Key, int] = field(default_factory=dict)

    def address(self, key: Key, node: Json) -> str:
        if key not in self.addresses:
            taken = set(self.addresses.values())
            self.addresses[key] = next(n for n in range(len(taken) + 1) if n not in taken)
        return _pod_address(node["spec"].get("podCIDR", ""), self.addresses[key])

    def forget(self, key: Key) -> None:
        self.usage.needs.pop(key, None)
        self.addresses.pop(key, None)


class PodAgent:
    """The part of all simulated kubelets that runs pods.

    It keeps three things in step: every pod in ``_known`` is counted in the machine of its node,
    and its uid may have an entry in ``_since``. `_notice` removes a pod from all three when it is
    gone or replaced.
    """

    name = "kubelet"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._machines: dict[str, _Machine] = {}
        self._known: dict[Key, tuple[str, str]] = {}  # uid and node of the known pods
        self._since: dict[
            str, float
        ] = {}  # when a pod (by uid) entered its present stage; statuses have whole seconds

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {"pods": _bound, "nodes": self._on_node}

    def _on_node(self, change: Change) -> Iterator[Key]:
        """Yield the pods of a node: they may wait for it to exist and to have an address."""
        if change.is_gone:
            self._machines.pop(change.key[1], None)
        elif change.old is None or not _host_address(change.old):
            for pod in self._cluster.pods.on_node(change.key[1]):
                yield pod.key

    def reconcile(self, key: Key) -> float | None:
        pod = self._cluster.find("pods", key)
        self._notice(key, pod)
        node = self._node_of(pod)
        if pod is None or node is None:
            return None
        status, is_deleting = pod.get("status") or {}, "deletionTimestamp" in pod["metadata"]
        if status.get("phase") in FINISHED:
            self._let_go(pod, is_deleting)
            return None
        if is_deleting:
            return self._stop(pod)
        if not status.get("startTime"):
            return self._admit(pod, node)
        if status.get("phase") != "Running":
            return self._start(pod, node)
        return self._run(pod)

    def _node_of(self, pod: Json | None) -> Json | None:
        name = (pod or {}).get("spec", {}).get("nodeName")
        node = self._cluster.find("nodes", ("", name)) if name else None
        ours = node is not None and is_simulated(node) and _host_address(node)
        return node if ours else None

    def _notice(self, key: Key, pod: Json | None) -> None:
        """Forget a pod that is gone, even if another pod has its name by now."""
        uid, name = self._known.get(key, ("", ""))
        if uid and (pod is None or pod["metadata"]["uid"] != uid):
            self._forget(key, name)
            self._since.pop(uid, None)

    def _forget(self, key: Key, node: str) -> None:
        self._known.pop(key, None)
        if node in self._machines:
            self._machines[node].forget(key)

    def _machine(self, node: Json) -> _Machine:
        """Return what is known of a node; at first it is read from the statuses of its pods."""
        name = node["metadata"]["name"]
        if name not in self._machines:
            self._machines[name] = _Machine()
            for pod in self._cluster.pods.on_node(name):
                if pod.status.start_time and not pod.is_finished:
                    self._recall(self._cluster.store.get("pods", *pod.key), node)
        return self._machines[name]

    def _recall(self, pod: Json, node: Json) -> None:
        key, name = _key(pod), node["metadata"]["name"]
        machine = self._machines[name]
        machine.usage.needs[key] = Need.of(_typed(pod))
        self._known[key] = (pod["metadata"]["uid"], name)
        number = _number_of(pod["status"].get("podIP", ""), node)
        if number is not None:
            machine.addresses[key] = number

    def _admit(self, pod: Json, node: Json) -> float | None:
        key, name = _key(pod), node["metadata"]["name"]
        machine = self._machine(node)
        typed = _typed(pod)
        need = Need.of(typed)
        rejection = reject(typed, need, _typed_node(node), machine.usage)
        if rejection is not None:
            status = stages.rejected(pod, rejection, self._cluster.now)
            self._cluster.set_status("pods", key, status)
            self._cluster.record_event(pod, rejection.reason, rejection.message, type_="Warning")
            return None
        machine.usage.needs[key] = need
        self._known[key] = (pod["metadata"]["uid"], name)
        self._since[pod["metadata"]["uid"]] = self._cluster.clock.now()
        self._report_bad_annotations(pod)
        status = stages.creating(pod, self._addresses(pod, node), self._cluster.now)
        self._cluster.set_status("pods", key, status)
        return self._start(self._cluster.store.get("pods", *key), node)

    def _report_bad_annotations(self, pod: Json) -> None:
        """Record an event about annotations that cannot be read; their defaults apply."""
        for name, text in (pod["metadata"].get("annotations") or {}).items():
            if name in (START, DURATION, STOP) and _parsed(text) is None:
                message = f'annotation {name}: "{text}" is no duration such as "90s" or "5m"'
                self._cluster.record_event(pod, "InvalidAnnotation", message, type_="Warning")

    def _start(self, pod: Json, node: Json) -> float | None:
        left = self._left(pod, _seconds(pod, START, _START_SECONDS))
        if left > 0:
            return left
        if not (self._volumes_ready(pod) and self._devices_ready(pod)):
            return _LOOK_AGAIN
        key = _key(pod)
        status = stages.running(pod, self._addresses(pod, node), self._cluster.now)
        self._since[pod["metadata"]["uid"]] = self._cluster.clock.now()
        self._cluster.set_status("pods", key, status)
        for container in pod["spec"]["containers"]:
            self._cluster.record_event(pod, "Started", f"Started container {container['name']}")
        return None

    def _run(self, pod: Json) -> float | None:
        """End a pod when its time is over, and restart it if its restart policy says so."""
        is_job = (controller_of(pod) or {}).get("kind") == "Job"
        is_timed = is_job and pod["metadata"]["uid"] not in self._cluster.restored
        length = _seconds(pod, DURATION, _JOB_SECONDS if is_timed else math.inf)
        if length == math.inf:
            return None
        code = _exit_code(pod)
        policy = pod["spec"].get("restartPolicy", "Always")
        restarts = policy == "Always" or (policy == "OnFailure" and code != 0)
        left = self._left(pod, max(length, _RESTART_SECONDS) if restarts else length)
        if left > 0:
            return left
        end = stages.restarted if restarts else stages.ended
        self._since[pod["metadata"]["uid"]] = self._cluster.clock.now()
        self._cluster.set_status("pods", _key(pod), end(pod, code, self._cluster.now))
        return None

    def _stop(self, pod: Json) -> float | None:
        """Wait until the containers stop, at most for the grace period; then remove the pod."""
        meta = pod["metadata"]
        grace = float(meta.get("deletionGracePeriodSeconds", 0))
        asked = seconds(meta["deletionTimestamp"]) - grace
        patience = min(grace, _seconds(pod, STOP, _STOP_SECONDS))
        left = asked + patience - self._cluster.clock.now()
        if left > 0:
            return left
        if (pod.get("status") or {}).get("startTime"):
            # A server exits cleanly when it is asked to stop; a job that is interrupted has failed.
            code = 0 if pod["spec"].get("restartPolicy", "Always") == "Always" else _TERMINATED
            status = stages.ended(pod, code, self._cluster.now)
            self._cluster.set_status("pods", _key(pod), status)
        self._let_go(pod, is_deleting=True)
        return None

    def _let_go(self, pod: Json, is_deleting: bool) -> None:
        key = _key(pod)
        if key in self._known:
            self._forget(key, self._known[key][1])
        if is_deleting and self._cluster.store.find("pods", key) is not None:
            self._cluster.delete_at_once("pods", key)

    def _addresses(self, pod: Json, node: Json) -> PodAddresses:
        host = _host_address(node)
        if pod["spec"].get("hostNetwork"):
            return PodAddresses(host, host)
        machine = self._machine(node)
        return PodAddresses(host, machine.address(_key(pod), node))

    def _volumes_ready(self, pod: Json) -> bool:
        """Return whether all claims of the pod are bound; a kubelet waits for that."""
        namespace, name = _key(pod)
        for volume in pod["spec"].get("volumes") or []:
            claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if volume.get("ephemeral"):
                claim = f"{name}-{volume['name']}"
            found = self._cluster.find("persistentvolumeclaims", (namespace, claim or ""))
            if claim and (found is None or found["status"].get("phase") != "Bound"):
                return False
        return True

    def _devices_ready(self, pod: Json) -> bool:
        """Return whether all claims of the pod have devices that are reserved for it."""
        if not pod["spec"].get("resourceClaims"):
            return True
        view = self._cluster.pods.get(_key(pod))
        if view is None:
            return False
        names = [claim_name(view, entry) for entry in view.spec.resource_claims or ()]
        return all(name == "" or self._has_reserved(pod, name) for name in names)

    def _has_reserved(self, pod: Json, name: str | None) -> bool:
        claim = self._cluster.find(CLAIMS, (pod["metadata"]["namespace"], name)) if name else None
        users = ((claim or {}).get("status") or {}).get("reservedFor") or []
        return any(one["uid"] == pod["metadata"]["uid"] for one in users)

    def _left(self, pod: Json, length: float) -> float:
        """Return the seconds until a pod has been in its present stage for ``length`` seconds."""
        now = self._cluster.clock.now()
        return self._since.setdefault(pod["metadata"]["uid"], now) + length - now


def _bound(change: Change) -> Iterator[Key]:
    """Yield the pod if it has a node: kubelets look at bound pods only."""
    if change.pod.spec.node_name:
        yield change.key


def _seconds(pod: Json, annotation: str, default: float) -> float:
    """Return the duration in a pod's annotation, or the default if it cannot be read."""
    text = (pod["metadata"].get("annotations") or {}).get(annotation)
    said = None if text is None else _parsed(text)
    return default if said is None else said


def _parsed(text: str) -> float | None:
    try:
        return max(0.0, durations.parse(text))
    except ValueError:
        return None


def _exit_code(pod: Json) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(EXIT_CODE, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def _key(pod: Json) -> Key:
    return (pod["metadata"]["namespace"], pod["metadata"]["name"])


def _typed(pod: Json) -> objects.Pod:
    """Decode a pod without its status, which is not needed here: three times as fast."""
    return objects.decode(objects.Pod, {**pod, "status": {}})


def _typed_node(node: Json) -> objects.Node:
    status = {"allocatable": node["status"].get("allocatable") or {}}
    return objects.decode(objects.Node, {**node, "status": status})


def _host_address(node: Json) -> str:
    for one in (node.get("status") or {}).get("addresses") or []:
        if one.get("type") == "InternalIP":
            return str(one.get("address", ""))
    return ""


def _number_of(address: str, node: Json) -> int | None:
    """Return the number of a pod's address within its node's range."""
    prefix, _, last = address.rpartition(".")
    inside = prefix and (node["spec"].get("podCIDR") or "").startswith(f"{prefix}.")
    return int(last) - _FIRST_ADDRESS if inside else None


def _pod_address(cidr: str, number: int) -> str:
    """Return the address with this number in a node's range.

    Pods beyond the range share 100.64.0.0/10.
    """
    number += _FIRST_ADDRESS
    if number < 255 and cidr.count(".") == 3:
        return f"{cidr.rpartition('.')[0]}.{number}"
    return f"100.{64 + (number >> 16) % 64}.{number >> 8 & 255}.{number & 255}"
