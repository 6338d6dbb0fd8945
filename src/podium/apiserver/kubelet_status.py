"""The status of a pod as a kubelet writes it at each stage of the pod's life: pure functions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from podium.apiserver.kinds.core.pods import qos_class
from podium.apiserver.kubelet_admission import Rejection
from podium.apiserver.statuses import Json

_COMPLETED, _ERROR = "Completed", "Error"
# In the order in which a kubelet writes them.
_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)

# What a status says about resource claims: whoever cleans them up needs it to the end.
_CLAIMS = ("resourceClaimStatuses", "extendedResourceClaimStatus")


@dataclass(frozen=True, slots=True)
class PodAddresses:
    """The node that a pod runs on, and the addresses of both."""

    host_ip: str
    pod_ip: str


def rejected(pod: Json, why: Rejection, now: str) -> Json:
    old = pod.get("status") or {}
    return {
        **{name: old[name] for name in _CLAIMS if name in old},
        "phase": "Failed",
        "reason": why.reason,
        "message": f"Pod was rejected: {why.message}",
        "qosClass": qos_class(pod["spec"]),
        "startTime": now,
        **_generation(pod),
    }


def creating(pod: Json, addresses: PodAddresses, now: str) -> Json:
    """Return the status of an admitted pod whose containers are being created."""
    inits = pod["spec"].get("initContainers") or []
    lasting = [*filter(_is_sidecar, inits), *pod["spec"]["containers"]]
    unready = _false("ContainersNotReady", f"containers with unready status: {_names(lasting)}")
    said = {
        "PodReadyToStartContainers": _false(),
        "Ready": unready,
        "ContainersReady": unready,
    }
    if inits:
        said["Initialized"] = _false(
            "ContainersNotInitialized", f"containers with incomplete status: {_names(inits)}"
        )
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    status = {
        "phase": "Pending",
        "startTime": now,
        "hostIP": addresses.host_ip,
        "hostIPs": [{"ip": addresses.host_ip}],
        "qosClass": qos_class(pod["spec"]),
        "conditions": _conditions(pod, now, said),
        "containerStatuses": [_container(one, waiting) for one in pod["spec"]["containers"]],
        **_generation(pod),
    }
    if inits:
        initializing = {"waiting": {"reason": "PodInitializing"}}
        status["initContainerStatuses"] = [_container(one, initializing) for one in inits]
    return _kept(pod, status)


def running(pod: Json, addresses: PodAddresses, now: str) -> Json:
    state = {"running": {"startedAt": now}}
    status = {
        **(pod.get("status") or {}),
        "phase": "Running",
        "podIP": addresses.pod_ip,
        "podIPs": [{"ip": addresses.pod_ip}],
        "conditions": _conditions(pod, now, {}),
        "containerStatuses": [
            _container(one, state, pod, is_up=True) for one in pod["spec"]["containers"]
        ],
        **_generation(pod),
    }
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = [
            _initialized(one, pod, now) for one in pod["spec"]["initContainers"]
        ]
    return status


def ended(pod: Json, exit_code: int, now: str) -> Json:
    """Return the status after all containers have stopped: succeeded or failed as a whole."""
    old = pod.get("status") or {}
    reason = _COMPLETED if exit_code == 0 else _ERROR
    started = _started_at(pod) or now
    over = {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": now}
    unready = _false("PodCompleted" if exit_code == 0 else "PodFailed")
    said = {
        "PodReadyToStartContainers": _false(),
        "Ready": unready,
        "ContainersReady": unready,
    }
    if exit_code == 0:
        said["Initialized"] = {"reason": "PodCompleted"}
    return {
        **old,
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "conditions": _conditions(pod, now, said),
        "containerStatuses": [
            _container(one, {"terminated": {**over, "containerID": _id(pod, one)}}, pod)
            for one in pod["spec"]["containers"]
        ],
        **_generation(pod),
    }


def restarted(pod: Json, exit_code: int, now: str) -> Json:
    """Return the status of a pod whose containers ended and run again."""
    status = running(pod, PodAddresses("", (pod.get("status") or {}).get("podIP", "")), now)
    before = {one["name"]: one for one in (pod["status"].get("containerStatuses") or [])}
    started = _started_at(pod) or now
    for one in status["containerStatuses"]:
        one["restartCount"] = before.get(one["name"], {}).get("restartCount", 0) + 1
        one["lastState"] = {
            "terminated": {
                "exitCode": exit_code,
                "reason": _COMPLETED if exit_code == 0 else _ERROR,
                "startedAt": started,
                "finishedAt": now,
                "containerID": one["containerID"],
            }
        }
    return status


def _false(reason: str = "", message: str = "") -> Json:
    texts = {"reason": reason, "message": message}
    return {"status": "False", **{name: text for name, text in texts.items() if text}}


def _conditions(pod: Json, now: str, said: dict[str, Json]) -> list[Json]:
    """Return a pod's five conditions, true unless said otherwise.

    A condition that does not change keeps its time. Conditions of others, such as readiness gates
    or the scheduler's, follow unchanged.
    """
    old = {one["type"]: one for one in (pod.get("status") or {}).get("conditions") or []}
    found = []
    for type_ in _CONDITIONS:
        new = {"type": type_, "status": "True", **said.get(type_, {}), "lastProbeTime": None}
        before = old.pop(type_, {})
        moved = before.get("status") != new["status"]
        new["lastTransitionTime"] = now if moved else before["lastTransitionTime"]
        found.append({**new, **_generation(pod)})
    return [*found, *old.values()]


def _container(
    container: Json, state: Json, pod: Json | None = None, *, is_up: bool = False
) -> Json:
    image = container.get("image", "")
    found: Json = {
        "name": container["name"],
        "state": state,
        "lastState": {},
        "ready": is_up,
        "restartCount": 0,
        "image": image,
        "imageID": "",
        "started": is_up,
    }
    if pod is not None:
        found["imageID"] = f"podium://{_digest(image)}"
        found["containerID"] = _id(pod, container)
        resources = container.get("resources") or {}
        if resources.get("requests"):
            found["allocatedResources"] = dict(resources["requests"])
        if resources:
            found["resources"] = resources
    return found


def _initialized(container: Json, pod: Json, now: str) -> Json:
    """Return whether an init container is done: ended, or a running sidecar."""
    if _is_sidecar(container):
        return _container(container, {"running": {"startedAt": now}}, pod, is_up=True)
    over = {"exitCode": 0, "reason": _COMPLETED, "startedAt": now, "finishedAt": now}
    found = _container(container, {"terminated": {**over, "containerID": _id(pod, container)}}, pod)
    return {**found, "ready": True}


def _kept(pod: Json, status: Json) -> Json:
    """Return what others wrote into the status, such as the nominated node."""
    return {**(pod.get("status") or {}), **status}


def _names(containers: list[Json]) -> str:
    return f"[{' '.join(one['name'] for one in containers)}]"


def _is_sidecar(init_container: Json) -> bool:
    return bool(init_container.get("restartPolicy") == "Always")


def _generation(pod: Json) -> Json:
    generation = pod["metadata"].get("generation")
    return {"observedGeneration": generation} if generation else {}


def _started_at(pod: Json) -> str | None:
    for one in (pod.get("status") or {}).get("containerStatuses") or []:
        started = ((one.get("state") or {}).get("running") or {}).get("startedAt")
        if started:
            return str(started)
    return None


def _id(pod: Json, container: Json) -> str:
    return f"podium://{_digest(pod['metadata']['uid'] + container['name'])}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
