"""A day in which every metric has something to tell, and what a scrape then shows."""

import pytest

from podium import framework as fwk
from tests.scenarios.test_api_answers import CLAIMED, STANDARD, claim
from tests.scenarios.test_requeueing import setting
from tests.support.faulty_proxy import answering
from tests.support.scenarios import ClusterBehindProxy, node, play, pod, scrape

HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 10,
}
PROFILE = {"profile": "default-scheduler"}


class Whims(fwk.FilterPlugin, fwk.PermitPlugin, fwk.EnqueueExtensions):
    """Holds ``held`` in Permit, and refuses ``moody`` for a while; no event would help."""

    name = "Whims"

    def __init__(self, args, handle):
        self._clock = handle.clock
        self._start = handle.clock.now()

    def filter(self, state, subject, candidate):
        if subject.name == "moody" and self._clock.now() < self._start + 200:
            return fwk.Status.unschedulable("not now")
        return None

    def permit(self, state, subject, node_name):
        return fwk.wait(5) if subject.name == "held" else None

    def events_to_register(self):
        return []


async def day(cluster):
    await cluster.create(node("n1", cpu="2"), node("n2", cpu="2"), HIGH, STANDARD, claim())
    await cluster.create(pod("gated", schedulingGates=[{"name": "later"}]), pod("held"))
    await cluster.create(pod("first", cpu="2"), pod("second", cpu="2"))
    await cluster.wait(6)
    await cluster.create(pod("vip", cpu="2", priorityClassName="high"))
    await cluster.wait(40)
    await cluster.create(pod("huge", cpu="64"), pod("moody"), pod("far", nodeSelector={"x": "y"}))
    await cluster.wait(15)
    await cluster.update("nodes", "n1", setting("metadata", "labels", "x", to="z"))
    cluster.proxy.instead("/persistentvolumeclaims/data", answering(500, "etcd is away"))
    await cluster.create(pod("stateful", volumes=[CLAIMED]))
    await cluster.wait(400)
    await cluster.delete("pods", "huge")
    await cluster.delete("nodes", "n2")
    await cluster.settle()


@pytest.fixture(scope="module")
def shown():
    """``shown(name, **labels)``: the sum of the samples that have these labels, at the end."""
    found = []

    async def scene(cluster):
        await day(cluster)
        await cluster.wait(10)  # until what is summed up now and then has been
        found.append(scrape(cluster))
        assert cluster.node_of("moody")
        assert cluster.node_of("vip")
        assert cluster.node_of("stateful")

    play(scene, Whims, cluster=ClusterBehindProxy)
    return found[0]


def counted(name, **labels):
    return name, labels


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        counted("scheduler_schedule_attempts_total", result="scheduled", **PROFILE),
        counted("scheduler_schedule_attempts_total", result="unschedulable", **PROFILE),
        counted("scheduler_schedule_attempts_total", result="error", **PROFILE),
        counted("scheduler_scheduling_attempt_duration_seconds_count", result="scheduled"),
        counted("scheduler_scheduling_attempt_duration_seconds_count", result="unschedulable"),
        counted("scheduler_scheduling_attempt_duration_seconds_count", result="error"),
        counted("scheduler_scheduling_algorithm_duration_seconds_count"),
        counted("scheduler_event_handling_duration_seconds_count", event="NodeAdd"),
        counted("scheduler_event_handling_duration_seconds_count", event="NodeUpdateNodeTaint"),
        counted("scheduler_event_handling_duration_seconds_count", event="NodeDelete"),
        counted("scheduler_event_handling_duration_seconds_count", event="UnscheduledPodAdd"),
        counted("scheduler_event_handling_duration_seconds_count", event="UnscheduledPodUpdate"),
        counted("scheduler_event_handling_duration_seconds_count", event="UnscheduledPodDelete"),
        counted("scheduler_event_handling_duration_seconds_count", event="AssignedPodAdd"),
        counted("scheduler_event_handling_duration_seconds_count", event="AssignedPodUpdate"),
        counted("scheduler_event_handling_duration_seconds_count", event="AssignedPodDelete"),
        counted("scheduler_event_handling_duration_seconds_count",
                event="PersistentVolumeClaimUpdate"),
        counted("scheduler_event_handling_duration_seconds_count",
                event="storage.k8s.io/StorageClassAdd"),
        counted("scheduler_preemption_attempts_total"),
        counted("scheduler_preemption_victims_sum"),
        counted("scheduler_pending_pods", queue="gated"),
        counted("scheduler_pod_scheduling_sli_duration_seconds_count", attempts="1"),
        counted("scheduler_pod_scheduling_sli_duration_seconds_count", attempts="2"),
        counted("scheduler_pod_scheduling_attempts_count"),
        counted("scheduler_pod_scheduled_after_flush_total"),
        *(
            counted("scheduler_framework_extension_point_duration_seconds_count",
                    extension_point=point, status=status, **PROFILE)
            for point, status in [
                ("PreEnqueue", "Success"), ("PreFilter", "Success"), ("Filter", "Success"),
                ("PostFilter", "Unschedulable"), ("PostFilter", "Success"),
                ("PreScore", "Success"), ("Score", "Success"), ("Reserve", "Success"),
                ("Permit", "Success"), ("Permit", "Wait"), ("PreBind", "Error"),
                ("PreBind", "Success"), ("Bind", "Success"), ("Unreserve", "Success"),
            ]
        ),
        counted("scheduler_queue_incoming_pods_total", queue="active",
                event="UnscheduledPodAdd"),
        counted("scheduler_queue_incoming_pods_total", queue="unschedulable",
                event="ScheduleAttemptFailure"),
        counted("scheduler_queue_incoming_pods_total", queue="backoff",
                event="ScheduleAttemptFailure"),
        counted("scheduler_queue_incoming_pods_total", event="UnschedulableTimeout"),
        counted("scheduler_permit_wait_duration_seconds_count", result="Unschedulable"),
        counted("scheduler_cache_size", type="pods"),
        counted("scheduler_cache_size", type="nodes"),
        counted("scheduler_unschedulable_pods", plugin="SchedulingGates", **PROFILE),
        *(
            counted("scheduler_plugin_evaluation_total", extension_point=point, **PROFILE)
            for point in ("PreFilter", "Filter", "PreScore", "Score")
        ),
        counted("scheduler_volume_scheduling_stage_error_total", operation="bind"),
        counted("scheduler_queueing_hint_execution_duration_seconds_count", hint="Queue"),
        counted("scheduler_queueing_hint_execution_duration_seconds_count", hint="QueueSkip"),
        counted("scheduler_preemption_goroutines_execution_total", result="success"),
        counted("scheduler_queue_incoming_entities_total", queue="active",
                event="UnscheduledPodAdd", type="pod"),
        counted("scheduler_queue_incoming_entities_total", queue="active",
                event="BackoffComplete", type="pod"),
        counted("scheduler_queued_entities", queue="gated", type="pod"),
        *(
            counted(f"informer_{what}", resource=resource)
            for what in ("store_resource_version", "processing_latency_seconds_count")
            for resource in ("pods", "nodes", "storageclasss")
        ),
    ],
)  # fmt: skip
def test_it_is_fed(shown, name, labels):
    assert shown(name, **labels), f"{name}{labels} has nothing to tell"


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("scheduler_goroutines", {"operation": "binding"}, 0),
        ("scheduler_cache_size", {"type": "assumed_pods"}, 0),
        ("scheduler_cache_size", {"type": "nodes"}, 1),
        ("scheduler_inflight_events", {"event": "PodPopped"}, 0),
        ("scheduler_pending_pods", {"queue": "active"}, 0),
        ("scheduler_pending_pods", {"queue": "incomplete"}, 0),
        ("scheduler_queued_entities", {"queue": "backoff"}, 0),
        ("informer_queued_items", {"resource": "pods"}, 0),
        ("scheduler_preemption_goroutines_duration_seconds_count", {}, None),
        ("scheduler_preemption_victims_sum", {}, 1),
        ("scheduler_preemption_victims_count", {}, 1),
        ("scheduler_volume_scheduling_stage_error_total", {"operation": "bind"}, 1),
        ("scheduler_volume_binder_cache_requests_total", {}, None),
        ("scheduler_batch_attempts_total", {}, None),
    ],
)
def test_it_says_what_is(shown, name, labels, value):
    assert shown(name, **labels) == value
