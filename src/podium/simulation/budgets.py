"""Which pods may be evicted now, as disruption budgets say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from podium.api.meta import LabelSelector
from podium.api.objects import Pod, PodDisruptionBudget
from podium.api.selectors import Selector, label_selector
from podium.simulation.kinds import BUDGET, POD
from podium.simulation.world import World


@dataclass(slots=True, eq=False)
class Budget:
    """A disruption budget, and how many more of its pods may be evicted now."""

    key: str
    namespace: str
    selector: Selector
    allowed: int

    def covers(self, pod: Pod) -> bool:
        return pod.namespace == self.namespace and self.selector.matches(pod.labels)


class Budgets:
    """All disruption budgets of a world."""

    def __init__(self, world: World) -> None:
        self._budgets = [_budget(each, world) for each in world.all(BUDGET).values()]

    def covering(self, pod: Pod) -> list[Budget]:
        return [each for each in self._budgets if each.covers(pod)]

    def blocking(self, pod: Pod) -> list[str]:
        """Return the budgets that do not allow to evict the pod now."""
        return [each.key for each in self.covering(pod) if each.allowed < 1]

    def change(self, pod: Pod, by: int) -> None:
        """A pod was evicted (-1), or is healthy again (+1)."""
        for each in self.covering(pod):
            each.allowed += by


def _budget(budget: PodDisruptionBudget, world: World) -> Budget:
    selector = label_selector(budget.spec.selector or LabelSelector())
    found = Budget(budget.key, budget.namespace, selector, budget.status.disruptions_allowed)
    if not budget.status.expected_pods:  # a manifest: no controller has looked at it
        covered = [pod for pod in world.all(POD).values() if found.covers(pod)]
        healthy = sum(1 for pod in covered if pod.node_name)
        # The embedded cluster is slow to load, and most simulations need nothing of it.
        from podium.apiserver.controllers.disruption_budget import desired_healthy

        spec = msgspec.to_builtins(budget.spec)
        found.allowed = max(0, healthy - desired_healthy(spec, len(covered)))
    return found


def pods_on(world: World, nodes: Iterable[str]) -> Iterator[Pod]:
    """Yield the pods on these nodes that have not ended."""
    table = world.core.cluster.table
    for node in nodes:
        row = table.row_of(node)
        if row is not None:
            yield from [info.pod for info in table.pods[row].values()]
