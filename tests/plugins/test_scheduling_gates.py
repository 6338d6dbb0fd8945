import pytest

from podium import framework as fwk
from podium.plugins.scheduling_gates import SchedulingGates
from podium.testing.builders import pod

PLUGIN = SchedulingGates(fwk.NoArgs(), None)


def gated(*names):
    return pod(scheduling_gates=[{"name": name} for name in names])


def test_pod_without_gates_may_be_queued():
    assert PLUGIN.pre_enqueue(pod()) == fwk.SUCCESS


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        pytest.param(["quota"], "waiting for scheduling gates: [quota]", id="one"),
        pytest.param(
            ["z.io/b", "a"], "waiting for scheduling gates: [z.io/b a]", id="in-the-order-given"
        ),
    ],
)
def test_gates_hold_the_pod_back(names, reason):
    assert PLUGIN.pre_enqueue(gated(*names)) == fwk.Status.unresolvable(reason)


def test_only_the_pod_itself_is_woken_by_its_last_gate():
    (registration,) = PLUGIN.events_to_register()
    waiting, other = pod("waiting"), pod("other")

    assert registration.event == fwk.on("TargetPod", "gates-eliminated").event
    assert registration.hint(waiting, waiting, waiting)
    assert not registration.hint(waiting, other, other)
