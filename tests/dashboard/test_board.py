"""Pending pods by reason."""

import msgspec
import pytest

from podium.api.meta import Condition as PodCondition
from podium.dashboard.board import MOST_SHOWN, Waiting, board, meanings_of, reasons
from podium.framework.queued_pod import QueuedPod
from podium.queue.inspection import Place
from podium.testing.builders import pod

FIT = frozenset({"NodeResourcesFit"})
QUOTA = (
    "0/2 nodes are available: Pod team/{} is rejected in PreFilter because ElasticQuota team is "
    "more than Max. 0/2 nodes are available: 1 No victims found on node node-0, 1 No victims found "
    "on node node-1."
)


@pytest.mark.parametrize(
    ("message", "plugins", "codes"),
    [
        pytest.param("0/3 nodes are available: 3 Insufficient cpu.", FIT,
                     ["InsufficientResource"], id="one-reason"),
        pytest.param("0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.", FIT,
                     ["InsufficientResource", "TooManyPods"], id="most-nodes-first"),
        pytest.param("0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 Too "
                     "many pods.", FIT, ["InsufficientResource", "TooManyPods"],
                     id="reasons-of-one-code-add-up"),
        pytest.param("0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient "
                     "cpu. preemption: 0/5 nodes are available: 5 Preemption is not helpful.",
                     FIT | {"TaintToleration"}, ["InsufficientResource", "UntoleratedTaint"],
                     id="what-preemption-says-does-not-count"),
        pytest.param("0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 cannot "
                     "allocate all claims.", frozenset({"DynamicResources", "TaintToleration"}),
                     ["DevicesUnavailable", "UntoleratedTaint"], id="each-of-its-own-plugin"),
        pytest.param(QUOTA.format("q0"), frozenset({"CapacityScheduling"}), ["Refused"],
                     id="quota"),
        pytest.param("no nodes available to schedule pods", frozenset(), ["NoNodes"],
                     id="no-nodes"),
        pytest.param("0/1 nodes are available: 1 rack is full.", frozenset({"Rack"}), ["Refused"],
                     id="plugin-from-outside"),
        pytest.param("", frozenset({"Rack"}), ["Refused"], id="no-message-yet"),
        pytest.param("x" * 5000, frozenset(), ["Refused"], id="unknown-text"),
    ],
)  # fmt: skip
def test_codes_of_a_message(message, plugins, codes):
    assert [each.code for each in meanings_of(message, plugins)] == codes


def test_pods_over_one_quota_wait_for_one_reason():
    """The name of a pod is not part of its reason, and has no count of nodes in it."""
    plugins = frozenset({"CapacityScheduling"})
    (first,) = meanings_of(QUOTA.format("q0"), plugins)

    assert first.text == (
        "is refused by CapacityScheduling: "
        "is rejected in PreFilter because ElasticQuota team is more than Max"
    )
    assert meanings_of(QUOTA.format("q1"), plugins) == (first,)


def waiting(name, message="", plugins=FIT, gate="", place=None, **options):
    made = pod(name, **options)
    if message:
        said = PodCondition(type="PodScheduled", status="False", message=message)
        made = msgspec.structs.replace(
            made, status=msgspec.structs.replace(made.status, conditions=(said,))
        )
    queued = QueuedPod.of(made, timestamp=100.0)
    queued.unschedulable_plugins, queued.gating_plugin = frozenset(plugins), gate
    return Waiting(queued, place or Place("gated" if gate else "unschedulable", gate))


def test_groups_are_ordered_by_how_many_pods_they_have():
    few = "0/3 nodes are available: 3 Too many pods."
    many = "0/3 nodes are available: 3 Insufficient cpu."
    found = board(
        [
            waiting("a", few),
            *(waiting(f"b{n}", many) for n in range(3)),
            waiting("held", plugins=("SchedulingGates",), gate="SchedulingGates"),
            waiting("new", plugins=()),
        ]
    )

    assert found.total == 6
    assert [(each.code, each.count) for each in found.groups] == [
        ("InsufficientResource", 3),
        ("NotTriedYet", 1),
        ("SchedulingGated", 1),
        ("TooManyPods", 1),
    ]
    assert found.groups[0].message == many
    assert found.groups[0].plugin == "NodeResourcesFit"


@pytest.mark.parametrize(
    ("place", "code"),
    [
        pytest.param(Place("incomplete"), "PodGroupNotFound", id="without-its-group"),
        pytest.param(Place("gated", "GangScheduling"), "PodGroupIncomplete", id="too-few-members"),
        pytest.param(Place("gated", "SchedulingGates"), "SchedulingGated", id="another-is-gated"),
        pytest.param(Place("backoff"), "NotTriedYet", id="not-tried"),
    ],
)
def test_a_member_of_a_group_waits_for_what_its_group_waits_for(place, code):
    found = board([waiting("member", plugins=(), place=place)])

    assert [(each.code, each.pods[0].queue) for each in found.groups] == [(code, place.queue)]


@pytest.mark.parametrize(
    ("plugin", "code", "text"),
    [
        pytest.param("DefaultPreemption", "WaitingForVictims", "make room for it", id="victims"),
        pytest.param(
            "DynamicResources", "Refused", "is held back by DynamicResources", id="claims"
        ),
        pytest.param("Quota", "Refused", "is held back by Quota and not tried", id="from-outside"),
    ],
)
def test_a_gate_says_nothing_about_nodes(plugin, code, text):
    (group,) = board([waiting("held", plugins=(plugin,), gate=plugin)]).groups

    assert (group.code, group.plugin, group.about) == (code, plugin, "pod")
    assert text in group.text


def test_a_member_that_was_not_tried_waits_for_what_its_group_failed_for():
    message = "minCount (3) cannot be satisfied: 0 scheduled, 2 remaining"
    group = {"podGroupName": "training"}
    found = board([waiting("member", message, plugins=(), scheduling_group=group)])

    assert [each.code for each in found.groups] == ["PodGroupUnschedulable"]


@pytest.mark.parametrize(
    ("message", "about"),
    [
        pytest.param("0/3 nodes are available: 3 Insufficient cpu.", "node", id="nodes"),
        pytest.param("0/3 nodes are available: 3 node(s) unavailable due to one or more pvc(s) "
                     "bound to non-existent pv(s).", "pod", id="its-claims-on-all-nodes"),
        pytest.param("", "pod", id="not-tried"),
    ],
)  # fmt: skip
def test_a_group_says_what_its_text_is_about(message, about):
    plugins = {"NodeResourcesFit", "VolumeBinding"} if message else ()
    (group,) = board([waiting("a", message, plugins)]).groups

    assert group.about == about


def test_a_reason_of_no_known_plugin_names_none():
    (meaning,) = meanings_of("something else", frozenset())

    assert (meaning.plugin, meaning.text) == ("", "is refused by a plugin: something else")


def test_pods_with_further_reasons_are_a_group_of_their_own():
    """The advice for one of a group must hold for the others."""
    both = "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."
    one = "0/3 nodes are available: 3 Insufficient cpu."
    found = board([waiting("a", both), waiting("b", one), waiting("c", both)])

    assert [(each.code, each.also, each.count) for each in found.groups] == [
        ("InsufficientResource", ("TooManyPods",), 2),
        ("InsufficientResource", (), 1),
    ]


def test_ten_thousand_pods_with_one_reason_are_one_row():
    message = "0/3 nodes are available: 3 Insufficient cpu."
    found = board([waiting(f"p{n}", message) for n in range(10_000)])

    (group,) = found.groups
    assert (group.count, len(group.pods)) == (10_000, MOST_SHOWN)


def test_the_most_important_pods_of_a_group_are_shown():
    message = "0/3 nodes are available: 3 Insufficient cpu."
    crowd = [waiting(f"p{n}", message) for n in range(MOST_SHOWN + 5)]
    found = board([*crowd, waiting("vip", message, priority=1000)])

    assert found.groups[0].pods[0].pod == "default/vip"


def test_reasons_count_each_pod_once():
    found = reasons(
        [
            waiting("a", "0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu."),
            waiting("b", "0/3 nodes are available: 3 Insufficient memory."),
        ]
    )

    assert [(each.code, each.pods) for each in found] == [("InsufficientResource", 2)]


def test_an_empty_queue_is_an_empty_board():
    assert board([]).groups == ()
    assert reasons([]) == ()
