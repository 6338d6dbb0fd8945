"""What a release and its feature gates choose about devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from podium.release import LATEST, V1_37, Release


@dataclass(frozen=True, slots=True)
class DeviceRules:
    """The features that are on, and how the release decides where releases differ.

    ``DeviceRules()`` has the default gates of the latest release.
    """

    release: Release = LATEST

    # Features. Each name is a feature gate of kube-scheduler without its prefix DRA.
    admin_access: bool = True
    prioritized_list: bool = True
    partitionable_devices: bool = True
    device_taints: bool = True
    binding_conditions: bool = True  # needs ResourceClaimDeviceStatus as well
    consumable_capacity: bool = True
    fractional_capacity_range: bool = False  # since 1.37
    list_type_attributes: bool = False
    extended_resource: bool = True
    device_taint_rules: bool = True  # in 1.36 off by default

    @staticmethod
    def of(release: Release, is_on: Callable[[str], bool]) -> DeviceRules:
        """Return the rules of a release with these feature gates."""
        return DeviceRules(
            release,
            admin_access=is_on("DRAAdminAccess"),
            prioritized_list=is_on("DRAPrioritizedList"),
            partitionable_devices=is_on("DRAPartitionableDevices"),
            device_taints=is_on("DRADeviceTaints"),
            binding_conditions=is_on("DRADeviceBindingConditions")
            and is_on("DRAResourceClaimDeviceStatus"),
            consumable_capacity=is_on("DRAConsumableCapacity"),
            fractional_capacity_range=is_on("DRAFractionalCapacityRange"),
            list_type_attributes=is_on("DRAListTypeAttributes"),
            extended_resource=is_on("DRAExtendedResource"),
            device_taint_rules=is_on("DRADeviceTaintRules"),
        )

    @property
    def is_plain(self) -> bool:
        """Whether kube-scheduler uses its "stable" allocator.

        It lacks some features altogether instead of having them switched off.
        """
        return not (self.consumable_capacity or self.binding_conditions)

    # How 1.37 differs from 1.36.

    @property
    def remembers_every_value(self) -> bool:
        """Whether distinctAttribute compares with all devices, or one per request."""
        return self.release >= V1_37

    @property
    def merges_configs(self) -> bool:
        """Whether a config is in a result once, and without requests if it is for all of them."""
        return self.release >= V1_37

    @property
    def names_devices(self) -> bool:
        """Whether the error of a selector says on which device it failed."""
        return self.release >= V1_37

    @property
    def rejects_bad_capacity_requests(self) -> bool:
        """Whether a bad request for capacity is an error, instead of one that no device fits."""
        return self.release >= V1_37

    @property
    def all_ignores_use(self) -> bool:
        """Whether All includes devices of which too much capacity is in use."""
        return self.release >= V1_37

    @property
    def charges_bare_shares_again(self) -> bool:
        """Whether a share without consumed capacity lets the next one consume counters again."""
        return self.release < V1_37

    @property
    def counters_are_everywhere(self) -> bool:
        """Whether slices with shared counters belong to the pools of all nodes."""
        return self.release < V1_37 or self.is_plain

    @property
    def ignores_compatibility_groups(self) -> bool:
        """Whether slices whose devices have compatibility groups are left out."""
        return self.release >= V1_37

    @property
    def knows_skipped_operations(self) -> bool:
        """Whether devices that skip operations of the node need a node that declares that."""
        return self.release >= V1_37

    @property
    def refuses_derived_attributes(self) -> bool:
        """Whether a request with derived attributes is an error, instead of ignoring them."""
        return self.release >= V1_37

    @property
    def keeps_step_format(self) -> bool:
        """Whether a capacity that was rounded to steps is written as the step is."""
        return self.release >= V1_37
