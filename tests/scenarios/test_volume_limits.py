"""Limits on volumes hold in profiles without the plugins that follow volumes and classes."""

import asyncio

import pytest

from podium import app, config
from podium.config import upstream
from podium.legacy import VERSIONS
from podium.testing import SimulatedCluster
from tests.support.scenarios import node, pod

DRIVER = "disk.example.com"
EXCEEDED = "0/1 nodes are available: 1 node(s) exceed max volume count."
DISABLED = ("VolumeBinding", "VolumeZone", "VolumeRestrictions")


def without_volume_plugins(version, *enabled):
    """A profile that limits volumes and has no other plugin for them."""
    registry = app.in_tree_with_legacy()
    off = [*DISABLED, *(name for name in ("EBSLimits", "NodeVolumeLimits") if name not in enabled)]
    points = ("multiPoint",) if version == "v1" else ("preFilter", "filter", "reserve", "preBind")
    plugins = {point: {"disabled": [{"name": name} for name in off]} for point in points}
    value = {
        "apiVersion": f"{upstream.GROUP}/{version}",
        "kind": upstream.KIND,
        "profiles": [{"plugins": plugins}],
    }
    return config.from_value(value, registry, versions=VERSIONS), registry


def bound(name, source):
    """A claim and the volume that it is bound to."""
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, **source}
    return (
        {
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{name}"},
            "spec": {**spec, "claimRef": {"namespace": "default", "name": name}},
        },
        {
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "volumeName": f"pv-{name}",
                "storageClassName": "",
            },
        },
    )


def using(name, claim):
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    return pod(name, volumes=[volume])


def csi(name):
    return {"csi": {"driver": DRIVER, "volumeHandle": name}}


def ebs(name):
    return {"awsElasticBlockStore": {"volumeID": name}}


CSI_NODE = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSINode",
    "metadata": {"name": "n1"},
    "spec": {"drivers": [{"name": DRIVER, "nodeID": "n1", "allocatable": {"count": 1}}]},
}


@pytest.mark.parametrize(
    ("version", "plugin", "source", "node_objects"),
    [
        pytest.param("v1", "NodeVolumeLimits", csi, [node(), CSI_NODE], id="v1-NodeVolumeLimits"),
        pytest.param(
            "v1beta2", "NodeVolumeLimits", csi, [node(), CSI_NODE], id="v1beta2-NodeVolumeLimits"
        ),
        pytest.param(
            "v1beta2",
            "EBSLimits",
            ebs,
            [node(**{"attachable-volumes-aws-ebs": "1"})],
            id="v1beta2-EBSLimits",
        ),
    ],
)
def test_a_pod_past_the_limit_waits(version, plugin, source, node_objects):
    async def scene():
        async with SimulatedCluster(*without_volume_plugins(version, plugin)) as cluster:
            objects = [*bound("first", source("h1")), *bound("second", source("h2"))]
            await cluster.create(*node_objects, *objects)
            await cluster.settle()
            await cluster.create(using("web-1", "first"))
            await cluster.settle()
            await cluster.create(using("web-2", "second"))
            await cluster.settle()

            assert cluster.node_of("web-1") == "n1"
            assert cluster.node_of("web-2") is None
            assert EXCEEDED in cluster.why_pending("web-2")

    asyncio.run(scene())
