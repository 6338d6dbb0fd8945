"""Extender: a service beside the plugins that may filter and rank nodes, preempt and bind.

``podium.extender`` calls one over HTTP; a subclass of ``Extender`` runs in this process. Extenders
are called between two stages of a cycle, so they may await; the cluster does not change meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from podium.api.objects import Pod
from podium.framework.preemption import Candidates
from podium.state.cluster_view import ClusterView
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
    """Subclass it, override what the extender does, and set the flag of each method to true.

    An exception fails the attempt, the preemption or the binding. If the extender is ignorable, the
    exception is only logged. A ``prioritize`` that fails is always ignored.
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
        """Return which of these nodes the pod may run on."""
        return Filtered(nodes.names)

    async def prioritize(self, pod: Pod, nodes: Rows) -> Mapping[str, int]:
        """Return a score from 0 to 10 by node; it is multiplied by ``weight`` and by 10."""
        return dict.fromkeys(nodes.names, 0)

    async def process_preemption(
        self, pod: Pod, candidates: Candidates, cluster: ClusterView
    ) -> Candidates:
        """Return the candidates that may be preempted, each with at least one victim."""
        return candidates

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind the pod instead of the Bind plugins; a binder must override this."""

    async def close(self) -> None:
        """Called once, when the scheduler stops."""
