"""The cluster as plugins read it: ``handle.cluster``, ``nodes.cluster``, and their types.

Plugins import these names from here or from ``podium.framework``; ``podium.state`` is private.
"""

from podium.state.affinity_index import (
    KINDS,
    PREFERRED,
    PREFERRED_ANTI,
    REQUIRED,
    REQUIRED_ANTI,
    StandingTerm,
)
from podium.state.aspects import Changes
from podium.state.assumed import Assumed
from podium.state.cluster_view import (
    ClusterView,
    DiskUsers,
    Objects,
    StorageView,
    Volumes,
    VolumesOnNodes,
)
from podium.state.group_members import GroupMembers
from podium.state.group_trees import MAX_DEPTH, GroupTrees
from podium.state.image_columns import HeldImage
from podium.state.label_columns import LabelColumn
from podium.state.node_table import stable_hash
from podium.state.pod_groups import Group
from podium.state.row_counts import RowCounts

__all__ = [
    "KINDS",
    "MAX_DEPTH",
    "PREFERRED",
    "PREFERRED_ANTI",
    "REQUIRED",
    "REQUIRED_ANTI",
    "Assumed",
    "Changes",
    "ClusterView",
    "DiskUsers",
    "Group",
    "GroupMembers",
    "GroupTrees",
    "HeldImage",
    "LabelColumn",
    "Objects",
    "RowCounts",
    "StandingTerm",
    "StorageView",
    "Volumes",
    "VolumesOnNodes",
    "stable_hash",
]
