"""Simulated kubelets: what they report about their nodes."""

import pytest

from podium.apiserver.kubelet_nodes import host_address, pod_range
from podium.release import RELEASES
from tests.support.controllers import World, node

LEASES = "leases.coordination.k8s.io"


@pytest.fixture
def world():
    return World()


def conditions(world, name="n1"):
    return {one["type"]: one["status"] for one in world.status("nodes", name)["conditions"]}


def test_a_bare_node_becomes_a_whole_one(world):
    world.create("nodes", node())

    found = world.get("nodes", "n1")
    assert conditions(world) == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert "taints" not in found["spec"]
    assert found["spec"]["podCIDR"] == "10.0.0.0/24"
    assert found["metadata"]["labels"]["kubernetes.io/hostname"] == "n1"
    assert found["status"]["allocatable"] == found["status"]["capacity"]
    assert found["status"]["addresses"][0] == {"type": "InternalIP", "address": "172.16.0.2"}


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_kubelets_are_of_the_release(release):
    world = World(release=release)

    world.create("nodes", node())

    assert world.status("nodes", "n1")["nodeInfo"]["kubeletVersion"] == f"v{release}.0"


def test_what_a_node_says_of_itself_stays(world):
    given = node("n1", {"kubernetes.io/arch": "arm64"}, cpu="96")
    given["status"]["allocatable"] = {"cpu": "95"}
    world.create("nodes", given)

    status = world.status("nodes", "n1")
    assert status["capacity"] == {"cpu": "96", "pods": "110"}
    assert status["allocatable"] == {"cpu": "95", "pods": "110"}
    assert world.get("nodes", "n1")["metadata"]["labels"]["kubernetes.io/arch"] == "arm64"


def test_a_condition_that_somebody_set_is_not_overruled(world):
    world.create("nodes", node())
    found = world.get("nodes", "n1")
    for one in found["status"]["conditions"]:
        if one["type"] == "Ready":
            one.update(status="False", reason="Broken", message="pulled the plug")

    world.cluster.put("nodes", found)
    world.wait(600)

    assert conditions(world)["Ready"] == "False"


def test_leases_are_renewed(world):
    world.create("nodes", node())
    first = world.get(LEASES, "n1", "kube-node-lease")
    assert first["spec"]["holderIdentity"] == "n1"
    assert first["spec"]["leaseDurationSeconds"] == 40

    world.wait(10)
    second = world.get(LEASES, "n1", "kube-node-lease")
    assert second["spec"]["renewTime"] > first["spec"]["renewTime"]
    world.delete("nodes", "n1")

    assert world.names(LEASES) == []


def test_heartbeats_are_rare_and_change_nothing_else(world):
    world.create("nodes", node())
    before = world.get("nodes", "n1")
    world.wait(290)
    assert world.get("nodes", "n1") == before

    world.wait(20)

    times = {one["lastHeartbeatTime"] for one in world.status("nodes", "n1")["conditions"]}
    assert len(times) == 1
    assert times.pop() > before["status"]["conditions"][0]["lastHeartbeatTime"]


def test_numbers_of_nodes_that_left_are_used_again(world):
    for name in ("a", "b", "c"):
        world.create("nodes", node(name))
    world.delete("nodes", "b")
    for name in ("d", "e"):
        world.create("nodes", node(name))

    ranges = [world.get("nodes", name)["spec"]["podCIDR"] for name in ("a", "c", "d", "e")]
    assert ranges == ["10.0.0.0/24", "10.0.2.0/24", "10.0.1.0/24", "10.0.3.0/24"]


def test_addresses_of_nodes_do_not_clash():
    numbers = range(60_000)

    assert len(set(map(host_address, numbers))) == len(numbers)
    assert len(set(map(pod_range, numbers))) == len(numbers)
    assert pod_range(256 * 2 + 3) == "10.2.3.0/24"
