"""A cluster that starts in the state of another one: nothing changes that need not."""

import asyncio
import json

import pytest

from podium.apiserver.controllers.daemon_set import target_of
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from podium.apiserver.restoring import RestoredState
from podium.clock import FakeClock
from podium.errors import PodiumError
from podium.snapshot.kinds import KINDS
from tests.support.controllers import World, container, node, pod, storage_class, template

KEPT = tuple(each.resource for each in KINDS)
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "gone"}


def stored(world):
    """Every object that a snapshot holds, in the order of creation."""
    served = [each for each in KEPT if each in world.api.store.resources()]
    return [obj for resource in served for obj in world.api.store.objects(resource)]


def state_of(objects, **more):
    return RestoredState([json.dumps(obj).encode() for obj in objects], **more)


def without_versions(objects):
    return [
        {**obj, "metadata": {**obj["metadata"], "resourceVersion": ""}}
        for obj in objects
        if obj["kind"] != "ControllerRevision"
    ]


def with_foreign_hashes(objects):
    """Other servers compute other hashes for the same templates."""
    hashes = {
        obj["metadata"]["labels"]["controller-revision-hash"]
        for obj in objects
        if obj["kind"] == "ControllerRevision"
    } | {
        obj["metadata"]["labels"]["pod-template-hash"]
        for obj in objects
        if obj["kind"] == "ReplicaSet"
    }
    text = json.dumps(objects)
    for each in hashes:
        text = text.replace(each, f"x{each[::-1]}")
    return json.loads(text.replace('"data": {"spec"', '"data":{"spec"'))


def workload(name, **spec):
    labels = {"app": name}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    spec = {"selector": {"matchLabels": labels}, "template": pods, **spec}
    return {"metadata": {"name": name}, "spec": spec}


def run(world):
    """Bind each pod to a node that it may run on, and wait until all of them run."""
    for name, found in world.pods().items():
        if not found["spec"].get("nodeName"):
            world.bind(name, target_of(found) or "n1")
    world.wait(3)


@pytest.fixture
def busy():
    """A world with workloads of every kind, all of them running."""
    world = World()
    world.create("storageclasses.storage.k8s.io", storage_class())
    for name in ("n1", "n2"):
        world.create("nodes", node(name))
    world.create("deployments.apps", workload("shop", replicas=3))
    stateful = {"serviceName": "db", "replicas": 2, "volumeClaimTemplates": [CLAIM]}
    world.create("statefulsets.apps", workload("db", **stateful))
    world.create("daemonsets.apps", workload("agent"))
    pods = template({"podium.dev/duration": "10m"}, restartPolicy="Never")
    world.create("jobs.batch", {"metadata": {"name": "sum"}, "spec": {"template": pods}})
    for _ in range(4):
        run(world)
    assert len(world.pods()) == 8
    assert set(world.phases()) == {"Running"}
    return world


def test_running_workloads_stay_as_they_are(busy):
    objects = with_foreign_hashes(stored(busy))

    world = World(restored=state_of(objects))
    for _ in range(5):
        world.wait(60)

    before = {obj["metadata"]["uid"] for obj in objects if obj["kind"] == "Pod"}
    assert {pod["metadata"]["uid"] for pod in world.pods().values()} == before
    assert set(world.phases()) == {"Running"}
    assert set(world.names("replicasets.apps")) == {
        obj["metadata"]["name"] for obj in objects if obj["kind"] == "ReplicaSet"
    }


def test_workloads_go_on(busy):
    """The controllers know whom the pods belong to."""
    world = World(restored=state_of(with_foreign_hashes(stored(busy))))

    world.change("deployments.apps", "shop", lambda obj: obj["spec"].update(replicas=1))
    world.wait(60)
    world.delete("statefulsets.apps", "db")
    world.wait(60)

    kinds = [pod["metadata"]["ownerReferences"][0]["kind"] for pod in world.pods().values()]
    assert sorted(kinds) == ["DaemonSet", "DaemonSet", "Job", "ReplicaSet"]


def test_a_frozen_cluster_stays_as_it_was(busy):
    objects = stored(busy)

    async def scenario():
        clock = FakeClock()
        options = ClusterOptions(0, restored=state_of(objects, is_frozen=True))
        async with EmbeddedCluster(options, clock) as cluster:
            clock.advance(3600)
            found = [cluster.api.store.objects(each) for each in KEPT if each != "services"]
            return [obj for each in found for obj in each]

    kept = [obj for obj in objects if obj["kind"] != "Service"]
    assert without_versions(asyncio.run(scenario())) == without_versions(kept)


def test_objects_without_an_owner_are_kept():
    orphan = pod("orphan") | {"apiVersion": "v1", "kind": "Pod"}
    orphan["metadata"] |= {"uid": "1", "namespace": "default", "ownerReferences": [OWNER]}

    world = World(restored=state_of([orphan]))
    world.wait(3600)

    assert world.get("pods", "orphan")["metadata"]["ownerReferences"] == [OWNER]


def bare(kind, name, version="v1", **more):
    found = {"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": f"u-{name}"}}
    if kind == "Pod":
        found["metadata"]["namespace"] = "default"
    return {**found, **more}


def test_pods_on_nodes_that_are_not_there_are_kept():
    lost = bare("Pod", "lost", spec={**pod()["spec"], "nodeName": "elsewhere"})

    world = World(restored=state_of([lost]))
    world.wait(3600)

    assert world.names("pods") == ["lost"]


def test_pods_go_with_a_node_that_is_removed_later():
    here = bare("Pod", "here", spec={**pod()["spec"], "nodeName": "n1"})
    world = World(restored=state_of([bare("Node", "n1"), here]))
    world.wait(60)

    world.delete("nodes", "n1")
    world.wait(60)

    assert world.names("pods") == []


def test_jobs_that_were_running_do_not_end_by_themselves():
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}
    running = {"phase": "Running", "startTime": "2020-01-01T00:00:00Z"}
    spec = {**pod()["spec"], "nodeName": "n1", "restartPolicy": "Never"}
    task = bare("Pod", "t", spec=spec, status=running)
    task["metadata"]["ownerReferences"] = [owner]

    world = World(restored=state_of([bare("Node", "n1"), task]))
    world.wait(3600)

    assert world.status("pods", "t")["phase"] == "Running"


def test_nodes_get_nothing_that_decisions_depend_on():
    given = bare("Node", "n1", spec={"taints": [{"key": "a", "effect": "NoSchedule"}]})
    given["status"] = {"allocatable": {"cpu": "1"}}

    world = World(restored=state_of([given]))
    world.wait(3600)

    found = world.get("nodes", "n1")
    assert found["metadata"].get("labels") is None
    assert found["spec"]["taints"] == given["spec"]["taints"]
    assert found["status"]["allocatable"] == {"cpu": "1"}
    assert world.names("leases.coordination.k8s.io") == ["n1"]  # it is alive all the same


def test_bound_pods_start_on_restored_nodes():
    new = bare("Pod", "new", spec={**pod()["spec"], "nodeName": "n1"})
    given = bare("Node", "n1", status={"allocatable": {"cpu": "1", "pods": "10"}})

    world = World(restored=state_of([given, new]))
    world.wait(5)

    assert world.status("pods", "new")["phase"] == "Running"


def test_initial_objects_are_replaced():
    default = bare("Namespace", "default", status={"phase": "Active"})
    default["metadata"]["labels"] = {"team": "a"}

    world = World(restored=state_of([default]))

    meta = world.get("namespaces", "default")["metadata"]
    assert meta["uid"] == "u-default"
    assert meta["labels"]["team"] == "a"


def test_manifests_are_created_with_defaults():
    plain = {"apiVersion": "v1", "kind": "Pod", **pod("plain")}
    plain["metadata"]["namespace"] = "shop"

    world = World(restored=state_of([plain]))

    found = world.get("pods", "plain", "shop")
    assert found["metadata"]["uid"]
    assert found["spec"]["schedulerName"] == "default-scheduler"
    assert "shop" in world.names("namespaces")


def test_time_starts_when_the_snapshot_was_taken():
    async def scenario():
        async with EmbeddedCluster(ClusterOptions(0, restored=state_of([], taken_at=1e9))) as made:
            return made.clock.now()

    assert 1e9 <= asyncio.run(scenario()) < 1e9 + 60


def test_unknown_kinds_are_left_out(caplog):
    world = World(restored=state_of([bare("Widget", "w", "example.com/v1")]))
    assert world.names("nodes") == []
    assert "kind that is not served here" in caplog.text


def test_everything_wrong_is_reported():
    bad = [bare("Node", f"n{number}", spec=[]) for number in range(7)]
    with pytest.raises(PodiumError) as raised:
        World(restored=state_of(bad))
    assert str(raised.value).startswith("7 objects cannot be restored\n  Node n0: ")
    assert str(raised.value).endswith("\n  and 2 more")
