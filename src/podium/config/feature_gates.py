"""Feature gates under kube-scheduler's names: what each is, and which of its settings podium has.

The command line reads them; ``app`` builds other parts by them. docs/feature-gates.md is the table
for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from podium.config.other_gates import OTHER_COMPONENTS
from podium.config.problems import Problems, did_you_mean

FLAG: Final = "--feature-gates"

ON: Final = frozenset({True})
OFF: Final = frozenset({False})
BOTH: Final = ON | OFF

_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


class Stage(Enum):
    ALPHA = "Alpha"
    BETA = "Beta"
    GA = "GA"


@dataclass(frozen=True, slots=True)
class Gate:
    """``built`` are the settings that podium has; one that is locked cannot be set otherwise."""

    name: str
    stage: Stage
    default: bool
    built: frozenset[bool]
    is_locked: bool = False

    @property
    def runs(self) -> bool:
        """Whether the feature is there when nobody asks."""
        return self.default if self.default in self.built else not self.default


def _gates(stage: Stage, default: bool, built: frozenset[bool], names: str) -> list[Gate]:
    return [Gate(name, stage, default, built) for name in names.split()]


def _locked(built: frozenset[bool], names: str) -> list[Gate]:
    return [Gate(name, Stage.GA, True, built, is_locked=True) for name in names.split()]


GATES: Final[Mapping[str, Gate]] = {
    gate.name: gate
    for gate in (
        *_gates(
            Stage.BETA, True, BOTH, "SchedulerPopFromBackoffQ OpportunisticBatching "
            "NominatedNodeNameForExpectation NodeDeclaredFeatures",
        ),
        *_gates(Stage.ALPHA, False, BOTH, "StorageCapacityScoring"),
        # The API server does it: the scheduler is the same either way.
        *_gates(Stage.BETA, True, BOTH, "ClearingNominatedNodeNameAfterBinding"),
        *_gates(
            Stage.BETA, True, ON, "SchedulerAsyncPreemption PodLevelResources "
            "InPlacePodLevelResourcesVerticalScaling MatchLabelKeysInPodTopologySpread "
            "MatchLabelKeysInPodTopologySpreadSelectorMerge ContextualLogging LoggingBetaOptions",
        ),
        *_locked(
            ON, "SchedulerQueueingHints VolumeAttributesClass MutableCSINodeAllocatableCount "
            "InPlacePodVerticalScaling SidecarContainers PodSchedulingReadiness "
            "PodObservedGenerationTracking NodeInclusionPolicyInPodTopologySpread "
            "MatchLabelKeysInPodAffinity",
        ),
        *_locked(OFF, "DynamicResourceAllocation DRAAdminAccess"),
        *_gates(Stage.GA, True, OFF, "DRAPrioritizedList"),
        *_gates(
            Stage.BETA, True, OFF, "DRAConsumableCapacity DRADeviceBindingConditions "
            "DRADeviceTaints DRAExtendedResource DRAPartitionableDevices "
            "DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout "
            "DRAResourceClaimGranularStatusAuthorization ComponentStatusz ComponentFlagz "
            "WatchListClient",
        ),
        *_gates(
            Stage.BETA, False, OFF, "SchedulerAsyncAPICalls DRADeviceTaintRules "
            "CoordinatedLeaderElection",
        ),
        *_gates(
            Stage.ALPHA, False, OFF, "DRAListTypeAttributes DRANodeAllocatableResources "
            "DRAWorkloadResourceClaims GenericWorkload GangScheduling WorkloadAwarePreemption "
            "TopologyAwareWorkloadScheduling TaintTolerationComparisonOperators VolumeLimitScaling "
            "LoggingAlphaOptions",
        ),
    )
}  # fmt: skip

_ALL: Final = {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
_COMPONENT: Final = "kube"


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """What was chosen; everything else is as it comes."""

    chosen: Mapping[str, bool] = field(default_factory=dict)

    def enabled(self, name: str) -> bool:
        return self.chosen.get(name, GATES[name].runs)


NO_CHOICE: Final = FeatureGates()


def parse(settings: Iterable[str]) -> FeatureGates:
    """The gates of texts such as ``[component:]Name=true``; what cannot be is one ``ConfigError``.

    As upstream, a later setting of a gate wins, and ``AllAlpha`` and ``AllBeta`` are for those
    gates that are not named.
    """
    problems = Problems()
    wanted: dict[str, bool] = {}
    for setting in settings:
        name, value = _setting(setting.strip(), problems)
        if value is not None:
            wanted[name] = value
    for name, value in wanted.items():
        _check(name, value, problems)
    chosen = _all_of_a_stage(wanted, problems)
    problems.raise_if_any(FLAG)
    return FeatureGates({name: value for name, value in chosen.items() if name in GATES})


def _setting(text: str, problems: Problems) -> tuple[str, bool | None]:
    written, equals, value = text.partition("=")
    component, colon, name = written.rpartition(":")
    name, value = name.strip(), value.strip()
    if colon and component != _COMPONENT:
        problems.add("", f"component not registered: {component}; only {_COMPONENT} is")
        return name, None
    if not equals:
        problems.add("", f"missing bool value for {name}")
    elif value not in _BOOLEANS:
        problems.add("", f"invalid value of {name}={value}: must be true or false")
    return name, _BOOLEANS.get(value)


def _check(name: str, value: bool, problems: Problems) -> None:
    gate = GATES.get(name)
    if gate is None:
        if name not in _ALL and name not in OTHER_COMPONENTS:
            known = (*GATES, *_ALL, *OTHER_COMPONENTS)
            problems.add("", f"unrecognized feature gate: {name}{did_you_mean(name, known)}")
    elif gate.is_locked and value != gate.default:
        locked = "feature is locked to true"
        problems.add("", f"cannot set feature gate {name} to false, {locked}")
    elif value not in gate.built:
        problems.add("", f"{name}={'true' if value else 'false'}: {_unbuilt(value)}")


def _unbuilt(value: bool) -> str:
    return "podium has not built it; leave it out" if value else "podium cannot do without it"


def _all_of_a_stage(wanted: Mapping[str, bool], problems: Problems) -> dict[str, bool]:
    chosen = dict(wanted)
    for name, stage in _ALL.items():
        for gate in GATES.values():
            if name in wanted and gate.stage is stage and gate.name not in wanted:
                chosen[gate.name] = wanted[name]
                if wanted[name] != gate.runs:
                    _check(gate.name, wanted[name], problems)
    return chosen
