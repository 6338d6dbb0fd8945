"""ReplicaSet and ReplicationController: keep a number of pods of a template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.conditions import Condition, set_condition
from podium.apiserver.controllers.owners import claim_pods, pods_or_orphans_of
from podium.apiserver.controllers.pods import PodView, available_in
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.controllers.templates import BURST, pod_from
from podium.apiserver.statuses import Json, Refusal
from podium.apiserver.store import Key

_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


class ReplicaSetController:
    """The controller of both kinds, which differ in name and form of the selector."""

    def __init__(self, cluster: Cluster, resource: str, kind: str) -> None:
        self.name = kind.lower()
        self._cluster = cluster
        self._resource = resource
        self._kind = kind

    @property
    def watches(self) -> Mapping[str, Mapper]:
        pods = pods_or_orphans_of(self._cluster, self._resource, self._kind)
        return {self._resource: itself, "pods": pods}

    def reconcile(self, key: Key) -> float | None:
        owner = self._cluster.find(self._resource, key)
        if owner is None:
            return None
        active = [pod for pod in self._claimed(owner) if pod.is_active]
        refused, unfinished = "", False
        if "deletionTimestamp" not in owner["metadata"]:
            difference = owner["spec"].get("replicas", 1) - len(active)
            refused = self._create(owner, min(difference, BURST))
            self._delete(owner, active, min(-difference, BURST))
            unfinished = abs(difference) > BURST
        return self._report(owner, refused) or (0.0 if unfinished else None)

    def _claimed(self, owner: Json) -> list[PodView]:
        return claim_pods(self._cluster, self._resource, owner)

    def _create(self, owner: Json, count: int) -> str:
        """Create pods. Return why the API refused one, if it did."""
        name = owner["metadata"]["name"]
        for _ in range(count):
            pod = pod_from(owner, owner["spec"]["template"])
            pod["metadata"]["generateName"] = f"{name}-"
            try:
                made = self._cluster.create("pods", pod)
            except Refusal as error:
                self._cluster.record_event(
                    owner, "FailedCreate", f"Error creating: {error}", type_="Warning"
                )
                return str(error)
            self._cluster.record_event(
                owner, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}"
            )
        return ""

    def _delete(self, owner: Json, active: Sequence[PodView], count: int) -> None:
        for pod in first_to_go(active)[: max(0, count)]:
            self._cluster.delete("pods", pod.key)
            self._cluster.record_event(owner, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def _report(self, owner: Json, refused: str) -> float | None:
        """Write the status. Return the seconds until one more pod counts as available."""
        active = [pod for pod in self._claimed(owner) if pod.is_active]
        spec = owner["spec"]
        found = count_pods(active, spec.get("minReadySeconds", 0), self._cluster.clock.now())
        labels = (spec["template"].get("metadata") or {}).get("labels") or {}
        labelled = sum(labels.items() <= pod.labels.items() for pod in active)
        counts = {
            "fullyLabeledReplicas": labelled,
            "readyReplicas": found.ready,
            "availableReplicas": found.available,
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        status: Json = {name: value for name, value in counts.items() if value}
        status["replicas"] = len(active)
        if conditions := self._conditions(owner, refused):
            status["conditions"] = conditions
        meta = owner["metadata"]
        self._cluster.set_status(self._resource, (meta["namespace"], meta["name"]), status)
        if refused:
            raise _CreationRefused(refused)  # retried with growing delays
        return found.next_available

    def _conditions(self, owner: Json, refused: str) -> list[Json]:
        before = (owner.get("status") or {}).get("conditions") or []
        others = [one for one in before if one.get("type") != "ReplicaFailure"]
        if not refused:
            return others
        said = Condition("ReplicaFailure", "True", "FailedCreate", refused)
        return set_condition(before, said, self._cluster.now)


class _CreationRefused(Refusal):
    """The API refused a pod; raised so that the runner tries again."""

    def __init__(self, why: str) -> None:
        super().__init__(403, "Forbidden", why)


class Counts(NamedTuple):
    """Numbers of pods by state; ``next_available`` is the seconds until one more is available."""

    ready: int
    available: int
    next_available: float | None


def count_pods(pods: Sequence[PodView], min_ready: int, now: float) -> Counts:
    waits = [wait for pod in pods if (wait := available_in(pod, min_ready, now)) is not None]
    later = [wait for wait in waits if wait > 0]
    return Counts(len(waits), len(waits) - len(later), min(later, default=None))


_PHASES = {"Pending": 0, "": 0, "Unknown": 1}


def first_to_go(pods: Sequence[PodView]) -> list[PodView]:
    """Sort pods by the order in which a shrinking set deletes them."""
    crowd = Counter(pod.spec.node_name for pod in pods)

    def rank(pod: PodView) -> tuple[object, ...]:
        since = pod.ready_since
        return (
            bool(pod.spec.node_name),
            _PHASES.get(pod.status.phase, 2),
            since is not None,
            _deletion_cost(pod),
            -crowd[pod.spec.node_name],
            -(since or 0.0),
        )

    # Of equal pods the youngest goes first; sorting is stable, so sort by age first.
    return sorted(sorted(pods, key=_age, reverse=True), key=rank)


def _age(pod: PodView) -> tuple[str, str]:
    return (pod.metadata.creation_timestamp, pod.name)


def _deletion_cost(pod: PodView) -> int:
    text = (pod.metadata.annotations or {}).get(_DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0
