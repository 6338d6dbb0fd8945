"""Gangs whose members share a resource claim, with what must always hold.

Devices belong to nodes, so that all members of a group must run on one node. The machine plays the
controller of claims, too: whoever is gone loses its reservation, and the last one the devices.
"""

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from msgspec.structs import replace

from podium.api.objects import ResourceClaim
from podium.testing.builders_devices import device_class, resource_claim, resource_slice
from tests.support.group_machine import GROUPS, GroupMachine

CLAIM = "resource.k8s.io/ResourceClaim"


def entry_of(name):
    return {"name": "gpu", "resourceClaimName": f"claim-{name}"}


class ClaimMachine(GroupMachine):
    """Each group has one claim for one device. ``shown`` are the claims as the watch shows them."""

    def __init__(self):
        super().__init__()
        self.shown = {}

    @initialize(sizes=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 1)), min_size=1,
                               max_size=4))  # fmt: skip
    def nodes(self, sizes):
        show = self.world.handlers.on_object
        show("resource.k8s.io/DeviceClass")(None, device_class("gpu"))
        self.devices = {}
        for number, (size, count) in enumerate(sizes):
            name = f"n{number}"
            self.world.add_nodes(name, cpu=str(size))
            self.devices[name] = count
            if count:
                made = resource_slice(f"{name}-gpus", node=name, devices=count)
                show("resource.k8s.io/ResourceSlice")(None, made)
        for name in "abc":
            claim = resource_claim(f"claim-{name}")
            self.shown[claim.key] = claim
            show(CLAIM)(None, claim)
        for name, minimum in (("a", 2), ("b", 3)):  # most searches would not get this far
            self.create_group(name, minimum, whole=False)
            self.add_members([name] * minimum, is_gated=0)

    @rule(names=st.lists(GROUPS, min_size=1, max_size=4), is_gated=st.just(0))
    def add_members(self, names, is_gated):
        super().add_members(names, is_gated)

    def more_of_members(self, name):
        return {"resource_claims": [entry_of(name)]}

    def settle(self, seconds=0.0):
        super().settle(seconds)
        self._release()
        super().settle()

    def _release(self):
        """Show what was written, and take away what belongs to pods and groups that are gone."""
        there = {one.uid for one in self.world.pods.values()}
        there |= {one.uid for one in self.world.groups.values()}
        for claim in list(self.world.cluster.objects(ResourceClaim)):
            users = tuple(one for one in claim.status.reserved_for if one.uid in there)
            new = claim
            if users != claim.status.reserved_for:
                left = claim.status.allocation if users else None
                new = replace(claim, status=replace(claim.status, allocation=left,
                                                    reserved_for=users))  # fmt: skip
            if new != self.shown[claim.key]:
                version = str(int(claim.metadata.resource_version or 0) + 1)
                new = replace(new, metadata=replace(new.metadata, resource_version=version))
                self.world.handlers.on_object(CLAIM)(self.shown[claim.key], new)
                self.shown[claim.key] = new

    # --- what must always hold -------------------------------------------------------------------

    @invariant()
    def no_allocation_is_in_flight(self):
        assert not self.world.services.devices.in_flight

    @invariant()
    def no_device_is_given_twice(self):
        given = [pool for claim in self.claims() if (pool := self.node_of(claim))]
        assert len(given) == len(set(given)), f"devices on {given}"

    @invariant()
    def members_run_where_their_device_is(self):
        for name in "abc":
            claim = self.claim(name)
            for one in self.members(name):
                if one.node_name:
                    assert one.node_name == self.node_of(claim), f"{one.name} lacks its device"
                    users = {user.uid for user in claim.status.reserved_for}
                    known = self.world.groups.get(name)
                    assert users & {one.uid, known and known.uid}, f"{one.name} has no claim"

    def claims(self):
        return self.world.cluster.objects(ResourceClaim)

    def claim(self, name):
        return self.claims().get(f"default/claim-{name}")

    def node_of(self, claim):
        """The node of the device that a claim has; each pool belongs to one node."""
        allocation = claim.status.allocation
        return allocation.devices.results[0].pool.removesuffix("-gpus") if allocation else ""

    def most_free_for(self, known):
        """A group goes to the node of its device, or to any that has one which nobody has."""
        claim, taken = self.claim(known.name), {self.node_of(each) for each in self.claims()}
        own = self.node_of(claim)
        placed = any(one.node_name for one in self.members(known.name))
        names = {own} if own and placed else {n for n, c in self.devices.items() if c} - taken
        nodes = [node for node in self.world.cluster.rows() if node.name in names | {own}]
        return max((self.free_for(known.key, known.priority, [each]) for each in nodes), default=0)


class GroupOwnedClaimMachine(ClaimMachine):
    """The same with claims that are reserved for whole groups."""

    gates = ("DRAWorkloadResourceClaims=true",)

    def more_of(self, name):
        return {"resourceClaims": [entry_of(name)]}

    @rule(name=GROUPS)
    def delete_group(self, name):
        """The API server protects a group while pods use it."""
        if name in self.world.groups and not self.members(name):
            self.world.delete_group(name)
        self.settle()
