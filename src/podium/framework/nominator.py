"""Pods that wait for room on a node of their own: preemption promised it to them."""

from __future__ import annotations

from podium.api.objects import Pod
from podium.framework.nominated_rows import NominatedPods, NominatedRows
from podium.framework.status import Nominate
from podium.state.node_table import NodeTable
from podium.state.pod_info import PodInfo


class Nominator:
    """Nominated pods by node name. ``version`` moves with every change."""

    def __init__(self) -> None:
        self._node_of: dict[str, str] = {}  # by uid
        self._pods_on: dict[str, dict[str, PodInfo]] = {}
        self._rows: NominatedRows | None = None  # the same by row, once a cycle has asked
        self.version = 0

    def add(self, info: PodInfo, nominate: Nominate | None = None) -> None:
        """Nominate as given, else as the pod's status says; replaces an entry of this pod.

        An empty node name ends the nomination.
        """
        self.remove(info.uid)
        node = info.pod.nominated_node_name if nominate is None else nominate.node
        if not node:
            return
        self._node_of[info.uid] = node
        self._pods_on.setdefault(node, {})[info.uid] = info
        if self._rows is not None:
            self._rows.change(node, info, 1)
        self.version += 1

    def update(self, info: PodInfo, old_nomination: str) -> None:
        """The pod has a new version. A nomination known only here outlives it."""
        kept = self._node_of.get(info.uid)
        if kept is not None and not old_nomination and not info.pod.nominated_node_name:
            self.add(info, Nominate(kept))
        else:
            self.add(info)

    def remove(self, uid: str) -> None:
        node = self._node_of.pop(uid, None)
        if node is None:
            return
        info = self._pods_on[node].pop(uid)
        if not self._pods_on[node]:
            del self._pods_on[node]
        if self._rows is not None:
            self._rows.change(node, info, -1)
        self.version += 1

    def node_of(self, uid: str) -> str | None:
        return self._node_of.get(uid)

    def on(self, node: str) -> list[PodInfo]:
        """Return the pods nominated to this node, in the order they were."""
        return list(self._pods_on.get(node, {}).values())

    def ahead_of(self, pod: Pod, table: NodeTable) -> NominatedPods | None:
        """Return the nominated pods that this pod must leave room for; ``None`` if there are none.

        They have the same or a higher priority. Valid until a nomination or the table changes.
        """
        if not self._node_of:
            return None
        if self._rows is None or self._rows.table is not table:
            self._rows = NominatedRows(table)
        return self._rows.ahead_of(pod, self._pods_on, self._node_of.get(pod.uid))

    def __len__(self) -> int:
        return len(self._node_of)
