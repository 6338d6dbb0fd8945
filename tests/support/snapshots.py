"""Everything a scheduler knows, as plain values, to compare before and after."""

from typing import Any

import numpy as np

from podium.framework.cycle_state import CycleState
from podium.state.cluster import ClusterState


def of_cluster(cluster: ClusterState) -> Any:
    """Columns, pods, groups, standing terms and the journal."""
    table, columns = cluster.table, cluster.table.resources
    return {
        "names": list(table.names),
        "live": table.live.tolist(),
        "resources": {
            name: (columns.allocatable[place].tolist(), columns.requested[place].tolist())
            for name, place in columns.index.items()
            if columns.requested[place].any()  # a column nobody uses yet is only a cache
        },
        "non_zero": columns.non_zero.tolist(),
        "pods": [sorted(pods) for pods in table.pods],
        "ports": {row: sorted(ports) for row, ports in table.ports.by_row.items()},
        "volumes": (cluster.storage.claims.tally(), cluster.storage.attached.tallies()),
        "disks": cluster.storage.disks.tally(),
        "journal": cluster.journal.end,
        "groups": sorted(
            (
                g.namespace,
                sorted(g.labels.items()),
                g.is_terminating,
                sorted(g.rows.items().items()),
            )
            for g in cluster.groups._groups.values()
        ),
        "assumed": sorted(cluster._assumed),
        "placed": {uid: info.row for uid, info in cluster.pods.items()},
    }


def of_state(state: CycleState) -> Any:
    """The values that plugins put, all the way down."""
    return {kind.__qualname__: plain(value) for kind, value in state._values.items()} | {
        "skip": (sorted(state.skip_filter), sorted(state.skip_score))
    }


def plain(value: Any, depth: int = 6) -> Any:
    """Arrays and objects as lists and dicts."""
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.tolist())
    if isinstance(value, (str, int, float, bool, type(None), np.generic)) or depth == 0:
        return str(value) if depth == 0 else value
    if isinstance(value, dict):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth - 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(item) for item in value)
    names = [*getattr(value, "__slots__", ()), *getattr(value, "__dict__", ())]
    if not names or type(value).__module__.startswith(("podium.state", "podium.api")):
        return str(type(value))
    return {name: plain(getattr(value, name, None), depth - 1) for name in names}


def is_same(before: Any, after: Any) -> bool:
    """Whether nothing changed; what was not worked out before (``None``) may have been since."""
    if before is None:
        return True
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(is_same(before[k], after[k]) for k in before)
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(is_same, before, after))
    return bool(before == after)
