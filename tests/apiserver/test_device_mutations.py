"""Mutated claims, slices, templates, classes and statuses are stored or refused, never a crash."""

import copy
import random

import pytest

from podium.api.objects import (
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    decode,
)
from podium.apiserver.api import Call
from podium.apiserver.statuses import Refusal
from podium.release import V1_36, V1_37
from tests.support.control_plane.scripts import claims, devices
from tests.support.controllers import World

CLAIMS = "resourceclaims.resource.k8s.io"
SLICES = "resourceslices.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
CLASSES = "deviceclasses.resource.k8s.io"
TYPES = {
    CLAIMS: ResourceClaim,
    SLICES: ResourceSlice,
    TEMPLATES: ResourceClaimTemplate,
    CLASSES: DeviceClass,
}
ODD = (
    *(None, "", 0, 1, -1, True, False, 1.5, 2**63 - 1, [], {}, [None], [{}], [1, 2]),
    *({"a": None}, {"a": {}}, {"a": {"b": 1}}, "x" * 300, "a/b/c", "1Gi", "-5", "1e500", "é"),
)
CLASS = {
    "selectors": [devices.CEL],
    "config": [devices.CONFIGS[-1]],
    "extendedResourceName": "a.b/c",
}
MUTATIONS = 1_000


def specs():
    for spec in claims.claim_specs():
        yield CLAIMS, spec
        yield TEMPLATES, {"spec": spec}
    for one in devices.DEVICES:
        yield SLICES, devices.offer(one)
    for counters in devices.COUNTERS:
        yield SLICES, devices.sliced(devices=None, sharedCounters=counters)
    yield from [(CLASSES, CLASS)] * 20


def short(found):
    return [one for one in found if len(str(one)) < 5_000]


def paths(value, path=()):
    """The paths of everything inside a value."""
    yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in items:
            yield from paths(one, (*path, key))


def mutated(value, chance):
    """The value with something else at one of its paths."""
    path = chance.choice(list(paths(value)))
    if not path:
        return chance.choice(ODD)
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = chance.choice(ODD)
    return value


@pytest.fixture(params=[V1_36, V1_37], ids=str)
def world(request):
    return World(kubelets=False, release=request.param)


def test_mutated_objects(world):
    chance = random.Random(1)
    known = short(specs())
    stored = 0
    for _ in range(MUTATIONS):
        resource, spec = chance.choice(known)
        kind = world.api.kind(resource)
        body = {"metadata": {"name": "x"}, "spec": mutated(mutated(spec, chance), chance)}
        namespace = "default" if kind.namespaced else ""
        try:
            item = world.api.create(kind, namespace, body, Call(dry_run=True))
        except Refusal:
            continue
        decode(TYPES[resource], item.encoded)
        stored += 1

    assert 0 < stored < MUTATIONS


def test_mutated_statuses(world):
    chance = random.Random(1)
    known = short(claims.STATUSES)
    kind = world.api.kind(CLAIMS)
    made = world.create(CLAIMS, devices.named(claims.claim(claims.exactly())))
    stored = 0
    for _ in range(MUTATIONS):
        body = {**made, "status": mutated(chance.choice(known), chance)}
        try:
            item = world.api.update(
                kind, ("default", "x"), body, Call(subresource="status", dry_run=True)
            )
        except Refusal:
            continue
        decode(ResourceClaim, item.encoded)
        stored += 1

    assert 0 < stored < MUTATIONS
