"""DaemonSet: one pod on each node that its template may run on. The scheduler binds the pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from podium.api import objects
from podium.api.affinity import REQUIRED
from podium.api.selectors import RequiredNodeAffinity
from podium.api.taints import find_untolerated
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.owners import claim_pods, pods_or_orphans_of
from podium.apiserver.controllers.pods import PodView, available_in
from podium.apiserver.controllers.revisions import HASH, Revision, current_revision
from podium.apiserver.controllers.runner import Change, Keys, Mapper, itself
from podium.apiserver.controllers.templates import BURST, pod_from, set_label, share_of
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

SETS = "daemonsets.apps"
_ANY_TAINT = "node.kubernetes.io/"
# Daemons stay on a node whatever happens to it.
_TOLERATED = [
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
]


@dataclass(slots=True)
class _Snapshot:
    """A set at one moment: the pods on each node, and which nodes should have one."""

    owner: Json
    revision: Revision
    wanted: set[str] = field(default_factory=set)
    allowed: set[str] = field(default_factory=set)
    pods: dict[str, list[PodView]] = field(default_factory=dict)
    created: int = 0

    @property
    def rolling(self) -> Json:
        strategy = self.owner["spec"].get("updateStrategy") or {}
        return strategy.get("rollingUpdate") or {}

    @property
    def surge(self) -> int:
        return share_of(self.rolling.get("maxSurge", 0), len(self.wanted), round_up=True)

    def live(self, node: str) -> list[PodView]:
        """Return the pods of a node that are neither finished nor being deleted, oldest first."""
        return sorted((pod for pod in self.pods.get(node, []) if pod.is_active), key=_by_age)

    def new_and_old(self, node: str) -> tuple[list[PodView], list[PodView]]:
        """Return the live pods of a node, split into those of the present template and others."""
        found: tuple[list[PodView], list[PodView]] = ([], [])
        for pod in self.live(node):
            found[pod.labels.get(HASH) != self.revision.hash].append(pod)
        return found


class DaemonSetController:
    name = "daemonset"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: dict[str, tuple[int, objects.Node]] = {}  # decoded nodes with their versions

    @property
    def watches(self) -> Mapping[str, Mapper]:
        pods = pods_or_orphans_of(self._cluster, SETS, "DaemonSet")
        return {SETS: itself, "pods": pods, "nodes": self._on_node}

    def _on_node(self, change: Change) -> Keys:
        if change.old is None or _placement(change.old) != _placement(change.obj):
            return [item.key for item in self._cluster.store.list(SETS).items]
        return ()

    def reconcile(self, key: Key) -> float | None:
        owner = self._cluster.find(SETS, key)
        if owner is None:
            return None
        snapshot = self._look(owner)
        created = 0
        if "deletionTimestamp" not in owner["metadata"]:
            self._place_pods(snapshot)
            self._update(snapshot)
            created = snapshot.created
            snapshot = self._look(owner)
        again = self._report(snapshot)
        return again if created < BURST else 0.0

    def _look(self, owner: Json) -> _Snapshot:
        snapshot = _Snapshot(owner, current_revision(self._cluster, owner))
        sample = decode_pod(new_pod(owner, "", snapshot.revision))
        for node in self._all_nodes():
            wanted, allowed = should_run(sample, node)
            if wanted:
                snapshot.wanted.add(node.name)
            if allowed:
                snapshot.allowed.add(node.name)
        for pod in claim_pods(self._cluster, SETS, owner):
            snapshot.pods.setdefault(self._node_of(pod), []).append(pod)
        return snapshot

    def _all_nodes(self) -> list[objects.Node]:
        """Return all nodes. Each version is decoded once: nodes change far less often than pods."""
        before, self._nodes = self._nodes, {}
        for item in self._cluster.store.list("nodes").items:
            known = before.get(item.key[1])
            if known is None or known[0] != item.version:
                known = (item.version, objects.decode(objects.Node, item.encoded))
            self._nodes[item.key[1]] = known
        return [node for _, node in self._nodes.values()]

    def _node_of(self, pod: PodView) -> str:
        if pod.spec.node_name:
            return pod.spec.node_name
        return target_of(self._cluster.store.get("pods", *pod.key))

    def _place_pods(self, snapshot: _Snapshot) -> None:
        """Create missing pods, and delete surplus and failed ones."""
        for node in sorted(snapshot.wanted):
            pods = snapshot.pods.get(node, [])
            for pod in pods:
                if pod.is_finished and not pod.is_deleting:
                    self._delete(snapshot.owner, pod)
            for pod in self._surplus(snapshot, node):
                self._delete(snapshot.owner, pod)
            if not pods and snapshot.created < BURST:
                self._create(snapshot, node)
        for node in sorted(set(snapshot.pods) - snapshot.allowed):
            for pod in snapshot.pods[node]:
                if not pod.is_deleting:
                    self._delete(snapshot.owner, pod)

    def _surplus(self, snapshot: _Snapshot, node: str) -> list[PodView]:
        """Return the pods to delete from a node: all but the oldest.

        During a surge the oldest of each template stays until the new one is available.
        """
        new, old = snapshot.new_and_old(node)
        if not snapshot.surge:
            return sorted([*new, *old], key=_by_age)[1:]
        is_replaced = bool(new) and self._is_available(snapshot.owner, new[0])
        return [*new[1:], *(old if is_replaced else old[1:])]

    def _update(self, snapshot: _Snapshot) -> None:
        """Replace pods of old templates.

        Where the strategy allows a surge the new pod starts first, else the old pod is deleted
        first.
        """
        strategy = snapshot.owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        if snapshot.surge:
            self._surge(snapshot)
        else:
            self._make_room(snapshot)

    def _make_room(self, snapshot: _Snapshot) -> None:
        """Delete pods of old templates, as many at once as may be unavailable."""
        most = snapshot.rolling.get("maxUnavailable", 1)
        room = max(1, share_of(most, len(snapshot.wanted), round_up=True))
        waiting: list[PodView] = []
        for node in sorted(snapshot.wanted):
            new, old = snapshot.new_and_old(node)
            ready = any(self._is_available(snapshot.owner, pod) for pod in (old or new)[:1])
            if old and not ready:
                self._delete(snapshot.owner, old[0])
            elif old:
                waiting.append(old[0])
            room -= not ready
        for pod in waiting[: max(0, room)]:
            self._delete(snapshot.owner, pod)

    def _surge(self, snapshot: _Snapshot) -> None:
        """Add pods of the new template beside old ones that work, as many at once as allowed.

        An old pod that does not work is replaced at once.
        """
        room, waiting = snapshot.surge, []
        for node in sorted(snapshot.wanted):
            new, old = snapshot.new_and_old(node)
            if new and not self._is_available(snapshot.owner, new[0]):
                room -= bool(old)
            elif old and not new and self._is_available(snapshot.owner, old[0]):
                waiting.append(node)
            elif old and not new and snapshot.created < BURST:
                self._create(snapshot, node)
        for node in waiting[: max(0, min(room, BURST - snapshot.created))]:
            self._create(snapshot, node)

    def _is_available(self, owner: Json, pod: PodView) -> bool:
        return self._wait(owner, pod) == 0

    def _wait(self, owner: Json, pod: PodView) -> float | None:
        min_ready = owner["spec"].get("minReadySeconds", 0)
        return available_in(pod, min_ready, self._cluster.clock.now())

    def _create(self, snapshot: _Snapshot, node: str) -> None:
        snapshot.created += 1
        made = self._cluster.create("pods", new_pod(snapshot.owner, node, snapshot.revision))
        self._cluster.record_event(
            snapshot.owner, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}"
        )

    def _delete(self, owner: Json, pod: PodView) -> None:
        self._cluster.delete("pods", pod.key)
        self._cluster.record_event(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def _report(self, snapshot: _Snapshot) -> float | None:
        meta = snapshot.owner["metadata"]
        on_nodes = [live[0] for node in snapshot.wanted if (live := snapshot.live(node))]
        waits = [wait for pod in on_nodes if (wait := self._wait(snapshot.owner, pod)) is not None]
        available = waits.count(0)
        updated = sum(pod.labels.get(HASH) == snapshot.revision.hash for pod in on_nodes)
        optional = {
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
            "numberUnavailable": len(snapshot.wanted) - available,
            "observedGeneration": meta.get("generation", 0),
        }
        status: Json = {
            "currentNumberScheduled": len(on_nodes),
            "numberMisscheduled": len(set(snapshot.pods) - snapshot.wanted),
            "desiredNumberScheduled": len(snapshot.wanted),
            "numberReady": len(waits),
            **{name: value for name, value in optional.items() if value},
        }
        self._cluster.set_status(SETS, (meta["namespace"], meta["name"]), status)
        pods = (pod for node in snapshot.wanted for pod in snapshot.live(node))
        return min(filter(None, (self._wait(snapshot.owner, pod) for pod in pods)), default=None)


def should_run(pod: objects.Pod, node: objects.Node) -> tuple[bool, bool]:
    """Return whether a node should get the pod, and whether an existing pod may stay."""
    affinity = RequiredNodeAffinity.of(pod)
    if not affinity.matches(node.metadata.labels, node.name):
        return False, False
    tolerations = pod.spec.tolerations
    stays = find_untolerated(node.spec.taints, tolerations, ("NoExecute",)) is None
    comes = find_untolerated(node.spec.taints, tolerations) is None
    return comes, stays


def new_pod(owner: Json, node: str, revision: Revision) -> Json:
    """Return a pod of the set for a node; without a node, the pod that nodes are tested with."""
    pod = pod_from(owner, owner["spec"]["template"])
    pod["metadata"]["generateName"] = f"{owner['metadata']['name']}-"
    set_label(pod, HASH, revision.hash)
    set_label(pod, "pod-template-generation", str(owner["metadata"].get("generation", 1)))
    spec = pod["spec"]
    spec["tolerations"] = [*(spec.get("tolerations") or []), *_tolerations(spec)]
    if node:
        _pin(spec, node)
    return pod


def _tolerations(spec: Json) -> Iterator[Json]:
    pairs = [
        *_TOLERATED,
        *([("network-unavailable", "NoSchedule")] if spec.get("hostNetwork") else []),
    ]
    for name, effect in pairs:
        yield {"key": f"{_ANY_TAINT}{name}", "operator": "Exists", "effect": effect}


def _pin(spec: Json, node: str) -> None:
    """Restrict each required affinity term to this node, and keep its other requirements."""
    required = {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        ]
    }
    affinity = spec.get("affinity") or {}
    node_affinity = affinity.get("nodeAffinity") or {}
    node_affinity = {**node_affinity, REQUIRED: required}
    spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}


def target_of(pod: Json) -> str:
    """Return the node that an unbound pod was created for."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get(REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or []:
        for one in term.get("matchFields") or []:
            if one.get("key") == "metadata.name" and one.get("values"):
                return str(one["values"][0])
    return ""


def decode_pod(pod: Json) -> objects.Pod:
    return objects.decode(objects.Pod, pod)


def _placement(node: Json) -> tuple[object, object]:
    """Return the parts of a node that decide whether daemons run on it."""
    return (node["metadata"].get("labels"), (node.get("spec") or {}).get("taints"))


def _by_age(pod: PodView) -> tuple[bool, str, str]:
    return (not pod.spec.node_name, pod.metadata.creation_timestamp, pod.name)
