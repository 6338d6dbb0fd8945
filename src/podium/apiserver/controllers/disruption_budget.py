"""PodDisruptionBudget: how many pods are healthy, and how many may be disrupted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.conditions import Condition, set_condition
from podium.apiserver.controllers.owners import compile_selector, controller_of
from podium.apiserver.controllers.pods import PodView, seconds
from podium.apiserver.controllers.runner import Change, Mapper, itself
from podium.apiserver.controllers.templates import share_of
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

BUDGETS = "poddisruptionbudgets.policy"
_EVICTION_SECONDS = 120.0  # until a granted eviction that did not happen is forgotten
_SCALED = {
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
}


class DisruptionBudgetController:
    name = "poddisruptionbudget"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def watches(self) -> Mapping[str, Mapper]:
        scaled = dict.fromkeys(_SCALED.values(), self._inside)
        return {BUDGETS: itself, "pods": self._on_pod, **scaled}

    def _on_pod(self, change: Change) -> Iterator[Key]:
        """Yield the budgets that count a pod, if the change matters to them."""
        old, new = change.old_pod, change.pod
        if old is None or _counted(old) != _counted(new):
            yield from self._inside(change)

    def _inside(self, change: Change) -> Iterator[Key]:
        for item in self._cluster.store.list(BUDGETS, change.key[0]).items:
            yield item.key

    def reconcile(self, key: Key) -> float | None:
        budget = self._cluster.find(BUDGETS, key)
        if budget is None or "deletionTimestamp" in budget["metadata"]:
            return None
        selector = compile_selector(budget["spec"].get("selector"))
        inside = self._cluster.pods.inside(key[0])
        pods = [pod for pod in inside if selector.matches(pod.labels)]  # including finished ones
        expected = self._expected(budget["spec"], pods)
        evicted = self._evicted(budget, pods)
        healthy = sum(
            pod.ready is not None and not pod.is_deleting and pod.name not in evicted
            for pod in pods
        )
        desired = desired_healthy(budget["spec"], expected)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        status = self._status(budget, allowed, evicted)
        status |= {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
        }
        self._cluster.set_status(BUDGETS, key, status)
        return self._until_forgotten(evicted)

    def _status(self, budget: Json, allowed: int, evicted: Json) -> Json:
        before = (budget.get("status") or {}).get("conditions") or []
        said = Condition(
            "DisruptionAllowed",
            "True" if allowed else "False",
            "SufficientPods" if allowed else "InsufficientPods",
        )
        conditions = set_condition(before, said, self._cluster.now)
        generation = budget["metadata"].get("generation", 1)
        status: Json = {
            "disruptionsAllowed": allowed,
            "observedGeneration": generation,
            "conditions": [
                {"message": "", **one, "observedGeneration": generation}
                if one["type"] == said.type
                else one
                for one in conditions
            ],
        }
        if evicted:
            status["disruptedPods"] = evicted
        return status

    def _evicted(self, budget: Json, pods: Sequence[PodView]) -> Json:
        """Return granted evictions whose pods are still there."""
        now = self._cluster.clock.now()
        there = {pod.name for pod in pods if not pod.is_deleting}
        granted = (budget.get("status") or {}).get("disruptedPods") or {}
        return {
            name: when
            for name, when in granted.items()
            if name in there and seconds(when) + _EVICTION_SECONDS > now
        }

    def _until_forgotten(self, evicted: Json) -> float | None:
        ends = (seconds(when) + _EVICTION_SECONDS for when in evicted.values())
        first = min(ends, default=None)
        return None if first is None else max(0.0, first - self._cluster.clock.now())

    def _expected(self, spec: Json, pods: Sequence[PodView]) -> int:
        """Return the number of pods that the budget refers to: the sizes of their controllers."""
        if "maxUnavailable" not in spec and isinstance(spec.get("minAvailable", 0), int):
            return len(pods)
        scales = {}
        for pod in pods:
            found = self._scale(pod)
            if found is not None:
                scales[found[0]] = found[1]
        return sum(scales.values())

    def _scale(self, pod: PodView) -> tuple[str, int] | None:
        """Return the uid and size of a pod's controller: the deployment rather than its set."""
        owner = pod.controller
        if owner is None or owner.kind not in _SCALED:
            return None
        obj = self._cluster.find(_SCALED[owner.kind], (pod.metadata.namespace, owner.name))
        above = controller_of(obj) if obj else None
        if above is not None and above["kind"] == "Deployment":
            obj = self._cluster.find(_SCALED["Deployment"], (pod.metadata.namespace, above["name"]))
        return (obj["metadata"]["uid"], obj["spec"].get("replicas", 1)) if obj else None


def desired_healthy(spec: Json, expected: int) -> int:
    if "maxUnavailable" in spec:
        most = share_of(spec["maxUnavailable"], expected, round_up=True)
        return max(0, expected - most)
    return share_of(spec.get("minAvailable", 1), expected, round_up=True)


def _counted(pod: PodView) -> tuple[object, ...]:
    return (pod.labels, pod.ready is not None, pod.is_deleting, pod.is_finished)
