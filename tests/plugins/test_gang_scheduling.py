"""GangScheduling: each of its points on its own."""

import pytest

from podium import framework as fwk
from podium.framework.pod_groups import PlacementProgress
from podium.plugins.gang_scheduling import (
    feasible,
    is_the_group,
    joined_the_gang,
    needs_fewer_pods,
)
from podium.testing.builders import pod
from tests.support.groups import PROFILE, GroupWorld, group, member


def plugin_of(world):
    permits = world.core.profiles[PROFILE].permits
    return next(plugin for plugin in permits if plugin.name == "GangScheduling")


NO_GROUP = 'waiting for pods\'s pod group "gang" to appear in scheduling queue'
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"


@pytest.mark.parametrize(
    ("known", "others", "expected"),
    [
        pytest.param(None, [], NO_GROUP, id="no-group"),
        pytest.param(group(), [], "", id="basic"),
        pytest.param(group(min_count=2), [], TOO_FEW, id="alone"),
        pytest.param(group(min_count=2), [member("b")], "", id="enough"),
        pytest.param(group(min_count=2), [member("b", of="other")], TOO_FEW, id="of-another-group"),
        pytest.param(group(min_count=2), [member("b", node="n")], "", id="one-runs-already"),
        pytest.param(group(min_count=2), [member("b", scheduling_gates=[{"name": "g"}])], "",
                     id="gated-pods-count"),
    ],
)  # fmt: skip
def test_pre_enqueue(known, others, expected):
    world = GroupWorld()
    world.add(*([known] if known else []), member("a"), *others)

    status = plugin_of(world).pre_enqueue(member("a"))

    assert status.message == expected
    assert status.ok is (not expected)


def test_pre_enqueue_of_a_pod_without_a_group():
    assert plugin_of(GroupWorld()).pre_enqueue(pod("a")).ok


@pytest.mark.parametrize(
    ("min_count", "remaining", "scheduled", "code", "message"),
    [
        (3, 3, 0, "Wait", "minCount (3) is not yet satisfied: 0 scheduled, 3 remaining"),
        (3, 1, 1, "Unschedulable", "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"),
        (3, 0, 3, "Success", ""),
        (1, 0, 0, "Unschedulable", "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining"),
    ],
)
def test_placement_feasible(min_count, remaining, scheduled, code, message):
    status = feasible(min_count, PlacementProgress(remaining, scheduled))

    assert (status.code.value, status.message) == (code, message)


def test_permit_waits_until_enough_members_have_a_node():
    world = GroupWorld()
    world.add_nodes("n")
    world.add(group(min_count=2), member("a"), member("b"))
    plugin, row = plugin_of(world), world.cluster.table.row_of("n")
    queued = world.queue.pop_now()
    first, second = queued.members
    state = fwk.CycleState()

    world.cluster.assume(first.info, row)
    waits = plugin.permit(state, first.pod, "n")
    assert (waits.seconds, waits.reason) == (
        300.0,
        "waiting for minCount pods from a gang to be scheduled",
    )
    world.cluster.assume(second.info, row)
    assert plugin.permit(state, second.pod, "n").ok
    assert plugin.permit(state, pod("x"), "n").ok


def test_permit_without_the_group_is_an_error():
    status = plugin_of(GroupWorld()).permit(fwk.CycleState(), member("a"), "n")

    assert status.message == (
        "failed to get podGroup default/gang: "
        "pod group object not found for pod group podgroup/default/gang"
    )


A = member("a")


@pytest.mark.parametrize(
    ("hint", "old", "new", "expected"),
    [
        pytest.param(joined_the_gang, None, member("b"), True, id="joins"),
        pytest.param(joined_the_gang, None, member("b", of="other"), False, id="joins-another"),
        pytest.param(joined_the_gang, None, pod("b"), False, id="no-member"),
        pytest.param(is_the_group, None, group(), True, id="group"),
        pytest.param(is_the_group, None, group("other"), False, id="another-group"),
        pytest.param(is_the_group, None, group(namespace="x"), False, id="same-name-elsewhere"),
        pytest.param(needs_fewer_pods, group(min_count=3), group(min_count=1), True, id="lower"),
        pytest.param(needs_fewer_pods, group(min_count=1), group(min_count=3), False, id="higher"),
        pytest.param(needs_fewer_pods, group(), group(), False, id="basic"),
        pytest.param(
            needs_fewer_pods, group("o", min_count=3), group("o", min_count=1), False, id="other"
        ),
    ],
)
def test_hints(hint, old, new, expected):
    assert hint(A, old, new) is expected
