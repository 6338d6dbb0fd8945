"""A node must take the pod with its nominated pods there, and without them."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.answers import AttemptFailed
from podium.framework.nominated import filter_with_nominated
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.toys import Filter, PreFilter, profile, reply

CROWDED = fwk.Status.unschedulable("crowded")
LONELY = fwk.Status.unschedulable("lonely")


class Seen:
    """Pods that were added, by row; what a dry run changes."""

    def __init__(self, added=()):
        self.added = list(added)

    def clone(self):
        return Seen(self.added)


class Watcher(PreFilter, Filter, fwk.PreFilterExtensions):
    """Judges by the names of the pods on the node, which its own state must agree with.

    ``asked`` holds (node, its pods) of every judgement.
    """

    State = Seen
    on_add = None

    def pre_filter(self, state, pod, nodes):
        state.put(Seen())

    def add_pod(self, state, pod, other, node):
        state.get(Seen).added.append((node.name, other.pod.name))
        return reply(self.on_add)

    def remove_pod(self, state, pod, other, node):
        raise AssertionError("nothing is removed")

    def filter(self, state, pod, node):
        names = sorted(info.pod.name for info in node.pods)
        told = [name for where, name in state.get(Seen).added if where == node.name]
        assert set(told) <= set(names), "told of pods that are not there"
        self.asked.append((node.name, " ".join(names)))
        return reply(self.answer, names)


def handle(*nominated, nodes="abc"):
    subject = FakeHandle(*(node(name) for name in nodes))
    for info, name in nominated:
        subject.nominator.add(info, fwk.Nominate(name))
    return subject


def waiting(name, priority=10, **rest):
    return fwk.PodInfo(pod(name, priority=priority, **rest))


def judge(subject, plugin, incoming, nodes=None):
    """The verdicts, by node name."""
    parts = profile(plugin)
    state = fwk.CycleState()
    parts.run_pre_filters(state, incoming, subject.rows)
    nominated = subject.nominator.ahead_of(incoming, subject.state.table)
    nodes = subject.rows if nodes is None else nodes
    statuses = filter_with_nominated(parts, state, incoming, nodes, nominated)
    assert state.get(Seen).added == []  # the original is as it was
    return dict(zip(nodes.names, (status.message for status in statuses), strict=True))


def crowded_by(*names):
    return lambda pods: CROWDED if set(names) & set(pods) else None


def test_without_nominated_pods_each_node_is_judged_once():
    plugin = Watcher("W")

    assert judge(handle(), plugin, pod("me")) == {"a": "", "b": "", "c": ""}
    assert plugin.asked == [("a", ""), ("b", ""), ("c", "")]


def test_only_nodes_with_nominated_pods_are_judged_twice():
    plugin = Watcher("W")
    judge(handle((waiting("x"), "b")), plugin, pod("me"))

    assert sorted(plugin.asked) == [("a", ""), ("b", ""), ("b", "x"), ("c", "")]


def test_a_node_that_refuses_with_its_nominated_pods_is_refused():
    plugin = Watcher("W", crowded_by("x"))

    verdicts = judge(handle((waiting("x"), "b")), plugin, pod("me"))

    assert verdicts == {"a": "", "b": "crowded", "c": ""}
    assert ("b", "") not in plugin.asked  # pass one has decided


def test_a_node_must_do_without_its_nominated_pods_too():
    plugin = Watcher("W", lambda pods: None if pods else LONELY)

    verdicts = judge(handle((waiting("x"), "b")), plugin, pod("me"))

    assert verdicts == {"a": "lonely", "b": "lonely", "c": "lonely"}
    assert ("b", "x") in plugin.asked


def test_each_node_is_judged_with_its_own_nominated_pods():
    plugin = Watcher("W")
    nominated = [(waiting("x"), "a"), (waiting("y"), "b"), (waiting("z"), "b")]
    judge(handle(*nominated), plugin, pod("me"))

    assert {asked for asked in plugin.asked if asked[1]} == {("a", "x"), ("b", "y z")}


@pytest.mark.parametrize(
    ("priority", "incoming", "leaves_room"),
    [
        pytest.param(10, 5, True, id="higher"),
        pytest.param(5, 5, True, id="equal"),
        pytest.param(4, 5, False, id="lower"),
        pytest.param(None, 0, True, id="none-is-zero"),
    ],
)
def test_room_is_left_for_pods_of_at_least_the_same_priority(priority, incoming, leaves_room):
    plugin = Watcher("W", crowded_by("x"))
    subject = handle((waiting("x", priority), "a"), nodes="a")

    verdicts = judge(subject, plugin, pod("me", priority=incoming))

    assert verdicts == {"a": "crowded" if leaves_room else ""}
    assert len(plugin.asked) == 1


def test_a_pod_leaves_no_room_for_itself():
    plugin = Watcher("W", crowded_by("me"))
    subject = handle((waiting("me"), "a"), nodes="a")

    assert judge(subject, plugin, pod("me", priority=1)) == {"a": ""}


def test_nominations_to_nodes_that_are_gone_count_nowhere():
    subject = handle((waiting("x"), "gone"), (waiting("y"), ""))

    assert subject.nominator.ahead_of(pod("me"), subject.state.table) is None


def test_nominated_pods_take_their_resources():
    seen = {}
    plugin = Watcher("W")
    plugin.filter = lambda state, pod, node: seen.setdefault(node.name, []).append(
        (node.requested("cpu"), node.requested("example.com/gpu"), node.requested("pods"))
    )
    gpu = {"example.com/gpu": 2}
    subject = handle((waiting("x", cpu="500m", requests=gpu), "b"), nodes="ab")
    judge(subject, plugin, pod("me"))

    assert seen == {"a": [(0, 0, 0)], "b": [(500, 2, 1), (0, 0, 0)]}


@pytest.mark.parametrize("who", ["pass-one", "add-pod"])
def test_faults_end_the_attempt(who):
    fault = RuntimeError("broken")
    plugin = Watcher("W")
    if who == "add-pod":
        plugin.on_add = fault
        text = 'running AddPod on PreFilter plugin "W": broken'
    else:
        plugin.answer = lambda pods: reply(fault) if pods else None
        text = 'running "W" filter plugin: broken'

    with pytest.raises(AttemptFailed) as caught:
        judge(handle((waiting("x"), "a")), plugin, pod("me"))

    assert caught.value.status == fwk.Status.error(text).by("W")


def test_a_dry_run_keeps_its_own_changes():
    subject = handle((waiting("x"), "a"))
    subject.state.add_pod(pod("old", node="a"))
    rows = np.array([0, 1], np.intp)
    overlay = subject.state.overlay(rows)
    overlay.remove([subject.state.pods["uid-old"]], rows[:1])
    plugin = Watcher("W", crowded_by("old"))

    verdicts = judge(subject, plugin, pod("me"), fwk.Rows(subject.state, rows, overlay))

    assert verdicts == {"a": "", "b": ""}
    assert sorted(plugin.asked) == [("a", ""), ("a", "x"), ("b", "")]


def test_the_handle_leaves_room_too():
    subject = handle((waiting("x"), "a"), nodes="ab")
    plugin = Watcher("W", crowded_by("x"))
    subject.use(plugin)
    state = fwk.CycleState()
    plugin.pre_filter(state, pod("me"), subject.rows)

    statuses = subject.run_filters(state, pod("me"), subject.rows)

    assert list(statuses) == [CROWDED.by("W"), fwk.SUCCESS]
