"""Resource claims of a workload: what the controller makes of templates, and slices of a driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from podium.api.resource_claims import EXACT_COUNT, POD_CLAIM
from podium.bench.ops import CreateResourceDriver

Json = dict[str, Any]


def claim_for(pod: Json, entry: str, template: Mapping[str, Any]) -> Json:
    """Return the claim that the claim controller makes of a template for a pod.

    Its name has no random part, because pods of a run have different names.
    """
    made, owner = template["spec"], pod["metadata"]
    meta = made.get("metadata") or {}
    reference = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": owner["name"],
        "uid": owner["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {
        "name": f"{owner['name']}-{entry}",
        "namespace": owner["namespace"],
        "labels": meta.get("labels") or {},
        "annotations": {**(meta.get("annotations") or {}), POD_CLAIM: entry},
        "ownerReferences": [reference],
    }
    return {"metadata": metadata, "spec": made["spec"]}


def template_entries(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the claims of a pod that are made from templates: their entries and templates."""
    for entry in spec.get("resourceClaims") or ():
        template = entry.get("resourceClaimTemplateName")
        if template:
            yield entry["name"], template


def with_claim_defaults(spec: Mapping[str, Any]) -> Json:
    """Add the defaults that the API server gives to the requests of a claim."""
    devices = spec.get("devices") or {}
    requests = [_request(request) for request in devices.get("requests") or ()]
    return {**spec, "devices": {**devices, "requests": requests}}


def _request(request: Mapping[str, Any]) -> Json:
    found = dict(request)
    if found.get("exactly") is not None:
        found["exactly"] = _with_count(found["exactly"])
    if found.get("firstAvailable"):
        found["firstAvailable"] = [_with_count(one) for one in found["firstAvailable"]]
    return found


def _with_count(asked: Mapping[str, Any]) -> Json:
    found = {"allocationMode": EXACT_COUNT, **asked}
    if found["allocationMode"] == EXACT_COUNT:
        found.setdefault("count", 1)
    return found


def driver_slices(op: CreateResourceDriver, nodes: Iterable[str]) -> Iterator[Json]:
    """Yield a slice for each node that the driver has devices on."""
    for node in nodes:
        if fnmatchcase(node, op.nodes):
            pool = {"name": node, "generation": 0, "resourceSliceCount": 1}
            devices = [_device(number) for number in range(op.max_claims_per_node)]
            spec = {"driver": op.driver_name, "nodeName": node, "pool": pool, "devices": devices}
            yield {"metadata": {"name": node}, "spec": spec}


def _device(number: int) -> Json:
    """Return a device as scheduler_perf's driver has it."""
    attributes = {
        "model": {"string": "A100"},
        "family": {"string": "GPU"},
        "driverVersion": {"version": "1.2.3"},
        "dra.example.com/numa": {"int": number},
    }
    capacity = {"memory": {"value": "1Gi"}}
    return {"name": f"instance-{number}", "attributes": attributes, "capacity": capacity}
