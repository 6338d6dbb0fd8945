"""Declares every metric of the scheduler, with upstream's names, labels, buckets and stages."""

from __future__ import annotations

from podium.metric_families import Declaration, exponential_buckets
from podium.release import V1_36, V1_37

# Stages of metrics that are not ALPHA in every release.
BETA = {V1_36: "BETA"}
STABLE = {V1_36: "STABLE"}
BETA_SINCE_1_37 = {V1_36: "ALPHA", V1_37: "BETA"}
SINCE_1_37 = {V1_37: "ALPHA"}
UNTIL_1_36 = {V1_36: "ALPHA", V1_37: ""}

ATTEMPT_BUCKETS = exponential_buckets(0.001, 2, 15)
POINT_BUCKETS = exponential_buckets(0.0001, 2, 12)
PLUGIN_BUCKETS = exponential_buckets(0.00001, 1.5, 20)
SLI_BUCKETS = exponential_buckets(0.01, 2, 20)
HINT_BUCKETS = exponential_buckets(0.00001, 2, 12)
REQUEST_BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
INFORMER_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

INFORMER_LABELS = ("name", "group", "version", "resource")

# The parts of the queue that pod groups have; without GenericWorkload they are empty.
POD_GROUP_QUEUES = {V1_36: (), V1_37: ("incomplete", "pending")}

ATTEMPTS = Declaration(
    "scheduler_schedule_attempts_total",
    "Number of attempts to schedule pods, by result.",
    ("result", "profile"),
    stages=STABLE,
)
ATTEMPT_SECONDS = Declaration(
    "scheduler_scheduling_attempt_duration_seconds",
    "Duration of a scheduling attempt, including binding, in seconds.",
    ("result", "profile"),
    ATTEMPT_BUCKETS,
    stages=STABLE,
)
ALGORITHM_SECONDS = Declaration(
    "scheduler_scheduling_algorithm_duration_seconds",
    "Duration of finding a node, including preemption if none fits, in seconds.",
    (),
    ATTEMPT_BUCKETS,
    stages=BETA_SINCE_1_37,
)
GROUP_ATTEMPTS = Declaration(
    "scheduler_podgroup_schedule_attempts_total",
    "Number of attempts to schedule pod groups, by result.",
    ("result", "profile"),
    stages=SINCE_1_37,
)
GROUP_ATTEMPT_SECONDS = Declaration(
    "scheduler_podgroup_scheduling_attempt_duration_seconds",
    "Duration of an attempt to schedule a pod group, without binding, in seconds.",
    ("result", "profile"),
    ATTEMPT_BUCKETS,
    stages=SINCE_1_37,
)
GROUP_ALGORITHM_SECONDS = Declaration(
    "scheduler_podgroup_scheduling_algorithm_duration_seconds",
    "Duration of finding nodes for the members of a pod group, in seconds.",
    (),
    ATTEMPT_BUCKETS,
    stages=SINCE_1_37,
)
GENERATED_PLACEMENTS = Declaration(
    "scheduler_generated_placements_total",
    "Number of placements in which pod groups were to be tried.",
    ("profile",),
    stages=SINCE_1_37,
)
PLACEMENT_EVALUATIONS = Declaration(
    "scheduler_placement_evaluations_total",
    "Number of placements in which a pod group was tried, by whether it fits there.",
    ("result", "profile"),
    stages=SINCE_1_37,
)
PLACEMENT_SECONDS = Declaration(
    "scheduler_placement_evaluation_duration_seconds",
    "Duration of trying a pod group in one placement, in seconds.",
    ("result", "profile"),
    ATTEMPT_BUCKETS,
    stages=SINCE_1_37,
)
GROUP_PREEMPTIONS = Declaration(
    "scheduler_workload_preemption_attempts_total",
    "Number of preemptions tried for pod groups, by result.",
    ("result",),
    stages=SINCE_1_37,
)
GROUP_VICTIMS = Declaration(
    "scheduler_workload_preemption_victims",
    "Number of pods that a preemption for a pod group evicts.",
    (),
    exponential_buckets(1, 2, 11),
    stages=SINCE_1_37,
)
GROUP_DISRUPTIONS = Declaration(
    "scheduler_preemption_workload_disruptions",
    "Number of units of pod groups that a preemption evicts: whole groups, or single pods of one.",
    ("preemptor",),
    exponential_buckets(1, 2, 11),
    stages=SINCE_1_37,
)
EVALUATION_SECONDS = Declaration(
    "scheduler_preemption_evaluation_duration_seconds",
    "Duration of finding the victims of a preemption, in seconds.",
    ("preemptor", "result"),
    exponential_buckets(0.001, 2, 16),
    stages=SINCE_1_37,
)
EXECUTION_SECONDS = Declaration(
    "scheduler_preemption_execution_duration_seconds",
    "Duration of evicting the victims of a preemption, in seconds.",
    ("preemptor", "result"),
    exponential_buckets(0.001, 2, 16),
    stages=SINCE_1_37,
)
BUDGET_VIOLATIONS = Declaration(
    "scheduler_preemption_pdb_violations_total",
    "Number of disruption budgets that preemptions violate.",
    ("preemptor",),
    stages=SINCE_1_37,
)
EVENT_SECONDS = Declaration(
    "scheduler_event_handling_duration_seconds",
    "Duration of handling one event of the cluster, in seconds.",
    ("event",),
    POINT_BUCKETS,
)
VICTIMS = Declaration(
    "scheduler_preemption_victims",
    "Number of pods that a preemption evicts.",
    (),
    exponential_buckets(1, 2, 7),
    stages=STABLE,
)
PREEMPTION_ATTEMPTS = Declaration(
    "scheduler_preemption_attempts_total",
    "Number of preemption attempts.",
    stages=STABLE,
)
PENDING_PODS = Declaration(
    "scheduler_pending_pods",
    "Number of pending pods, by part of the queue.",
    ("queue",),
    stages=STABLE,
)
SLI_SECONDS = Declaration(
    "scheduler_pod_scheduling_sli_duration_seconds",
    "Time from a pod's first entry into the queue until it is bound, in seconds.",
    ("attempts",),
    SLI_BUCKETS,
    stages=BETA,
)
POD_ATTEMPTS = Declaration(
    "scheduler_pod_scheduling_attempts",
    "Number of attempts until a pod is bound.",
    (),
    exponential_buckets(1, 2, 5),
    stages=STABLE,
)
AFTER_FLUSH = Declaration(
    "scheduler_pod_scheduled_after_flush_total",
    "Number of bound pods that were retried because of the timeout, not of an event.",
)
POINT_SECONDS = Declaration(
    "scheduler_framework_extension_point_duration_seconds",
    "Duration of all plugins of an extension point together, in seconds.",
    ("extension_point", "status", "profile"),
    POINT_BUCKETS,
    stages=STABLE,
)
PLUGIN_SECONDS = Declaration(
    "scheduler_plugin_execution_duration_seconds",
    "Duration of one plugin at an extension point, sampled in 10% of cycles, in seconds.",
    ("plugin", "extension_point", "status"),
    PLUGIN_BUCKETS,
    stages=BETA_SINCE_1_37,
)
INCOMING_PODS = Declaration(
    "scheduler_queue_incoming_pods_total",
    "Number of pods added to a part of the queue, by event.",
    ("queue", "event"),
    stages=STABLE,
)
QUEUED_ENTITIES = Declaration(
    "scheduler_queued_entities",
    "Number of pending pods and pod groups, by part of the queue.",
    ("queue", "type"),
    stages=SINCE_1_37,
)
INCOMING_ENTITIES = Declaration(
    "scheduler_queue_incoming_entities_total",
    "Number of pods and pod groups that moved to another part of the queue than hints stand for.",
    ("queue", "event", "type"),
    stages=SINCE_1_37,
)
RESCORE_ATTEMPTS = Declaration(
    "scheduler_batch_rescore_attempts_total",
    "Number of nodes that were scored again for an equal pod.",
    ("profile",),
    stages=SINCE_1_37,
)
RESCORE_SECONDS = Declaration(
    "scheduler_batch_rescore_duration_seconds",
    "Duration of scoring a node again for an equal pod, in seconds.",
    ("profile",),
    HINT_BUCKETS,
    stages=SINCE_1_37,
)
PRE_QUEUEING_HINTS = Declaration(
    "scheduler_pre_queueing_hint_evaluations_total",
    "Number of evaluations of pre-queueing hints, by plugin and result.",
    ("plugin", "result"),
    stages=SINCE_1_37,
)
INFORMER_VERSIONS = Declaration(
    "informer_store_resource_version",
    "The last 15 digits of the resource version up to which a kind is known.",
    INFORMER_LABELS,
    stages=SINCE_1_37,
)
INFORMER_QUEUED = Declaration(
    "informer_queued_items",
    "Number of changes of a kind that are read and not handled yet.",
    INFORMER_LABELS,
    stages=SINCE_1_37,
)
INFORMER_SECONDS = Declaration(
    "informer_processing_latency_seconds",
    "Duration of handling one change of a kind, in seconds.",
    INFORMER_LABELS,
    INFORMER_BUCKETS,
    stages=SINCE_1_37,
)
GOROUTINES = Declaration(
    "scheduler_goroutines",
    "Number of background operations, such as bindings.",
    ("operation",),
    stages=BETA,
)
PERMIT_SECONDS = Declaration(
    "scheduler_permit_wait_duration_seconds",
    "Time that pods wait for Permit plugins, in seconds.",
    ("result",),
    ATTEMPT_BUCKETS,
    stages=BETA,
)
CACHE_SIZE = Declaration(
    "scheduler_cache_size",
    "Number of nodes, pods and assumed pods that the scheduler knows.",
    ("type",),
)
UNSCHEDULABLE_PODS = Declaration(
    "scheduler_unschedulable_pods",
    "Number of pending pods by plugin that rejected them; a pod counts for each plugin.",
    ("plugin", "profile"),
    stages=BETA,
)
EVALUATIONS = Declaration(
    "scheduler_plugin_evaluation_total",
    "Number of calls of a plugin at an extension point.",
    ("plugin", "extension_point", "profile"),
    stages=BETA,
)
BATCH_ATTEMPTS = Declaration(
    "scheduler_batch_attempts_total",
    "Number of cycles that could reuse the result of an equal pod.",
    ("profile", "result"),
)
BATCH_FLUSHES = Declaration(
    "scheduler_batch_cache_flushed_total",
    "Number of times that results kept for equal pods were dropped.",
    ("profile", "reason"),
)
NODE_HINT_SECONDS = Declaration(
    "scheduler_get_node_hint_duration_seconds",
    "Duration of looking up results kept for equal pods, in seconds.",
    ("hinted", "profile"),
    HINT_BUCKETS,
)
STORE_SECONDS = Declaration(
    "scheduler_store_schedule_results_duration_seconds",
    "Duration of storing a result for equal pods, in seconds.",
    ("profile",),
    HINT_BUCKETS,
)
VOLUME_ERRORS = Declaration(
    "scheduler_volume_scheduling_stage_error_total",
    "Number of errors of VolumeBinding, by stage.",
    ("operation",),
)
VOLUME_CACHE_REQUESTS = Declaration(
    "scheduler_volume_binder_cache_requests_total",
    "Number of requests to the cache of volume bindings.",
    ("operation",),
)
HINT_SECONDS = Declaration(
    "scheduler_queueing_hint_execution_duration_seconds",
    "Duration of a plugin's queueing hint, in seconds.",
    ("plugin", "event", "hint"),
    PLUGIN_BUCKETS,
)
IN_FLIGHT_EVENTS = Declaration(
    "scheduler_inflight_events",
    "Number of events kept for pods being scheduled; those pods count as PodPopped.",
    ("event",),
)
PREEMPTION_SECONDS = Declaration(
    "scheduler_preemption_goroutines_duration_seconds",
    "Duration of evicting the victims of a preemption, in seconds.",
    ("result",),
    SLI_BUCKETS,
    deprecated=V1_37,
)
PREEMPTIONS = Declaration(
    "scheduler_preemption_goroutines_execution_total",
    "Number of preemptions whose victims were evicted in the background.",
    ("result",),
)
BINDING_CONDITIONS = Declaration(
    "scheduler_dra_bindingconditions_allocations_total",
    "Number of devices that a pod waited for because they must be prepared, by driver and result.",
    ("profile", "driver", "status"),
)
BINDING_CONDITIONS_SECONDS = Declaration(
    "scheduler_dra_bindingconditions_wait_duration_seconds",
    "Duration of waiting until the devices of a pod are prepared, in seconds.",
    ("profile", "driver", "status"),
    exponential_buckets(0.1, 2, 14),
)
CLAIMS_CREATED_BEFORE_1_37 = Declaration(
    "scheduler_resourceclaim_creates_total",
    "Number of resource claims that were created for extended resources, by result.",
    ("status",),
    stages=UNTIL_1_36,
)
CLAIMS_CREATED = Declaration(
    "dynamic_resource_allocation_resourceclaim_creates_total",
    "Number of resource claims that were created for extended resources, by result and owner.",
    ("status", "admin_access", "owner_api_group", "owner_api_kind"),
    stages=SINCE_1_37,
)
API_CALLS = Declaration(
    "scheduler_async_api_call_execution_total",
    "Number of calls that the dispatcher has sent, by kind and result.",
    ("call_type", "result"),
)
API_CALL_SECONDS = Declaration(
    "scheduler_async_api_call_execution_duration_seconds",
    "Duration of calls of the dispatcher, in seconds.",
    ("call_type", "result"),
    ATTEMPT_BUCKETS,
)
PENDING_API_CALLS = Declaration(
    "scheduler_pending_async_api_calls",
    "Number of calls that wait in the dispatcher.",
    ("call_type",),
)
CONFIG_RELOADS = Declaration(
    "podium_config_reloads_total",
    "Number of changes of the configuration file, by result.",
    ("result",),
)
LEADING = Declaration(
    "leader_election_master_status",
    "1 while this process holds the lease, otherwise 0.",
    ("name",),
)
SLOW_RENEWALS = Declaration(
    "leader_election_slowpath_total",
    "Number of renewals of the lease that had to read it first.",
    ("name",),
)
REQUESTS = Declaration(
    "rest_client_requests_total",
    "Number of requests to the API server, by status code.",
    ("code", "method", "host"),
)
REQUEST_SECONDS = Declaration(
    "rest_client_request_duration_seconds",
    "Duration of requests to the API server, in seconds.",
    ("verb", "host"),
    REQUEST_BUCKETS,
)
HEALTH_CHECK = Declaration(
    "kubernetes_healthcheck",
    "Result of the last run of a health check: 1 if it passed, 0 if not.",
    ("name", "type"),
    stages=STABLE,
)
HEALTH_CHECKS = Declaration(
    "kubernetes_healthchecks_total",
    "Number of runs of a health check, by result.",
    ("name", "status", "type"),
    stages=STABLE,
)
