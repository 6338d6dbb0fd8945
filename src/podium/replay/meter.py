"""Samples of the cluster while a trace is replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.replay.result import Sample
from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo

SAMPLES: Final = 500  # a long replay has at least this many, and less than twice as many
MOST_SHAPES: Final = 100
_UNMEASURED: Final = ("ephemeral-storage", "pods")
_DIGITS: Final = 6


class Shapes:
    """The requests of the pods of a trace, and how many pods have each; at most ``MOST_SHAPES``.

    If there are more, pods at even distances in the trace stand for all.
    """

    def __init__(self, templates: Sequence[Pod], table: NodeTable) -> None:
        counts = Counter(map(id, templates))
        if len(counts) > MOST_SHAPES:
            step = len(templates) / MOST_SHAPES
            templates = [templates[int(number * step)] for number in range(MOST_SHAPES)]
            counts = Counter(map(id, templates))
        infos = {id(pod): PodInfo(pod) for pod in templates}
        for info in infos.values():
            for name in info.requests:
                table.resource_index(name)
        self.weights = np.array([counts[each] for each in infos], np.float64)
        self.amounts = np.zeros((len(infos), len(table.resources.index)), np.int64)
        for number, info in enumerate(infos.values()):
            for resource, amount in table.resources.amounts(info):
                self.amounts[number, resource] = amount

    def fragmentation(self, free: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of each free resource that the pods cannot use, on average.

        ``free`` is by resource and node. A pod cannot use what is free on a node without room for
        all of its requests. This is the measure of "Beware of Fragmentation" (Weng et al., 2023),
        for all resources.
        """
        resources = self.amounts.shape[1]
        lacks = np.zeros((len(self.weights), free.shape[1]), np.bool_)
        for resource in range(resources):
            needed = self.amounts[:, resource, np.newaxis]
            lacks |= (needed > 0) & (needed > free[resource])
        unusable = self.weights @ lacks @ free[:resources].T.astype(np.float64)
        total = free[:resources].sum(axis=1) * self.weights.sum()
        shares: NDArray[np.float64] = unusable / np.maximum(total, 1.0)
        return shares


class Meter:
    """Takes samples at even distances. When there are too many, every other one is dropped.

    Invariant: ``_bound[i]`` is how many pods were bound before sample ``i``, and how long they had
    waited in all. It counts from the beginning, so that samples between can be dropped.
    """

    def __init__(self, table: NodeTable, shapes: Shapes, step: float) -> None:
        self._table = table
        self._shapes = shapes
        self._step = step
        self._samples: list[Sample] = []
        self._bound: list[tuple[int, float]] = []
        self._bound_so_far = (0, 0.0)
        self.next_sample = 0.0

    def bound(self, wait: float) -> None:
        """A pod was bound that had waited this long."""
        pods, seconds = self._bound_so_far
        self._bound_so_far = pods + 1, seconds + wait

    def sample(self, pending: int, running: int, evictions: int) -> None:
        """Take the sample that is due."""
        used, fragmentation = self._shares()
        time = round(self.next_sample, _DIGITS)
        self._samples.append(Sample(time, pending, running, used, fragmentation, evictions))
        self._bound.append(self._bound_so_far)
        if len(self._samples) == 2 * SAMPLES + 1:
            self._samples, self._bound = self._samples[::2], self._bound[::2]
            self._step *= 2
        self.next_sample += self._step

    def samples(self) -> list[Sample]:
        """Return all samples, each with the pods that were bound since the one before."""
        return [
            msgspec.structs.replace(
                sample,
                bound=pods - pods_before,
                wait=round((seconds - seconds_before) / (pods - pods_before or 1), _DIGITS),
            )
            for sample, (pods, seconds), (pods_before, seconds_before) in zip(
                self._samples, self._bound, [(0, 0.0), *self._bound], strict=False
            )
        ]

    def _shares(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return how much of each resource is requested, and how fragmented the rest is."""
        columns, live = self._table.resources, self._table.live_rows()
        allocatable, requested = columns.allocatable[:, live], columns.requested[:, live]
        free = np.maximum(allocatable - requested, 0)
        fragmentation = self._shapes.fragmentation(free)
        totals, sums = allocatable.sum(axis=1).tolist(), requested.sum(axis=1).tolist()
        measured = [
            (name, resource)
            for name, resource in columns.index.items()
            if name not in _UNMEASURED and totals[resource]
        ]
        used = {name: round(sums[index] / totals[index], _DIGITS) for name, index in measured}
        broken = {
            name: round(float(fragmentation[index]), _DIGITS)
            for name, index in measured
            if index < len(fragmentation)
        }
        return used, broken
