"""The selector of a pod's workload: its services, then its controller."""

import msgspec
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
from podium.api.selectors import EVERYTHING, from_map, label_selector
from podium.framework.workload_selectors import default_selector
from podium.state.cluster import ClusterState, load
from podium.testing.builders import pairs, pod


def service(selector, name="svc", namespace="default"):
    wanted = None if selector is None else pairs(selector)
    return Service(ObjectMeta(name=name, namespace=namespace), ServiceSpec(wanted))


def replication_controller(selector):
    spec = ReplicationControllerSpec(pairs(selector))
    return ReplicationController(ObjectMeta(name="rc", namespace="default"), spec)


def controlled(kind, written, name="set", namespace="default"):
    selector = None if written is None else msgspec.convert(written, LabelSelector)
    return kind(ObjectMeta(name=name, namespace=namespace), WorkloadSpec(selector))


def owner(kind, name="set", version="apps/v1", controller=True):
    return OwnerReference(version, kind, name, f"uid-{name}", controller)


def selector_of(objects, *owners, labels="app=web tier=front"):
    cluster = ClusterState()
    load(cluster, objects)
    return default_selector(cluster, pod(labels=labels, owner_references=owners))


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        pytest.param([], {}, id="none"),
        pytest.param([service("app=web")], {"app": "web"}, id="selects-it"),
        pytest.param([service("app=db")], {}, id="selects-others"),
        pytest.param([service("app=web tier=back")], {}, id="every-pair-must-be-equal"),
        pytest.param([service("app=web", namespace="other")], {}, id="of-another-namespace"),
        pytest.param([service(None), service("", "blank")], {}, id="ask-for-nothing"),
        pytest.param(
            [service("app=web"), service("tier=front", "two"), service("app=db", "three")],
            {"app": "web", "tier": "front"},
            id="merged",
        ),
    ],
)
def test_services(services, expected):
    assert selector_of(services) == from_map(expected)


IN_WEB = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}


@pytest.mark.parametrize("kind", [ReplicaSet, StatefulSet])
def test_a_set_brings_its_whole_selector(kind):
    found = selector_of([controlled(kind, IN_WEB)], owner(kind.__name__))

    assert found == label_selector(msgspec.convert(IN_WEB, LabelSelector))


@pytest.mark.parametrize(
    ("owned", "by"),
    [
        pytest.param(controlled(ReplicaSet, IN_WEB), owner("ReplicaSet", "gone"), id="gone"),
        pytest.param(
            controlled(ReplicaSet, IN_WEB), owner("ReplicaSet", controller=None), id="no-controller"
        ),
        pytest.param(
            controlled(ReplicaSet, IN_WEB), owner("ReplicaSet", version="v1"), id="another-group"
        ),
        pytest.param(controlled(ReplicaSet, IN_WEB), owner("DaemonSet"), id="another-kind"),
        pytest.param(
            controlled(ReplicaSet, IN_WEB, namespace="other"),
            owner("ReplicaSet"),
            id="another-namespace",
        ),
        pytest.param(controlled(ReplicaSet, None), owner("ReplicaSet"), id="no-selector"),
        pytest.param(
            controlled(ReplicaSet, {"matchExpressions": [{"key": "app", "operator": "Near"}]}),
            owner("ReplicaSet"),
            id="unreadable-selector",
        ),
        pytest.param(
            replication_controller("app=web"),
            owner("ReplicationController", "rc", "apps/v1"),
            id="controller-of-another-group",
        ),
    ],
)
def test_owners_that_say_nothing(owned, by):
    assert selector_of([owned], by) == EVERYTHING


def test_services_and_the_controller_together():
    objects = [service("app=web"), controlled(StatefulSet, {"matchLabels": {"tier": "front"}})]

    found = selector_of(objects, owner("StatefulSet"))

    assert found == from_map({"app": "web", "tier": "front"})


def test_a_replication_controller_wins_over_services():
    by = owner("ReplicationController", "rc", "v1")

    found = selector_of([service("app=web"), replication_controller("app=old tier=front")], by)

    assert found == from_map({"app": "old", "tier": "front"})


def test_only_the_first_controller_counts():
    first, second = owner("Job", "job", "batch/v1"), owner("ReplicaSet")

    assert selector_of([controlled(ReplicaSet, IN_WEB)], first, second) == EVERYTHING
