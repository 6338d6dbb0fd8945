"""Pods whose devices are missing or taken."""

from __future__ import annotations

from random import Random
from typing import Any

from podium.testing import device_class, pod, resource_claim, resource_slice
from tests.support.pending_pods.families import family
from tests.support.pending_pods.parts import some_nodes


@family("ResourceClaimNotFound")
def _missing_resource_claim(random: Random):
    nodes = some_nodes(random)
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=2) for n in nodes]
    claims = [{"name": "gpu", "resourceClaimName": "training"}]
    return [*nodes, *slices, device_class("gpu")], pod("web", cpu="100m", resource_claims=claims)


@family("DeviceClassNotFound")
def _missing_device_class(random: Random):
    nodes = some_nodes(random)
    slices = [resource_slice(f"s-{n.name}", node=n.name, devices=2) for n in nodes]
    wanted = resource_claim("training", device_class="gpus", count=random.randint(1, 2))
    claims = [{"name": "gpu", "resourceClaimName": "training"}]
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims)


@family("DevicesUnavailable")
def _too_many_devices(random: Random):
    nodes = some_nodes(random)
    slices = [
        resource_slice(f"s-{n.name}", node=n.name, devices=random.randint(1, 3)) for n in nodes
    ]
    wanted = resource_claim("training", device_class="gpu", count=random.randint(4, 6))
    claims = [{"name": "gpu", "resourceClaimName": "training"}]
    objects = [*nodes, *slices, device_class("gpu"), wanted]
    return objects, pod("web", cpu="100m", resource_claims=claims)


@family("DevicesUnavailable")
def _devices_are_taken(random: Random):
    nodes = some_nodes(random)[:2]
    objects: list[Any] = [*nodes, device_class("gpu")]
    users = []
    for each in nodes:
        objects.append(resource_slice(f"s-{each.name}", node=each.name, devices=1))
        objects.append(resource_claim(f"c-{each.name}", device_class="gpu", count=1))
        claims = [{"name": "gpu", "resourceClaimName": f"c-{each.name}"}]
        users.append(pod(f"user-{each.name}", cpu="100m", resource_claims=claims))
    objects.append(resource_claim("training", device_class="gpu", count=1))
    claims = [{"name": "gpu", "resourceClaimName": "training"}]
    return objects, pod("web", cpu="100m", resource_claims=claims), users
