"""Alibaba's GPU trace of 2023: ``openb_node_list_*.csv`` and ``openb_pod_list_*.csv``.

Shares of GPUs become an extended resource of thousandths. The scheduler then knows how much of its
GPUs a node has left, but not of which one: it may place a pod where no single GPU has room.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from podium.replay.convert.draft import Draft
from podium.replay.convert.tables import BadRow, Row, group_by_kind, require
from podium.replay.lines import Arrival, Departure, Nodes

GPU: Final = "alibabacloud.com/gpu-milli"
MODEL: Final = "alibabacloud.com/gpu-card-model"
QOS: Final = "alibabacloud.com/qos"
_WHOLE_GPU: Final = 1000
_PODS: Final = 1001  # pods per node, as in the manifests published with the tables

_KINDS: Final = {
    "nodes": frozenset(("sn", "cpu_milli", "memory_mib", "gpu", "model")),
    "pods": frozenset(("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time")),
}
_SHARED: Final = (
    "pods that request a share of a GPU count in thousandths of all GPUs of a node, so that two "
    "shares may not fit on any single GPU"
)

Json = dict[str, Any]


def from_alibaba(files: Sequence[Path]) -> Draft:
    tables = group_by_kind(files, _KINDS)
    require(tables, "nodes", "pods")
    draft = Draft()
    for kind, take in (("nodes", _node), ("pods", _pod)):
        for table in tables[kind]:
            for row in table:
                try:
                    take(row, draft)
                except BadRow as bad:
                    table.report(bad)
            table.check()
    return draft


def _node(row: Row, draft: Draft) -> None:
    gpus, model = int(row.number("gpu")), row.text("model")
    allocatable: dict[str, str | int | float] = {**_amounts(row), "pods": _PODS}
    if gpus:
        allocatable[GPU] = gpus * _WHOLE_GPU
    draft.lines.append(
        Nodes(name=row.text("sn"), allocatable=allocatable, labels={MODEL: model} if model else {})
    )


def _pod(row: Row, draft: Draft) -> None:
    created, name = row.number("creation_time"), row.text("name")
    left = row.number("deletion_time") if row.has("deletion_time") else None
    bound = row.number("scheduled_time") if row.has("scheduled_time") else None
    ends = left is not None and bound is not None
    if left is not None and left < (created if bound is None else bound):
        raise row.problem("deletion_time", f"{left:g} is before the pod was there")
    if left is not None and bound is None:
        draft.lines.append(Departure(time=left, name=name))
    duration = left - bound if ends else None  # type: ignore[operator]  # both are there
    shape = draft.shape(_manifest(row, draft))
    draft.lines.append(Arrival(time=created, name=name, shape=shape, duration=duration))


def _manifest(row: Row, draft: Draft) -> Json:
    count, share = int(row.number("num_gpu")), int(row.number("gpu_milli"))
    requests: dict[str, str | int] = _amounts(row)
    limits = {}
    if count:
        if share % _WHOLE_GPU:
            draft.left_out[_SHARED] += 1
        requests[GPU] = limits[GPU] = count * (share or _WHOLE_GPU)
    spec: Json = {
        "containers": [{"name": "main", "resources": {"requests": requests, "limits": limits}}]
    }
    models = [model for model in row.text("gpu_spec").split("|") if model]
    if models:
        spec["affinity"] = _runs_on(models)
    return {"metadata": {"labels": {QOS: row.text("qos")}}, "spec": spec}


def _amounts(row: Row) -> dict[str, str | int]:
    cpu, memory = int(row.number("cpu_milli")), int(row.number("memory_mib"))
    return {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}


def _runs_on(models: Sequence[str]) -> Json:
    expression = {"key": MODEL, "operator": "In", "values": list(models)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
