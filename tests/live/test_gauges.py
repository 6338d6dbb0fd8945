"""Gauges follow the queue, the state and the bindings."""

import pytest

from podium import framework as fwk
from podium.framework.calls import Calls
from podium.framework.status import Code
from podium.live.gauges import COUNT_SECONDS, Gauges
from podium.metrics import Metrics
from podium.release import V1_36, V1_37
from podium.testing.builders import pod
from tests.live.test_scheduler import Filter, Permit
from tests.support import toys
from tests.support.live import play


class Choosy(toys.Unsigned, Filter):
    """Its answer depends on the pod's name, so that nothing is kept of it."""


def samples(metrics):
    lines = metrics.text().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_gauges_say_what_is():
    refused = fwk.Status.unschedulable("no room")
    full = Choosy("Full", lambda subject, _: refused if subject.name == "big" else None)

    async def scene(desk):
        gauges = Gauges(desk.metrics, desk.clock, desk.queue, desk.cluster)
        gauges.follow(desk.tasks, desk.scheduler.calls)
        gauges.start()
        desk.see_nodes("n1")
        desk.see(pod("big"))
        desk.see(pod("held"))
        await desk.settle()
        await desk.wait(COUNT_SECONDS)

        shown = samples(desk.metrics)
        assert shown['scheduler_pending_pods{queue="unschedulable"}'] == 1
        assert shown['scheduler_pending_pods{queue="active"}'] == 0
        assert shown['scheduler_queued_entities{queue="unschedulable",type="pod"}'] == 1
        assert shown['scheduler_queued_entities{queue="gated",type="pod"}'] == 0
        assert shown['scheduler_cache_size{type="assumed_pods"}'] == 1
        assert shown['scheduler_cache_size{type="nodes"}'] == 1
        assert shown['scheduler_goroutines{operation="binding"}'] == 1
        assert shown['scheduler_inflight_events{event="PodPopped"}'] == 1
        rejected = 'scheduler_unschedulable_pods{plugin="Full",profile="default-scheduler"}'
        assert shown[rejected] == 1

        desk.lose(pod("big"))
        desk.services.waiting_pods.get("uid-held").allow("Hold")
        await desk.settle()
        await desk.wait(COUNT_SECONDS)
        gauges.stop()
        shown = samples(desk.metrics)
        assert shown[rejected] == 0
        assert shown['scheduler_inflight_events{event="PodPopped"}'] == 0
        assert shown['scheduler_goroutines{operation="binding"}'] == 0

    play(scene, full, Permit("Hold", fwk.wait(60)), toys.Bind("Bind"))


PARTS = ("active", "backoff", "unschedulable", "gated")


@pytest.mark.parametrize(
    ("release", "queues"),
    [
        pytest.param(V1_36, PARTS, id="1.36"),
        pytest.param(V1_37, (*PARTS, "incomplete", "pending"), id="1.37"),
    ],
)
def test_parts_of_the_queue(release, queues):
    metrics = Metrics(release=release)

    async def scene(desk):
        Gauges(metrics, desk.clock, desk.queue, desk.cluster)

    play(scene)

    assert metrics.pending_pods.series() == {(queue,): 0 for queue in queues}


def shown_of(calls, *starts):
    """The samples that are not 0 of metrics with these names, once Gauges follow these calls."""
    shown = {}

    async def scene(desk):
        Gauges(desk.metrics, desk.clock, desk.queue, desk.cluster).follow(desk.tasks, calls)
        found = samples(desk.metrics).items()
        shown.update({name: n for name, n in found if name.startswith(starts) and n})

    play(scene, toys.Bind("Bind"))
    return shown


PREEMPTIONS = "scheduler_preemption_attempts_total"
VOLUMES = "scheduler_volume_scheduling_stage_error_total"
EVALUATIONS = "scheduler_plugin_evaluation_total"


@pytest.mark.parametrize(
    ("plugin", "point", "code", "shown"),
    [
        ("VolumeBinding", "Filter", Code.ERROR, {VOLUMES + '{operation="predicate"}': 2}),
        ("VolumeBinding", "Reserve", Code.ERROR, {VOLUMES + '{operation="assume"}': 2}),
        ("VolumeBinding", "PreBind", Code.ERROR, {VOLUMES + '{operation="bind"}': 2}),
        ("VolumeBinding", "PreBind", Code.SUCCESS, {}),
        ("Other", "PreBind", Code.ERROR, {}),
        ("DefaultPreemption", "PostFilter", Code.UNSCHEDULABLE, {PREEMPTIONS: 2}),
        ("DefaultPreemption", "PostFilter", Code.SUCCESS, {PREEMPTIONS: 2}),
        ("DefaultPreemption", "PreEnqueue", Code.SUCCESS, {}),
    ],
)
def test_calls_of_plugins_are_counted_over_all_profiles(plugin, point, code, shown):
    calls = {name: Calls(name) for name in ("one", "other")}
    for each in calls.values():
        each.at(point)[plugin].answered(0, fwk.Status(code))

    assert shown_of(calls, PREEMPTIONS, VOLUMES) == shown


def test_evaluations_are_counted_by_profile():
    calls = {name: Calls(name) for name in ("one", "other")}
    calls["one"].at("Filter")["NodeName"].note(0, 7)
    calls["other"].at("Filter")["NodeName"].note(0, 1)
    calls["other"].at("Bind")["NodeName"].note(0, 1)

    labels = 'extension_point="Filter",plugin="NodeName"'
    assert shown_of(calls, EVALUATIONS) == {
        f'{EVALUATIONS}{{{labels},profile="one"}}': 7,
        f'{EVALUATIONS}{{{labels},profile="other"}}': 1,
    }
