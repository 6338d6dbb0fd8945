"""The selector that stands for a pod's workload."""

import pytest

from podium.api.objects import (
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    ReplicaSet,
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
    StatefulSet,
    WorkloadSpec,
)
from podium.api.selectors import EVERYTHING
from podium.state.cluster import ClusterState
from podium.state.workload_selectors import default_selector
from tests.builders import pairs, pod


def meta(name, namespace="default"):
    return ObjectMeta(name=name, namespace=namespace)


def service(name, selector, namespace="default"):
    wanted = None if selector is None else pairs(selector)
    return Service(metadata=meta(name, namespace), spec=ServiceSpec(selector=wanted))


def replicas(kind, name, selector):
    wanted = None if selector is None else LabelSelector(match_labels=pairs(selector))
    return kind(metadata=meta(name), spec=WorkloadSpec(selector=wanted))


def controller(name, selector):
    spec = ReplicationControllerSpec(selector=pairs(selector))
    return ReplicationController(metadata=meta(name), spec=spec)


def owned(kind, name, version="apps/v1", is_controller=True):
    return (OwnerReference(version, kind, name, "uid", is_controller),)


WEB = "app=web tier=front"


@pytest.mark.parametrize(
    ("objects", "owners", "expected"),
    [
        pytest.param([], (), "", id="nobody"),
        pytest.param([service("s", "app=web")], (), "app=web", id="service"),
        pytest.param([service("s", "app=db")], (), "", id="service-of-others"),
        pytest.param([service("s", None)], (), "", id="service-without-selector"),
        pytest.param([service("s", "")], (), "", id="service-that-asks-nothing"),
        pytest.param([service("s", "app=web", "other")], (), "", id="service-elsewhere"),
        pytest.param([service("s", "app=web"), service("t", "tier=front")], (), WEB,
                     id="two-services"),
        pytest.param([replicas(ReplicaSet, "r", "app=web")], owned("ReplicaSet", "r"), "app=web",
                     id="replica-set"),
        pytest.param([replicas(StatefulSet, "r", "app=web")], owned("StatefulSet", "r"), "app=web",
                     id="stateful-set"),
        pytest.param([controller("r", "app=web")], owned("ReplicationController", "r", "v1"),
                     "app=web", id="replication-controller"),
        pytest.param([replicas(ReplicaSet, "r", "app=web")], owned("ReplicaSet", "other"), "",
                     id="unknown-owner"),
        pytest.param([replicas(ReplicaSet, "r", "app=web")],
                     owned("ReplicaSet", "r", is_controller=False), "", id="not-the-controller"),
        pytest.param([replicas(ReplicaSet, "r", "app=web")],
                     owned("ReplicaSet", "r", "example.com/v1"), "", id="kind-of-another-group"),
        pytest.param([replicas(ReplicaSet, "r", None)], owned("ReplicaSet", "r"), "",
                     id="set-that-selects-nothing"),
        pytest.param([replicas(ReplicaSet, "r", "not@key=x")], owned("ReplicaSet", "r"), "",
                     id="set-that-cannot-be-read"),
        pytest.param([service("s", "app=web"), replicas(ReplicaSet, "r", "tier=front")],
                     owned("ReplicaSet", "r"), WEB, id="service-and-set"),
    ],
)  # fmt: skip
def test_default_selector(objects, owners, expected):
    cluster = ClusterState()
    for obj in objects:
        cluster.set_object(obj)
    subject = pod(labels=WEB, owner_references=owners)

    found = default_selector(cluster, subject)

    demands = {requirement.key: requirement.values for requirement in found.requirements}
    assert demands == {key: (value,) for key, value in pairs(expected).items()}
    assert (found == EVERYTHING) == (not expected)


def test_equal_pods_share_one_selector():
    cluster = ClusterState()
    cluster.set_object(service("s", "app=web"))

    first, second = (default_selector(cluster, pod(name, labels=WEB)) for name in "xy")

    assert first is second
