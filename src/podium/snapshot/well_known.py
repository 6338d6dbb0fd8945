"""Words that mean something to Kubernetes: anonymized snapshots keep them.

docs/snapshots.md says what is kept and what is renamed; these tables decide it.
"""

from __future__ import annotations

from typing import Final

from podium.snapshot import kinds

# Domains of labels, taints, annotations and topologies in which no user chooses names. Others of
# Kubernetes are left out, because node-role.kubernetes.io/payments is a user's word.
KEPT_DOMAINS: Final = frozenset(
    (
        "app.kubernetes.io",
        "apps.kubernetes.io",
        "batch.kubernetes.io",
        "beta.kubernetes.io",
        "controller.kubernetes.io",
        "deployment.kubernetes.io",
        "failure-domain.beta.kubernetes.io",
        "kubernetes.io",
        "node.cloudprovider.kubernetes.io",
        "node.kubernetes.io",
        "podium.dev",
        "pv.kubernetes.io",
        "resource.kubernetes.io",
        "scheduler.alpha.kubernetes.io",
        "scheduling.x-k8s.io",
        "statefulset.kubernetes.io",
        "storage.alpha.kubernetes.io",
        "storageclass.kubernetes.io",
        "topology.cinder.csi.openstack.org",
        "topology.disk.csi.azure.com",
        "topology.ebs.csi.aws.com",
        "topology.gke.io",
        "topology.kubernetes.io",
        "volume.beta.kubernetes.io",
        "volume.kubernetes.io",
    )
)
KEPT_KEYS: Final = frozenset(
    (
        "controller-revision-hash",
        "metadata.name",
        "node-role.kubernetes.io/control-plane",
        "node-role.kubernetes.io/master",
        "pod-template-generation",
        "pod-template-hash",
        # Finalizers:
        "foregroundDeletion",
        "kubernetes",
        "orphan",
    )
)
# Labels whose values say nothing about their owner.
KEPT_VALUES_OF: Final = frozenset(
    ("kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch")
)
# Labels whose values are names of objects.
NAMES_OF_OBJECTS: Final = frozenset(
    (
        "metadata.name",
        "kubernetes.io/hostname",
        "kubernetes.io/metadata.name",
        "scheduling.x-k8s.io/pod-group",
    )
)
KEPT_WORDS: Final = frozenset(("", "true", "false", "yes", "no", "default-scheduler"))
ANY_ADDRESS: Final = frozenset(("0.0.0.0", "::", "127.0.0.1"))  # host IPs that are kept

# Annotations that plugins and controllers read, other than as names.
KEPT_ANNOTATIONS: Final = frozenset(
    (
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/migrated-to",
        "pv.kubernetes.io/provisioned-by",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-provisioner",
        "volume.kubernetes.io/storage-provisioner",
    )
)

# Annotations whose text is an object of its own.
JSON_IN_ANNOTATIONS: Final = frozenset(("scheduler.alpha.kubernetes.io/preferAvoidPods",))

# Annotations that hold the name of an object.
NAMES_IN_ANNOTATIONS: Final = frozenset(
    (
        "resource.kubernetes.io/pod-claim-name",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
    )
)

# API groups that do not end in .k8s.io, and kinds of owners and references; others are users' own.
GROUPS: Final = frozenset(
    ("", "apps", "autoscaling", "batch", "extensions", "policy", "scheduling.x-k8s.io")
)
KINDS: Final = frozenset(each.kind for each in kinds.KINDS) | {"ConfigMap", "Secret"}
# Types of conditions that Kubernetes itself sets, and the reasons that the scheduler gives.
CONDITIONS: Final = frozenset(
    (
        "ContainersReady",
        "DisruptionTarget",
        "Initialized",
        "PodReadyToStartContainers",
        "PodScheduled",
        "Ready",
        "DiskPressure",
        "MemoryPressure",
        "NetworkUnavailable",
        "PIDPressure",
        "Available",
        "Complete",
        "Failed",
        "Progressing",
    )
)
REASONS: Final = frozenset(("SchedulerError", "SchedulingGated", "Unschedulable"))

# Kinds whose names are those of drivers, or occur in CEL expressions and names of resources.
KINDS_WITH_KEPT_NAMES: Final = frozenset(("CSIDriver", "DeviceClass"))
KINDS_LEFT_OUT: Final = frozenset(("ControllerRevision",))

# Fields whose content is kept as it is: enumerations, quantities, drivers, expressions.
KEPT_FIELDS: Final = frozenset(
    (
        "accessModes",
        "action",
        "allocatable",
        "allocatedResources",
        "allocationMode",
        "attacher",
        "capacity",
        "completionMode",
        "concurrencyPolicy",
        "declaredFeatures",
        "deviceClassName",
        "dnsPolicy",
        "driver",
        "effect",
        "extendedResourceName",
        "fsGroupPolicy",
        "hard",
        "imagePullPolicy",
        "ipFamilies",
        "ipFamilyPolicy",
        "limits",
        "max",
        "maximumVolumeSize",
        "min",
        "minResources",
        "mountPropagation",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "operator",
        "overhead",
        "persistentVolumeReclaimPolicy",
        "phase",
        "podFixed",
        "podManagementPolicy",
        "preemptionPolicy",
        "protocol",
        "provisioner",
        "qosClass",
        "requests",
        "resize",
        "resource",
        "resourceName",
        "resourceVersion",
        "resources",
        "restartPolicy",
        "sizeLimit",
        "terminationMessagePolicy",
        "type",
        "uid",
        "unhealthyPodEvictionPolicy",
        "used",
        "volumeBindingMode",
        "volumeLifecycleModes",
        "volumeMode",
        "whenUnsatisfiable",
    )
)
# Fields that say who and where, and that no decision needs.
DROPPED_FIELDS: Final = frozenset(
    (
        "addresses",
        "attachmentMetadata",
        "bootID",
        "clusterIP",
        "clusterIPs",
        "containerID",
        "data",
        "description",
        "externalIPs",
        "externalName",
        "generateName",
        "hostAliases",
        "hostIP",
        "hostIPs",
        "imageID",
        "loadBalancer",
        "loadBalancerIP",
        "machineID",
        "managedFields",
        "message",
        "networkData",
        "nodeInfo",
        "podCIDR",
        "podCIDRs",
        "podIP",
        "podIPs",
        "providerID",
        "reason",
        "securityContext",
        "systemUUID",
        "user",
        "userAnnotations",
    )
)
