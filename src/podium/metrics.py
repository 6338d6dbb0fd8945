"""Every metric of the scheduler: upstream's names, labels and buckets, declared in one place.

The loop, the queue, the client and the election observe them; the server in ``live`` prints them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from threading import Lock

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric

from podium.metric_families import Counter, Declared, Gauge, Histogram, growing

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
PLUGIN_SAMPLE = 0.1
MOST_ATTEMPTS_TOLD_APART = 15

ATTEMPT_BUCKETS = growing(0.001, 2, 15)
POINT_BUCKETS = growing(0.0001, 2, 12)
PLUGIN_BUCKETS = growing(0.00001, 1.5, 20)
SLI_BUCKETS = growing(0.01, 2, 20)
HINT_BUCKETS = growing(0.00001, 2, 12)
REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)

_ATTEMPTS = Declared(
    "scheduler_schedule_attempts_total",
    "[STABLE] Attempts to schedule a pod, by what came of them.",
    ("result", "profile"),
)
_ATTEMPT_SECONDS = Declared(
    "scheduler_scheduling_attempt_duration_seconds",
    "[STABLE] How long an attempt took, with its binding.",
    ("result", "profile"),
    ATTEMPT_BUCKETS,
)
_ALGORITHM_SECONDS = Declared(
    "scheduler_scheduling_algorithm_duration_seconds",
    "[ALPHA] How long finding a node took, and preemption if there was none.",
    (),
    ATTEMPT_BUCKETS,
)
_EVENT_SECONDS = Declared(
    "scheduler_event_handling_duration_seconds",
    "[ALPHA] How long the scheduler took to note something that happened in the cluster.",
    ("event",),
    POINT_BUCKETS,
)
_VICTIMS = Declared(
    "scheduler_preemption_victims",
    "[STABLE] How many pods a preemption evicted.",
    (),
    growing(1, 2, 7),
)
_PREEMPTION_ATTEMPTS = Declared(
    "scheduler_preemption_attempts_total",
    "[STABLE] Attempts to make room by preemption.",
)
_PENDING_PODS = Declared(
    "scheduler_pending_pods",
    "[STABLE] Pods that wait to be scheduled, by where in the queue they are.",
    ("queue",),
)
_SLI_SECONDS = Declared(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "[BETA] From a pod's first entry into the queue until it was bound, over all attempts.",
    ("attempts",),
    SLI_BUCKETS,
)
_POD_ATTEMPTS = Declared(
    "scheduler_pod_scheduling_attempts",
    "[STABLE] How many attempts it took until a pod was bound.",
    (),
    growing(1, 2, 5),
)
_AFTER_FLUSH = Declared(
    "scheduler_pod_scheduled_after_flush_total",
    "[ALPHA] Bound pods that no event had called back, only the timeout.",
)
_POINT_SECONDS = Declared(
    "scheduler_framework_extension_point_duration_seconds",
    "[STABLE] How long all plugins of an extension point took together.",
    ("extension_point", "status", "profile"),
    POINT_BUCKETS,
)
_PLUGIN_SECONDS = Declared(
    "scheduler_plugin_execution_duration_seconds",
    "[ALPHA] How long one plugin took at an extension point, in a tenth of the cycles.",
    ("plugin", "extension_point", "status"),
    PLUGIN_BUCKETS,
)
_INCOMING_PODS = Declared(
    "scheduler_queue_incoming_pods_total",
    "[STABLE] Pods that were put into a part of the queue, by what brought them there.",
    ("queue", "event"),
)
_GOROUTINES = Declared(
    "scheduler_goroutines",
    "[BETA] Work in progress beside the scheduling loop, such as bindings.",
    ("operation",),
)
_PERMIT_SECONDS = Declared(
    "scheduler_permit_wait_duration_seconds",
    "[BETA] How long pods waited for their permit.",
    ("result",),
    ATTEMPT_BUCKETS,
)
_CACHE_SIZE = Declared(
    "scheduler_cache_size",
    "[ALPHA] Nodes, pods and assumed pods that the scheduler knows.",
    ("type",),
)
_UNSCHEDULABLE_PODS = Declared(
    "scheduler_unschedulable_pods",
    "[BETA] Pods that wait because a plugin rejected them; a pod counts for each such plugin.",
    ("plugin", "profile"),
)
_EVALUATIONS = Declared(
    "scheduler_plugin_evaluation_total",
    "[BETA] How often a plugin was asked at an extension point.",
    ("plugin", "extension_point", "profile"),
)
_BATCH_ATTEMPTS = Declared(
    "scheduler_batch_attempts_total",
    "[ALPHA] Cycles that could have started from the node of an equal pod before.",
    ("profile", "result"),
)
_BATCH_FLUSHES = Declared(
    "scheduler_batch_cache_flushed_total",
    "[ALPHA] How often what was kept for equal pods had to be dropped.",
    ("profile", "reason"),
)
_NODE_HINT_SECONDS = Declared(
    "scheduler_get_node_hint_duration_seconds",
    "[ALPHA] How long looking up what is kept for equal pods took.",
    ("hinted", "profile"),
    HINT_BUCKETS,
)
_STORE_SECONDS = Declared(
    "scheduler_store_schedule_results_duration_seconds",
    "[ALPHA] How long keeping a result for equal pods took.",
    ("profile",),
    HINT_BUCKETS,
)
_VOLUME_ERRORS = Declared(
    "scheduler_volume_scheduling_stage_error_total",
    "[ALPHA] Errors of VolumeBinding, by its stage.",
    ("operation",),
)
_VOLUME_CACHE_REQUESTS = Declared(
    "scheduler_volume_binder_cache_requests_total",
    "[ALPHA] Requests to the cache of volume bindings.",
    ("operation",),
)
_HINT_SECONDS = Declared(
    "scheduler_queueing_hint_execution_duration_seconds",
    "[ALPHA] How long a plugin took to tell whether an event may help a pod.",
    ("plugin", "event", "hint"),
    PLUGIN_BUCKETS,
)
_IN_FLIGHT_EVENTS = Declared(
    "scheduler_inflight_events",
    "[ALPHA] Events kept for pods that are being scheduled, and those pods as PodPopped.",
    ("event",),
)
_PREEMPTION_SECONDS = Declared(
    "scheduler_preemption_goroutines_duration_seconds",
    "[ALPHA] How long evicting the victims of a preemption took.",
    ("result",),
    SLI_BUCKETS,
)
_PREEMPTIONS = Declared(
    "scheduler_preemption_goroutines_execution_total",
    "[ALPHA] Preemptions whose victims were evicted in the background.",
    ("result",),
)
_LEADING = Declared(
    "leader_election_master_status",
    "[ALPHA] 1 while this process holds the lease, else 0.",
    ("name",),
)
_SLOW_RENEWALS = Declared(
    "leader_election_slowpath_total",
    "[ALPHA] Renewals of the lease that had to read it first.",
    ("name",),
)
_REQUESTS = Declared(
    "rest_client_requests_total",
    "[ALPHA] Requests to the API server, by status code.",
    ("code", "method", "host"),
)
_REQUEST_SECONDS = Declared(
    "rest_client_request_duration_seconds",
    "[ALPHA] How long the API server took to answer.",
    ("verb", "host"),
    REQUEST_BUCKETS,
)


class Metrics:
    """The metrics of one scheduler; several in one process do not meet.

    The client and the election have threads of their own; all other calls come from the loop.
    """

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._requests_lock = Lock()  # the loop's client and the election's share the series
        self._declare_attempts()
        self._declare_cluster()
        self._declare_clients()
        self.registry = CollectorRegistry()
        self.registry.register(self)
        GCCollector(self.registry)
        ProcessCollector(registry=self.registry)

    def _declare_attempts(self) -> None:
        self.schedule_attempts = Counter(_ATTEMPTS)
        self.attempt_seconds = Histogram(_ATTEMPT_SECONDS)
        self.algorithm_seconds = Histogram(_ALGORITHM_SECONDS)
        self.point_seconds = Histogram(_POINT_SECONDS)
        self.plugin_seconds = Histogram(_PLUGIN_SECONDS)
        self.evaluations = Counter(_EVALUATIONS)
        self.permit_seconds = Histogram(_PERMIT_SECONDS)
        self.sli_seconds = Histogram(_SLI_SECONDS)
        self.pod_attempts = Histogram(_POD_ATTEMPTS)
        self.scheduled_after_flush = Counter(_AFTER_FLUSH)
        self.preemption_attempts = Counter(_PREEMPTION_ATTEMPTS)
        self.victims = Histogram(_VICTIMS)
        self.preemptions = Counter(_PREEMPTIONS)
        self.preemption_seconds = Histogram(_PREEMPTION_SECONDS)
        self.batch_attempts = Counter(_BATCH_ATTEMPTS)
        self.batch_flushes = Counter(_BATCH_FLUSHES)
        self.node_hint_seconds = Histogram(_NODE_HINT_SECONDS)
        self.store_seconds = Histogram(_STORE_SECONDS)
        self.volume_errors = Counter(_VOLUME_ERRORS)
        self.volume_cache_requests = Counter(_VOLUME_CACHE_REQUESTS)

    def _declare_cluster(self) -> None:
        self.event_seconds = Histogram(_EVENT_SECONDS)
        self.hint_seconds = Histogram(_HINT_SECONDS)
        self.incoming_pods = Counter(_INCOMING_PODS)
        self.pending_pods = Gauge(_PENDING_PODS)
        self.unschedulable_pods = Gauge(_UNSCHEDULABLE_PODS)
        self.in_flight_events = Gauge(_IN_FLIGHT_EVENTS)
        self.cache_size = Gauge(_CACHE_SIZE)
        self.goroutines = Gauge(_GOROUTINES)

    def _declare_clients(self) -> None:
        self.requests = Counter(_REQUESTS)
        self.request_seconds = Histogram(_REQUEST_SECONDS)
        self.leading = Gauge(_LEADING)
        self.slow_renewals = Counter(_SLOW_RENEWALS)

    def observe_attempt(self, profile: str, result: str, seconds: float) -> None:
        """``result`` is ``scheduled``, ``unschedulable`` or ``error``."""
        self.schedule_attempts.inc(result, profile)
        self.attempt_seconds.observe(seconds, result, profile)

    def bound(self, attempts: int, seconds_in_queue: float | None, after_flush: bool) -> None:
        """A pod is bound; ``None`` when nothing is known of its first entry into the queue."""
        self.pod_attempts.observe(attempts)
        if seconds_in_queue is not None:
            few = attempts < MOST_ATTEMPTS_TOLD_APART
            label = str(attempts) if few else f"{MOST_ATTEMPTS_TOLD_APART}+"
            self.sli_seconds.observe(seconds_in_queue, label)
        if after_flush:
            self.scheduled_after_flush.inc()

    def preempted(self, victims: int) -> None:
        self.victims.observe(victims)

    def evicted(self, result: str, seconds: float) -> None:
        """The victims of one preemption are gone, or are not: ``success`` or ``error``."""
        self.preemptions.inc(result)
        self.preemption_seconds.observe(seconds, result)

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        self.point_seconds.observe(seconds, point, status, profile)

    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Only in cycles that ``samples_plugins`` chose."""
        self.plugin_seconds.observe(seconds, plugin, point, status)

    def samples_plugins(self) -> bool:
        """Whether to time single plugins in the cycle that begins: in one of ten, as upstream."""
        return self._chance() < PLUGIN_SAMPLE

    def incoming(self, queue: str, event: str) -> None:
        self.incoming_pods.inc(queue, event)

    def hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """``hint`` is ``Queue``, ``QueueSkip`` or ``Error``."""
        self.hint_seconds.observe(seconds, plugin, event, hint)

    def request(self, host: str, method: str, code: int, seconds: float) -> None:
        """An answer of the API server, or none: ``code`` 0. With the host bound to it, this is
        what a client's connection reports to."""
        with self._requests_lock:
            self.requests.inc(str(code) if code else "<error>", method, host)
            self.request_seconds.observe(seconds, method, host)

    def families(self) -> list[Counter | Gauge | Histogram]:
        return [
            each for each in vars(self).values() if isinstance(each, Counter | Gauge | Histogram)
        ]

    def collect(self) -> Iterator[Metric]:
        """What the registry asks for; as upstream, a metric without series is not shown."""
        for family in self.families():
            printed = family.printed()
            if printed.samples:
                yield printed

    def text(self) -> bytes:
        """All metrics as Prometheus reads them, of the content type ``CONTENT_TYPE``."""
        return generate_latest(self.registry)

    def reset(self) -> None:
        """Forget what was counted; gauges stay."""
        for family in self.families():
            family.reset()
