"""The feature gates that change what the embedded API server serves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from podium.config.feature_gates import FeatureGates

WORKLOAD_WITH_JOB: Final = "WorkloadWithJob"
# The gates that the scheduler has as well; it gets the same settings.
SHARED: Final = (
    "GenericWorkload",
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
)


def features_of(gates: FeatureGates, settings: Iterable[str] = ()) -> frozenset[str]:
    """Return the features of a server: those of its scheduler, and its own of ``--feature-gates``.

    ``gates`` are what ``config.feature_gates.parse`` has made of the same settings.
    """
    found = {name for name in SHARED if gates.enabled(name)}
    for setting in settings:
        name, _, value = setting.partition("=")
        if name.rpartition(":")[2].strip() == WORKLOAD_WITH_JOB:
            found.discard(WORKLOAD_WITH_JOB)
            found |= {WORKLOAD_WITH_JOB} if value.strip().lower() in ("true", "t", "1") else set()
    return frozenset(found)
