"""Limits and restrictions against plain models, which recount everything for each node's world."""

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.api.csi_migration import VolumeId, counted_driver, inline_id, persistent_id
from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.plugins.volume.limits import EXCEEDED
from podium.plugins.volume.node_volume_limits import NodeVolumeLimits
from podium.plugins.volume.volume_restrictions import VERDICTS, VolumeRestrictions
from podium.testing.builders import node, pod
from tests.support.generated_storage import NAMESPACES, bound_storage, pod_volumes
from tests.support.search import examples
from tests.support.volume_plugins import Judge

NODES = ("a", "b", "c")
FITS, NO_DISK, TAKEN = VERDICTS


@dataclass
class World:
    """A cluster, a pod to place, and the pods that a dry run moves."""

    objects: list
    pods: list
    subject: object
    changes: list

    def on(self, name):
        """The pods in the world of this node."""
        there = {other.uid: other for other in self.pods if other.node_name == name}
        for other, where, amount in self.changes:
            if where == name:
                there.pop(other.uid, None)
                if amount > 0:
                    there[other.uid] = other
        return list(there.values())

    def find(self, kind, key):
        """The last object of this kind and key, as the cluster keeps it."""
        found = [obj for obj in self.objects if isinstance(obj, kind) and obj.key == key]
        return found[-1] if found else None

    def all(self, kind):
        return {obj.key: obj for obj in self.objects if isinstance(obj, kind)}.values()


@st.composite
def worlds(draw):
    def some_pod(name, on=""):
        volumes = [*draw(pod_volumes()), *draw(pod_volumes())]
        return pod(name, node=on, namespace=draw(st.sampled_from(NAMESPACES)), volumes=volumes)

    pods = [
        some_pod(f"p{n}", on=draw(st.sampled_from(NODES))) for n in range(draw(st.integers(0, 6)))
    ]
    comers = [some_pod(f"new{n}") for n in range(draw(st.integers(0, 2)))]
    leavers = draw(st.lists(st.sampled_from(pods), unique_by=lambda p: p.uid)) if pods else []
    changes = [(other, other.node_name, -1) for other in leavers]
    changes += [(other, draw(st.sampled_from(NODES)), 1) for other in comers]
    return World(draw(bound_storage()), pods, some_pod("new"), draw(st.permutations(changes)))


def identities(world, owner):
    """The CSI volumes of a pod; raises LookupError where a claim is not in order."""
    for volume in owner.spec.volumes:
        if volume.persistent_volume_claim is not None:
            name, is_ephemeral = volume.persistent_volume_claim.claim_name, False
        elif volume.ephemeral is not None:
            name, is_ephemeral = f"{owner.name}-{volume.name}", True
        else:
            yield inline_id(volume)
            continue
        claim = world.find(PersistentVolumeClaim, f"{owner.namespace}/{name}")
        owners = claim.metadata.owner_references if claim is not None else ()
        if claim is None or (is_ephemeral and owner.uid not in [each.uid for each in owners]):
            yield LookupError
            continue
        pv = world.find(PersistentVolume, claim.spec.volume_name)
        storage_class = world.find(StorageClass, claim.spec.storage_class_name or "")
        if pv is not None:
            yield persistent_id(pv)
        elif storage_class is not None:
            yield VolumeId(counted_driver(storage_class.provisioner), f"unbound-{claim.key}")


def counted(found):
    return {volume for volume in found if volume is not None and volume is not LookupError}


def exceeds(world, name):
    """As the fact sheet has it, step by step."""
    new = counted(identities(world, world.subject))
    csi_node = world.find(CSINode, name)
    if csi_node is None or not new:
        return False
    limits = {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }
    there = counted(found for other in world.on(name) for found in identities(world, other))
    counts = Counter(volume.driver for volume in there)
    attached = set()
    for attachment in world.all(VolumeAttachment):
        pv = world.find(PersistentVolume, attachment.spec.source.persistent_volume_name)
        if attachment.spec.node_name == name and pv is not None and pv.spec.csi is not None:
            attached.add(VolumeId(attachment.spec.attacher, pv.spec.csi.volume_handle))
    counts.update(volume.driver for volume in attached - there)
    coming = Counter(volume.driver for volume in new - there)
    return any(
        driver in limits and counts[driver] + n > limits[driver] for driver, n in coming.items()
    )


def conflicts(mine, theirs):
    """Whether two volumes are one disk that cannot be shared; of the kinds in random clusters."""
    if mine.gce_persistent_disk is not None and theirs.gce_persistent_disk is not None:
        first, second = mine.gce_persistent_disk, theirs.gce_persistent_disk
        return first.pd_name == second.pd_name and not (first.read_only and second.read_only)
    first, second = mine.aws_elastic_block_store, theirs.aws_elastic_block_store
    return first is not None and second is not None and first.volume_id == second.volume_id


def names_of(other):
    claims = [volume.persistent_volume_claim for volume in other.spec.volumes]
    return [claim.claim_name for claim in claims if claim is not None]


def restriction(world, name):
    subject = world.subject
    for mine in subject.spec.volumes:
        for other in world.on(name):
            if any(conflicts(mine, theirs) for theirs in other.spec.volumes):
                return NO_DISK
    keys = {each: f"{subject.namespace}/{each}" for each in names_of(subject)}
    alone = {
        each
        for each, key in keys.items()
        if "ReadWriteOncePod" in world.find(PersistentVolumeClaim, key).spec.access_modes
    }
    users = {f"{other.namespace}/{each}" for other in world.pods for each in names_of(other)}
    count = sum(keys[each] in users for each in alone)
    for other, where, amount in world.changes:
        if where == name:
            count += amount * sum(each in alone for each in names_of(other))
    return TAKEN if count > 0 else FITS


def judge_of(kind, world):
    return Judge(kind, *(node(name) for name in NODES), *world.objects, *world.pods)


@pytest.mark.parametrize("follow", [True, False], ids=["followed", "without-its-pre-filter"])
@examples(250)
@given(world=worlds())
def test_limits(follow, world):
    judge = judge_of(NodeVolumeLimits, world)

    verdicts = judge.dry_run(world.subject, *world.changes, follow=follow)

    if LookupError in identities(world, world.subject):
        assert not any(status.ok for status in verdicts.values())
        return
    expected = {name: EXCEEDED if exceeds(world, name) else fwk.SUCCESS for name in NODES}
    assert (verdicts or dict.fromkeys(NODES, fwk.SUCCESS)) == expected


@examples(250)
@given(world=worlds())
def test_restrictions(world):
    judge = judge_of(VolumeRestrictions, world)

    status = judge.pre_filter(world.subject)

    names = names_of(world.subject)
    key = f"{world.subject.namespace}/".__add__
    if missing := [each for each in names if world.find(PersistentVolumeClaim, key(each)) is None]:
        text = f'persistentvolumeclaim "{missing[0]}" not found'
        assert status == fwk.Status.unresolvable(text)
    elif not status.is_skip:  # a pod that is left out is not followed either
        verdicts = judge.dry_run(world.subject, *world.changes)
        assert verdicts == {name: restriction(world, name) for name in NODES}
    else:
        world.changes.clear()
        assert {restriction(world, name) for name in NODES} == {FITS}
