"""What is in a snapshot, in numbers, and references that lead nowhere."""

import json

import pytest

from podium.errors import InvalidObject
from podium.snapshot import KindName, Snapshot
from podium.snapshot.references import dangling_references
from podium.snapshot.summary import summarize

POD, NODE, SET = KindName("v1", "Pod"), KindName("v1", "Node"), KindName("apps/v1", "ReplicaSet")
CLAIM = KindName("v1", "PersistentVolumeClaim")
GIB = 1 << 30


def encoded(*objects):
    return tuple(json.dumps(obj).encode() for obj in objects)


def node(name, ready="True", **spec):
    conditions = [{"type": "Ready", "status": ready}]
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110", "example.com/gpu": "2"}
    status = {"allocatable": amounts, "conditions": conditions}
    return {"metadata": {"name": name}, "spec": spec, "status": status}


def pod(name, node_name="", status=None, owner=None, **spec):
    meta = {"name": name, "namespace": "default"}
    if owner:
        meta["ownerReferences"] = [{"kind": "ReplicaSet", "uid": owner, "controller": True}]
    requests = {"cpu": "500m", "memory": "1Gi", "example.com/gpu": "1"}
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests}}]
    return {
        "metadata": meta,
        "spec": {"containers": containers, "nodeName": node_name, **spec},
        "status": status or {},
    }


def test_numbers():
    found = summarize(
        Snapshot(
            {
                NODE: encoded(node("a"), node("b", ready="False", unschedulable=True)),
                POD: encoded(
                    pod("bound", "a"),
                    pod("ended", "a", {"phase": "Succeeded"}),
                    pod("pending"),
                    pod("gated", schedulingGates=[{"name": "g"}]),
                ),
            }
        )
    )

    assert found.objects == {"Node": 2, "Pod": 4}
    assert found.nodes == {"ready": 1, "not ready": 1, "unschedulable": 1}
    assert found.pods == {"bound": 1, "ended": 1, "pending": 1, "gated": 1}
    assert found.allocatable == {
        "cpu": 8000,
        "memory": 16 * GIB,
        "pods": 220,
        "example.com/gpu": 4,
    }
    assert found.requested == {"cpu": 500, "memory": GIB, "pods": 1, "example.com/gpu": 1}
    assert found.dangling == ()


@pytest.mark.parametrize(
    ("pods", "sentences"),
    [
        pytest.param([pod("p", "a", owner="known")], [], id="nothing"),
        pytest.param(
            [pod("p", "gone")],
            ["pods on nodes that are not there, which take no room: 1 (default/p)"],
            id="node",
        ),
        pytest.param([pod("p", "gone", {"phase": "Failed"})], [], id="ended"),
        pytest.param(
            [pod("p", status={"nominatedNodeName": "gone"})],
            ["pods nominated for nodes that are not there: 1 (default/p)"],
            id="nomination",
        ),
        pytest.param(
            [pod(f"p{number}", owner="gone") for number in range(5)],
            [
                (
                    "pods owned by objects that are not there: 5 "
                    "(default/p0, default/p1, default/p2 and 2 more)"
                ),
            ],
            id="owner",
        ),
        pytest.param(
            [pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}])],
            ["pods with persistent volume claims that are not there: 1 (default/p)"],
            id="claim",
        ),
    ],
)
def test_dangling_references(pods, sentences):
    owner = {"metadata": {"name": "s", "namespace": "default", "uid": "known"}}
    snapshot = Snapshot({NODE: encoded(node("a")), SET: encoded(owner), POD: encoded(*pods)})
    assert dangling_references(snapshot) == sentences


def test_claims_without_their_volume():
    claim = {"metadata": {"name": "c", "namespace": "x"}, "spec": {"volumeName": "gone"}}
    assert dangling_references(Snapshot({CLAIM: encoded(claim)})) == [
        "persistent volume claims bound to volumes that are not there: 1 (x/c)"
    ]


def test_objects_that_cannot_be_read():
    bad = {"metadata": {"name": "n"}, "status": {"allocatable": []}}
    with pytest.raises(InvalidObject, match=r"Node n: status.allocatable"):
        summarize(Snapshot({NODE: encoded(bad)}))
