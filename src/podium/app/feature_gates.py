"""What feature gates choose. Each choice is made once, by building a different object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from podium.clock import Clock
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.config.upstream import GATED_PLUGINS
from podium.framework.plugin import Plugin
from podium.framework.registry import Registry
from podium.legacy.plugins import LEGACY
from podium.live.binding import Binder, QuietBinder
from podium.plugins import IN_TREE
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from podium.queue.patient_queue import PatientQueue
from podium.queue.scheduling_queue import QueueOptions, SchedulingQueue

LONGEST_UNSCHEDULABLE: Final = QueueOptions().max_in_unschedulable


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Options of a running scheduler that no configuration has."""

    gates: FeatureGates = NO_CHOICE
    max_in_unschedulable: float = LONGEST_UNSCHEDULABLE
    clock: Clock | None = None  # the time of the cluster, if it differs from the connection's

    @property
    def queue(self) -> type[SchedulingQueue]:
        is_eager = self.gates.enabled("SchedulerPopFromBackoffQ")
        return SchedulingQueue if is_eager else PatientQueue

    @property
    def binder(self) -> type[Binder]:
        announces = self.gates.enabled("NominatedNodeNameForExpectation")
        return Binder if announces else QuietBinder

    @property
    def reuses(self) -> bool:
        """Whether results of equal pods are kept and reused."""
        return self.gates.enabled("OpportunisticBatching")


USUAL: Final = LiveOptions()


def own_plugins(gates: FeatureGates) -> Registry:
    """Return the plugins that come with podium, as these gates choose them."""
    return Registry(
        [_chosen(plugin, gates) for plugin in (*IN_TREE, *LEGACY) if _has(plugin, gates)]
    )


def _has(plugin: type[Plugin], gates: FeatureGates) -> bool:
    return plugin.name not in GATED_PLUGINS or gates.enabled(plugin.name)


def _chosen(plugin: type[Plugin], gates: FeatureGates) -> type[Plugin]:
    if plugin is VolumeBinding and gates.enabled("StorageCapacityScoring"):
        return ScoringVolumeBinding
    return plugin
