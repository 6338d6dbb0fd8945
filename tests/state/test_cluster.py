"""What ClusterState accepts, what it refuses, and what it says has changed."""

import msgspec
import pytest

from podium.api.objects import Namespace, ObjectMeta, Pod, PodDisruptionBudget, Service, decode
from podium.api.workloads import ServiceSpec
from podium.errors import CacheError, InvalidObject
from podium.state.aspects import NOWHERE, Aspect
from podium.state.cluster import ClusterState, load
from podium.state.pod_info import PodInfo
from podium.testing.builders import node, pod
from tests.support import snapshots

OF_A_POD = Aspect.RESOURCES | Aspect.PODS


@pytest.fixture
def state():
    cluster = ClusterState()
    for name in "ab":
        cluster.set_node(node(name))
    return cluster


def assumed(state, name="web", on="a", **rest):
    state.assume(PodInfo(pod(name, **rest)), state.table.live_row(on))


def cpu(state):
    state.check_invariants()
    return dict(zip(state.rows().names, state.rows().requested("cpu").tolist(), strict=True))


def test_a_pods_life(state):
    assumed(state, cpu="1")
    assert state.is_assumed("uid-web")
    assert cpu(state) == {"a": 1000, "b": 0}

    state.add_pod(pod("web", node="a", cpu="1"))
    assert not state.is_assumed("uid-web")
    assert cpu(state) == {"a": 1000, "b": 0}

    state.update_pod(pod("web", node="a", cpu="2"))
    assert cpu(state) == {"a": 2000, "b": 0}

    state.remove_pod(pod("web"))
    assert cpu(state) == {"a": 0, "b": 0}
    assert state.pods == {}


def test_an_assumed_pod_is_forgotten(state):
    assumed(state, cpu="1")
    state.forget("uid-web")

    assert cpu(state) == {"a": 0, "b": 0}
    assert not state.is_assumed("uid-web")
    state.forget("uid-web")  # unknown pods are fine


def test_the_api_knows_better_where_a_pod_is(state):
    assumed(state, on="a", cpu="1")
    state.add_pod(pod("web", node="b", cpu="1"))

    assert cpu(state) == {"a": 0, "b": 1000}
    assert not state.is_assumed("uid-web")


def test_an_assumed_pod_may_be_removed(state):
    assumed(state)
    state.remove_pod(pod("web"))

    assert state.pods == {}
    assert not state.is_assumed("uid-web")


def test_a_new_version_may_be_elsewhere(state):
    state.add_pod(pod("web", node="a", cpu="1"))
    state.update_pod(pod("web", node="b", cpu="1"))

    assert cpu(state) == {"a": 0, "b": 1000}


def test_an_assumed_pod_outlives_its_node(state):
    assumed(state)
    state.remove_node("a")
    state.check_invariants()
    state.forget("uid-web")

    assert state.table.row_of("a") is None
    state.check_invariants()


WEB = "pod uid-web(default/web)"


@pytest.mark.parametrize(
    ("known", "write", "text"),
    [
        pytest.param("added", lambda s: s.add_pod(pod("web", node="b")),
                     f"{WEB} was already in added state", id="add-twice"),
        pytest.param("added", lambda s: assumed(s), f"{WEB} is in the cache, so can't be assumed",
                     id="assume-added"),
        pytest.param("assumed", lambda s: assumed(s), f"{WEB} is in the cache, so can't be assumed",
                     id="assume-twice"),
        pytest.param("added", lambda s: s.forget("uid-web"),
                     f"{WEB} wasn't assumed so cannot be forgotten", id="forget-added"),
        pytest.param("", lambda s: s.update_pod(pod("web", node="a")),
                     f"{WEB} is not added to scheduler cache, so cannot be updated",
                     id="update-unknown"),
        pytest.param("assumed", lambda s: s.update_pod(pod("web", node="a")),
                     "assumed pod uid-web(default/web) should not be updated", id="update-assumed"),
        pytest.param("", lambda s: s.remove_pod(pod("web", node="a")),
                     f"{WEB} is not found in scheduler cache, so cannot be removed from it",
                     id="remove-unknown"),
        pytest.param("", lambda s: s.add_pod(pod("web", node="a", uid="")),
                     "cannot get cache key for pod with empty UID", id="add-without-uid"),
        pytest.param("", lambda s: s.update_pod(pod("web", node="a", uid="")),
                     "cannot get cache key for pod with empty UID", id="update-without-uid"),
        pytest.param("", lambda s: s.remove_pod(pod("web", uid="")),
                     "cannot get cache key for pod with empty UID", id="remove-without-uid"),
        pytest.param("", lambda s: assumed(s, uid=""),
                     "cannot get cache key for pod with empty UID", id="assume-without-uid"),
        pytest.param("", lambda s: s.add_pod(pod("web")), f"{WEB} has no node",
                     id="add-without-node"),
        pytest.param("added", lambda s: s.update_pod(pod("web")), f"{WEB} has no node",
                     id="update-without-node"),
        pytest.param("", lambda s: s.remove_node("z"), "node z is not found", id="remove-node"),
        pytest.param("ghost", lambda s: s.remove_node("z"), "node z is not found",
                     id="remove-ghost"),
    ],
)  # fmt: skip
def test_writes_that_contradict_what_is_known(state, known, write, text):
    match known:
        case "added":
            state.add_pod(pod("web", node="a"))
        case "assumed":
            assumed(state)
        case "ghost":
            state.add_pod(pod("early", node="z"))
    before = snapshots.of_cluster(state)

    with pytest.raises(CacheError) as caught:
        write(state)

    assert str(caught.value) == text
    assert snapshots.of_cluster(state) == before
    state.check_invariants()


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda s: s.set_node(node("c", cpu="much")), id="new-node"),
        pytest.param(lambda s: s.set_node(node("a", cpu="much", labels="v=2")), id="known-node"),
        pytest.param(lambda s: s.add_pod(pod("web", node="c", cpu="much")), id="new-pod"),
        pytest.param(lambda s: s.update_pod(pod("old", node="a", cpu="much")), id="known-pod"),
    ],
)
def test_objects_that_cannot_be_read_change_nothing(state, write):
    state.add_pod(pod("old", node="a", cpu="1"))
    before = snapshots.of_cluster(state)

    with pytest.raises(InvalidObject, match="quantities must match"):
        write(state)

    assert snapshots.of_cluster(state) == before
    state.check_invariants()


def changes(state, write):
    """What a write puts into the journal: aspects by node name."""
    mark = state.journal.end
    write(state)
    names = state.table.names
    return [
        ("" if row == NOWHERE else names[row], aspects)
        for row, aspects in state.journal.since(mark)
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({}, {}, 0, id="nothing"),
        pytest.param({}, {"resource_version": "9"}, 0, id="heartbeat"),
        pytest.param({"conditions": ({"type": "Ready", "status": "True"},)},
                     {"conditions": ({"type": "Ready", "status": "True",
                                      "lastHeartbeatTime": "2026-01-01T00:00:00Z"},)}, 0,
                     id="heartbeat-of-a-condition"),
        pytest.param({"conditions": ({"type": "Ready", "status": "True"},)},
                     {"conditions": ({"type": "Ready", "status": "False"},)}, Aspect.NODE,
                     id="condition"),
        pytest.param({}, {"cpu": "1"}, Aspect.RESOURCES, id="allocatable"),
        pytest.param({}, {"labels": "v=1"}, Aspect.LABELS, id="label"),
        pytest.param({}, {"taints": "t:NoSchedule"}, Aspect.TAINTS, id="taint"),
        pytest.param({}, {"unschedulable": True}, Aspect.TAINTS, id="unschedulable"),
        pytest.param({}, {"images": {"i": 5}}, Aspect.IMAGES, id="image"),
        pytest.param({}, {"declared_features": ("F",)}, Aspect.FEATURES, id="feature"),
        pytest.param({}, {"annotations": {"a": "1"}}, Aspect.NODE, id="annotation"),
        pytest.param({}, {"labels": "v=1", "cpu": "1"}, Aspect.LABELS | Aspect.RESOURCES,
                     id="two-at-once"),
    ],
)  # fmt: skip
def test_what_a_node_changes(state, old, new, expected):
    state.set_node(node("c", **old))

    found = changes(state, lambda s: s.set_node(node("c", **new)))

    assert found == ([("c", expected)] if expected else [])


def test_a_node_that_comes_or_goes_changes_everything(state):
    assert changes(state, lambda s: s.set_node(node("c"))) == [("c", Aspect.ALL)]
    row = state.table.live_row("c")
    mark = state.journal.end
    state.remove_node("c")

    assert state.journal.since(mark) == [(row, Aspect.ALL)]


@pytest.mark.parametrize(
    ("fields", "aspects"),
    [
        pytest.param({}, OF_A_POD, id="plain"),
        pytest.param({"host_ports": (80,)}, OF_A_POD | Aspect.PORTS, id="port"),
        pytest.param({"affinity": {"podAffinity": {}}}, OF_A_POD | Aspect.AFFINITY, id="affinity"),
    ],
)
def test_what_a_pod_changes(state, fields, aspects):
    web = pod("web", node="a", **fields)
    larger = pod("web", node="a", cpu="2", **fields)

    assert changes(state, lambda s: s.add_pod(web)) == [("a", aspects)]
    assert set(changes(state, lambda s: s.update_pod(larger))) == {("a", aspects)}
    assert changes(state, lambda s: s.remove_pod(web)) == [("a", aspects)]


RUNNING = {
    "phase": "Running",
    "start_time": "2026-01-01T00:00:00Z",
    "conditions": ({"type": "Ready", "status": "True"},),
}
RESIZED = {"container_statuses": ({"name": "main", "resources": {"requests": {"cpu": "3"}}},)}
STARTED = {"container_statuses": ({"name": "main", "resources": {"requests": {"cpu": "1"}}},)}
CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"resource_version": "9"}, 0, id="version"),
        pytest.param({"status": RUNNING}, Aspect.POD_OBJECTS, id="status"),
        pytest.param({"status": STARTED}, Aspect.POD_OBJECTS, id="status-of-containers"),
        pytest.param({"annotations": {"a": "1"}}, Aspect.POD_OBJECTS, id="annotation"),
        pytest.param({"tolerates": "x:"}, Aspect.POD_OBJECTS, id="toleration"),
        pytest.param({"status": RESIZED}, OF_A_POD, id="resize"),
        pytest.param({"cpu": "2"}, OF_A_POD, id="requests"),
        pytest.param({"labels": "app=db"}, OF_A_POD, id="labels"),
        pytest.param({"deletion_timestamp": "2026-01-01T00:00:00Z"}, OF_A_POD, id="its-end"),
        pytest.param({"priority": 3}, OF_A_POD, id="priority"),
        pytest.param({"host_ports": (80,)}, OF_A_POD | Aspect.PORTS, id="port"),
        pytest.param({"volumes": (CLAIM,)}, OF_A_POD | Aspect.VOLUMES, id="volume"),
        pytest.param({"affinity": {"podAffinity": {}}}, OF_A_POD | Aspect.AFFINITY, id="affinity"),
    ],
)
def test_what_an_update_changes(state, new, expected):
    old = {"cpu": "1", "labels": "app=web"}
    state.add_pod(pod("web", node="a", **old))
    newer = pod("web", node="a", **{**old, **new})

    found = changes(state, lambda s: s.update_pod(newer))

    told = 0
    for name, aspects in found:
        assert name == "a"
        told |= aspects
    assert told == expected
    assert state.pods["uid-web"].pod is newer
    state.check_invariants()


def test_of_a_pod_with_its_json_nobody_knows_what_is_read(state):
    """Versions that differ in the JSON alone are equal, and yet a plugin may look there."""
    manifest = {"metadata": {"name": "web", "uid": "u"}, "spec": {"nodeName": "a"}}
    old, new = (
        decode(Pod, {**manifest, "status": {"podIPs": [{"ip": ip}]}}, keep_raw=True) for ip in "12"
    )
    assert old == new
    state.add_pod(old)

    assert changes(state, lambda s: s.update_pod(new)) == [("a", Aspect.POD_OBJECTS)]


def test_what_an_update_changes_is_of_both_versions(state):
    state.add_pod(pod("web", node="a", host_ports=(80,)))
    found = changes(state, lambda s: s.update_pod(pod("web", node="b")))

    assert ("a", OF_A_POD | Aspect.PORTS) in found
    assert ("b", OF_A_POD) in found


def test_what_other_objects_change(state):
    team = Namespace(metadata=ObjectMeta(name="team"))
    web = Service(metadata=ObjectMeta(name="web", namespace="default"))

    assert changes(state, lambda s: s.set_object(team)) == [("", Aspect.NAMESPACES)]
    assert changes(state, lambda s: s.set_object(web)) == [("", Aspect.WORKLOADS)]
    assert changes(state, lambda s: s.set_object(web)) == []
    newer = Service(metadata=ObjectMeta(name="web", namespace="default", resource_version="2"))
    assert changes(state, lambda s: s.set_object(newer)) == []
    assert state.objects(Service).get("default/web") is newer
    other = msgspec.structs.replace(newer, spec=ServiceSpec(selector={"app": "web"}))
    assert changes(state, lambda s: s.set_object(other)) == [("", Aspect.WORKLOADS)]
    removed = changes(state, lambda s: s.remove_object(Service, "default/web"))
    assert removed == [("", Aspect.WORKLOADS)]
    assert changes(state, lambda s: s.remove_object(Service, "default/web")) == []


def test_budgets_change_nothing_that_is_kept(state):
    budget = PodDisruptionBudget(metadata=ObjectMeta(name="b", namespace="default"))

    assert changes(state, lambda s: s.set_object(budget)) == []


def test_labels_of_namespaces(state):
    labels = {"team": "blue"}
    state.set_object(Namespace(metadata=ObjectMeta(name="web", labels=labels)))

    assert state.namespace_labels("web") == labels
    assert state.namespace_labels("unknown") == {}


def test_objects_of_any_kind_are_fed_in():
    state = ClusterState()
    service = Service(metadata=ObjectMeta(name="web", namespace="default"))
    load(state, [pod("x", node="a"), pod("pending"), node("a"), service])

    assert (list(state.pods), state.rows().names) == (["uid-x"], ["a"])
    assert list(state.objects(Service)) == [service]
