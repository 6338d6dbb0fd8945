"""Fields that the scheduler does not see while their feature gate is off."""

import asyncio
import json

import pytest

from podium.app.ignored_fields import watched_nodes, watched_pods
from podium.client.resources import NODES, PODS
from podium.config.feature_gates import FeatureGates, parse
from podium.release import RELEASES, V1_36
from podium.testing import SimulatedCluster
from tests.support.scenarios import node, pod

LEVEL, RESIZE = "PodLevelResources", "InPlacePodLevelResourcesVerticalScaling"
POD = {
    "metadata": {"name": "web", "namespace": "default", "uid": "u"},
    "spec": {"resources": {"requests": {"cpu": "3"}}, "containers": [{"name": "c"}]},
    "status": {
        "phase": "Running",
        "resources": {"requests": {"cpu": "2"}},
        "allocatedResources": {"cpu": "2"},
    },
}
NODE = {"metadata": {"name": "n"}, "status": {"declaredFeatures": ["A"], "phase": "Running"}}


def decoded(resource, obj):
    return resource.decode(json.dumps(obj).encode(), None)


@pytest.mark.parametrize("release", RELEASES, ids=str)
@pytest.mark.parametrize(
    ("off", "spec", "status"),
    [
        pytest.param([], True, True, id="both-on"),
        pytest.param([RESIZE], True, False, id="no-resize"),
        pytest.param([LEVEL, RESIZE], False, False, id="no-pod-level-resources"),
    ],
)
def test_pod_level_resources(release, off, spec, status):
    found = decoded(watched_pods(FeatureGates(release, dict.fromkeys(off, False))), POD)

    assert (found.spec.resources is not None) is spec
    assert (found.status.resources is not None) is status
    assert bool(found.status.allocated_resources) is status
    assert found.status.phase == "Running"


@pytest.mark.parametrize(
    ("chosen", "features"), [({}, ("A",)), ({"NodeDeclaredFeatures": False}, ())]
)
def test_declared_features(chosen, features):
    found = decoded(watched_nodes(FeatureGates(V1_36, chosen)), NODE)

    assert found.status.declared_features == features


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_nothing_is_changed_by_default(release):
    gates = FeatureGates(release)

    assert watched_pods(gates) is PODS
    assert watched_nodes(gates) is NODES


def test_the_gates_can_be_turned_off_together():
    """Each needs others to be off, as upstream."""
    of_others = "ExtendWebSocketsToKubelet InPlacePodVerticalScalingInitContainers "
    of_others += "RestartAllContainersOnContainerExits"
    names = ["NodeDeclaredFeatures", LEVEL, RESIZE, *of_others.split()]

    gates = parse([f"{name}=false" for name in names], V1_36)

    assert not any(gates.enabled(name) for name in names[:3])


class WithoutPodLevel(SimulatedCluster):
    gates = FeatureGates(chosen={LEVEL: False, RESIZE: False})


@pytest.mark.parametrize(("kind", "placed"), [(SimulatedCluster, None), (WithoutPodLevel, "n1")])
def test_a_pod_that_asks_for_more_than_its_containers(kind, placed):
    async def run():
        async with kind() as cluster:
            web = pod("web", cpu="1", resources={"requests": {"cpu": "8"}})
            await cluster.create(node("n1", cpu="4"), web)
            await cluster.settle()
            assert cluster.node_of("web") == placed

    asyncio.run(run())
