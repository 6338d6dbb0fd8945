"""Pods of pod groups: what they wait for, by the rules of GangScheduling."""

import jsonschema
import pytest

import podium
from podium import Simulation, explain
from podium import framework as fwk
from podium.testing import node, pod
from tests.support.groups import group, member

SCHEMA = jsonschema.Draft202012Validator(explain.schema())
GATE = [{"name": "later"}]


def simulation(*objects, plugins=()) -> Simulation:
    made = Simulation.from_objects([], plugins=plugins)
    for each in objects:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("objects", "state", "code", "said"),
    [
        pytest.param(
            [], "gated", "PodGroupNotFound",
            "waits for its pod group default/gang, which does not exist", id="no-group",
        ),
        pytest.param(
            [group(min_count=3), member("w1", cpu="1")], "gated", "PodGroupIncomplete",
            "waits until its pod group default/gang has 3 pods: it has 2", id="too-few-pods",
        ),
        pytest.param(
            [group(min_count=3), member("w1", cpu="1"), member("w2", cpu="1")],
            "pending", "PodGroupUnschedulable",
            "it needs nodes for 3 pods, and there is room for 2", id="too-little-room",
        ),
        pytest.param(
            [group(min_count=2), member("w1", cpu="1", scheduling_gates=GATE)],
            "pending", "PodGroupUnschedulable",
            "it needs nodes for 2 pods, and there is room for 1", id="a-gated-member",
        ),
    ],
)  # fmt: skip
def test_a_pod_waits_for_its_group(objects, state, code, said):
    given = simulation(node("a", cpu="2"), *objects, member("w0", cpu="1"))

    found = given.explain("w0")

    SCHEMA.validate(found.to_dict())
    assert (found.state, [each.code for each in found.causes]) == (state, [code])
    assert said in found.sentence
    assert [(each.what, each.name) for each in found.waits_for] == [("group", "default/gang")]
    given.core.cluster.check_invariants()


def test_a_member_that_names_another_scheduler():
    other = member("w1", cpu="1", scheduler_name="other")
    given = simulation(node("a", cpu="2"), group(min_count=2), other, member("w0", cpu="1"))

    assert given.explain("w0").sentence == (
        "default/w0 waits until its pod group default/gang has 2 pods: it has 1, "
        "because default/w1 names the scheduler other."
    )


def test_members_of_different_priorities():
    high = member("w1", cpu="1", priority=7)
    given = simulation(node("a", cpu="2"), group(min_count=2), high, member("w0", cpu="1"))

    for name in ("w0", "w1"):
        found = given.explain(name)
        assert found.state == "failed"
        assert "cannot be tried: all pods in a single pod group should have the same prio" in (
            found.sentence
        )
        SCHEMA.validate(found.to_dict())


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([group(min_count=2), member("w1", cpu="1")], id="all-fit"),
        pytest.param([group(min_count=2), member("w1", node="a", cpu="1")], id="one-is-placed"),
        pytest.param([group()], id="basic-group"),
    ],
)
def test_a_pod_whose_group_fits_is_placed(objects):
    found = simulation(node("a", cpu="2"), *objects, member("w0", cpu="1")).explain("w0")

    assert (found.state, found.node) == ("placeable", "a")


def test_a_member_that_fits_nowhere_is_explained_as_any_pod():
    objects = (node("a", cpu="2"), group(min_count=1), member("w0", cpu="4"))

    found = simulation(*objects).explain("w0")

    assert [each.code for each in found.causes] == ["InsufficientResource"]


def test_a_group_evicts_pods_as_one():
    low = [pod(f"low-{number}", node="a", cpu="1", priority=-5) for number in range(2)]
    gang = [group(min_count=2), member("w0", cpu="1"), member("w1", cpu="1")]
    given = simulation(node("a", cpu="2"), *low, *gang)
    found = given.explain("w0")
    victims = given.fork().schedule().victims

    SCHEMA.validate(found.to_dict())
    assert found.sentence.endswith(
        "Preemption makes room: the pod group evicts default/low-0 and default/low-1, "
        "which have a lower priority than 0."
    )
    assert [each.pod for each in found.preemption.victims] == [each.pod for each in victims]
    assert found.fixes == ()
    given.core.cluster.check_invariants()


def test_a_group_with_too_few_pods_that_may_be_tried_evicts_none():
    low = [pod(f"low-{number}", node="a", cpu="1", priority=-5) for number in range(2)]
    gated = member("w1", cpu="1", scheduling_gates=GATE)
    given = simulation(node("a", cpu="2"), *low, group(min_count=2), gated, member("w0", cpu="1"))

    assert given.explain("w0").preemption is None
    assert given.fork().schedule().victims == ()


def test_what_helps_a_member_that_fits_nowhere_helps_its_group():
    """A smaller request of this member alone would not: the other one does not fit either."""
    full = pod("full", node="a", cpu="3")
    gang = [group(min_count=2), member("w0", cpu="2"), member("w1", cpu="2")]
    found = simulation(node("a", cpu="4"), full, *gang).explain("w0")

    assert {fix.kind: fix.details.get("to") for fix in found.fixes} == {
        "pod-gone": None,
        "group-request": "500m",
        "group-priority": None,
        "new-node": None,
    }
    assert found.fixes[0].victims == ("default/full",)


@podium.filter
def anywhere(pod, node):
    return None


@podium.permit
def quorum(pod, node_name):
    return fwk.wait(60, "for the others")


@pytest.mark.parametrize("plugins", [[], [anywhere]], ids=["own-plugins", "and-one-from-outside"])
def test_a_lower_minimum_counts_the_members_that_fit(plugins):
    others = [member(name, cpu="1") for name in ("w1", "w2")]
    given = simulation(node("a", cpu="2"), group(min_count=3), *others, plugins=plugins)

    found = given.explain(member("w0", cpu="1"))

    assert "it needs nodes for 3 pods, and there is room for 2" in found.sentence
    assert "lower the minCount of the pod group default/gang to 2" in [
        each.text.partition(":")[0] for each in found.fixes
    ]


def test_a_member_that_a_plugin_from_outside_lets_wait():
    given = simulation(node("a", cpu="2"), group(min_count=1), plugins=[quorum])

    found = given.explain(member("w0", cpu="1"))

    assert (found.state, [each.name for each in found.waits_for]) == ("waiting", ["quorum"])
