"""Values that say nothing: empty texts, lists and maps, zero and false, where leaving a field out
means the same. A real server drops them when it stores an object, so `api.py` and the decoder of
protobuf, which carries them all, do so too: two clients that mean the same write the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from podium.apiserver.schemas import Schema, named
from podium.apiserver.statuses import Json

# The fields of the published types whose zero differs from nothing: `replicas: 0` is no default.
# Required fields are not listed; the schemas know them.
_TELLING: dict[str, dict[str, str]] = {
    "api.apps.v1": {
        "DaemonSetSpec": "revisionHistoryLimit",
        "DaemonSetStatus": "collisionCount",
        "DeploymentSpec": "replicas revisionHistoryLimit progressDeadlineSeconds",
        "DeploymentStatus": "terminatingReplicas collisionCount",
        "ReplicaSetSpec": "replicas",
        "ReplicaSetStatus": "terminatingReplicas",
        "RollingUpdateStatefulSetStrategy": "partition",
        "StatefulSetOrdinals": "start",
        "StatefulSetSpec": "replicas revisionHistoryLimit serviceName",
        "StatefulSetStatus": "collisionCount availableReplicas",
    },
    "api.autoscaling.v1": {
        "HorizontalPodAutoscalerSpec": "minReplicas targetCPUUtilizationPercentage",
        "HorizontalPodAutoscalerStatus": "observedGeneration currentCPUUtilizationPercentage",
    },
    "api.autoscaling.v2": {
        "HPAScalingRules": "stabilizationWindowSeconds selectPolicy",
        "HorizontalPodAutoscalerSpec": "minReplicas",
        "HorizontalPodAutoscalerStatus": "observedGeneration currentMetrics",
        "MetricTarget": "averageUtilization",
        "MetricValueStatus": "averageUtilization",
    },
    "api.batch.v1": {
        "CronJobSpec": "timeZone startingDeadlineSeconds suspend successfulJobsHistoryLimit "
        "failedJobsHistoryLimit",
        "JobSpec": "parallelism completions activeDeadlineSeconds backoffLimit "
        "backoffLimitPerIndex maxFailedIndexes manualSelector ttlSecondsAfterFinished "
        "completionMode suspend podReplacementPolicy managedBy",
        "JobStatus": "terminating failedIndexes ready",
        "PodFailurePolicyOnExitCodesRequirement": "containerName",
        "PodFailurePolicyOnPodConditionsPattern": "status",
        "SuccessPolicyRule": "succeededIndexes succeededCount",
    },
    "api.coordination.v1": {
        "LeaseSpec": "holderIdentity leaseDurationSeconds leaseTransitions strategy "
        "preferredHolder",
    },
    "api.core.v1": {
        "AppArmorProfile": "localhostProfile",
        "AzureDiskVolumeSource": "cachingMode fsType readOnly kind",
        "AzureFilePersistentVolumeSource": "secretNamespace",
        "CSIVolumeSource": "readOnly fsType",
        "ClientIPConfig": "timeoutSeconds",
        "ClusterTrustBundleProjection": "name signerName optional",
        "ConfigMap": "immutable",
        "ConfigMapEnvSource": "optional",
        "ConfigMapKeySelector": "optional",
        "ConfigMapProjection": "optional",
        "ConfigMapVolumeSource": "defaultMode optional",
        "Container": "restartPolicy",
        "ContainerImage": "names",
        "ContainerStatus": "started stopSignal",
        "DownwardAPIVolumeFile": "mode",
        "DownwardAPIVolumeSource": "defaultMode",
        "EndpointAddress": "nodeName",
        "EndpointPort": "appProtocol",
        "Event": "reportingComponent reportingInstance",
        "FCVolumeSource": "lun",
        "FileKeySelector": "optional",
        "GRPCAction": "service",
        "GlusterfsPersistentVolumeSource": "endpointsNamespace",
        "HostPathVolumeSource": "type",
        "ISCSIPersistentVolumeSource": "initiatorName",
        "ISCSIVolumeSource": "initiatorName",
        "KeyToPath": "mode",
        "Lifecycle": "stopSignal",
        "LoadBalancerIngress": "ipMode",
        "LocalVolumeSource": "fsType",
        "NodeFeatures": "supplementalGroupsPolicy",
        "NodeRuntimeHandler": "name",
        "NodeRuntimeHandlerFeatures": "recursiveReadOnlyMounts userNamespaces",
        "NodeSwapStatus": "capacity",
        "PersistentVolumeClaimSpec": "storageClassName volumeMode volumeAttributesClassName",
        "PersistentVolumeClaimStatus": "currentVolumeAttributesClassName",
        "PersistentVolumeSpec": "volumeMode volumeAttributesClassName",
        "PodCertificateProjection": "maxExpirationSeconds",
        "PodDNSConfigOption": "value",
        "PodResourceClaim": "resourceClaimName resourceClaimTemplateName",
        "PodResourceClaimStatus": "resourceClaimName",
        "PodSchedulingGroup": "podGroupName",
        "PodSecurityContext": "runAsUser runAsGroup runAsNonRoot supplementalGroupsPolicy fsGroup "
        "fsGroupChangePolicy seLinuxChangePolicy",
        "PodSpec": "terminationGracePeriodSeconds activeDeadlineSeconds "
        "automountServiceAccountToken shareProcessNamespace priority runtimeClassName "
        "enableServiceLinks preemptionPolicy setHostnameAsFQDN hostUsers hostnameOverride",
        "PortStatus": "error",
        "Probe": "terminationGracePeriodSeconds",
        "ProjectedVolumeSource": "defaultMode sources",
        "ReplicationControllerSpec": "replicas",
        "ResourceHealth": "message",
        "SeccompProfile": "localhostProfile",
        "Secret": "immutable",
        "SecretEnvSource": "optional",
        "SecretKeySelector": "optional",
        "SecretProjection": "optional",
        "SecretVolumeSource": "defaultMode optional",
        "SecurityContext": "privileged runAsUser runAsGroup runAsNonRoot readOnlyRootFilesystem "
        "allowPrivilegeEscalation procMount",
        "ServiceAccount": "automountServiceAccountToken",
        "ServiceAccountTokenProjection": "expirationSeconds",
        "ServicePort": "appProtocol",
        "ServiceSpec": "ipFamilyPolicy allocateLoadBalancerNodePorts loadBalancerClass "
        "internalTrafficPolicy trafficDistribution",
        "Toleration": "tolerationSeconds",
        "TopologySpreadConstraint": "minDomains nodeAffinityPolicy nodeTaintsPolicy",
        "TypedLocalObjectReference": "apiGroup",
        "TypedObjectReference": "apiGroup namespace",
        "VolumeMount": "recursiveReadOnly mountPropagation",
        "VolumeMountStatus": "recursiveReadOnly",
        "WindowsSecurityContextOptions": "gmsaCredentialSpecName gmsaCredentialSpec runAsUserName "
        "hostProcess",
    },
    "api.discovery.v1": {
        "Endpoint": "hostname nodeName zone",
        "EndpointConditions": "ready serving terminating",
        "EndpointPort": "name protocol port appProtocol",
        "EndpointSlice": "endpoints ports",
    },
    "api.networking.v1": {
        "HTTPIngressPath": "pathType",
        "IngressClassParametersReference": "apiGroup scope namespace",
        "IngressPortStatus": "error",
        "IngressSpec": "ingressClassName",
        "NetworkPolicyPort": "protocol endPort",
    },
    "api.policy.v1": {
        "PodDisruptionBudgetSpec": "unhealthyPodEvictionPolicy",
        "PodDisruptionBudgetStatus": "disruptionsAllowed currentHealthy desiredHealthy "
        "expectedPods",
    },
    "api.resource.v1": {
        "AllocatedDeviceStatus": "shareID conditions",
        "Device": "nodeName allNodes bindsToNode allowMultipleAllocations",
        "DeviceAttribute": "int bool string version",
        "DeviceClaim": "requests",
        "DeviceClassSpec": "extendedResourceName",
        "DeviceConstraint": "matchAttribute distinctAttribute",
        "DeviceRequestAllocationResult": "adminAccess shareID",
        "DeviceToleration": "tolerationSeconds",
        "ExactDeviceRequest": "adminAccess",
        "ResourceSliceSpec": "nodeName allNodes perDeviceNodeSelection",
    },
    "api.scheduling.v1": {
        "PriorityClass": "preemptionPolicy value",
    },
    "api.storage.v1": {
        "CSIDriverSpec": "attachRequired podInfoOnMount storageCapacity fsGroupPolicy "
        "requiresRepublish seLinuxMount nodeAllocatableUpdatePeriodSeconds "
        "serviceAccountTokenInSecrets preventPodSchedulingIfMissing",
        "CSINodeDriver": "topologyKeys",
        "StorageClass": "reclaimPolicy allowVolumeExpansion volumeBindingMode",
        "TokenRequest": "expirationSeconds",
        "VolumeAttachmentSource": "persistentVolumeName",
        "VolumeError": "errorCode",
        "VolumeNodeResources": "count",
    },
    "apimachinery.pkg.apis.meta.v1": {
        "DeleteOptions": "gracePeriodSeconds orphanDependents propagationPolicy "
        "ignoreStoreReadErrorWithClusterBreakingPotential",
        "ObjectMeta": "deletionGracePeriodSeconds",
        "OwnerReference": "controller blockOwnerDeletion",
        "Preconditions": "uid resourceVersion",
    },
    "api.rbac.v1": {
        "ClusterRole": "rules",
        "Role": "rules",
        "RoleRef": "apiGroup",
    },
}
_STABLE = re.compile(r"io\.k8s\.(.*\.v\d+)\.(\w+)")
_SCALARS = frozenset({"string", "integer", "boolean", "number"})


def drop_zeros(value: Any, schema: Schema) -> None:
    """Take out of an object, in place, what its type would not write."""
    if schema.preserves_unknown:
        return
    if isinstance(value, dict):
        _drop(value, schema)
        for name, one in value.items():
            if isinstance(one, dict | list) and (below := schema.child(name)) is not None:
                drop_zeros(one, below)
    elif isinstance(value, list) and (element := schema.items) is not None:
        for one in value:
            if not isinstance(one, dict | list):
                return  # a list is of one type, and scalars in it stay
            drop_zeros(one, element)


def _drop(obj: Json, schema: Schema) -> None:
    if not schema.name:
        return
    silent = _silent(schema.name)
    for name in [name for name, value in obj.items() if not value and name in silent]:
        del obj[name]


@cache
def _silent(definition: str) -> frozenset[str]:
    """The fields of a published type that are not written while they are zero or empty."""
    found = _STABLE.fullmatch(definition)
    if found is None:
        return frozenset()
    schema = named(definition)
    kept = {*schema.required, *_TELLING.get(found[1], {}).get(found[2], "").split()}
    return frozenset(
        name for name, one in schema.properties.items() if name not in kept and _has_zero(one)
    )


def _has_zero(schema: Schema) -> bool:
    is_map = schema.type == "object" and schema.additional is not None
    return is_map or schema.type == "array" or schema.type in _SCALARS
