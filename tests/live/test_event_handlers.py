"""What informers report, as the queue and the state get to know it."""

from dataclasses import replace

import msgspec
import pytest

from podium.api.objects import Namespace, ObjectMeta, PersistentVolumeClaim
from podium.framework.event_rules import event_rules
from podium.framework.events import action_names
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from tests.support import toys
from tests.support.live import Desk


class Queue:
    """Remembers what it is told."""

    def __init__(self):
        self.told = []
        self.unregistered = ()

    def add(self, new):
        self.told.append(("add", new.name))

    def update(self, old, new):
        self.told.append(("update", new.name))

    def delete(self, old):
        self.told.append(("delete", old.name))

    def awaits(self, event):
        return event.label not in self.unregistered

    def on_event(self, event, old, new, *, except_uid="", max_priority=None):
        limit = () if max_priority is None else (max_priority,)
        self.told.append((event.resource, *action_names(event), *limit))


@pytest.fixture
def desk():
    made = Desk(toys.Bind("Bind"))
    made.told = Queue()
    made.handlers = replace(made.handlers, queue=made.told)
    return made


WEB = pod("web", resource_version="1")
PLACED = pod("web", node="n1", resource_version="1")


def version(found, number, **fields):
    metadata = msgspec.structs.replace(found.metadata, resource_version=str(number), **fields)
    return msgspec.structs.replace(found, metadata=metadata)


def nominated(found, node_name, **spec):
    status = msgspec.structs.replace(found.status, nominated_node_name=node_name)
    changed = msgspec.structs.replace(found.spec, **spec)
    return msgspec.structs.replace(found, status=status, spec=changed)


LABELLED = version(PLACED, 2, labels={"a": "b"})
FOREIGN = pod("web", scheduler_name="other")
ANEW = version(WEB, 3, uid="uid-2")
PROMISED = nominated(WEB, "n1", priority=7)

PODS = [
    pytest.param(None, WEB, [("add", "web")], id="new"),
    pytest.param(None, FOREIGN, [], id="new-foreign"),
    pytest.param(None, PLACED, [("AssignedPod", "Add")], id="new-placed"),
    pytest.param(WEB, version(WEB, 2), [("update", "web")], id="updated"),
    pytest.param(WEB, WEB, [], id="seen-before"),
    pytest.param(FOREIGN, version(FOREIGN, 2), [], id="updated-foreign"),
    pytest.param(
        WEB, version(PLACED, 2), [("AssignedPod", "Add"), ("delete", "web")], id="bound"
    ),
    pytest.param(PLACED, LABELLED, [("AssignedPod", "UpdatePodLabel")], id="placed-labelled"),
    pytest.param(
        PLACED, version(PLACED, 2), [("AssignedPod", "Update")], id="placed-otherwise-updated"
    ),
    pytest.param(WEB, None, [("delete", "web")], id="deleted"),
    pytest.param(FOREIGN, None, [], id="deleted-foreign"),
    pytest.param(PLACED, None, [("AssignedPod", "Delete")], id="deleted-placed"),
    pytest.param(WEB, ANEW, [("delete", "web"), ("add", "web")], id="made-again"),
    pytest.param(
        PROMISED, None, [("delete", "web"), ("AssignedPod", "Delete", 7)], id="nominated-deleted"
    ),
    pytest.param(
        PROMISED,
        version(nominated(WEB, "n2"), 2),
        [("update", "web"), ("AssignedPod", "Delete", 7)],
        id="nominated-elsewhere",
    ),
    pytest.param(
        PROMISED, version(PROMISED, 2), [("update", "web")], id="still-nominated"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), PODS)
def test_pods(desk, old, new, told):
    desk.see_nodes("n1")
    if old is not None:
        desk.handlers.on_pod(None, old)
    desk.told.told.clear()

    desk.handlers.on_pod(old, new)

    assert desk.told.told == told
    is_placed = new is not None and bool(new.node_name)
    assert (("uid-web" in desk.cluster.pods), len(desk.cluster.pods)) == (is_placed, is_placed)
    desk.cluster.check_invariants()


def test_nodes_are_known_before_they_are_told_of_and_until_after(desk):
    states = []
    on_event = desk.told.on_event

    def noting(event, *args, **kwargs):
        states.append((*action_names(event), desk.cluster.node("n1") is not None))
        on_event(event, *args, **kwargs)

    desk.told.on_event = noting
    first, second = node("n1"), node("n1", labels="a=b", taints="x:NoSchedule")
    desk.handlers.on_node(None, first)
    desk.handlers.on_node(first, first)  # a heartbeat
    desk.handlers.on_node(first, second)
    desk.handlers.on_node(second, None)

    assert states == [
        ("Add", True),
        ("UpdateNodeLabel", True),
        ("UpdateNodeTaint", True),
        ("Delete", True),
    ]
    assert desk.cluster.node("n1") is None


def test_other_objects_are_kept_and_told_of(desk):
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="default"))
    handle = desk.handlers.on_object("PersistentVolumeClaim")
    handle(None, claim)
    assert desk.cluster.objects(PersistentVolumeClaim).get("default/data") is claim
    handle(claim, claim)
    handle(claim, None)

    assert desk.cluster.objects(PersistentVolumeClaim).get("default/data") is None
    resource = "PersistentVolumeClaim"
    assert desk.told.told == [(resource, "Add"), (resource, "Update"), (resource, "Delete")]


def test_kinds_that_nobody_keeps_are_told_of_all_the_same(desk):
    handle = desk.handlers.on_events_only("foos.v1.example.com")
    handle(None, {"metadata": {"name": "a"}})

    assert desk.told.told == [("foos.v1.example.com", "Add")]


def test_events_that_no_plugin_registered_are_not_timed(desk):
    """As upstream, which adds a handler only for what plugins register."""
    desk.told.unregistered = ("PersistentVolumeClaimDelete", "foos.v1.example.comUpdate")
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="default"))
    handle = desk.handlers.on_object("PersistentVolumeClaim")
    handle(None, claim)
    handle(claim, None)
    custom = desk.handlers.on_events_only("foos.v1.example.com")
    custom(None, {})
    custom({}, {})

    timed = desk.metrics.event_seconds.series()
    assert set(timed) == {("PersistentVolumeClaimAdd",), ("foos.v1.example.comAdd",)}
    assert desk.cluster.objects(PersistentVolumeClaim).get("default/data") is None


def test_nothing_changes_while_a_cycle_is_open(desk):
    space = Namespace(metadata=ObjectMeta(name="space"))
    with desk.gate.closed():
        desk.handlers.on_node(None, node("n1"))
        desk.handlers.on_pod(None, PLACED)
        desk.handlers.on_object("Namespace")(None, space)
        assert (len(desk.cluster.pods), desk.cluster.node("n1"), desk.told.told) == (0, None, [])

    assert desk.cluster.node("n1") is not None
    assert set(desk.cluster.pods) == {"uid-web"}
    assert desk.told.told == [("Node", "Add"), ("AssignedPod", "Add"), ("Namespace", "Add")]


def test_a_contradiction_is_logged_and_told_all_the_same(desk, caplog):
    """As upstream: what the state refuses may still wake pods."""
    desk.handlers.on_pod(PLACED, None)

    assert "RemovePod failed" in caplog.text
    assert desk.told.told == [("AssignedPod", "Delete")]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param((V1_37, "UnscheduledPod"), id="1.37"),
        pytest.param((V1_36, "UnschedulablePod"), id="1.36"),
    ],
)
@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        pytest.param(None, WEB, ["Add"], id="new"),
        pytest.param(WEB, version(WEB, 2), ["Update"], id="updated"),
        pytest.param(
            WEB, version(WEB, 2, labels={"a": "b"}), ["Update", "UpdatePodLabel"], id="labelled"
        ),
        pytest.param(WEB, None, ["Delete"], id="deleted"),
    ],
)
def test_events_of_pending_pods_are_timed_under_the_names_of_the_release(
    desk, names, old, new, actions
):
    release, resource = names
    handlers = replace(desk.handlers, events=event_rules(release))
    handlers.on_pod(old, new)

    timed = desk.metrics.event_seconds.series()
    assert set(timed) == {(f"{resource}{action}",) for action in actions}
