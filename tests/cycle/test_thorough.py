"""``alwaysCheckAllPredicates``: decisions stay, and a rejection tells what every filter says."""

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import app
from podium import framework as fwk
from podium.cycle.outcome import Placed, Rejected
from podium.framework.queued_pod import QueuedPod
from podium.framework.thorough import ThoroughProfile
from podium.state.cluster import load as fill
from podium.testing.builders import node, pod
from tests.support.configurations import load
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PostFilter, PreFilter

BUSY = fwk.Status.unschedulable("busy")
FAR = fwk.Status.unresolvable("far")
ON_LABELS = fwk.Dependencies(node=fwk.Aspect.LABELS)


def thorough(*plugins, **options):
    scheduler = Scheduler(*plugins, **options)
    usual = scheduler.profile
    scheduler.profile = ThoroughProfile(usual.name, usual.plugins, usual.weights)
    return scheduler


def test_a_rejection_tells_what_every_filter_says():
    told = PostFilter("P", lambda p, seen: (None, fwk.Status.unschedulable(f"{dict(seen)['a']}")))
    outcome = thorough(Filter("F", BUSY), Filter("G", FAR), told, nodes="ab").attempt(pod())

    assert outcome.diagnosis.base_message == "0/2 nodes are available: 2 busy, 2 far."
    assert outcome.diagnosis.post_filter_message == "UnschedulableAndUnresolvable: busy, far"
    assert outcome.diagnosis.unschedulable_plugins == {"G"}  # one is enough to wake the pod
    assert outcome.record.rejected == {("F", "busy"): 2, ("G", "far"): 2}


def test_a_placed_pod_tells_it_of_the_other_nodes():
    refusing = Filter("F", lambda pod, node: None if node.name == "c" else BUSY)
    outcome = thorough(refusing, Filter("G", lambda p, n: FAR if n.name == "a" else None)).attempt(
        pod()
    )

    assert outcome.record.node == "c"
    assert outcome.record.rejected == {("F", "busy"): 2, ("G", "far"): 1}


def test_feasible_nodes_are_not_asked_about_again():
    second = Filter("G")
    thorough(Filter("F", lambda p, n: BUSY if n.name == "a" else None), second).attempt(pod())

    assert second.asked == ["b", "c", "a"]


def test_a_pod_that_pre_filter_refuses_is_as_ever():
    outcome = thorough(PreFilter("P", FAR), Filter("F", BUSY)).attempt(pod())

    assert outcome.diagnosis.base_message == "0/3 nodes are available: far."


def test_a_fault_about_a_refused_node_fails_the_attempt():
    outcome = thorough(Filter("F", BUSY), Filter("G", RuntimeError("broken"))).attempt(pod())

    assert outcome.status == fwk.Status.error('running "G" filter plugin: broken').by("G")


def answer(salt, labels):
    return (None, BUSY, FAR)[crc32(f"{salt}{sorted(labels.items())}".encode()) % 3]


CHANGES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), min_size=1, max_size=6)


@pytest.mark.parametrize("reuse", [True, False], ids=["reuse", "scratch"])
@given(salts=st.lists(st.integers(0, 99), min_size=1, max_size=3), changes=CHANGES)
def test_equal_pods_after_changes_are_told_what_holds_now(reuse, salts, changes):
    plugins = [
        Filter(f"F{place}", lambda p, n, salt=salt: answer(salt, n.labels), depends_on=ON_LABELS)
        for place, salt in enumerate(salts)
    ]
    scheduler = thorough(*plugins, reuse=reuse)
    labels = {name: {} for name in "abc"}
    for name, value in changes:
        labels[name] = {"v": str(value)}
        scheduler.cluster.set_node(node(name, labels=labels[name]))
        cycle = scheduler.cycle(pod())
        outcome = cycle.run()
        scheduler.cluster.forget(cycle.pod.uid)
        said = {n: [answer(salt, labels[n]) for salt in salts] for n in "abc"}
        feasible = {n for n in said if not any(said[n])}
        expected = {}
        for answers in said.values():
            for place, status in enumerate(answers):
                if status:
                    key = f"F{place}", status.message
                    expected[key] = expected.get(key, 0) + 1
        assert outcome.record.rejected == expected
        assert isinstance(outcome, Placed if feasible else Rejected)
        assert outcome.record.feasible == len(feasible)


POLICY = "alwaysCheckAllPredicates: {}\n"


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        pytest.param(
            "false",
            "1 Insufficient cpu, 1 Too many pods, 1 node(s) were unschedulable",
            id="off",
        ),
        pytest.param(
            "true",
            "1 Insufficient cpu, 1 Too many pods, 1 node(s) were unschedulable, "
            "2 node(s) didn't match Pod's node affinity/selector",
            id="on",
        ),
    ],
)
def test_a_policy_says_whether_all_predicates_are_checked(wish, expected):
    core = app.build(load("Policy", POLICY.format(wish)))
    fill(core.cluster, [node("a", unschedulable=True), node("b", cpu="1", pods=0)])

    outcome = core.cycle(QueuedPod.of(pod(cpu="2", node_selector="disk=ssd"))).run()

    assert outcome.diagnosis.base_message == f"0/2 nodes are available: {expected}."
