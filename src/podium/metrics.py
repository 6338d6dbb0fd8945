"""The metrics of a scheduler in one release; ``metric_declarations.py`` declares them.

The loop, the queue, the client and the election update them; the server in ``live`` prints them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from threading import Lock

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric

from podium import metric_declarations as declared
from podium.metric_families import Counter, Gauge, Histogram, Labels
from podium.release import LATEST, Release

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
PLUGIN_SAMPLE = 0.1
MAX_ATTEMPTS_LABEL = 15
POD = "pod"  # the types of entities in the queue
POD_GROUP = "podgroup"
FAMILIES = (Counter, Gauge, Histogram)


class GroupMetrics:
    """The metrics of pod groups, which are shown with the feature gate GenericWorkload only."""

    def __init__(self, release: Release) -> None:
        self.attempts = Counter(declared.GROUP_ATTEMPTS, release)
        self.attempt_seconds = Histogram(declared.GROUP_ATTEMPT_SECONDS, release)
        self.algorithm_seconds = Histogram(declared.GROUP_ALGORITHM_SECONDS, release)

        self.preemptions = Counter(declared.GROUP_PREEMPTIONS, release)
        self.victims = Histogram(declared.GROUP_VICTIMS, release)
        self.disruptions = Histogram(declared.GROUP_DISRUPTIONS, release)
        self.evaluation_seconds = Histogram(declared.EVALUATION_SECONDS, release)
        self.execution_seconds = Histogram(declared.EXECUTION_SECONDS, release)
        self.violations = Counter(declared.BUDGET_VIOLATIONS, release)

    def observe_attempt(self, profile: str, result: str, seconds: float) -> None:
        """Count an attempt; ``result`` may also be ``waiting_on_preemption``."""
        self.attempts.inc(result, profile)
        self.attempt_seconds.observe(seconds, result, profile)


class PlacementMetrics(GroupMetrics):
    """The metrics of pod groups with TopologyAwareWorkloadScheduling."""

    def __init__(self, release: Release) -> None:
        super().__init__(release)
        self.generated = Counter(declared.GENERATED_PLACEMENTS, release)
        self.evaluations = Counter(declared.PLACEMENT_EVALUATIONS, release)
        self.placement_seconds = Histogram(declared.PLACEMENT_SECONDS, release)

    def evaluated(self, profile: str, fits: bool, seconds: float) -> None:
        """Count that a group was tried in a placement."""
        result = "feasible" if fits else "infeasible"
        self.evaluations.inc(result, profile)
        self.placement_seconds.observe(seconds, result, profile)


class Metrics:
    """The metrics of one scheduler; several schedulers in one process have separate metrics.

    The client and the election have their own threads; all other calls come from the event loop.
    A metric that the release does not have is counted, and not shown.
    """

    def __init__(
        self,
        chance: Callable[[], float] = random.random,
        *,
        release: Release = LATEST,
        shows_hidden: bool = False,
    ) -> None:
        self._chance = chance
        self.release = release
        self._shows_hidden = shows_hidden
        self._requests_lock = Lock()  # the clients of the loop and of the election share the series
        self._declare_attempts(release)
        self._declare_cluster(release)
        self._declare_clients(release)
        self.groups: GroupMetrics | None = None
        self.registry = CollectorRegistry()
        self.registry.register(self)
        GCCollector(self.registry)
        ProcessCollector(registry=self.registry)

    def _declare_attempts(self, release: Release) -> None:
        self.schedule_attempts = Counter(declared.ATTEMPTS, release)
        self.attempt_seconds = Histogram(declared.ATTEMPT_SECONDS, release)
        self.algorithm_seconds = Histogram(declared.ALGORITHM_SECONDS, release)
        self.point_seconds = Histogram(declared.POINT_SECONDS, release)
        self.plugin_seconds = Histogram(declared.PLUGIN_SECONDS, release)
        self.evaluations = Counter(declared.EVALUATIONS, release)
        self.permit_seconds = Histogram(declared.PERMIT_SECONDS, release)
        self.sli_seconds = Histogram(declared.SLI_SECONDS, release)
        self.pod_attempts = Histogram(declared.POD_ATTEMPTS, release)
        self.scheduled_after_flush = Counter(declared.AFTER_FLUSH, release)
        self.preemption_attempts = Counter(declared.PREEMPTION_ATTEMPTS, release)
        self.victims = Histogram(declared.VICTIMS, release)
        self.preemptions = Counter(declared.PREEMPTIONS, release)
        self.preemption_seconds = Histogram(declared.PREEMPTION_SECONDS, release)
        self.binding_conditions = Counter(declared.BINDING_CONDITIONS, release)
        self.binding_conditions_seconds = Histogram(declared.BINDING_CONDITIONS_SECONDS, release)
        self.claims_created_until_1_36 = Counter(declared.CLAIMS_CREATED_BEFORE_1_37, release)
        self.claims_created = Counter(declared.CLAIMS_CREATED, release)
        self.batch_attempts = Counter(declared.BATCH_ATTEMPTS, release)
        self.batch_flushes = Counter(declared.BATCH_FLUSHES, release)
        self.node_hint_seconds = Histogram(declared.NODE_HINT_SECONDS, release)
        self.store_seconds = Histogram(declared.STORE_SECONDS, release)
        self.volume_errors = Counter(declared.VOLUME_ERRORS, release)
        self.volume_cache_requests = Counter(declared.VOLUME_CACHE_REQUESTS, release)
        self.rescore_attempts = Counter(declared.RESCORE_ATTEMPTS, release)
        self.rescore_seconds = Histogram(declared.RESCORE_SECONDS, release)

    def _declare_cluster(self, release: Release) -> None:
        self.event_seconds = Histogram(declared.EVENT_SECONDS, release)
        self.hint_seconds = Histogram(declared.HINT_SECONDS, release)
        self.incoming_pods = Counter(declared.INCOMING_PODS, release)
        self.incoming_entities = Counter(declared.INCOMING_ENTITIES, release)
        self._as_hinted: dict[Labels, float] = {}
        self._groups_entered: dict[Labels, float] = {}
        self.incoming_entities.read_from(self._entities)
        self.pre_queueing_hints = Counter(declared.PRE_QUEUEING_HINTS, release)
        self.pending_pods = Gauge(declared.PENDING_PODS, release)
        self.queued_entities = Gauge(declared.QUEUED_ENTITIES, release)
        self.unschedulable_pods = Gauge(declared.UNSCHEDULABLE_PODS, release)
        self.in_flight_events = Gauge(declared.IN_FLIGHT_EVENTS, release)
        self.cache_size = Gauge(declared.CACHE_SIZE, release)
        self.goroutines = Gauge(declared.GOROUTINES, release)

    def _declare_clients(self, release: Release) -> None:
        self.informer_versions = Gauge(declared.INFORMER_VERSIONS, release)
        self.informer_queued = Gauge(declared.INFORMER_QUEUED, release)
        self.informer_seconds = Histogram(declared.INFORMER_SECONDS, release)
        self.requests = Counter(declared.REQUESTS, release)
        self.request_seconds = Histogram(declared.REQUEST_SECONDS, release)
        self.api_calls = Counter(declared.API_CALLS, release)
        self.api_call_seconds = Histogram(declared.API_CALL_SECONDS, release)
        self.pending_api_calls = Gauge(declared.PENDING_API_CALLS, release)
        self.config_reloads = Counter(declared.CONFIG_RELOADS, release)
        self.leading = Gauge(declared.LEADING, release)
        self.slow_renewals = Counter(declared.SLOW_RENEWALS, release)

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

    def preemption_executed(self, preemptor: str, result: str, seconds: float) -> None:
        if self.groups is not None:
            self.groups.execution_seconds.observe(seconds, preemptor, result)

    def preemption_evaluated(self, preemptor: str, result: str, seconds: float) -> None:
        if self.groups is not None:
            self.groups.evaluation_seconds.observe(seconds, preemptor, result)

    def workload_preemption(self, result: str) -> None:
        if self.groups is not None:
            self.groups.preemptions.inc(result)

    def workload_victims(self, preemptor: str, pods: int, groups: int, violations: int) -> None:
        if self.groups is None:
            return
        if preemptor == POD_GROUP:
            self.groups.victims.observe(pods)
        if groups:
            self.groups.disruptions.observe(groups, preemptor)
        if violations:
            self.groups.violations.inc(preemptor, by=violations)

    def device_wait_ended(self, profile: str, driver: str, status: str) -> None:
        self.binding_conditions.inc(profile, driver, status)

    def waited_for_devices(self, profile: str, driver: str, status: str, seconds: float) -> None:
        self.binding_conditions_seconds.observe(seconds, profile, driver, status)

    def claim_created(self, status: str) -> None:
        self.claims_created_until_1_36.inc(status)
        self.claims_created.inc(status, "false", "", "Pod")

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        self.point_seconds.observe(seconds, point, status, profile)

    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Observe one plugin, only in cycles that ``samples_plugins`` chose."""
        self.plugin_seconds.observe(seconds, plugin, point, status)

    def samples_plugins(self) -> bool:
        """Whether to time single plugins in this cycle: as upstream, in one of ten, at random."""
        return self._chance() < PLUGIN_SAMPLE

    def incoming(self, queue: str, event: str) -> None:
        self.incoming_pods.inc(queue, event)

    def group_entered(self, queue: str, event: str, members: int) -> None:
        """Count the members of a group as pods, and the group as an entity."""
        labels = queue, event
        self.incoming_pods.inc(*labels, by=members)
        self._as_hinted[labels] = self._as_hinted.get(labels, 0) + members
        self._groups_entered[labels] = self._groups_entered.get(labels, 0) + 1

    def group_as_hinted(self, queue: str, event: str) -> None:
        """Do not count the group that just entered a queue as an entity."""
        self._groups_entered[queue, event] -= 1

    def as_hinted(self, queue: str, event: str) -> None:
        """Do not count the pod that just entered a queue as an entity."""
        self._as_hinted[queue, event] = self._as_hinted.get((queue, event), 0) + 1

    def _entities(self) -> dict[Labels, float]:
        """Count the pods that entered a queue in another way than hinted.

        Most pods do, so only the others are counted when they enter.
        """
        hinted = self._as_hinted.copy()
        entered = self.incoming_pods.series().items()
        moved = {(*labels, POD): n - hinted.get(labels, 0) for labels, n in entered}
        groups = {(*labels, POD_GROUP): n for labels, n in self._groups_entered.copy().items()}
        return {labels: n for labels, n in (moved | groups).items() if n}

    def hints(self, plugin: str, event: str, hint: str, count: int, seconds: float) -> None:
        """Observe so many queueing hints; ``hint`` is ``Queue``, ``QueueSkip`` or ``Error``."""
        self.hint_seconds.observe(seconds, plugin, event, hint, count=count)

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
        """Return the metrics that are shown."""
        of_groups = () if self.groups is None else vars(self.groups).values()
        every = (*vars(self).values(), *of_groups)
        found = (each for each in every if isinstance(each, FAMILIES))
        return [each for each in found if self.has(each)]

    def has(self, family: Counter | Gauge | Histogram) -> bool:
        """Return whether the metric is shown in the release."""
        metric = family.declared
        is_hidden = metric.is_hidden_in(self.release) and not self._shows_hidden
        return bool(metric.stage_in(self.release)) and not is_hidden

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
        self._as_hinted = {}
        self._groups_entered = {}
        for family in self.families():
            family.reset()
