"""What is sent to an API server: marked as ours, and free of what only servers may set."""

import msgspec
import pytest

from podium.api.objects import (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from podium.bench.live.manifests import LABEL, Marking, take_priority
from podium.bench.objects import bound_pair, csi_node
from podium.bench.ops import CreateNodes
from podium.bench.templates import Template

MARKING = Marking("run-1")
NODE = Template({"kind": "Node", "metadata": {"labels": {"team": "a"}}, "status": {"phase": "x"}})


@pytest.mark.parametrize("kind", [Node, PersistentVolume, StorageClass])
def test_objects_without_a_namespace_carry_the_label(kind):
    template = Template({"kind": kind.__name__, "metadata": {"labels": {"team": "a"}}, "spec": {}})

    manifest = MARKING.of_json(kind, template.json(7, ""))

    assert manifest.body["metadata"]["labels"].items() >= {"team": "a", LABEL: "run-1"}.items()
    assert manifest.namespace == ""
    assert "namespace" not in manifest.body["metadata"]


def test_pods_are_as_their_template():
    template = Template({"kind": "Pod", "metadata": {"labels": {"app": "web"}}, "spec": {"a": 1}})

    manifest = MARKING.pod(template.json(7, "shop"))

    assert manifest.body["metadata"] == {
        "name": "pod-7",
        "namespace": "shop",
        "labels": {"app": "web"},
    }
    assert manifest.body["spec"] == {"a": 1}
    assert manifest.collection == "/api/v1/namespaces/shop/pods"


def test_a_pod_may_be_bound_from_the_start():
    manifest = MARKING.pod(Template({"kind": "Pod", "spec": {}}).json(7, "shop"), "node-3")

    assert manifest.body["spec"] == {"nodeName": "node-3"}


@pytest.mark.parametrize("made", ["by createNodes", "by createAny"])
def test_nodes_have_their_hostname(made):
    if made == "by createNodes":
        manifest = MARKING.node(NODE, CreateNodes(opcode="createNodes", count=1), 7, 0)
    else:
        manifest = MARKING.of_json(Node, NODE.json(7, ""))

    labels = {"team": "a", "kubernetes.io/hostname": "node-7", LABEL: "run-1"}
    assert manifest.body["metadata"] == {"name": "node-7", "labels": labels}


def test_strategies_of_nodes():
    op = msgspec.convert(
        {
            "opcode": "createNodes",
            "count": 2,
            "labelNodePrepareStrategy": {"labelKey": "zone", "labelValues": ["a", "b"]},
            "nodeAllocatableStrategy": {
                "nodeAllocatable": {"pods": "2"},
                "csiNodeAllocatable": {"disk": {"count": 9}},
            },
        },
        CreateNodes,
    )
    template = Template({"kind": "Node", "status": {"capacity": {"cpu": "4"}, "images": []}})

    manifest = MARKING.node(template, op, 7, 1)
    drivers = MARKING.of_struct(csi_node(manifest.name, op))

    assert manifest.body["metadata"]["labels"]["zone"] == "b"
    assert manifest.body["status"]["allocatable"] == {"cpu": "4", "pods": "2"}
    assert manifest.body["status"]["images"] == []
    assert drivers.collection == "/apis/storage.k8s.io/v1/csinodes"
    assert drivers.body["spec"]["drivers"][0]["allocatable"] == {"count": 9}


def test_a_volume_names_its_claim_without_a_uid():
    volume, claim = (Template({"kind": kind.__name__, "spec": {}}) for kind in STORAGE)

    made = bound_pair(volume, claim, 3, "shop", 3)
    of_volume, of_claim = (
        MARKING.of_json(kind, data) for kind, data in zip(STORAGE, made, strict=True)
    )

    reference = of_volume.body["spec"]["claimRef"]
    assert (reference["namespace"], reference["name"]) == ("shop", of_claim.name)
    assert "uid" not in reference
    assert of_claim.body["spec"]["volumeName"] == of_volume.name


STORAGE = (PersistentVolume, PersistentVolumeClaim)


def test_namespaces_are_named_by_the_operation():
    template = Template({"kind": "Namespace", "metadata": {"labels": {"team": "a"}}})

    body = MARKING.namespace(template, "before-0").body

    assert body["metadata"] == {"name": "before-0", "labels": {"team": "a", LABEL: "run-1"}}
    assert (body["kind"], body["apiVersion"]) == (Namespace.__name__, "v1")


@pytest.mark.parametrize(
    ("spec", "value", "class_name"),
    [
        pytest.param({}, None, None, id="none"),
        pytest.param({"priority": 10}, 10, "podium-bench-10", id="number"),
        pytest.param({"priority": -5}, -5, "podium-bench-minus-5", id="negative"),
        pytest.param({"priority": 1, "priorityClassName": "x"}, None, "x", id="class-is-there"),
    ],
)
def test_priorities_become_classes(spec, value, class_name):
    pod = MARKING.pod(Template({"kind": Pod.__name__, "spec": spec}).json(1, "shop"))

    assert take_priority(pod) == value
    assert pod.body["spec"].get("priorityClassName") == class_name
    if value is not None:
        made = MARKING.priority_class(value)
        assert (made.name, made.body["value"]) == (class_name, value)
        assert "priority" not in pod.body["spec"]
