"""The status of a Deployment: counts, and the conditions Available and Progressing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podium.api.times import time_text
from podium.apiserver.controllers.conditions import Condition, find_condition, set_condition
from podium.apiserver.controllers.pods import seconds
from podium.apiserver.controllers.rollout import surge_and_unavailable
from podium.apiserver.statuses import Json

REVISION = "deployment.kubernetes.io/revision"
_UNDER_WAY = ("NewReplicaSetCreated", "ReplicaSetUpdated")


@dataclass(frozen=True, slots=True)
class _Sums:
    wanted: int
    replicas: int
    updated: int
    ready: int
    available: int

    @classmethod
    def of(cls, deployment: Json, sets: Sequence[Json], newest: str) -> _Sums:
        statuses = {one["metadata"]["name"]: one.get("status") or {} for one in sets}
        return cls(
            wanted=deployment["spec"].get("replicas", 1),
            replicas=sum(one.get("replicas", 0) for one in statuses.values()),
            updated=statuses.get(newest, {}).get("replicas", 0),
            ready=sum(one.get("readyReplicas", 0) for one in statuses.values()),
            available=sum(one.get("availableReplicas", 0) for one in statuses.values()),
        )

    @property
    def is_complete(self) -> bool:
        return self.updated == self.replicas == self.available == self.wanted


def status_of(
    deployment: Json, sets: Sequence[Json], newest: str, now: float
) -> tuple[Json, float | None]:
    """Return the status, and the seconds until the progress deadline if it must be checked."""
    old = deployment.get("status") or {}
    sums = _Sums.of(deployment, sets, newest)
    wanted_replicas = sum(one["spec"].get("replicas", 1) for one in sets)
    counts = {
        "replicas": sums.replicas,
        "updatedReplicas": sums.updated,
        "readyReplicas": sums.ready,
        "availableReplicas": sums.available,
        "unavailableReplicas": max(0, wanted_replicas - sums.available),
        "collisionCount": old.get("collisionCount", 0),
    }
    status: Json = {name: value for name, value in counts.items() if value}
    status["observedGeneration"] = deployment["metadata"].get("generation", 0)
    conditions = _available(deployment, old.get("conditions") or [], sums, now)
    progress = _progress(deployment, sums, newest, now)
    status["conditions"] = _with_progress(conditions, progress, time_text(now))
    return status, _until_deadline(deployment, status["conditions"], now)


def _available(deployment: Json, conditions: list[Json], sums: _Sums, now: float) -> list[Json]:
    _, unavailable = surge_and_unavailable(deployment["spec"])
    enough = sums.available >= sums.wanted - unavailable
    wanted = Condition(
        "Available",
        "True" if enough else "False",
        "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    )
    stamp = time_text(now)
    return set_condition(conditions, wanted, stamp, lastUpdateTime=stamp)


def _progress(deployment: Json, sums: _Sums, newest: str, now: float) -> Condition | None:
    """Return the Progressing condition; None leaves it unchanged."""
    old = deployment.get("status") or {}
    before = find_condition(old.get("conditions") or [], "Progressing") or {}
    subject = f'ReplicaSet "{newest}"'
    if deployment["spec"].get("paused"):
        return Condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    if sums.is_complete:
        message = f"{subject} has successfully progressed."
        return Condition("Progressing", "True", "NewReplicaSetAvailable", message)
    if f'"{newest}"' not in before.get("message", ""):
        message = f'Created new replica set "{newest}"'
        return Condition("Progressing", "True", "NewReplicaSetCreated", message)
    if _has_moved(old, sums):
        return Condition("Progressing", "True", "ReplicaSetUpdated", f"{subject} is progressing.")
    ended = before.get("reason") in ("NewReplicaSetAvailable", "ProgressDeadlineExceeded")
    if not ended and _deadline(deployment, before) <= now:
        message = f"{subject} has timed out progressing."
        return Condition("Progressing", "False", "ProgressDeadlineExceeded", message)
    return None


def _with_progress(conditions: list[Json], wanted: Condition | None, stamp: str) -> list[Json]:
    if wanted is None:
        return conditions
    found = set_condition(conditions, wanted, stamp, lastUpdateTime=stamp)
    if wanted.reason != "ReplicaSetUpdated":
        return found
    # Each step of progress postpones the deadline.
    return [
        {**one, "lastUpdateTime": stamp} if one["type"] == "Progressing" else one for one in found
    ]


def _has_moved(old: Json, sums: _Sums) -> bool:
    before_old = old.get("replicas", 0) - old.get("updatedReplicas", 0)
    return bool(
        sums.updated > old.get("updatedReplicas", 0)
        or sums.replicas - sums.updated < before_old
        or sums.available > old.get("availableReplicas", 0)
    )


def _deadline(deployment: Json, progressing: Json) -> float:
    allowed = deployment["spec"].get("progressDeadlineSeconds", 600)
    return seconds(progressing["lastUpdateTime"]) + float(allowed)


def _until_deadline(deployment: Json, conditions: list[Json], now: float) -> float | None:
    progressing = find_condition(conditions, "Progressing")
    if progressing is None or progressing["reason"] not in _UNDER_WAY:
        return None
    return max(1.0, _deadline(deployment, progressing) - now)
