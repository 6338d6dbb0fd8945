"""Feature gates under kube-scheduler's names: their defaults, and which settings podium supports.

The command line parses them, ``app`` builds different parts according to them, and
docs/feature-gates.md is the table for users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

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
    """One feature gate of kube-scheduler.

    ``supported`` holds the values that podium accepts. A locked gate can only be set to its
    default, as upstream.
    """

    name: str
    stage: Stage
    default: bool
    supported: frozenset[bool]
    is_locked: bool = False

    @property
    def is_on(self) -> bool:
        """Whether the feature is on in podium when the gate is not set."""
        return self.default if self.default in self.supported else not self.default


def _gates(stage: Stage, default: bool, supported: frozenset[bool], names: str) -> list[Gate]:
    return [Gate(name, stage, default, supported) for name in names.split()]


def _locked(supported: frozenset[bool], names: str) -> list[Gate]:
    return [Gate(name, Stage.GA, True, supported, is_locked=True) for name in names.split()]


GATES: Final[Mapping[str, Gate]] = {
    gate.name: gate
    for gate in (
        *_gates(
            Stage.BETA, True, BOTH, "SchedulerPopFromBackoffQ OpportunisticBatching "
            "NominatedNodeNameForExpectation NodeDeclaredFeatures",
        ),
        *_gates(Stage.ALPHA, False, BOTH, "StorageCapacityScoring"),
        # The API server implements this one; the scheduler is the same either way.
        *_gates(Stage.BETA, True, BOTH, "ClearingNominatedNodeNameAfterBinding"),
        *_gates(
            Stage.BETA, True, ON, "SchedulerAsyncPreemption PodLevelResources "
            "InPlacePodLevelResourcesVerticalScaling MatchLabelKeysInPodTopologySpread "
            "MatchLabelKeysInPodTopologySpreadSelectorMerge ContextualLogging LoggingBetaOptions "
            "WatchListClient",
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
            "DRAResourceClaimGranularStatusAuthorization ComponentStatusz ComponentFlagz",
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

# Gates that kube-scheduler v1.36 accepts although other components use them: clusters are often
# set up with one list of gates for every component.
_OTHER_NAMES = """
    APIResponseCompression APIServerIdentity APIServingWithRoutine
    AllowParsingUserUIDFromCertAuth AllowUnsafeMalformedObjectDeletion AtomicFIFO
    AuthorizePodWebsocketUpgradeCreatePermission CBORServingAndStorage
    CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
    CRIListStreaming CSIVolumeHealth ClientsAllowCARotation ClientsAllowCBOR
    ClientsAllowTLSCacheGC ClientsPreferCBOR
    CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
    ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
    ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContainerStopSignals
    CrossNamespaceVolumeDataSource DRAResourcePoolStatus DeclarativeValidationBeta
    DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles EventedPLEG
    ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority
    HPAConfigurableTolerance HPAScaleToZero HostnameOverride ImageVolumeWithDigest
    InOrderInformersBatchProcess InPlacePodVerticalScalingExclusiveCPUs
    InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace
    KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
    LocalStorageCapacityIsolationFSQuotaMonitoring ManifestBasedAdmissionControlConfig
    MaxUnavailableStatefulSet MemoryQoS MutablePVNodeAffinity
    MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
    NativeHistograms OpenAPIEnums PLEGOnDemandRelist PersistentVolumeClaimUnusedSinceTime
    PodAndContainerStatsFromCRI PodCertificateRequest PodDeletionCost PodLevelResourceManagers
    PodLogsQuerySplitStreams PodReadyToStartContainersCondition PodTopologyLabelsAdmission
    PodsAPI PortForwardWebsockets PreventStaticPodAPIReferences QOSReserved
    ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ReloadKubeletClientCAFile
    ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
    ResourceHealthStatusMessage RestartAllContainersOnContainerExits
    RotateKubeletServerCertificate RuntimeClassInImageCriApi SELinuxMount
    ServiceAccountNodeAudienceRestriction ShardedListAndWatch SizeBasedListCostEstimate
    StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
    StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
    StatefulSetSemanticRevisionComparison StorageVersionAPI StorageVersionHash
    StorageVersionMigrator StrictIPCIDRValidation
    StructuredAuthenticationConfigurationEgressSelector
    StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
    TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
    TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
    UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
    UserNamespacesHostNetworkSupport WatchCacheInitializationPostStartHook WatchList
    WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown WorkloadWithJob
"""
OTHER_COMPONENTS: Final = frozenset(_OTHER_NAMES.split())

_ALL: Final = {"AllAlpha": Stage.ALPHA, "AllBeta": Stage.BETA}
_COMPONENT: Final = "kube"


@dataclass(frozen=True, slots=True)
class FeatureGates:
    """The gates that were set; all others have their default."""

    chosen: Mapping[str, bool] = field(default_factory=dict)

    def enabled(self, name: str) -> bool:
        return self.chosen.get(name, GATES[name].is_on)


NO_CHOICE: Final = FeatureGates()


def parse(settings: Iterable[str]) -> FeatureGates:
    """Parse ``[component:]Name=true`` pairs. All mistakes are collected into one ``ConfigError``.

    As upstream, the last setting of a gate wins, and ``AllAlpha`` and ``AllBeta`` apply to the
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
    chosen = _with_stages(wanted, problems)
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
    elif value not in gate.supported:
        problems.add("", f"{name}={'true' if value else 'false'}: {_unsupported(value)}")


def _unsupported(value: bool) -> str:
    if value:
        return "podium does not implement this feature; remove the setting"
    return "podium cannot turn this feature off; remove the setting"


def _with_stages(wanted: Mapping[str, bool], problems: Problems) -> dict[str, bool]:
    """Add the gates that ``AllAlpha`` and ``AllBeta`` set."""
    chosen = dict(wanted)
    for name, stage in _ALL.items():
        for gate in GATES.values():
            if name in wanted and gate.stage is stage and gate.name not in wanted:
                chosen[gate.name] = wanted[name]
                if wanted[name] != gate.is_on:
                    _check(gate.name, wanted[name], problems)
    return chosen
