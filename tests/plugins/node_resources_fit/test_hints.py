import pytest

from podium import framework as fwk
from podium.api.objects import DeviceClass, DeviceClassSpec, ObjectMeta
from podium.framework.declared_kinds import registered_in
from podium.framework.event_rules import event_rules
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.hints import class_offers_resource
from podium.release import V1_36, V1_37
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.releases import plugin_of

GPU = "example.com/gpu"
FIT = plugin_of("NodeResourcesFit", V1_37)
pod_made_room = FIT.pod_made_room
node_became_large_enough = FIT.node_became_large_enough
WAITING = pod("waiting", cpu="2", requests={GPU: 1})


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(pod("other", node="a", cpu="1"), True, id="placed"),
        pytest.param(pod("other", node="a"), True, id="placed-and-empty"),
        pytest.param(pod("other", status={"nominated_node_name": "a"}), True, id="nominated"),
        pytest.param(pod("other", cpu="1"), False, id="nowhere"),
    ],
)
def test_deleted_pod(other, expected):
    assert pod_made_room(WAITING, other, None) is expected


GONE = pod("gone", node="there", cpu="1")


@pytest.mark.parametrize(
    ("priority", "nominated", "there", "expected"),
    [
        pytest.param(10, "", [], True, id="no-nomination"),
        pytest.param(10, "there", [], True, id="on-its-own-node"),
        pytest.param(10, "here", [], True, id="room-on-another-node"),
        pytest.param(10, "here", [pod("stays", node="there", cpu="3")], False, id="no-room"),
        pytest.param(10, "here", [("rival", 10)], False, id="room-for-an-equal-rival"),
        pytest.param(10, "here", [("rival", 9)], True, id="a-lower-rival-does-not-count"),
        pytest.param(10, "here", [("waiting", 10)], True, id="it-is-no-rival-of-itself"),
        pytest.param(10, "unknown", [], True, id="an-unknown-nominated-node"),
    ],
)
def test_a_pod_whose_victims_leave_is_helped_by_room_elsewhere(
    priority, nominated, there, expected
):
    placed = [each for each in there if not isinstance(each, tuple)]
    handle = FakeHandle(node("here", cpu="4"), node("there", cpu="4"), *placed)
    for name, rank in [each for each in there if isinstance(each, tuple)]:
        rival = pod(name, cpu="3", priority=rank, status={"nominated_node_name": "there"})
        handle.nominator.add(fwk.PodInfo(rival))
    fit = plugin_of("NodeResourcesFit", V1_37, handle)
    status = {"nominated_node_name": nominated}
    waiting = pod("waiting", cpu="2", priority=priority, status=status)

    assert fit.pod_made_room(waiting, GONE, None) is expected


def test_an_unknown_node_may_have_room():
    status = {"nominated_node_name": "here"}
    assert pod_made_room(pod("waiting", cpu="2", status=status), GONE, None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"cpu": "2"}, {"cpu": "1"}, True, id="less-cpu"),
        pytest.param({"cpu": "1"}, {}, True, id="no-cpu-any-more"),
        pytest.param({"requests": {GPU: 2}}, {"requests": {GPU: 1}}, True, id="less-extended"),
        pytest.param({"memory": "2Gi"}, {"memory": "1Gi"}, False, id="unneeded-resource"),
        pytest.param({"cpu": "1"}, {"cpu": "2"}, False, id="more"),
        pytest.param({"cpu": "1"}, {"cpu": "1"}, False, id="same"),
    ],
)
def test_scaled_down_pod(old, new, expected):
    before, after = pod("other", node="a", **old), pod("other", node="a", **new)

    assert pod_made_room(WAITING, before, after) is expected


def test_scaled_down_pod_without_a_node():
    assert not pod_made_room(WAITING, pod("other", cpu="2"), pod("other", cpu="1"))


def test_the_pod_itself_changed():
    assert pod_made_room(WAITING, WAITING, pod("waiting", cpu="3"))


def test_a_running_pod_counts_what_it_holds():
    def resized(cpu):
        held = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
        return pod("other", node="a", cpu="1", status={"container_statuses": held})

    assert pod_made_room(WAITING, resized("2"), resized("1"))
    assert not pod_made_room(WAITING, resized("500m"), resized("300m"))


@pytest.mark.parametrize(("release", "expected"), [(V1_36, True), (V1_37, False)], ids=str)
def test_what_containers_hold_is_summed_up_by_the_rule_of_the_release(release, expected):
    """One container has shrunk, but the other has not grown yet: 1.37 counts the sum as before."""

    def resizing(first):
        held = [
            {"name": "a", "resources": {"requests": {"cpu": first}}},
            {"name": "b", "resources": {"requests": {"cpu": "1"}}},
        ]
        wanted = [
            {"name": "a", "resources": {"requests": {"cpu": "1"}}},
            {"name": "b", "resources": {"requests": {"cpu": "3"}}},
        ]
        return pod("other", node="a", containers=wanted, status={"container_statuses": held})

    hint = plugin_of("NodeResourcesFit", release).pod_made_room
    assert hint(WAITING, resizing("3"), resizing("1")) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, {"cpu": "2", GPU: 1, "pods": 1}, True, id="new-and-large-enough"),
        pytest.param(None, {"cpu": "1", GPU: 1, "pods": 1}, False, id="new-and-too-small"),
        pytest.param(None, {"cpu": "2", GPU: 1}, False, id="new-but-takes-no-pods"),
        pytest.param(
            {"cpu": "1", GPU: 1, "pods": 1}, {"cpu": "2", GPU: 1, "pods": 1}, True, id="more-cpu"
        ),
        pytest.param(
            {"cpu": "2", "pods": 1}, {"cpu": "2", GPU: 1, "pods": 1}, True, id="gained-a-resource"
        ),
        pytest.param(
            {"cpu": "2", GPU: 1, "pods": 1}, {"cpu": "2", GPU: 1, "pods": 2}, True, id="more-pods"
        ),
        pytest.param(
            {"cpu": "2", GPU: 1, "pods": 1},
            {"cpu": "2", GPU: 1, "pods": 1, "memory": "1Gi"},
            False,
            id="more-of-something-else",
        ),
        pytest.param(
            {"cpu": "1", "pods": 1}, {"cpu": "2", "pods": 1}, False, id="grew-but-still-too-small"
        ),
    ],
)
def test_node(old, new, expected):
    before, after = (
        None if offered is None else node(cpu=None, memory=None, pods=None, allocatable=offered)
        for offered in (old, new)
    )

    assert node_became_large_enough(WAITING, before, after) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"cpu": "1", "pods": 1}, {"cpu": "2", "pods": 1}, False, id="more-cpu"),
        pytest.param({"cpu": "1", "pods": 1}, {"cpu": "1", "pods": 2}, True, id="more-pods"),
    ],
)
def test_node_for_a_pod_that_requests_nothing(old, new, expected):
    before, after = (
        node(cpu=None, memory=None, pods=None, allocatable=offered) for offered in (old, new)
    )

    assert node_became_large_enough(pod(), before, after) is expected


def device_class(resource="", name="gpus"):
    return DeviceClass(ObjectMeta(name=name), DeviceClassSpec(extended_resource_name=resource))


IMPLICIT = pod(requests={"deviceclass.resource.kubernetes.io/gpus": 1})


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"),
    [
        pytest.param(WAITING, None, device_class(GPU), True, id="new"),
        pytest.param(WAITING, None, device_class("example.com/nic"), False, id="new-of-another"),
        pytest.param(WAITING, None, device_class(), False, id="new-without-a-resource"),
        pytest.param(WAITING, device_class(), device_class(GPU), True, id="now-of-this"),
        pytest.param(WAITING, device_class(GPU), device_class(GPU), False, id="unchanged"),
        pytest.param(WAITING, device_class(GPU), device_class(), False, id="no-longer"),
        pytest.param(IMPLICIT, None, device_class(), True, id="new-and-named-by-the-pod"),
        pytest.param(IMPLICIT, None, device_class(name="nics"), False, id="new-of-another-name"),
        pytest.param(IMPLICIT, device_class(), device_class(GPU), False, id="known-by-name"),
    ],
)
def test_device_class(waiting, old, new, expected):
    assert class_offers_resource(waiting, old, new) is expected


DEVICE_CLASSES = fwk.on("resource.k8s.io/DeviceClass", "add|update")
NODES = fwk.on("Node", "add|allocatable")


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        pytest.param(
            V1_37,
            [
                (fwk.on("AssignedPod", "delete"), True),
                (fwk.on("AssignedPod", "scale-down"), True),
                (fwk.on("TargetPod", "scale-down"), True),
                (NODES, True),
                (DEVICE_CLASSES, True),
            ],
            id="1.37",
        ),
        pytest.param(
            V1_36,
            [
                (fwk.on("Pod", "delete|scale-down"), True),
                (NODES, True),
                (DEVICE_CLASSES, True),
                (fwk.on("Node", "taint"), False),
            ],
            id="1.36",
        ),
    ],
)
def test_registered_events(release, expected):
    plugin = NodeResourcesFit(NodeResourcesFit.Args(), FakeHandle())
    registered = registered_in(event_rules(release), plugin)

    assert [(each.event, each.hint is not None) for each in registered] == [
        (each.event, has_hint) for each, has_hint in expected
    ]
