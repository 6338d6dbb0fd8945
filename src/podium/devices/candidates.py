"""The devices that the search can choose from, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from podium.api.affinity import NodeSelector
from podium.devices.contents import KnownDevice, SliceContent
from podium.devices.pools import Pool


class Candidate(NamedTuple):
    """A device in a usable pool. ``position`` is its place in its slice."""

    pool: Pool
    content: SliceContent
    position: int
    known: KnownDevice
    is_for_node: bool

    @property
    def id(self) -> str:
        return f"{self.pool.key}/{self.known.name}"

    @property
    def has_node_name(self) -> bool:
        """Whether the device can be used on one node only."""
        spec = self.content.spec
        chooser = self.known.device if spec.per_device_node_selection else spec
        return chooser.node_name is not None

    @property
    def node_selector(self) -> NodeSelector | None:
        spec = self.content.spec
        chooser = self.known.device if spec.per_device_node_selection else spec
        return chooser.node_selector


def candidates_in(pools: Iterable[Pool]) -> tuple[Candidate, ...]:
    """Return the devices of all usable pools; the order decides which ones are allocated."""
    return tuple(
        Candidate(pool, content, position, known, target.mask is None or target.mask[position])
        for pool in pools
        for target in pool.targets
        for content in (target.slice.content,)
        for position, known in enumerate(content.devices)
    )
