"""NodeVolumeLimits: a node holds only so many volumes of each CSI driver.

PreFilter  finds the CSI volumes of the pod; skips if there are none.
Filter     rejects a node that lacks a driver which must be installed (VolumeLimitScaling), or whose
           CSINode allows fewer volumes of a driver than there would be.
Requeue    when a limit rises, volumes may have left a node, or a claim of the pod appears.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.meta import ApiObject
from podium.api.objects import CSIDriver, PersistentVolume, Pod, StorageClass
from podium.plugins.volume.limits import EXCEEDED
from podium.plugins.volume.node_volume_limits import hints
from podium.plugins.volume.node_volume_limits.drivers import (
    RequiredDriver,
    RequiredDrivers,
    not_installed,
    required_drivers,
)
from podium.plugins.volume.node_volume_limits.load import (
    NOTHING,
    Demand,
    Load,
    demand_of,
    volumes_of,
)

DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.VOLUMES)


class NodeVolumeLimits(fwk.PreFilterExtensionsForMany, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "NodeVolumeLimits"
    State = Load
    watches: ClassVar[tuple[type[ApiObject], ...]] = (PersistentVolume, StorageClass)

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return demand_of(self._cluster, pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        demand = demand_of(self._cluster, pod)
        if demand == NOTHING:
            return fwk.skip()
        self._store(state, pod, demand)
        return None

    def add_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        pairs = zip(others.infos, others.rows.tolist(), strict=True)
        self._shift(state.get(Load), pod, pairs, 1)

    def remove_pods(self, state: fwk.CycleState, pod: Pod, others: fwk.PodsOnRows) -> None:
        pairs = zip(others.infos, others.rows.tolist(), strict=True)
        self._shift(state.get(Load), pod, pairs, -1)

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        load = state.find(Load) or self._prepare_for(pod, node)
        if load.refusal is not None:
            return load.refusal
        return EXCEEDED if load.exceeds(self._cluster.storage, node.row) else fwk.SUCCESS

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        load = state.find(Load)
        if load is None:
            return super().filter_all(state, pod, nodes)
        if load.refusal is not None:
            return fwk.Column.uniform(load.refusal, len(nodes))
        is_exceeded = load.exceeds_all(self._cluster.storage, nodes)
        return fwk.Column.where(is_exceeded, EXCEEDED, fwk.SUCCESS)

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("storage.k8s.io/CSINode", "add"),
            fwk.on("storage.k8s.io/CSINode", "update", hint=hints.limit_rose),
            fwk.on("AssignedPod", "delete", hint=hints.volumes_left),
            fwk.on("PersistentVolumeClaim", "add", hint=hints.claim_appeared),
            fwk.on("storage.k8s.io/VolumeAttachment", "delete", hint=hints.volume_was_detached),
        ]

    def _store(self, state: fwk.CycleState, pod: Pod, demand: Demand | fwk.Status) -> None:
        """Store what Filter needs."""
        state.put(_load(demand))

    def _prepare_for(self, pod: Pod, node: fwk.NodeInfo) -> Load:
        """Do the work of PreFilter, AddPod and RemovePod, for a profile that disables PreFilter."""
        load = _load(demand_of(self._cluster, pod))
        if node.overlay is not None:
            live = fwk.NodeInfo(node.cluster, node.row)
            self._shift(load, pod, ((info, node.row) for info in live.pods), -1)
            self._shift(load, pod, ((info, node.row) for info in node.pods), 1)
        return load

    def _shift(
        self, load: Load, pod: Pod, others: Iterable[tuple[fwk.PodInfo, int]], amount: int
    ) -> None:
        mine = volumes_of(self._cluster, pod)
        if isinstance(mine, fwk.Status):
            return  # the pod is rejected on every node
        storage = self._cluster.storage
        for other, row in others:
            for volume in storage.volumes_of(other.pod, other.volumes):
                load.shift(storage.attached, (volume, row, volume in mine), amount)


class DriverRequiringVolumeLimits(NodeVolumeLimits):
    """NodeVolumeLimits with the feature VolumeLimitScaling, which 1.37 has on."""

    watches = (*NodeVolumeLimits.watches, CSIDriver)

    def sign(self, pod: Pod) -> Hashable:
        demand = demand_of(self._cluster, pod)
        if demand is NOTHING:
            return NOTHING
        return demand, self._required(pod, demand)

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        for driver in self._required_in(state, pod):
            if self._lacking(driver).item(node.row):
                return not_installed(driver.name)
        return super().filter(state, pod, node)

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        statuses = super().filter_all(state, pod, nodes)
        # In reverse, as the first driver that is missing is reported.
        for driver in reversed(self._required_in(state, pod)):
            lacking = nodes.take(self._lacking(driver))
            count = int(np.count_nonzero(lacking))
            if count:
                missing = fwk.Column.uniform(not_installed(driver.name), count)
                statuses = statuses.patched(lacking, missing)
        return statuses

    def _store(self, state: fwk.CycleState, pod: Pod, demand: Demand | fwk.Status) -> None:
        super()._store(state, pod, demand)
        state.put(RequiredDrivers(self._required(pod, demand)))

    def _required_in(self, state: fwk.CycleState, pod: Pod) -> tuple[RequiredDriver, ...]:
        """Return what PreFilter stored, or compute it if the profile has PreFilter disabled."""
        kept = state.find(RequiredDrivers)
        if kept is not None:
            return kept.drivers
        return self._required(pod, demand_of(self._cluster, pod))

    def _required(self, pod: Pod, demand: Demand | fwk.Status) -> tuple[RequiredDriver, ...]:
        if isinstance(demand, fwk.Status):  # its claims are missing or invalid: this comes first
            return ()
        return required_drivers(self._cluster, pod, [driver for driver, _ in demand.by_driver])

    def _lacking(self, driver: RequiredDriver) -> NDArray[np.bool_]:
        without = driver.without_csi_node
        return self._cluster.storage.lacks_driver(driver.name, without_csi_node=without)


def _load(demand: Demand | fwk.Status) -> Load:
    # As in kube-scheduler, Filter rejects for invalid claims (and so counts nodes), not PreFilter.
    return Load(NOTHING, demand) if isinstance(demand, fwk.Status) else Load(demand)
