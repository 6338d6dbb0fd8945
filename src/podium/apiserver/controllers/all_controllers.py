"""The list of all controllers, according to the features of the cluster."""

from __future__ import annotations

from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.daemon_set import DaemonSetController
from podium.apiserver.controllers.deployment import DeploymentController
from podium.apiserver.controllers.disruption_budget import DisruptionBudgetController
from podium.apiserver.controllers.ephemeral_volumes import EphemeralVolumeController
from podium.apiserver.controllers.expiry import EventExpiry, PodGarbageController
from podium.apiserver.controllers.group_claims import (
    GroupClaimsController,
    MemberClaimsController,
    SharedClaimController,
)
from podium.apiserver.controllers.job import JobController
from podium.apiserver.controllers.namespace import NamespaceController
from podium.apiserver.controllers.pod_group_protection import PodGroupProtection
from podium.apiserver.controllers.replica_set import ReplicaSetController
from podium.apiserver.controllers.resource_claims import (
    PodClaimsController,
    ResourceClaimController,
)
from podium.apiserver.controllers.runner import Controller
from podium.apiserver.controllers.stateful_set import StatefulSetController
from podium.apiserver.controllers.volumes import ClaimController, VolumeController


def all_controllers(cluster: Cluster) -> list[Controller]:
    """Return the controllers of the kinds that the cluster serves."""
    features = cluster.api.features
    groups: list[Controller] = []
    claims: list[Controller] = [PodClaimsController(cluster), ResourceClaimController(cluster)]
    if "GenericWorkload" in features:
        groups = [PodGroupProtection(cluster)]
    if "DRAWorkloadResourceClaims" in features:
        claims = [
            GroupClaimsController(cluster),
            MemberClaimsController(cluster),
            SharedClaimController(cluster),
        ]
    return [
        *groups,
        NamespaceController(cluster),
        DeploymentController(cluster),
        ReplicaSetController(cluster, "replicasets.apps", "ReplicaSet"),
        ReplicaSetController(cluster, "replicationcontrollers", "ReplicationController"),
        StatefulSetController(cluster),
        DaemonSetController(cluster),
        JobController(cluster),
        EphemeralVolumeController(cluster),
        *claims,
        ClaimController(cluster),
        VolumeController(cluster),
        DisruptionBudgetController(cluster),
        PodGarbageController(cluster),
        EventExpiry(cluster),
    ]
