"""Looks at a scheduler, as its dashboard would answer."""

from podium.cli.dashboard_client import Look
from podium.dashboard.values import (
    Health,
    Lanes,
    NodeMap,
    Overview,
    PendingBoard,
    PendingGroup,
    PendingPod,
    TimeToBind,
)


def group(code, *pods, count=None):
    shown = tuple(
        PendingPod(pod=name, queue="unschedulable", since="2026-01-02T03:04:05.000000Z", attempts=1)
        for name in pods
    )
    return PendingGroup(
        code=code,
        plugin="P",
        text=f"text of {code}",
        count=len(pods) if count is None else count,
        oldest="",
        pods=shown,
    )


def node_map(**shares):
    """Return a map; each node has its shares of cpu and memory in thousandths."""
    return NodeMap(
        version=1,
        names=tuple(shares),
        zones=tuple("zone-a" for _ in shares),
        columns={
            "cpu": [cpu for cpu, _ in shares.values()],
            "memory": [memory for _, memory in shares.values()],
        },
        pods=[3 for _ in shares],
        flags=[0 for _ in shares],
    )


def look(*groups, nodes=None, rate=0.0, **health):
    found = node_map(a=(500, 100), b=(100, 950)) if nodes is None else nodes
    total = sum(each.count for each in groups)
    overview = Overview(
        at="2026-01-02T03:04:05.000000Z",
        server="http://127.0.0.1:6443",
        release="1.37",
        profiles=("default-scheduler",),
        nodes=len(found.names),
        pods=7,
        lanes=Lanes(unschedulable=total, backoff=2),
        pending=total,
        bound_per_second=rate,
        time_to_bind=TimeToBind(pods=5, window=60.0, p50=0.004, p90=0.1, p99=1.25),
        health=Health(**health),
    )
    return Look(overview=overview, pending=PendingBoard(total=total, groups=groups), map=found)
