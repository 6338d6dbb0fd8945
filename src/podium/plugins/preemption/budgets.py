"""Which victims would violate a PodDisruptionBudget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.objects import Pod, PodDisruptionBudget
from podium.api.selectors import Selector, label_selector
from podium.errors import InvalidSelector
from podium.framework.cluster_view import Objects


class Budgets:
    """The budgets of a cluster, compiled once per preemption."""

    def __init__(self, store: Objects[PodDisruptionBudget]) -> None:
        self._store = store
        self._by_labels: dict[tuple[object, ...], list[PodDisruptionBudget]] = {}
        self._compiled: dict[str, list[tuple[PodDisruptionBudget, Selector]]] = {}

    def __bool__(self) -> bool:
        return bool(len(self._store))

    def violated_by(self, pods: Sequence[fwk.PodInfo], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask of the pods whose eviction would violate a budget.

        Every row starts with what the budgets allow. The order of its pods matters, as each one
        uses up part of its budgets. The pods of a row must be adjacent.
        """
        violates = np.zeros(len(pods), np.bool_)
        guarded = {budget.namespace for budget in self._store}
        left: dict[str, int] = {}
        last = -1
        for position, (info, row) in enumerate(zip(pods, rows.tolist(), strict=True)):
            if info.pod.namespace not in guarded:
                continue
            if row != last:
                left, last = {}, row
            violates[position] = self.overdraws(info, left)
        return violates

    def overdraws(self, info: fwk.PodInfo, left: dict[str, int]) -> bool:
        """Subtract the pod from its budgets in ``left``; return whether one is overdrawn.

        The first one that is overdrawn ends it: the remaining budgets keep what they have.
        """
        return any(rest < 0 for rest in self._subtract(info.pod, left))

    def _subtract(self, pod: Pod, left: dict[str, int]) -> Iterator[int]:
        """Subtract the pod from one budget after the other; yield what each has left."""
        for budget in self._guarding(pod):
            if pod.name in budget.status.disrupted_pods:
                continue
            left[budget.key] = left.get(budget.key, budget.status.disruptions_allowed) - 1
            yield left[budget.key]

    def _guarding(self, pod: Pod) -> list[PodDisruptionBudget]:
        """Return the budgets that select the pod; found once for all pods with these labels."""
        key = pod.namespace, *pod.labels.items()
        found = self._by_labels.get(key)
        if found is None:
            found = self._by_labels[key] = [
                budget
                for budget, selector in self._budgets_in(pod.namespace)
                if pod.labels and not selector.is_empty and selector.matches(pod.labels)
            ]
        return found

    def _budgets_in(self, namespace: str) -> list[tuple[PodDisruptionBudget, Selector]]:
        if namespace not in self._compiled:
            pairs = ((b, _selector(b)) for b in self._store.in_namespace(namespace))
            self._compiled[namespace] = [(b, s) for b, s in pairs if s is not None]
        return self._compiled[namespace]


class ExhaustiveBudgets(Budgets):
    """Budgets as of 1.36: a pod uses up all of its budgets, also if one is overdrawn."""

    def overdraws(self, info: fwk.PodInfo, left: dict[str, int]) -> bool:
        return min(self._subtract(info.pod, left), default=0) < 0


def _selector(budget: PodDisruptionBudget) -> Selector | None:
    """Return the compiled selector. An invalid one selects no pods, as in kube-scheduler."""
    try:
        return label_selector(budget.spec.selector)
    except InvalidSelector:
        return None
