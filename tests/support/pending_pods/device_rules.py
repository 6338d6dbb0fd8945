"""Pods whose claims have rules that no device satisfies, and devices that nobody uses."""

from __future__ import annotations

from random import Random

from podium.testing import (
    claim,
    device,
    device_class,
    pod,
    resource_claim,
    resource_slice,
    storage_class,
    volume,
)
from tests.support.pending_pods.claims import claims_of
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import some_nodes

DRIVER = "gpu.example.com"


@family("DevicesUnavailable")
def _tainted_devices(random: Random):
    nodes = some_nodes(random)
    taints = ("broken=yes:NoSchedule", "old:NoExecute", "broken=yes:NoSchedule old:NoExecute")
    slices = [
        resource_slice(
            f"s-{each.name}",
            node=each.name,
            devices=[device(f"gpu-{n}", taints=random.choice(taints)) for n in range(2)],
        )
        for each in nodes
    ]
    wanted = resource_claim("training", device_class="gpu", count=random.randint(1, 2))
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of("training"))


@family("DevicesUnavailable")
def _selectors_that_match_nothing(random: Random):
    nodes = some_nodes(random)
    devices = [device(f"gpu-{n}", attributes={"model": "a100", "slot": n}) for n in range(3)]
    slices = [resource_slice(f"s-{each.name}", node=each.name, devices=devices) for each in nodes]
    model, slot = (f'device.attributes["{DRIVER}"].{name}' for name in ("model", "slot"))
    rules = [f'{model} == "b200"', f"{slot} < 9", f"{slot} > 5"]
    chosen = random.sample(rules, random.randint(2, 3))
    wanted = resource_claim("training", device_class="gpu", count=2, selectors=chosen)
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of("training"))


@family("DevicesUnavailable")
def _devices_that_must_be_alike(random: Random):
    nodes = some_nodes(random)
    devices = [device(f"gpu-{n}", attributes={"slot": n}) for n in range(2)]
    slices = [resource_slice(f"s-{each.name}", node=each.name, devices=devices) for each in nodes]
    alike = [{"matchAttribute": f"{DRIVER}/slot"}]
    wanted = resource_claim("training", device_class="gpu", count=2, constraints=alike)
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of("training"))


@family("DevicesUnavailable")
def _alternatives_that_no_node_has(random: Random):
    nodes = some_nodes(random)
    devices = [device("gpu-0"), device("gpu-1", taints="broken=yes:NoSchedule")]
    slices = [resource_slice(f"s-{each.name}", node=each.name, devices=devices) for each in nodes]
    ways = [
        {
            "name": f"{n}-of-them",
            "deviceClassName": "gpu",
            "allocationMode": "ExactCount",
            "count": n,
        }
        for n in (4, 2)
    ]
    wanted = [
        resource_claim("training", requests=[{"name": "device", "firstAvailable": ways}]),
        resource_claim("more", device_class="gpu", count=2),
    ]
    named = random.choice(("training", "more"))
    objects = [*nodes, *slices, device_class("gpu"), *wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims_of(named))


@family("DevicesUnavailable", "InsufficientResource")
def _extended_resource_of_a_class(random: Random):
    nodes = some_nodes(random, cpu="2")
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=2) for n in nodes]
    provider = device_class("gpu", extended_resource_name="example.com/gpu")
    amount, cpu = str(random.randint(3, 5)), random.choice(("100m", "3"))
    wanted = resource_claim("training", device_class="gpu", count=1)
    claims = claims_of("training")[: random.randint(0, 1)]
    subject = pod("web", cpu=cpu, requests={"example.com/gpu": amount}, resource_claims=claims)
    return [*nodes, *slices, provider, wanted], subject


@family("ClaimInUse", "DevicesUnavailable")
def _devices_and_a_claim_in_use(random: Random):
    nodes = some_nodes(random)
    once = {"access_modes": ["ReadWriteOncePod"]}
    there = volume("pv", storage_class="local", claim="data", host_path={"path": "/x"}, **once)
    bound = claim("data", storage_class="local", volume="pv", **once)
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=2) for n in nodes]
    wanted = resource_claim("training", device_class="gpu", count=3)
    user = pod("user", node="n0", claims="data")
    objects = [*nodes, storage_class("local"), there, bound, *slices, device_class("gpu"), wanted]
    subject = pod("web", cpu="100m", claims="data", resource_claims=claims_of("training"))
    return [*objects, user], subject
