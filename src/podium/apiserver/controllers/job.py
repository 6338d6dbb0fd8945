"""Job: runs pods until enough of them have succeeded, or too many have failed.

A pod carries a finalizer until it is counted, so that a pod that is deleted in between is not run
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from podium.api.pods import JOB_TRACKING
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.conditions import (
    Condition,
    find_condition,
    is_true,
    set_condition,
)
from podium.apiserver.controllers.job_groups import JobGroups, join
from podium.apiserver.controllers.job_pods import (
    FAIL_INDEX,
    FAIL_JOB,
    FAILURES,
    IGNORE,
    Verdict,
    failures_of,
    format_indexes,
    index_of,
    judge,
    parse_indexes,
)
from podium.apiserver.controllers.owners import pods_of
from podium.apiserver.controllers.pods import PodView, seconds
from podium.apiserver.controllers.runner import Mapper, itself
from podium.apiserver.controllers.templates import BURST, pod_from, set_label
from podium.apiserver.statuses import Json
from podium.apiserver.store import Key

JOBS = "jobs.batch"
_INDEX = "batch.kubernetes.io/job-completion-index"
_FIRST_BACKOFF, _LAST_BACKOFF = 10.0, 600.0


@dataclass(slots=True)
class _Snapshot:
    """A job at one moment: its status so far, and the pods that still run."""

    job: Json
    status: Json
    active: list[PodView]
    gives_up: str = ""  # the failure-policy message if a failed pod ends the whole job
    group: Json | None = None  # the PodGroup that its pods join, if any

    @property
    def index_limit(self) -> int | None:
        """Return how often one index may fail, if each index has its own limit."""
        limit = self.spec.get("backoffLimitPerIndex") if self.is_indexed else None
        return None if limit is None else int(limit)

    @property
    def failed_indexes(self) -> set[int]:
        return parse_indexes(self.status.get("failedIndexes") or "")

    @property
    def spec(self) -> Json:
        spec: Json = self.job["spec"]
        return spec

    @property
    def is_indexed(self) -> bool:
        return bool(self.spec.get("completionMode") == "Indexed")

    @property
    def is_over(self) -> bool:
        conditions = self.status.get("conditions") or []
        return is_true(conditions, "Complete") or is_true(conditions, "Failed")


class JobController:
    name = "job"

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._groups = JobGroups(cluster)

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {JOBS: itself, "pods": pods_of("Job")}

    def reconcile(self, key: Key) -> float | None:
        job = self._cluster.find(JOBS, key)
        if job is None:
            return None
        snapshot = _Snapshot(job, dict(job.get("status") or {}), [])
        self._count(snapshot)
        again = None
        if "deletionTimestamp" not in job["metadata"]:
            if self._groups.is_enabled and not snapshot.is_over:
                snapshot.group = self._groups.of(job, is_new=self._is_new(snapshot))
            again = self._after_end(snapshot) if snapshot.is_over else self._work(snapshot)
        self._write(snapshot)
        return again

    def _is_new(self, snapshot: _Snapshot) -> bool:
        """Return whether the job has never had a pod and was never suspended."""
        status, uid = snapshot.status, snapshot.job["metadata"]["uid"]
        has_begun = any(status.get(name) for name in ("startTime", "succeeded", "failed"))
        is_known = find_condition(status.get("conditions") or [], "Suspended") is not None
        return not (has_begun or is_known or self._cluster.pods.owned_by(uid))

    def _count(self, snapshot: _Snapshot) -> None:
        """Add finished pods to the status and remove their finalizers; the others are active."""
        status, indexes = (
            snapshot.status,
            parse_indexes(snapshot.status.get("completedIndexes", "")),
        )
        for pod in self._cluster.pods.owned_by(snapshot.job["metadata"]["uid"]):
            if pod.is_active:
                snapshot.active.append(pod)
                continue
            if not (pod.is_finished or pod.is_deleting):
                continue
            if JOB_TRACKING not in (pod.metadata.finalizers or []):
                continue
            if pod.is_deleting and not pod.is_finished and pod.spec.node_name:
                continue  # it may still succeed while it stops
            self._count_one(snapshot, pod, indexes)
        if snapshot.is_indexed and indexes:
            status["completedIndexes"] = format_indexes(indexes)
            status["succeeded"] = len(indexes)

    def _count_one(self, snapshot: _Snapshot, pod: PodView, indexes: set[int]) -> None:
        index = index_of(pod)
        if pod.status.phase == "Succeeded":
            if snapshot.is_indexed and index is not None:
                indexes.add(index)
            else:
                snapshot.status["succeeded"] = snapshot.status.get("succeeded", 0) + 1
        elif not snapshot.is_over:
            self._count_failure(snapshot, pod)
        self._let_go(pod)

    def _count_failure(self, snapshot: _Snapshot, pod: PodView) -> None:
        policy = snapshot.spec.get("podFailurePolicy")
        verdict = judge(self._cluster.store.get("pods", *pod.key), policy) if policy else Verdict()
        if verdict.action == FAIL_JOB:
            snapshot.gives_up = snapshot.gives_up or verdict.message
        if verdict.action == IGNORE:
            return
        snapshot.status["failed"] = snapshot.status.get("failed", 0) + 1
        index, limit = index_of(pod), snapshot.index_limit
        if index is None or limit is None:
            return
        if verdict.action == FAIL_INDEX or failures_of(pod) >= limit:
            snapshot.status["failedIndexes"] = format_indexes({*snapshot.failed_indexes, index})

    def _let_go(self, pod: PodView) -> None:
        obj = self._cluster.store.get("pods", *pod.key)
        finalizers = [one for one in obj["metadata"].get("finalizers") or [] if one != JOB_TRACKING]
        obj["metadata"]["finalizers"] = finalizers
        if not finalizers:
            del obj["metadata"]["finalizers"]
        self._cluster.put("pods", obj)

    def _work(self, snapshot: _Snapshot) -> float | None:
        spec, status = snapshot.spec, snapshot.status
        if spec.get("suspend"):
            self._suspend(snapshot)
            return None
        self._resume(snapshot)
        now = self._cluster.clock.now()
        status.setdefault("startTime", self._cluster.now)
        limit = spec.get("activeDeadlineSeconds")
        left = None if limit is None else seconds(status["startTime"]) + limit - now
        if snapshot.gives_up:
            self._fail(snapshot, "PodFailurePolicy", snapshot.gives_up)
        elif status.get("failed", 0) > spec.get("backoffLimit", 6):
            self._fail(
                snapshot, "BackoffLimitExceeded", "Job has reached the specified backoff limit"
            )
        elif left is not None and left <= 0:
            message = "Job was active longer than specified deadline"
            self._fail(snapshot, "DeadlineExceeded", message)
        elif failed := self._failed_indexes(snapshot):
            self._fail(snapshot, *failed)
        elif self._is_complete(snapshot):
            self._complete(snapshot)
        else:
            waits = [wait for wait in (left, self._fill(snapshot)) if wait is not None]
            return min(waits, default=None)
        return self._after_end(snapshot)

    def _failed_indexes(self, snapshot: _Snapshot) -> tuple[str, str] | None:
        """Return the reason and message if failed indexes fail the whole job."""
        failed, most = len(snapshot.failed_indexes), snapshot.spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return "MaxFailedIndexesExceeded", message
        over = snapshot.status.get("succeeded", 0) + failed >= (
            snapshot.spec.get("completions") or 0
        )
        return ("FailedIndexes", "Job has failed indexes") if failed and over else None

    def _is_complete(self, snapshot: _Snapshot) -> bool:
        completions = snapshot.spec.get("completions")
        succeeded = snapshot.status.get("succeeded", 0)
        if completions is None:  # a work queue is done after one success when no pod runs any more
            return bool(succeeded and not snapshot.active)
        return bool(succeeded >= completions)

    def _fill(self, snapshot: _Snapshot) -> float | None:
        """Create or delete pods. Return how long to back off after failures, if at all."""
        done = snapshot.status.get("succeeded", 0) + len(snapshot.failed_indexes)
        wanted = wanted_active(snapshot.spec, done, len(snapshot.active))
        if wanted <= len(snapshot.active):
            self._stop(snapshot, len(snapshot.active) - wanted)
            return None
        if wait := self._backoff(snapshot):
            return wait
        missing = wanted - len(snapshot.active)
        for index in self._free_indexes(snapshot, min(missing, BURST)):
            wanted_pod = new_pod(snapshot.job, index)
            if snapshot.group is not None:
                join(wanted_pod, snapshot.group)
            if snapshot.index_limit is not None:
                failures = self._failures(snapshot, index)
                wanted_pod["metadata"]["annotations"][FAILURES] = str(failures)
            made = self._cluster.create("pods", wanted_pod)
            snapshot.active.append(msgspec.convert(made, PodView))
            message = f"Created pod: {made['metadata']['name']}"
            self._cluster.record_event(snapshot.job, "SuccessfulCreate", message)
        return 0.0 if missing > BURST else None

    def _backoff(self, snapshot: _Snapshot) -> float | None:
        failures = [
            pod
            for pod in self._cluster.pods.owned_by(snapshot.job["metadata"]["uid"])
            if pod.status.phase == "Failed"
        ]
        if not failures:
            return None
        last = max(_ended(pod) for pod in failures)
        delay = min(_LAST_BACKOFF, _FIRST_BACKOFF * 2 ** min(len(failures) - 1, 10))
        left = last + delay - self._cluster.clock.now()
        return left if left > 0 else None

    def _free_indexes(self, snapshot: _Snapshot, count: int) -> list[int | None]:
        if not snapshot.is_indexed:
            return [None] * count
        taken = parse_indexes(snapshot.status.get("completedIndexes", ""))
        taken |= snapshot.failed_indexes
        taken |= {index for pod in snapshot.active if (index := index_of(pod)) is not None}
        free = (
            index for index in range(snapshot.spec.get("completions") or 0) if index not in taken
        )
        return [index for index, _ in zip(free, range(count), strict=False)]

    def _failures(self, snapshot: _Snapshot, index: int | None) -> int:
        """Return how often an index has failed; its last failed pod has the count before it."""
        pods = self._cluster.pods.owned_by(snapshot.job["metadata"]["uid"])
        failed = [one for one in pods if one.status.phase == "Failed" and index_of(one) == index]
        policy = snapshot.spec.get("podFailurePolicy") or {}
        counts = [
            failures_of(one)
            + (judge(self._cluster.store.get("pods", *one.key), policy).action != IGNORE)
            for one in failed
        ]
        return max(counts, default=0)

    def _stop(self, snapshot: _Snapshot, count: int) -> None:
        newest = sorted(
            snapshot.active, key=lambda pod: pod.metadata.creation_timestamp, reverse=True
        )
        for pod in newest[:count]:
            self._let_go(pod)  # surplus pods count neither as success nor as failure
            self._cluster.delete("pods", pod.key)
            snapshot.active.remove(pod)
            self._cluster.record_event(snapshot.job, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def _set_condition(self, snapshot: _Snapshot, said: Condition) -> None:
        stamp = self._cluster.now
        conditions = snapshot.status.get("conditions") or []
        snapshot.status["conditions"] = set_condition(conditions, said, stamp, lastProbeTime=stamp)

    def _suspend(self, snapshot: _Snapshot) -> None:
        self._stop(snapshot, len(snapshot.active))
        snapshot.status.pop("startTime", None)
        self._set_condition(
            snapshot, Condition("Suspended", "True", "JobSuspended", "Job suspended")
        )

    def _resume(self, snapshot: _Snapshot) -> None:
        if is_true(snapshot.status.get("conditions") or [], "Suspended"):
            self._set_condition(
                snapshot, Condition("Suspended", "False", "JobResumed", "Job resumed")
            )

    def _complete(self, snapshot: _Snapshot) -> None:
        self._stop(snapshot, len(snapshot.active))
        message = "Reached expected number of succeeded pods"
        for type_ in ("SuccessCriteriaMet", "Complete"):
            self._set_condition(snapshot, Condition(type_, "True", "CompletionsReached", message))
        snapshot.status["completionTime"] = self._cluster.now
        self._cluster.record_event(snapshot.job, "Completed", "Job completed")

    def _fail(self, snapshot: _Snapshot, reason: str, message: str) -> None:
        self._stop(snapshot, len(snapshot.active))
        for type_ in ("FailureTarget", "Failed"):
            self._set_condition(snapshot, Condition(type_, "True", reason, message))
        self._cluster.record_event(snapshot.job, reason, message, type_="Warning")

    def _after_end(self, snapshot: _Snapshot) -> float | None:
        """Delete a finished job when its time to live is over."""
        ttl = snapshot.spec.get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        conditions = snapshot.status.get("conditions") or []
        ended = find_condition(conditions, "Complete") or find_condition(conditions, "Failed") or {}
        left = seconds(ended["lastTransitionTime"]) + ttl - self._cluster.clock.now()
        if left <= 0:
            self._cluster.delete(JOBS, _key(snapshot.job))
        return max(0.0, left) or None

    def _write(self, snapshot: _Snapshot) -> None:
        ready = sum(pod.ready is not None for pod in snapshot.active)
        counts = {"active": len(snapshot.active), "ready": ready, "terminating": 0}
        for name, value in counts.items():
            if value or name != "active":
                snapshot.status[name] = value
            else:
                snapshot.status.pop(name, None)
        snapshot.status["uncountedTerminatedPods"] = {}
        self._cluster.set_status(JOBS, _key(snapshot.job), snapshot.status)


def wanted_active(spec: Json, succeeded: int, active: int) -> int:
    """Return how many pods should run now."""
    parallelism = int(spec.get("parallelism", 1))
    completions = spec.get("completions")
    if completions is None:
        return min(active, parallelism) if succeeded else parallelism
    return max(0, min(parallelism, int(completions) - succeeded))


def new_pod(job: Json, index: int | None) -> Json:
    pod = pod_from(job, job["spec"]["template"])
    meta = pod["metadata"]
    meta["finalizers"] = [*(meta.get("finalizers") or []), JOB_TRACKING]
    name = job["metadata"]["name"]
    meta["generateName"] = f"{name}-" if index is None else f"{name}-{index}-"
    if index is not None:
        meta["annotations"] = {**(meta.get("annotations") or {}), _INDEX: str(index)}
        set_label(pod, _INDEX, str(index))
        pod["spec"].setdefault("hostname", f"{name}-{index}")
    return pod


def _ended(pod: PodView) -> float:
    times = [one.last_transition_time for one in pod.status.conditions or []]
    times.append(pod.status.start_time or pod.metadata.creation_timestamp)
    return max(seconds(text) for text in times if text)


def _key(job: Json) -> Key:
    return (job["metadata"]["namespace"], job["metadata"]["name"])
