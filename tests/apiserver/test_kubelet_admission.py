"""What a kubelet does not let in, and what it says then."""

import pytest

from tests.support.controllers import World, container, node, pod

PORT = {"containerPort": 80, "hostPort": 80}


@pytest.fixture
def world():
    made = World()
    first = node("n1", cpu="2", memory="4Gi")
    first["status"]["capacity"]["pods"] = "3"
    made.create("nodes", first)
    return made


def with_port(address=""):
    port = {**PORT, "hostIP": address} if address else PORT
    return {**container(), "ports": [port]}


@pytest.mark.parametrize(
    ("first", "second", "reason", "message"),
    [
        pytest.param(
            {"containers": [container(cpu="1500m")]},
            {"containers": [container(cpu="1")]},
            "OutOfcpu",
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, "
            "used: 1500, capacity: 2000",
            id="cpu",
        ),
        pytest.param(
            {"containers": [container(memory="3Gi")]},
            {"containers": [container(memory="2Gi")]},
            "OutOfmemory",
            "Pod was rejected: Node didn't have enough resource: memory, requested: 2147483648, "
            "used: 3221225472, capacity: 4294967296",
            id="memory",
        ),
        pytest.param(
            {},
            {"nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Pod was rejected: Predicate NodeAffinity failed: "
            "node(s) didn't match Pod's node affinity/selector",
            id="misplaced",
        ),
        pytest.param(
            {"containers": [with_port()]},
            {"containers": [with_port("10.1.2.3")]},
            "NodePorts",
            "Pod was rejected: Predicate NodePorts failed: "
            "node(s) didn't have free ports for the requested pod ports",
            id="port",
        ),
    ],
)
def test_rejections(world, first, second, reason, message):
    world.create("pods", pod("first", **first))
    world.run_all()
    world.create("pods", pod("second", **second))
    world.bind("second", "n1")

    status = world.status("pods", "second")
    start = status.pop("startTime")
    assert start
    assert status.pop("qosClass")
    assert status == {
        "phase": "Failed",
        "reason": reason,
        "message": message,
        "observedGeneration": 1,
    }
    assert reason in world.reasons("second")
    assert world.status("pods", "first")["phase"] == "Running"


def test_too_many_pods(world):
    for name in ("a", "b", "c", "d"):
        world.create("pods", pod(name))
    world.run_all()

    assert world.phases() == ["Failed", "Running", "Running", "Running"]
    assert world.status("pods", "d")["reason"] == "OutOfpods"


def test_taints_that_evict_keep_a_pod_out(world):
    taints = [{"key": "gpu", "effect": "NoExecute"}]
    world.change("nodes", "n1", lambda obj: obj["spec"].update(taints=taints))
    world.create("pods", pod())
    world.bind("web", "n1")

    assert world.status("pods", "web")["reason"] == "TaintToleration"


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param({"cpu": "500m"}, id="what-is-left"),
        pytest.param({"example.com/gpu": "1"}, id="a-device-it-does-not-know"),
    ],
)
def test_admitted(world, requests):
    world.create("pods", pod("first", containers=[container(cpu="1500m")]))
    world.create("pods", pod("second", containers=[container(**requests)]))
    world.run_all()

    assert world.phases() == ["Running", "Running"]


def test_a_node_that_comes_back_still_has_its_pods(world):
    world.create("pods", pod("first", containers=[container(cpu="2")]))
    world.run_all()
    world.delete("nodes", "n1")
    world.create("nodes", node("n1", cpu="2"))

    world.create("pods", pod("second", containers=[container(cpu="1")]))
    world.create("pods", pod("third"))
    world.run_all()

    assert world.status("pods", "second")["reason"] == "OutOfcpu"
    addresses = [world.status("pods", name)["podIP"] for name in ("first", "third")]
    assert addresses == ["10.0.0.2", "10.0.0.3"]


def test_pods_that_ended_use_nothing(world):
    annotations = {"podium.dev/duration": "1s"}
    work = pod("first", annotations, containers=[container(cpu="2")], restartPolicy="Never")
    world.create("pods", work)
    world.run_all()
    world.wait(2)

    world.create("pods", pod("second", containers=[container(cpu="2")]))
    world.run_all()

    assert world.phases() == ["Running", "Succeeded"]
