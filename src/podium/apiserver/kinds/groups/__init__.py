"""Workloads and pod groups of scheduling.k8s.io: served with the feature gate GenericWorkload."""

from podium.apiserver.kinds.groups.kinds import PROTECTION, group_kinds

__all__ = ["PROTECTION", "group_kinds"]
