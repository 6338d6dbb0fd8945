"""Gauges follow the queue, the state and the bindings."""

import pytest

from podium import framework as fwk
from podium.framework.calls import Calls
from podium.framework.status import Code
from podium.live.gauges import COUNT_SECONDS, Gauges
from tests import toys
from tests.builders import pod
from tests.live.harness import play
from tests.live.test_scheduler import Filter, Permit


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


@pytest.mark.parametrize(
    ("plugin", "point", "code", "shown"),
    [
        (
            "VolumeBinding", "Filter", Code.ERROR,
            {'volume_scheduling_stage_error_total{operation="predicate"}': 2},
        ),
        (
            "VolumeBinding", "Reserve", Code.ERROR,
            {'volume_scheduling_stage_error_total{operation="assume"}': 2},
        ),
        (
            "VolumeBinding", "PreBind", Code.ERROR,
            {'volume_scheduling_stage_error_total{operation="bind"}': 2},
        ),
        ("VolumeBinding", "PreBind", Code.SUCCESS, {}),
        ("Other", "PreBind", Code.ERROR, {}),
        ("DefaultPreemption", "PostFilter", Code.UNSCHEDULABLE, {"preemption_attempts_total": 2}),
        ("DefaultPreemption", "PostFilter", Code.SUCCESS, {"preemption_attempts_total": 2}),
        ("DefaultPreemption", "PreEnqueue", Code.SUCCESS, {}),
        (
            "NodeName", "PreFilter", Code.SUCCESS,
            {
                f'plugin_evaluation_total{{extension_point="PreFilter",plugin="NodeName",'
                f'profile="{profile}"}}': 1
                for profile in ("one", "other")
            },
        ),
    ],
)  # fmt: skip
def test_calls_of_plugins_are_counted_once(plugin, point, code, shown):
    async def scene(desk):
        gauges = Gauges(desk.metrics, desk.clock, desk.queue, desk.cluster)
        calls = {name: Calls(name) for name in ("one", "other")}
        gauges.follow(desk.tasks, calls)
        for each in calls.values():
            count = each.at(point)[plugin]
            count.answered(0, fwk.Status(code))
            count.evaluations = int(point == "PreFilter")

        watched = ("volume_scheduling", "preemption_attempts", "plugin_evaluation")
        found = {name.removeprefix("scheduler_"): n for name, n in samples(desk.metrics).items()}
        told = {name: n for name, n in found.items() if name.startswith(watched) and n}
        assert told == shown

    play(scene, toys.Bind("Bind"))
