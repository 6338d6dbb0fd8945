"""Extender: a service beside the plugins that has a say in where pods go.

``podium.extender`` asks one over HTTP; a subclass of ``Extender`` runs in this process. The driver
of a cycle asks them between two stages, so they may wait; the cluster stands still meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from podium.api.objects import Pod
from podium.framework.preemption import Candidates
from podium.state.cluster import ClusterState
from podium.state.rows import Rows

EXTENDER: Final = "Extender"  # stands for all extenders among the plugins that rejected a pod


@dataclass(frozen=True, slots=True)
class Filtered:
    """The names of the nodes that pass, and why others do not.

    Evicting pods may help on a node that is in ``failed``, and not where it is in ``unresolvable``.
    """

    names: Sequence[str]
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)


class Extender(Protocol):
    """Subclass it and override what the extender does, with its flag; the rest changes nothing.

    What a method raises fails the attempt, the preemption or the binding; of an ignorable extender
    it is logged and passed over. A failing ``prioritize`` never counts.
    """

    name: str
    weight: int = 1
    is_ignorable: bool = False
    is_filter: bool = False
    is_prioritizer: bool = False
    is_binder: bool = False
    supports_preemption: bool = False

    def is_interested(self, pod: Pod) -> bool:
        """Whether to ask this extender about the pod at all."""
        return True

    async def filter(self, pod: Pod, nodes: Rows) -> Filtered:
        """Which of these nodes the pod may run on."""
        return Filtered(nodes.names)

    async def prioritize(self, pod: Pod, nodes: Rows) -> Mapping[str, int]:
        """How good nodes are, from 0 to 10 by name; ``weight`` and 10 multiply it."""
        return dict.fromkeys(nodes.names, 0)

    async def process_preemption(
        self, pod: Pod, candidates: Candidates, cluster: ClusterState
    ) -> Candidates:
        """Which nodes to free, and of which pods; each with at least one."""
        return candidates

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the pod, in the place of the Bind plugins; a binder must have its own."""

    async def close(self) -> None:
        """The scheduler stops."""
