"""ReplicaSets: the right number of pods, adopted, released, and given up in the right order."""

import pytest

from podium.apiserver.controllers.pods import Condition, PodMeta, PodSpec, PodStatus, PodView
from podium.apiserver.controllers.replica_set import count_pods, first_to_go
from tests.support.controllers import pod, workload

SETS = "replicasets.apps"


def test_pods_come_and_go_with_the_size(world):
    world.create(SETS, workload(replicas=3))
    assert len(world.pods(app="web")) == 3

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=1))
    assert len(world.pods(app="web")) == 1

    world.change(SETS, "web", lambda obj: obj["spec"].update(replicas=0))
    assert world.pods(app="web") == {}
    assert world.status(SETS, "web")["replicas"] == 0


def test_pods_belong_to_their_set(world):
    made = world.create(SETS, workload(replicas=1))

    (found,) = world.pods(app="web").values()

    (owner,) = found["metadata"]["ownerReferences"]
    assert found["metadata"]["generateName"] == "web-"
    assert (owner["kind"], owner["uid"]) == ("ReplicaSet", made["metadata"]["uid"])
    assert owner["controller"]
    assert owner["blockOwnerDeletion"]


def test_status_counts_ready_pods(world):
    world.create(SETS, workload(replicas=2))
    assert world.status(SETS, "web") == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "observedGeneration": 1,
    }

    world.run_all()

    assert world.status(SETS, "web")["readyReplicas"] == 2
    assert world.status(SETS, "web")["availableReplicas"] == 2


def test_available_only_after_min_ready_seconds(world):
    world.create(SETS, workload(replicas=1, minReadySeconds=30))
    world.run_all()
    assert world.status(SETS, "web")["readyReplicas"] == 1
    assert "availableReplicas" not in world.status(SETS, "web")

    world.wait(30)

    assert world.status(SETS, "web")["availableReplicas"] == 1


def test_failed_and_deleted_pods_are_replaced(world):
    world.create(SETS, workload(replicas=1))
    (name,) = world.pods(app="web")

    world.delete("pods", name)

    assert len(world.pods(app="web")) == 1
    assert name not in world.pods(app="web")


def test_orphans_are_adopted_and_count(world):
    world.create("pods", pod("lonely", labels={"app": "web"}))

    world.create(SETS, workload(replicas=2))

    assert len(world.pods(app="web")) == 2
    assert world.pods()["lonely"]["metadata"]["ownerReferences"][0]["name"] == "web"


def test_a_pod_that_no_longer_matches_is_released(world):
    world.create(SETS, workload(replicas=1))
    (name,) = world.pods(app="web")

    world.change("pods", name, lambda obj: obj["metadata"]["labels"].update(app="other"))

    assert not world.pods()[name]["metadata"].get("ownerReferences")
    assert len(world.pods(app="web")) == 1


def test_refused_pods_are_told_and_tried_again(world):
    spec = workload(replicas=1)
    spec["spec"]["template"]["spec"]["priorityClassName"] = "urgent"
    world.create(SETS, spec)
    assert world.status(SETS, "web")["conditions"][0]["type"] == "ReplicaFailure"
    assert "FailedCreate" in world.reasons("web")

    kind = "priorityclasses.scheduling.k8s.io"
    world.create(kind, {"metadata": {"name": "urgent"}, "value": 5})
    world.wait(120)

    assert len(world.pods(app="web")) == 1
    assert "conditions" not in world.status(SETS, "web")


def test_replication_controllers_do_the_same(world):
    spec = workload(replicas=2)
    spec["spec"]["selector"] = {"app": "web"}

    world.create("replicationcontrollers", spec)
    world.run_all()

    assert world.status("replicationcontrollers", "web")["readyReplicas"] == 2


def view(name, node="n", phase="Running", ready="2026-01-01T00:00:00Z", **annotations):
    conditions = [Condition("Ready", "True", ready)] if ready else []
    meta = PodMeta(name, "default", annotations=annotations, creation_timestamp=name)
    return PodView(meta, PodSpec(node), PodStatus(phase, None, conditions))


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param([view("a"), view("b", node="")], "ba", id="unbound-first"),
        pytest.param([view("a"), view("b", phase="Pending")], "ba", id="pending-first"),
        pytest.param([view("a"), view("b", ready="")], "ba", id="unready-first"),
        pytest.param(
            [view("a"), view("b", **{"controller.kubernetes.io/pod-deletion-cost": "-1"})],
            "ba",
            id="cheap-first",
        ),
        pytest.param([view("a", "x"), view("b", "y"), view("c", "y")], "cba", id="crowded-first"),
        pytest.param([view("a"), view("b", ready="2026-01-02T00:00:00Z")], "ba", id="latest-ready"),
        pytest.param([view("a"), view("b")], "ba", id="youngest-first"),
    ],
)
def test_who_goes_first(pods, expected):
    assert "".join(found.name for found in first_to_go(pods)) == expected


def test_counts_say_when_the_next_is_available():
    pods = [view("a", ready="2026-01-01T00:00:10Z"), view("b", ready="2026-01-01T00:00:00Z")]

    counts = count_pods(pods, 30, 1767225600 + 35)

    assert counts == (2, 1, 5.0)
