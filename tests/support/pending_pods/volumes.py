"""Pods whose volumes keep them pending."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.testing import claim, node, pod, storage_class, volume
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import HOSTNAME, ZONE, csi_node, filling, some_nodes


@family("ClaimNotFound")
def _missing_claim(random: Random):
    classes = [storage_class("fast", provisioner="csi.example.com"),
               storage_class("now", provisioner="csi.example.com", volume_binding_mode="Immediate"),
               storage_class("local")]  # fmt: skip
    chosen = random.sample(classes, random.randint(0, 3))
    return [*some_nodes(random), *chosen], pod("web", cpu="100m", claims="data")


@family("ClaimNotFound")
def _missing_claim_beside_another_claim(random: Random):
    """The first class has room for volumes in no zone, and another claim may need a volume."""
    driver = {
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
        "metadata": {"name": "full.example.com"}, "spec": {"storageCapacity": True},
    }  # fmt: skip
    classes = [
        storage_class("a-full", provisioner="full.example.com"),
        storage_class("fast", provisioner="csi.example.com"),
        storage_class("local"),
    ]
    there = claim("config", storage_class=random.choice(("fast", "local")))
    chosen = classes if random.random() < 0.5 else [classes[0], classes[2]]
    subject = pod("web", cpu="100m", claims="config data")
    return [*some_nodes(random), driver, *chosen, there], subject


@family("ClaimUnbound")
def _unbound_claim(random: Random):
    mode = storage_class("now", volume_binding_mode="Immediate")
    size = random.choice(("1Gi", "5Gi"))
    objects = [*some_nodes(random), mode, claim("data", storage_class="now", storage=size)]
    return objects, pod("web", cpu="100m", claims="data")


@family("NoVolumeToBind")
def _no_volume_for_a_delayed_claim(random: Random):
    objects = [*some_nodes(random), storage_class("local"), claim("data", storage_class="local")]
    return objects, pod("web", cpu="100m", claims="data")


@family("VolumeNodeAffinityConflict", "InsufficientResource")
def _volume_on_a_full_node(random: Random):
    nodes = some_nodes(random)
    expression = {"key": HOSTNAME, "operator": "In", "values": ["n0"]}
    on_node = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    there = volume(
        "pv", storage_class="local", claim="data", node_affinity=on_node, host_path={"path": "/x"}
    )
    bound = claim("data", storage_class="local", volume="pv")
    full = filling(random, nodes[:1])
    return [*nodes, *full, storage_class("local"), there, bound], pod("web", cpu="1", claims="data")


@family("VolumeZoneConflict", "InsufficientResource", "UntoleratedTaint")
def _volume_in_another_zone(random: Random):
    taints = random.choice(("", "x:NoSchedule"))
    nodes = [
        node("a1", labels=f"{HOSTNAME}=a1 {ZONE}=a"),
        node("b1", labels=f"{HOSTNAME}=b1 {ZONE}=b", taints=taints),
    ]
    full = [pod("full", node="b1", cpu="3500m")]
    there = volume(
        "pv", storage_class="local", claim="data", labels={ZONE: "b"}, host_path={"path": "/x"}
    )
    bound = claim("data", storage_class="local", volume="pv")
    return [*nodes, *full, storage_class("local"), there, bound], pod("web", cpu="1", claims="data")


@family("ClaimInUse")
def _claim_for_one_pod(random: Random):
    there = volume(
        "pv",
        storage_class="local",
        claim="data",
        access_modes=["ReadWriteOncePod"],
        host_path={"path": "/x"},
    )
    bound = claim("data", storage_class="local", volume="pv", access_modes=["ReadWriteOncePod"])
    user = pod("user", node="n0", claims="data")
    return [*some_nodes(random), storage_class("local"), there, bound, user], pod(
        "web", claims="data"
    )


@family("DiskConflict")
def _same_disk(random: Random):
    nodes = some_nodes(random)
    disk = [{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}]
    users = [pod(f"user-{each.name}", node=each.name, volumes=disk) for each in nodes]
    return [*nodes, *users], pod("web", cpu="100m", volumes=disk)


@family("TooManyVolumes")
def _volume_limit(random: Random):
    nodes = some_nodes(random)
    objects: list[Any] = [*nodes, storage_class("csi", provisioner="csi.example.com")]
    for number, each in enumerate([*nodes, None]):
        source = {"driver": "csi.example.com", "volumeHandle": f"h{number}"}
        objects.append(
            volume(f"pv{number}", storage_class="csi", claim=f"data{number}", csi=source)
        )
        objects.append(claim(f"data{number}", storage_class="csi", volume=f"pv{number}"))
        if each is not None:
            objects.append(csi_node(each.name, 1))
            objects.append(pod(f"user{number}", node=each.name, claims=f"data{number}"))
    return objects, pod("web", cpu="100m", claims=f"data{len(nodes)}")
