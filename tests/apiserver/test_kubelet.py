"""Simulated kubelets: the life of a pod as its status tells it."""

import pytest

from podium.apiserver.api import Call
from tests.support.controllers import World, container, node, pod


@pytest.fixture
def world():
    made = World()
    made.create("nodes", node(cpu="2", memory="4Gi"))
    return made


def conditions(world, name="web"):
    found = world.status("pods", name)["conditions"]
    return {one["type"]: one["status"] for one in found}


def test_an_unbound_pod_is_nobodys(world):
    world.create("pods", pod())
    world.wait(60)

    assert world.status("pods", "web") == {"phase": "Pending", "qosClass": "BestEffort"}


def test_a_bound_pod_is_created_first(world):
    world.create("pods", pod())
    world.bind("web", "n1")

    status = world.status("pods", "web")
    assert status["phase"] == "Pending"
    assert status["startTime"]
    assert status["hostIP"] == "172.16.0.2"
    assert status["hostIPs"] == [{"ip": "172.16.0.2"}]
    assert "podIP" not in status
    assert conditions(world) == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }
    (state,) = status["containerStatuses"]
    assert state["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert (state["ready"], state["started"]) == (False, False)


def test_then_it_runs(world):
    world.create("pods", pod(containers=[container(cpu="1")]))
    world.bind("web", "n1")
    world.wait(1)

    status = world.status("pods", "web")
    assert (status["phase"], status["qosClass"]) == ("Running", "Burstable")
    assert (status["podIP"], status["podIPs"]) == ("10.0.0.2", [{"ip": "10.0.0.2"}])
    assert set(conditions(world).values()) == {"True"}
    (state,) = status["containerStatuses"]
    assert state["state"]["running"]["startedAt"]
    assert (state["ready"], state["started"], state["restartCount"]) == (True, True, 0)
    assert state["containerID"].startswith("podium://")
    assert state["allocatedResources"] == {"cpu": "1"}


def test_addresses_are_unique_and_used_again(world):
    for name in ("a", "b", "c"):
        world.create("pods", pod(name))
    world.run_all()
    found = {name: one["status"]["podIP"] for name, one in world.pods().items()}
    assert found == {"a": "10.0.0.2", "b": "10.0.0.3", "c": "10.0.0.4"}

    world.delete("pods", "b")
    world.wait(2)
    world.create("pods", pod("d"))
    world.run_all()

    assert world.status("pods", "d")["podIP"] == "10.0.0.3"


def test_pods_on_the_host_network_have_its_address(world):
    world.create("pods", pod(hostNetwork=True))
    world.run_all()

    assert world.status("pods", "web")["podIP"] == world.status("pods", "web")["hostIP"]


def test_init_containers_end_and_sidecars_run(world):
    inits = [
        {"name": "once", "image": "a"},
        {"name": "beside", "image": "b", "restartPolicy": "Always"},
    ]
    world.create("pods", pod(initContainers=inits))
    world.bind("web", "n1")
    messages = {one.get("message") for one in world.status("pods", "web")["conditions"]}
    assert conditions(world)["Initialized"] == "False"
    assert "containers with unready status: [beside c]" in messages
    assert "containers with incomplete status: [once beside]" in messages
    world.wait(1)

    once, beside = world.status("pods", "web")["initContainerStatuses"]
    assert once["state"]["terminated"]["reason"] == "Completed"
    assert once["ready"]
    assert "running" in beside["state"]


def test_how_long_a_start_takes(world):
    world.create("pods", pod(annotations={"podium.dev/start-after": "5m"}))
    world.bind("web", "n1")

    world.wait(299)
    assert world.status("pods", "web")["phase"] == "Pending"
    world.wait(1)

    assert world.status("pods", "web")["phase"] == "Running"


@pytest.mark.parametrize(
    ("policy", "code", "phase", "reason"),
    [
        pytest.param("Never", "0", "Succeeded", "Completed", id="succeeds"),
        pytest.param("Never", "3", "Failed", "Error", id="fails"),
        pytest.param("OnFailure", "0", "Succeeded", "Completed", id="no-failure"),
    ],
)
def test_how_a_pod_ends(world, policy, code, phase, reason):
    annotations = {"podium.dev/duration": "20s", "podium.dev/exit-code": code}
    world.create("pods", pod(annotations=annotations, restartPolicy=policy))
    world.run_all()
    assert world.status("pods", "web")["phase"] == "Running"

    world.wait(20)

    status = world.status("pods", "web")
    over = status["containerStatuses"][0]["state"]["terminated"]
    assert status["phase"] == phase
    assert (over["reason"], over["exitCode"]) == (reason, int(code))
    assert conditions(world)["Ready"] == "False"


@pytest.mark.parametrize(("policy", "code"), [("Always", "0"), ("OnFailure", "1")])
def test_containers_start_again(world, policy, code):
    annotations = {"podium.dev/duration": "20s", "podium.dev/exit-code": code}
    world.create("pods", pod(annotations=annotations, restartPolicy=policy))
    world.run_all()

    world.wait(41)

    status = world.status("pods", "web")
    assert status["phase"] == "Running"
    assert status["containerStatuses"][0]["restartCount"] == 2


def test_annotations_that_cannot_be_read_are_told(world):
    world.create("pods", pod(annotations={"podium.dev/duration": "soon"}))
    world.run_all()

    assert world.status("pods", "web")["phase"] == "Running"
    assert "InvalidAnnotation" in world.reasons("web")


@pytest.mark.slow
def test_pods_without_an_end_run_on(world):
    world.create("pods", pod(restartPolicy="Never"))
    world.run_all()
    world.wait(100_000)

    assert world.status("pods", "web")["phase"] == "Running"


def test_deletion_takes_its_time_and_frees_the_node(world):
    world.create("pods", pod(containers=[container(cpu="2")]))
    world.run_all()

    world.delete("pods", "web")
    assert world.get("pods", "web")["metadata"]["deletionGracePeriodSeconds"] == 30
    world.wait(1)

    assert world.names("pods") == []
    world.create("pods", pod("next", containers=[container(cpu="2")]))
    world.run_all()
    assert world.status("pods", "next")["phase"] == "Running"


@pytest.mark.parametrize(
    ("stop", "grace", "there", "gone"),
    [
        pytest.param("10s", 30, 8, 3, id="stops-by-itself"),
        pytest.param("1h", 30, 28, 3, id="grace-ends"),
    ],
)
def test_slow_to_stop(world, stop, grace, there, gone):
    world.create("pods", pod(annotations={"podium.dev/stop-after": stop}))
    world.run_all()

    world.delete("pods", "web", grace_seconds=grace)
    world.wait(there)
    assert world.names("pods") == ["web"]
    world.wait(gone)

    assert world.names("pods") == []


def test_force_leaves_nothing(world):
    world.create("pods", pod())
    world.run_all()

    world.delete("pods", "web", grace_seconds=0)

    assert world.names("pods") == []


def test_a_deleted_pod_with_a_finalizer_ends_and_stays(world):
    made = pod()
    made["metadata"]["finalizers"] = ["example.com/wait"]
    world.create("pods", made)
    world.run_all()

    world.delete("pods", "web")
    world.wait(60)
    assert world.status("pods", "web")["phase"] == "Succeeded"
    world.change("pods", "web", lambda obj: obj["metadata"].pop("finalizers"))

    assert world.names("pods") == []


def test_a_pod_waits_for_its_claims(world):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    world.create("pods", pod(volumes=volumes))
    world.run_all()
    assert world.status("pods", "web")["phase"] == "Pending"

    size = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": size, "storageClassName": "s"}
    world.create("storageclasses.storage.k8s.io", {"metadata": {"name": "s"}, "provisioner": "p"})
    world.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": spec})
    world.wait(1)

    assert world.status("pods", "web")["phase"] == "Running"


def test_nodes_without_a_simulated_kubelet_run_nothing(world):
    silent = node("real")
    silent["metadata"]["annotations"] = {"podium.dev/kubelet": "none"}
    world.create("nodes", silent)
    world.create("pods", pod())
    world.bind("web", "real")
    world.wait(60)

    assert world.status("pods", "web")["phase"] == "Pending"
    assert "real" not in world.names("leases.coordination.k8s.io")


def test_a_pod_can_be_there_before_its_node(world):
    world.create("pods", pod(nodeName="later"))
    world.wait(5)
    assert world.status("pods", "web")["phase"] == "Pending"

    world.create("nodes", node("later"))
    world.wait(2)

    assert world.status("pods", "web")["phase"] == "Running"


def test_a_new_pod_of_the_same_name_is_another_pod(world):
    world.create("pods", pod(containers=[container(cpu="2")]))
    world.run_all()
    kind = world.api.kind("pods")
    world.cluster.delete_at_once("pods", ("default", "web"))
    world.api.create(kind, "default", pod(containers=[container(cpu="2")]), Call())

    world.run_all()

    assert world.status("pods", "web")["phase"] == "Running"
