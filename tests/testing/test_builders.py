"""Builders make what their words say, and what an API server accepts."""

import pytest

from podium.api import resources
from podium.api.objects import Taint, Toleration
from podium.testing import claim, namespace, node, pod, service, storage_class, volume


def test_a_pod_in_the_notation_of_users():
    made = pod(
        "web",
        cpu="500m",
        requests={"example.com/gpu": 1},
        labels="app=web tier=front",
        tolerates="gpu=a100:NoSchedule spot:",
        node_selector="disk=ssd",
        claims="data logs",
        priority=7,
        annotations={"team": "blue"},
    )

    assert (made.key, made.uid, made.priority) == ("default/web", "uid-web", 7)
    assert made.labels == {"app": "web", "tier": "front"}
    assert made.metadata.annotations == {"team": "blue"}
    assert made.spec.node_selector == {"disk": "ssd"}
    assert made.spec.tolerations == (
        Toleration("gpu", "Equal", "a100", "NoSchedule"),
        Toleration("spot", "Exists", "", ""),
    )
    assert made.spec.containers[0].resources.requests == {"cpu": "500m", "example.com/gpu": 1}
    mounted = [each.persistent_volume_claim.claim_name for each in made.spec.volumes]
    assert mounted == ["data", "logs"]


def test_a_node_in_the_notation_of_users():
    made = node("a", cpu="8", memory=None, taints="gpu=a100:NoSchedule", labels="zone=z1")

    assert resources.allocatable(made) == {"cpu": 8000, "pods": 110}
    assert made.spec.taints == (Taint("gpu", "a100", "NoSchedule"),)
    assert made.labels == {"zone": "z1"}


@pytest.mark.parametrize(
    ("build", "message"),
    [
        pytest.param(lambda: pod("web", colour="red"), "PodSpec has no colour", id="pod"),
        pytest.param(lambda: node("a", colour="red"), "NodeStatus has no colour", id="node"),
        pytest.param(lambda: namespace("a", colour="red"), "ObjectMeta has no colour", id="meta"),
    ],
)
def test_a_word_that_means_nothing_is_refused(build, message):
    with pytest.raises(TypeError, match=message):
        build()


@pytest.mark.parametrize(
    ("bound", "phase"),
    [pytest.param("pv-1", "Bound", id="bound"), pytest.param("", "Pending", id="open")],
)
def test_a_claim_is_bound_to_the_volume_it_names(bound, phase):
    made = claim("data", storage="5Gi", volume=bound, annotations={"a": "b"})

    assert (made.spec.volume_name, made.status.phase) == (bound, phase)
    assert made.spec.resources.requests == {"storage": "5Gi"}
    completed = "pv.kubernetes.io/bind-completed" in made.metadata.annotations
    assert (completed, made.metadata.annotations["a"]) == (bool(bound), "b")


def test_a_volume_is_for_the_claim_it_names():
    made = volume("pv-1", claim="data", csi={"driver": "disks.example.com", "volumeHandle": "h"})

    assert (made.spec.claim_ref.namespace, made.spec.claim_ref.name) == ("default", "data")
    assert made.spec.csi.driver == "disks.example.com"
    assert made.namespace == ""


def test_what_builders_make_is_accepted_by_an_api_server(cluster):
    cluster.create(
        namespace("blue", labels="team=blue"),
        storage_class(),
        node("a"),
        volume("pv-1", claim="data", host_path={"path": "/data"}),
        claim("data", volume="pv-1"),
        pod("web", cpu="1", claims="data", labels="app=web", tolerates="spot:", host_ports=(80,)),
    )
    cluster.wait(1)

    assert cluster.node_of("web") == "a"


def test_services_select_pods():
    assert service("web", selector="app=web tier=front").spec.selector == {
        "app": "web",
        "tier": "front",
    }


@pytest.mark.parametrize(
    "text", ["app=web tier=front", "app=web,tier=front", "app=web, tier=front"]
)
def test_labels_in_either_notation(text):
    assert pod(labels=text).labels == {"app": "web", "tier": "front"}


@pytest.mark.parametrize("text", ["app", "app=web,tier", "=web"])
def test_a_label_is_a_key_and_a_value(text):
    with pytest.raises(ValueError, match=r"is not key=value$"):
        pod(labels=text)
