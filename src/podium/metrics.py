"""Every metric of the scheduler, with upstream's names, labels and buckets.

The loop, the queue, the client and the election update them; the server in ``live`` prints them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from threading import Lock

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric

from podium.metric_families import Counter, Declaration, Gauge, Histogram, exponential_buckets

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
PLUGIN_SAMPLE = 0.1
MAX_ATTEMPTS_LABEL = 15

ATTEMPT_BUCKETS = exponential_buckets(0.001, 2, 15)
POINT_BUCKETS = exponential_buckets(0.0001, 2, 12)
PLUGIN_BUCKETS = exponential_buckets(0.00001, 1.5, 20)
SLI_BUCKETS = exponential_buckets(0.01, 2, 20)
HINT_BUCKETS = exponential_buckets(0.00001, 2, 12)
REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)

_ATTEMPTS = Declaration(
    "scheduler_schedule_attempts_total",
    "[STABLE] Number of attempts to schedule pods, by result.",
    ("result", "profile"),
)
_ATTEMPT_SECONDS = Declaration(
    "scheduler_scheduling_attempt_duration_seconds",
    "[STABLE] Duration of a scheduling attempt, including binding, in seconds.",
    ("result", "profile"),
    ATTEMPT_BUCKETS,
)
_ALGORITHM_SECONDS = Declaration(
    "scheduler_scheduling_algorithm_duration_seconds",
    "[ALPHA] Duration of finding a node, including preemption if none fits, in seconds.",
    (),
    ATTEMPT_BUCKETS,
)
_EVENT_SECONDS = Declaration(
    "scheduler_event_handling_duration_seconds",
    "[ALPHA] Duration of handling one event of the cluster, in seconds.",
    ("event",),
    POINT_BUCKETS,
)
_VICTIMS = Declaration(
    "scheduler_preemption_victims",
    "[STABLE] Number of pods that a preemption evicts.",
    (),
    exponential_buckets(1, 2, 7),
)
_PREEMPTION_ATTEMPTS = Declaration(
    "scheduler_preemption_attempts_total",
    "[STABLE] Number of preemption attempts.",
)
_PENDING_PODS = Declaration(
    "scheduler_pending_pods",
    "[STABLE] Number of pending pods, by part of the queue.",
    ("queue",),
)
_SLI_SECONDS = Declaration(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "[BETA] Time from a pod's first entry into the queue until it is bound, in seconds.",
    ("attempts",),
    SLI_BUCKETS,
)
_POD_ATTEMPTS = Declaration(
    "scheduler_pod_scheduling_attempts",
    "[STABLE] Number of attempts until a pod is bound.",
    (),
    exponential_buckets(1, 2, 5),
)
_AFTER_FLUSH = Declaration(
    "scheduler_pod_scheduled_after_flush_total",
    "[ALPHA] Number of bound pods that were retried because of the timeout, not of an event.",
)
_POINT_SECONDS = Declaration(
    "scheduler_framework_extension_point_duration_seconds",
    "[STABLE] Duration of all plugins of an extension point together, in seconds.",
    ("extension_point", "status", "profile"),
    POINT_BUCKETS,
)
_PLUGIN_SECONDS = Declaration(
    "scheduler_plugin_execution_duration_seconds",
    "[ALPHA] Duration of one plugin at an extension point, sampled in 10% of cycles, in seconds.",
    ("plugin", "extension_point", "status"),
    PLUGIN_BUCKETS,
)
_INCOMING_PODS = Declaration(
    "scheduler_queue_incoming_pods_total",
    "[STABLE] Number of pods added to a part of the queue, by event.",
    ("queue", "event"),
)
_GOROUTINES = Declaration(
    "scheduler_goroutines",
    "[BETA] Number of background operations, such as bindings.",
    ("operation",),
)
_PERMIT_SECONDS = Declaration(
    "scheduler_permit_wait_duration_seconds",
    "[BETA] Time that pods wait for Permit plugins, in seconds.",
    ("result",),
    ATTEMPT_BUCKETS,
)
_CACHE_SIZE = Declaration(
    "scheduler_cache_size",
    "[ALPHA] Number of nodes, pods and assumed pods that the scheduler knows.",
    ("type",),
)
_UNSCHEDULABLE_PODS = Declaration(
    "scheduler_unschedulable_pods",
    "[BETA] Number of pending pods by plugin that rejected them; a pod counts for each plugin.",
    ("plugin", "profile"),
)
_EVALUATIONS = Declaration(
    "scheduler_plugin_evaluation_total",
    "[BETA] Number of calls of a plugin at an extension point.",
    ("plugin", "extension_point", "profile"),
)
_BATCH_ATTEMPTS = Declaration(
    "scheduler_batch_attempts_total",
    "[ALPHA] Number of cycles that could reuse the result of an equal pod.",
    ("profile", "result"),
)
_BATCH_FLUSHES = Declaration(
    "scheduler_batch_cache_flushed_total",
    "[ALPHA] Number of times that results kept for equal pods were dropped.",
    ("profile", "reason"),
)
_NODE_HINT_SECONDS = Declaration(
    "scheduler_get_node_hint_duration_seconds",
    "[ALPHA] Duration of looking up results kept for equal pods, in seconds.",
    ("hinted", "profile"),
    HINT_BUCKETS,
)
_STORE_SECONDS = Declaration(
    "scheduler_store_schedule_results_duration_seconds",
    "[ALPHA] Duration of storing a result for equal pods, in seconds.",
    ("profile",),
    HINT_BUCKETS,
)
_VOLUME_ERRORS = Declaration(
    "scheduler_volume_scheduling_stage_error_total",
    "[ALPHA] Number of errors of VolumeBinding, by stage.",
    ("operation",),
)
_VOLUME_CACHE_REQUESTS = Declaration(
    "scheduler_volume_binder_cache_requests_total",
    "[ALPHA] Number of requests to the cache of volume bindings.",
    ("operation",),
)
_HINT_SECONDS = Declaration(
    "scheduler_queueing_hint_execution_duration_seconds",
    "[ALPHA] Duration of a plugin's queueing hint, in seconds.",
    ("plugin", "event", "hint"),
    PLUGIN_BUCKETS,
)
_IN_FLIGHT_EVENTS = Declaration(
    "scheduler_inflight_events",
    "[ALPHA] Number of events kept for pods being scheduled; those pods count as PodPopped.",
    ("event",),
)
_PREEMPTION_SECONDS = Declaration(
    "scheduler_preemption_goroutines_duration_seconds",
    "[ALPHA] Duration of evicting the victims of a preemption, in seconds.",
    ("result",),
    SLI_BUCKETS,
)
_PREEMPTIONS = Declaration(
    "scheduler_preemption_goroutines_execution_total",
    "[ALPHA] Number of preemptions whose victims were evicted in the background.",
    ("result",),
)
_API_CALLS = Declaration(
    "scheduler_async_api_call_execution_total",
    "[ALPHA] Number of calls that the dispatcher has sent, by kind and result.",
    ("call_type", "result"),
)
_API_CALL_SECONDS = Declaration(
    "scheduler_async_api_call_execution_duration_seconds",
    "[ALPHA] Duration of calls of the dispatcher, in seconds.",
    ("call_type", "result"),
    ATTEMPT_BUCKETS,
)
_PENDING_API_CALLS = Declaration(
    "scheduler_pending_async_api_calls",
    "[ALPHA] Number of calls that wait in the dispatcher.",
    ("call_type",),
)
_LEADING = Declaration(
    "leader_election_master_status",
    "[ALPHA] 1 while this process holds the lease, otherwise 0.",
    ("name",),
)
_SLOW_RENEWALS = Declaration(
    "leader_election_slowpath_total",
    "[ALPHA] Number of renewals of the lease that had to read it first.",
    ("name",),
)
_REQUESTS = Declaration(
    "rest_client_requests_total",
    "[ALPHA] Number of requests to the API server, by status code.",
    ("code", "method", "host"),
)
_REQUEST_SECONDS = Declaration(
    "rest_client_request_duration_seconds",
    "[ALPHA] Duration of requests to the API server, in seconds.",
    ("verb", "host"),
    REQUEST_BUCKETS,
)


class Metrics:
    """The metrics of one scheduler; several schedulers in one process have separate metrics.

    The client and the election have their own threads; all other calls come from the event loop.
    """

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._requests_lock = Lock()  # the clients of the loop and of the election share the series
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
        self.api_calls = Counter(_API_CALLS)
        self.api_call_seconds = Histogram(_API_CALL_SECONDS)
        self.pending_api_calls = Gauge(_PENDING_API_CALLS)
        self.leading = Gauge(_LEADING)
        self.slow_renewals = Counter(_SLOW_RENEWALS)

    def observe_attempt(self, profile: str, result: str, seconds: float) -> None:
        """Count an attempt; ``result`` is ``scheduled``, ``unschedulable`` or ``error``."""
        self.schedule_attempts.inc(result, profile)
        self.attempt_seconds.observe(seconds, result, profile)

    def bound(self, attempts: int, seconds_in_queue: float | None, after_flush: bool) -> None:
        """Count a bound pod; ``seconds_in_queue`` is ``None`` if its first entry is unknown."""
        self.pod_attempts.observe(attempts)
        if seconds_in_queue is not None:
            label = str(attempts) if attempts < MAX_ATTEMPTS_LABEL else f"{MAX_ATTEMPTS_LABEL}+"
            self.sli_seconds.observe(seconds_in_queue, label)
        if after_flush:
            self.scheduled_after_flush.inc()

    def preempted(self, victims: int) -> None:
        self.victims.observe(victims)

    def evicted(self, result: str, seconds: float) -> None:
        """Count an eviction of victims that ended; ``result`` is ``success`` or ``error``."""
        self.preemptions.inc(result)
        self.preemption_seconds.observe(seconds, result)

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        self.point_seconds.observe(seconds, point, status, profile)

    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Observe one plugin, only in cycles that ``samples_plugins`` chose."""
        self.plugin_seconds.observe(seconds, plugin, point, status)

    def samples_plugins(self) -> bool:
        """Whether to time single plugins in this cycle: as upstream, in one of ten, at random."""
        return self._chance() < PLUGIN_SAMPLE

    def incoming(self, queue: str, event: str, is_moved: bool) -> None:
        self.incoming_pods.inc(queue, event)

    def hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Observe a queueing hint; ``hint`` is ``Queue``, ``QueueSkip`` or ``Error``."""
        self.hint_seconds.observe(seconds, plugin, event, hint)

    def api_call(self, kind: str, result: str, seconds: float) -> None:
        """Count a call of the dispatcher; ``result`` is ``success`` or ``error``."""
        self.api_calls.inc(kind, result)
        self.api_call_seconds.observe(seconds, kind, result)

    def request(self, host: str, method: str, code: int, seconds: float) -> None:
        """Observe a request; ``code`` is 0 without an answer. Clients call it with their host."""
        with self._requests_lock:
            self.requests.inc(str(code) if code else "<error>", method, host)
            self.request_seconds.observe(seconds, method, host)

    def families(self) -> list[Counter | Gauge | Histogram]:
        return [
            each for each in vars(self).values() if isinstance(each, Counter | Gauge | Histogram)
        ]

    def collect(self) -> Iterator[Metric]:
        """Yield metrics for the registry; as upstream, one without series is left out."""
        for family in self.families():
            printed = family.to_prometheus()
            if printed.samples:
                yield printed

    def text(self) -> bytes:
        """Return all metrics in the format of Prometheus, of content type ``CONTENT_TYPE``."""
        return generate_latest(self.registry)

    def reset(self) -> None:
        """Reset counters and histograms; gauges stay."""
        for family in self.families():
            family.reset()
