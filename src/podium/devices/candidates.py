"""The devices that the search can choose from, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from podium.api.affinity import NodeSelector
from podium.api.devices import Device, ResourceSliceSpec
from podium.devices.contents import KnownDevice, SliceContent
from podium.devices.pools import Pool


class Candidate(NamedTuple):
    """A device in a usable pool. ``position`` is its index in its slice.

    ``chooser`` says which nodes can use the device: the device itself, or its slice.
    """

    pool: Pool
    content: SliceContent
    position: int
    known: KnownDevice
    is_for_node: bool
    chooser: Device | ResourceSliceSpec

    @property
    def id(self) -> str:
        return f"{self.pool.key}/{self.known.name}"

    @property
    def has_node_name(self) -> bool:
        """Whether the device can be used on one node only."""
        return self.chooser.node_name is not None

    @property
    def node_selector(self) -> NodeSelector | None:
        return self.chooser.node_selector


def candidates_in(pools: Iterable[Pool]) -> tuple[Candidate, ...]:
    """Return the devices of all usable pools; the order decides which ones are allocated."""
    return tuple(
        Candidate(
            pool,
            content,
            position,
            known,
            target.mask is None or target.mask[position],
            known.device if content.spec.per_device_node_selection else content.spec,
        )
        for pool in pools
        for target in pool.targets
        for content in (target.slice.content,)
        for position, known in enumerate(content.devices)
    )
