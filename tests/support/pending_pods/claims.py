"""Families of pods that wait for volumes or devices."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.testing import (
    claim,
    device,
    device_class,
    node,
    pod,
    resource_claim,
    resource_slice,
    storage_class,
    volume,
)
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import (
    HOSTNAME,
    ZONE,
    csi_node,
    filling,
    priority_class,
    some_nodes,
)


def on(key: str, *values: str) -> dict[str, Any]:
    """Return the node affinity of a volume."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


# --- volumes --------------------------------------------------------------------------------------


@family("NoVolumeToBind")
def _no_volume_that_matches(random: Random):
    unfit = random.choice(
        (
            {"storage": "1Gi"},
            {"access_modes": ["ReadOnlyMany"], "storage": "9Gi"},
            {"volume_mode": "Block", "storage": "9Gi"},
        )
    )
    there = volume("pv", storage_class="local", host_path={"path": "/x"}, **unfit)
    wanted = claim("data", storage_class="local", storage="5Gi")
    objects = [*some_nodes(random), storage_class("local"), there, wanted]
    return objects, pod("web", cpu="100m", claims="data")


@family("NoVolumeToBind", "UntoleratedTaint", "InsufficientResource")
def _volume_to_bind_is_on_a_bad_node(random: Random):
    nodes = some_nodes(random)
    bad = node("bad", cpu="1", labels=f"{HOSTNAME}=bad {ZONE}=a",
               taints=random.choice(("", "x:NoSchedule")))  # fmt: skip
    there = volume(
        "pv", storage_class="local", node_affinity=on(HOSTNAME, "bad"), local={"path": "/x"}
    )
    objects = [*nodes, bad, storage_class("local"), there, claim("data", storage_class="local")]
    return objects, pod("web", cpu="2", claims="data")


@family("NoVolumeToBind")
def _class_for_other_zones(random: Random):
    topology = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z"]}]}]
    made = storage_class("zonal", provisioner="csi.example.com", allowed_topologies=topology)
    objects = [*some_nodes(random), made, claim("data", storage_class="zonal")]
    return objects, pod("web", cpu="100m", claims="data")


@family("ClaimUnbound", "NoVolumeToBind")
def _one_of_several_claims(random: Random):
    classes = [
        storage_class("fast", provisioner="csi.example.com"),
        storage_class("local"),
        storage_class("now", volume_binding_mode="Immediate"),
    ]
    claims = [
        claim("a", storage_class="fast"),
        claim("b", storage_class=random.choice(("local", "now"))),
    ]
    return [*some_nodes(random), *classes, *claims], pod("web", cpu="100m", claims="a b")


@family("ClaimNotFound")
def _missing_claims_and_taints(random: Random):
    nodes = some_nodes(random, taints=random.choice(("", "x=1:NoSchedule")))
    there = claim("config", storage_class="fast")
    fast = storage_class("fast", provisioner="csi.example.com")
    return [*nodes, fast, there], pod("web", cpu="100m", claims="config data logs")


@family("VolumeNodeAffinityConflict", "VolumeZoneConflict", "UntoleratedTaint")
def _volume_where_no_node_is(random: Random):
    there = volume(
        "pv",
        storage_class="local",
        claim="data",
        node_affinity=on(ZONE, "z"),
        host_path={"path": "/x"},
    )
    bound = claim("data", storage_class="local", volume="pv")
    taken = node("z1", labels=f"{HOSTNAME}=z1 {ZONE}=z", taints="x:NoSchedule")
    return [*some_nodes(random), taken, storage_class("local"), there, bound], pod(
        "web", cpu="100m", claims="data"
    )


@family("VolumeNodeAffinityConflict", "VolumeZoneConflict", "NoVolumeToBind")
def _volume_in_a_zone_without_nodes(random: Random):
    place = random.choice(({"node_affinity": on(ZONE, "z")}, {"labels": {ZONE: "z"}}, None))
    if place is None:
        topology = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z"]}]}]
        made = storage_class("zonal", provisioner="csi.x", allowed_topologies=topology)
        return [*some_nodes(random), made, claim("data", storage_class="zonal")], pod(
            "web", cpu="100m", claims="data"
        )
    there = volume("pv", storage_class="local", claim="data", host_path={"path": "/x"}, **place)
    bound = claim("data", storage_class="local", volume="pv")
    objects = [*some_nodes(random), storage_class("local"), there, bound]
    return objects, pod("web", cpu="100m", claims="data")


@family("ClaimInUse")
def _claim_for_one_pod_of_higher_priority(random: Random):
    once = {"access_modes": ["ReadWriteOncePod"]}
    there = volume("pv", storage_class="local", claim="data", host_path={"path": "/x"}, **once)
    bound = claim("data", storage_class="local", volume="pv", **once)
    user = pod("user", node="n0", claims="data", priority_class_name="high")
    high = priority_class("high", 1000)
    objects = [*some_nodes(random), high, storage_class("local"), there, bound, user]
    return objects, pod("web", cpu="100m", claims="data")


@family("TooManyVolumes", "InsufficientResource")
def _volume_limit_or_no_room(random: Random):
    nodes = some_nodes(random, cpu="2")
    objects: list[Any] = [*nodes, storage_class("csi", provisioner="csi.example.com")]
    names = [f"{each.name}-{n}" for each in nodes for n in range(2)] + ["mine"]
    for name in names:
        source = {"driver": "csi.example.com", "volumeHandle": name}
        objects.append(volume(f"pv-{name}", storage_class="csi", claim=name, csi=source))
        objects.append(claim(name, storage_class="csi", volume=f"pv-{name}"))
    for each in nodes:
        objects.append(csi_node(each.name, 2))
        objects += [
            pod(f"u-{each.name}-{n}", node=each.name, claims=f"{each.name}-{n}") for n in range(2)
        ]
    roomy = node("roomy", cpu="2", labels=f"{HOSTNAME}=roomy {ZONE}=a")
    return [*objects, roomy, csi_node("roomy", 2), *filling(random, [roomy])], pod(
        "web", cpu="1", claims="mine"
    )


# --- devices --------------------------------------------------------------------------------------


def claims_of(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "resourceClaimName": name} for name in names]


@family("DevicesUnavailable")
def _two_claims_for_too_many_devices(random: Random):
    nodes = some_nodes(random)
    slices = [
        resource_slice(f"s-{n.name}", node=n.name, devices=random.randint(2, 3)) for n in nodes
    ]
    wanted = [
        resource_claim("left", device_class="gpu", count=random.randint(2, 3)),
        resource_claim("right", device_class="gpu", count=random.randint(2, 3)),
    ]
    objects = [*nodes, *slices, device_class("gpu"), *wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of("left", "right"))


@family("DevicesUnavailable", "InsufficientResource")
def _devices_on_a_full_node(random: Random):
    nodes = some_nodes(random)
    slices = [resource_slice("s-n0", node="n0", devices=2)]
    wanted = resource_claim("training", device_class="gpu", count=1)
    objects = [*nodes, *filling(random, nodes[:1]), *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="1", resource_claims=claims_of("training"))


@family("DevicesUnavailable")
def _no_device_of_that_kind(random: Random):
    nodes = some_nodes(random)
    devices = [device(f"gpu-{n}", attributes={"model": "a100"}) for n in range(3)]
    devices.append(device("gpu-3", attributes={"model": "h100"}))
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=devices) for n in nodes]
    picky = ['device.attributes["gpu.example.com"].model == "h100"']
    wanted = resource_claim("training", device_class="gpu", count=2, selectors=picky)
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of("training"))


@family("DeviceClassNotFound")
def _two_missing_device_classes(random: Random):
    nodes = some_nodes(random)
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=4) for n in nodes]
    wanted = [resource_claim(name, device_class=f"class-{name}") for name in ("left", "right")]
    return [*nodes, *slices, *wanted], pod(
        "web", cpu="100m", resource_claims=claims_of("left", "right")
    )


@family("ResourceClaimNotFound")
def _missing_resource_claims_and_taints(random: Random):
    nodes = some_nodes(random, taints=random.choice(("", "x=1:NoSchedule")))
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=2) for n in nodes]
    there = resource_claim("left", device_class="gpu")
    return [*nodes, *slices, device_class("gpu"), there], pod(
        "web", cpu="100m", resource_claims=claims_of("left", "right")
    )
