"""A plugin that watches over gangs: no member may be bound before its gang may start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from podium import framework as fwk
from podium.api.objects import Pod, PodGroup
from podium.api.pod_groups import COSCHEDULING_LABEL
from podium.framework.registry import Registry

NAME: Final = "GangWitness"
RULE: Final = "nobody of a gang is bound before the gang may start"
_GROUPS: Final = "podgroups.v1alpha1.scheduling.x-k8s.io"

Report = Callable[[str, str], None]


class GangWitness(fwk.ReservePlugin, fwk.PermitPlugin, fwk.PreBindPlugin):
    """Counts for itself. It runs after the plugins that hold gangs back.

    ``_released`` has the members that were on a node, bound or not, at a moment at which their
    gang had enough of them. One that gives its node back must be released again.
    """

    name = NAME
    watches = (PodGroup,)
    report: Report  # set by ``register``

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._handle = handle
        self._native = handle.cluster.objects(PodGroup)
        self._labelled = handle.lister(_GROUPS)
        self._released: set[str] = set()

    def reserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        """Do nothing."""

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._released.discard(pod.uid)

    def permit(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        gang = _gang_of(pod)
        if gang:
            placed = [uid for uid in self._placed(gang) if not self._is_rejected(uid)]
            if len(placed) >= self._minimum(pod):
                self._released.update(placed)

    def _placed(self, gang: str) -> list[str]:
        pods = self._handle.cluster.pods
        return [uid for uid, info in pods.items() if _gang_of(info.pod) == gang]

    def _is_rejected(self, uid: str) -> bool:
        waiting = self._handle.waiting_pods.get(uid)
        return waiting is not None and waiting.outcome is not None and not waiting.outcome.ok

    def _minimum(self, pod: Pod) -> float:
        if pod.group_key:
            native = self._native.get(pod.group_key)
            return float("inf") if native is None else native.min_count
        labelled = self._labelled.get(f"{pod.namespace}/{pod.labels[COSCHEDULING_LABEL]}")
        return float("inf") if labelled is None else labelled["spec"]["minMember"]

    async def pre_bind(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        if _gang_of(pod) and pod.uid not in self._released:
            self.report(RULE, f"{pod.key} to {node_name}")


def _gang_of(pod: Pod) -> str:
    """Return a text that differs for each gang, and for a group with the same name but label."""
    if pod.group_key:
        return pod.group_key
    name = pod.labels.get(COSCHEDULING_LABEL)
    return f"label {pod.namespace}/{name}" if name else ""


def register(registry: Registry, report: Report) -> None:
    """Add the plugin for one trial to a registry."""
    registry.register(type(NAME, (GangWitness,), {"report": staticmethod(report)}))
