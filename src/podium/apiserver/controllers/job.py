"""Job: runs pods until enough of them have succeeded, or too many have failed.

A pod carries a finalizer until it is counted, so that a pod that is deleted in between is not run
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.conditions import (
    Condition,
    find_condition,
    is_true,
    set_condition,
)
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
TRACKING = "batch.kubernetes.io/job-tracking"
_INDEX = "batch.kubernetes.io/job-completion-index"
_FIRST_BACKOFF, _LAST_BACKOFF = 10.0, 600.0


@dataclass(slots=True)
class _Snapshot:
    """A job at one moment: its status so far, and the pods that still run."""

    job: Json
    status: Json
    active: list[PodView]
    gives_up: str = ""  # the failure-policy message if a failed pod ends the whole job

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

    @property
    def watches(self) -> Mapping[str, Mapper]:
        return {JOBS: itself, "pods": pods_of("Job")}

    def reconcile(self, key: Key) -> float | None:
        job = self._cluster.find(JOBS, key)
        if job is None:
            return None
        look = _Snapshot(job, dict(job.get("status") or {}), [])
        self._count(look)
        again = None
        if "deletionTimestamp" not in job["metadata"]:
            again = self._after_end(look) if look.is_over else self._work(look)
        self._write(look)
        return again

    def _count(self, look: _Snapshot) -> None:
        """Add finished pods to the status and remove their finalizers; the others are active."""
        status, indexes = look.status, parse_indexes(look.status.get("completedIndexes", ""))
        for pod in self._cluster.pods.owned_by(look.job["metadata"]["uid"]):
            if pod.is_active:
                look.active.append(pod)
                continue
            if not (pod.is_finished or pod.is_deleting):
                continue
            if TRACKING not in (pod.metadata.finalizers or []):
                continue
            if pod.is_deleting and not pod.is_finished and pod.spec.node_name:
                continue  # it may still succeed while it stops
            self._count_one(look, pod, indexes)
        if look.is_indexed and indexes:
            status["completedIndexes"] = format_indexes(indexes)
            status["succeeded"] = len(indexes)

    def _count_one(self, look: _Snapshot, pod: PodView, indexes: set[int]) -> None:
        index = index_of(pod)
        if pod.status.phase == "Succeeded":
            if look.is_indexed and index is not None:
                indexes.add(index)
            else:
                look.status["succeeded"] = look.status.get("succeeded", 0) + 1
        elif not look.is_over:
            self._count_failure(look, pod)
        self._let_go(pod)

    def _count_failure(self, look: _Snapshot, pod: PodView) -> None:
        policy = look.spec.get("podFailurePolicy")
        verdict = judge(self._cluster.store.get("pods", *pod.key), policy) if policy else Verdict()
        if verdict.action == FAIL_JOB:
            look.gives_up = look.gives_up or verdict.message
        if verdict.action == IGNORE:
            return
        look.status["failed"] = look.status.get("failed", 0) + 1
        index, limit = index_of(pod), look.index_limit
        if index is None or limit is None:
            return
        if verdict.action == FAIL_INDEX or failures_of(pod) >= limit:
            look.status["failedIndexes"] = format_indexes({*look.failed_indexes, index})

    def _let_go(self, pod: PodView) -> None:
        obj = self._cluster.store.get("pods", *pod.key)
        finalizers = [one for one in obj["metadata"].get("finalizers") or [] if one != TRACKING]
        obj["metadata"]["finalizers"] = finalizers
        if not finalizers:
            del obj["metadata"]["finalizers"]
        self._cluster.put("pods", obj)

    def _work(self, look: _Snapshot) -> float | None:
        spec, status = look.spec, look.status
        if spec.get("suspend"):
            self._suspend(look)
            return None
        self._resume(look)
        now = self._cluster.clock.now()
        status.setdefault("startTime", self._cluster.now)
        limit = spec.get("activeDeadlineSeconds")
        left = None if limit is None else seconds(status["startTime"]) + limit - now
        if look.gives_up:
            self._fail(look, "PodFailurePolicy", look.gives_up)
        elif status.get("failed", 0) > spec.get("backoffLimit", 6):
            self._fail(look, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        elif left is not None and left <= 0:
            message = "Job was active longer than specified deadline"
            self._fail(look, "DeadlineExceeded", message)
        elif failed := self._failed_indexes(look):
            self._fail(look, *failed)
        elif self._is_complete(look):
            self._complete(look)
        else:
            waits = [wait for wait in (left, self._fill(look)) if wait is not None]
            return min(waits, default=None)
        return self._after_end(look)

    def _failed_indexes(self, look: _Snapshot) -> tuple[str, str] | None:
        """Return the reason and message if failed indexes fail the whole job."""
        failed, most = len(look.failed_indexes), look.spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return "MaxFailedIndexesExceeded", message
        over = look.status.get("succeeded", 0) + failed >= (look.spec.get("completions") or 0)
        return ("FailedIndexes", "Job has failed indexes") if failed and over else None

    def _is_complete(self, look: _Snapshot) -> bool:
        completions = look.spec.get("completions")
        succeeded = look.status.get("succeeded", 0)
        if completions is None:  # a work queue is done after one success when no pod runs any more
            return bool(succeeded and not look.active)
        return bool(succeeded >= completions)

    def _fill(self, look: _Snapshot) -> float | None:
        """Create or delete pods. Return how long to back off after failures, if at all."""
        done = look.status.get("succeeded", 0) + len(look.failed_indexes)
        wanted = wanted_active(look.spec, done, len(look.active))
        if wanted <= len(look.active):
            self._stop(look, len(look.active) - wanted)
            return None
        if wait := self._backoff(look):
            return wait
        missing = wanted - len(look.active)
        for index in self._free_indexes(look, min(missing, BURST)):
            wanted_pod = new_pod(look.job, index)
            if look.index_limit is not None:
                failures = self._failures(look, index)
                wanted_pod["metadata"]["annotations"][FAILURES] = str(failures)
            made = self._cluster.create("pods", wanted_pod)
            look.active.append(msgspec.convert(made, PodView))
            message = f"Created pod: {made['metadata']['name']}"
            self._cluster.record_event(look.job, "SuccessfulCreate", message)
        return 0.0 if missing > BURST else None

    def _backoff(self, look: _Snapshot) -> float | None:
        failures = [
            pod
            for pod in self._cluster.pods.owned_by(look.job["metadata"]["uid"])
            if pod.status.phase == "Failed"
        ]
        if not failures:
            return None
        last = max(_ended(pod) for pod in failures)
        delay = min(_LAST_BACKOFF, _FIRST_BACKOFF * 2 ** min(len(failures) - 1, 10))
        left = last + delay - self._cluster.clock.now()
        return left if left > 0 else None

    def _free_indexes(self, look: _Snapshot, count: int) -> list[int | None]:
        if not look.is_indexed:
            return [None] * count
        taken = parse_indexes(look.status.get("completedIndexes", ""))
        taken |= look.failed_indexes
        taken |= {index for pod in look.active if (index := index_of(pod)) is not None}
        free = (index for index in range(look.spec.get("completions") or 0) if index not in taken)
        return [index for index, _ in zip(free, range(count), strict=False)]

    def _failures(self, look: _Snapshot, index: int | None) -> int:
        """Return how often an index has failed; its last failed pod has the count before it."""
        pods = self._cluster.pods.owned_by(look.job["metadata"]["uid"])
        failed = [one for one in pods if one.status.phase == "Failed" and index_of(one) == index]
        policy = look.spec.get("podFailurePolicy") or {}
        counts = [
            failures_of(one)
            + (judge(self._cluster.store.get("pods", *one.key), policy).action != IGNORE)
            for one in failed
        ]
        return max(counts, default=0)

    def _stop(self, look: _Snapshot, count: int) -> None:
        newest = sorted(look.active, key=lambda pod: pod.metadata.creation_timestamp, reverse=True)
        for pod in newest[:count]:
            self._let_go(pod)  # surplus pods count neither as success nor as failure
            self._cluster.delete("pods", pod.key)
            look.active.remove(pod)
            self._cluster.record_event(look.job, "SuccessfulDelete", f"Deleted pod: {pod.name}")

    def _say(self, look: _Snapshot, said: Condition) -> None:
        stamp = self._cluster.now
        conditions = look.status.get("conditions") or []
        look.status["conditions"] = set_condition(conditions, said, stamp, lastProbeTime=stamp)

    def _suspend(self, look: _Snapshot) -> None:
        self._stop(look, len(look.active))
        look.status.pop("startTime", None)
        self._say(look, Condition("Suspended", "True", "JobSuspended", "Job suspended"))

    def _resume(self, look: _Snapshot) -> None:
        if is_true(look.status.get("conditions") or [], "Suspended"):
            self._say(look, Condition("Suspended", "False", "JobResumed", "Job resumed"))

    def _complete(self, look: _Snapshot) -> None:
        self._stop(look, len(look.active))
        message = "Reached expected number of succeeded pods"
        for type_ in ("SuccessCriteriaMet", "Complete"):
            self._say(look, Condition(type_, "True", "CompletionsReached", message))
        look.status["completionTime"] = self._cluster.now
        self._cluster.record_event(look.job, "Completed", "Job completed")

    def _fail(self, look: _Snapshot, reason: str, message: str) -> None:
        self._stop(look, len(look.active))
        for type_ in ("FailureTarget", "Failed"):
            self._say(look, Condition(type_, "True", reason, message))
        self._cluster.record_event(look.job, reason, message, type_="Warning")

    def _after_end(self, look: _Snapshot) -> float | None:
        """Delete a finished job when its time to live is over."""
        ttl = look.spec.get("ttlSecondsAfterFinished")
        if ttl is None:
            return None
        conditions = look.status.get("conditions") or []
        ended = find_condition(conditions, "Complete") or find_condition(conditions, "Failed") or {}
        left = seconds(ended["lastTransitionTime"]) + ttl - self._cluster.clock.now()
        if left <= 0:
            self._cluster.delete(JOBS, _key(look.job))
        return max(0.0, left) or None

    def _write(self, look: _Snapshot) -> None:
        ready = sum(pod.ready is not None for pod in look.active)
        counts = {"active": len(look.active), "ready": ready, "terminating": 0}
        for name, value in counts.items():
            if value or name != "active":
                look.status[name] = value
            else:
                look.status.pop(name, None)
        look.status["uncountedTerminatedPods"] = {}
        self._cluster.set_status(JOBS, _key(look.job), look.status)


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
    meta["finalizers"] = [*(meta.get("finalizers") or []), TRACKING]
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
