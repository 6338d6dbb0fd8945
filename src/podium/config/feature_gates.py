"""Feature gates under kube-scheduler's names: what each release has, and what podium supports.

The command line parses them, ``app`` builds different parts according to them, and
docs/feature-gates.md is the table for users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple

from podium.config.problems import Problems, did_you_mean
from podium.release import LATEST, RELEASES, V1_37, Release

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
    DEPRECATED = "Deprecated"


class Gate(NamedTuple):
    """A feature gate of one release.

    A locked gate can only be set to its default. A gate can only be on if those that it needs are.
    """

    name: str
    stage: Stage
    default: bool
    is_locked: bool
    needs: tuple[str, ...]

    @property
    def supported(self) -> frozenset[bool]:
        """The values that podium accepts. Gates of other components have no effect."""
        return SUPPORTED.get(self.name, BOTH)

    @property
    def is_on(self) -> bool:
        """Whether the feature is on in podium when the gate is not set."""
        return self.default if self.default in self.supported else not self.default


@cache
def gates_of(release: Release) -> Mapping[str, Gate]:
    """Return all gates that kube-scheduler of this release accepts, by name.

    Many are for other components: clusters are often set up with one list for every component.
    """
    text = files("podium.config.published").joinpath(f"feature-gates-{release}.txt").read_text()
    return MappingProxyType({gate.name: gate for gate in map(_gate, text.splitlines())})


def _gate(line: str) -> Gate:
    name, stage, default, *rest = line.split()
    needs = tuple(word[1:] for word in rest if word.startswith("+"))
    return Gate(name, Stage(stage), default == "on", "locked" in rest, needs)


def _supports(values: frozenset[bool], names: str) -> dict[str, frozenset[bool]]:
    return dict.fromkeys(names.split(), values)


# The gates that the scheduler itself reads, and the values of each that podium implements.
SUPPORTED: Final[Mapping[str, frozenset[bool]]] = {
    **_supports(
        BOTH,
        "SchedulerPopFromBackoffQ OpportunisticBatching NominatedNodeNameForExpectation "
        "NodeDeclaredFeatures StorageCapacityScoring VolumeLimitScaling "
        "MatchLabelKeysInPodTopologySpread "
        "TaintTolerationComparisonOperators LoggingAlphaOptions LoggingBetaOptions WatchListClient "
        "ComponentStatusz ComponentFlagz "
        "SchedulerAsyncAPICalls CoordinatedLeaderElection SchedulerAsyncPreemption "
        "PodLevelResources InPlacePodLevelResourcesVerticalScaling "
        "DRAPrioritizedList DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints "
        "DRADeviceTaintRules DRAExtendedResource DRAFractionalCapacityRange "
        "DRAPartitionableDevices DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout "
        "DRAWorkloadResourceClaims "
        "GenericWorkload TopologyAwareWorkloadScheduling PodGroupPreemptionPolicy "
        "CompositePodGroup",
    ),
    # podium's loggers do not come from a context, so that lines are the same either way.
    **_supports(BOTH, "ContextualLogging"),
    # The API server implements these; the scheduler is the same either way.
    **_supports(
        BOTH,
        "ClearingNominatedNodeNameAfterBinding MatchLabelKeysInPodTopologySpreadSelectorMerge "
        "DRAResourceClaimGranularStatusAuthorization",
    ),
    **_supports(
        ON,
        "SchedulerQueueingHints "
        "VolumeAttributesClass MutableCSINodeAllocatableCount InPlacePodVerticalScaling "
        "SidecarContainers PodSchedulingReadiness PodObservedGenerationTracking "
        "NodeInclusionPolicyInPodTopologySpread MatchLabelKeysInPodAffinity "
        "DynamicResourceAllocation DRAAdminAccess",
    ),
    **_supports(
        OFF,
        "DRAListTypeAttributes DRANodeAllocatableResources "
        "DRADerivedAttributes DRADeviceCompatibilityGroups DRAOptionalNodeOperations",
    ),
    **_supports(
        OFF,
        "GangScheduling WorkloadAwarePreemption",
    ),
    **_supports(
        OFF,
        "InPlacePodVerticalScalingSchedulerPreemption InterPodAffinityHostnameFastPath "
        "SchedulerPreQueueingHints",
    ),
}

# Features that podium implements as of a later release than the first one that has their gate.
IMPLEMENTED_SINCE: Final[Mapping[str, Release]] = {
    "GenericWorkload": V1_37,
    "TopologyAwareWorkloadScheduling": V1_37,
    "DRAWorkloadResourceClaims": V1_37,
}

_ALL: Final = {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
_COMPONENT: Final = "kube"


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """The release to behave as, and the gates that were set; all others have their default."""

    release: Release = LATEST
    chosen: Mapping[str, bool] = field(default_factory=dict)

    def enabled(self, name: str) -> bool:
        """Whether the feature is on; false if the release does not have it."""
        gate = gates_of(self.release).get(name)
        return gate is not None and self.chosen.get(name, gate.is_on)


NO_CHOICE: Final = FeatureGates()


def parse(
    settings: Iterable[str], release: Release = LATEST, flag: str = "--emulated-version"
) -> FeatureGates:
    """Parse ``[component:]Name=true`` pairs. All mistakes are collected into one ``ConfigError``.

    As upstream, the last setting of a gate wins, and ``AllAlpha`` and ``AllBeta`` apply to the
    gates that are not named. ``flag`` is the option that chooses the release, for messages.
    """
    problems = Problems()
    wanted: dict[str, bool] = {}
    for setting in settings:
        name, value = _setting(setting.strip(), problems)
        if value is not None:
            wanted[name] = value
    known = gates_of(release)
    for name, value in wanted.items():
        if name in known:
            _check(known[name], value, release, problems, flag)
        elif name not in _ALL:
            problems.add("", _unrecognized(name, value, release, flag))
    chosen = _with_stages(wanted, release, problems, flag)
    if not problems.found:
        _check_needs(chosen, known, problems)
    problems.raise_if_any(FLAG)
    return FeatureGates(release, {name: chosen[name] for name in chosen if name in SUPPORTED})


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


def _unrecognized(name: str, value: bool, release: Release, flag: str) -> str:
    if release < LATEST and name in gates_of(LATEST):
        stage = f"feature is PreAlpha at emulated version {release}"
        compatible = f"min compatibility version {release.previous}"
        return f"cannot set feature gate {name} to {_text(value)}, {stage}, {compatible}"
    others = [str(each) for each in RELEASES if name in gates_of(each)]
    if others:
        return f"unrecognized feature gate: {name}; it exists with {flag}={others[-1]}"
    known = (*gates_of(release), *_ALL)
    return f"unrecognized feature gate: {name}{did_you_mean(name, known)}"


def _check(gate: Gate, value: bool, release: Release, problems: Problems, flag: str) -> None:
    setting = f"{gate.name} to {_text(value)}"
    since = IMPLEMENTED_SINCE.get(gate.name, release)
    if gate.is_locked and value != gate.default:
        locked = f"feature is locked to {_text(gate.default)}"
        problems.add("", f"cannot set feature gate {setting}, {locked}")
    elif value not in gate.supported:
        problems.add("", f"{gate.name}={_text(value)}: {_unsupported(value)}")
    elif value and release < since:
        what = f"podium implements this feature as of Kubernetes {since}, not of {release}"
        advice = f"remove the setting, or use {flag}={since}"
        problems.add("", f"{gate.name}=true: {what}; {advice}")


def _unsupported(value: bool) -> str:
    if value:
        return "podium does not implement this feature; remove the setting"
    return "podium cannot turn this feature off; remove the setting"


def _text(value: bool) -> str:
    return "true" if value else "false"


def _with_stages(
    wanted: Mapping[str, bool], release: Release, problems: Problems, flag: str
) -> dict[str, bool]:
    """Add the gates that ``AllAlpha`` and ``AllBeta`` set."""
    known = gates_of(release)
    chosen = {name: value for name, value in wanted.items() if name not in _ALL}
    for name, stage in _ALL.items():
        for gate in known.values() if name in wanted else ():
            if gate.stage is stage and gate.name not in wanted:
                chosen[gate.name] = wanted[name]
                if wanted[name] != gate.is_on:
                    _check(gate, wanted[name], release, problems, flag)
    return chosen


def _check_needs(chosen: Mapping[str, bool], known: Mapping[str, Gate], problems: Problems) -> None:
    """Check that what a gate needs is on. Defaults are upstream's, also where podium lacks them."""

    def is_on(gate: Gate) -> bool:
        return chosen.get(gate.name, gate.default)

    for gate in filter(is_on, known.values()):
        off = [need for need in gate.needs if not is_on(known[need])]
        if off:
            needs = f"depends on features that are disabled: [{' '.join(off)}]"
            problems.add("", f"{gate.name} is enabled, but {needs}")
