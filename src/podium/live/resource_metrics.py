"""`/metrics/resources`: what every pod requests and may use at most, by resource."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from podium.api.objects import Pod
from podium.api.quantity import NANO
from podium.api.resources import WRITTEN, pod_limits, pod_requests

LABELS: Final = ("namespace", "pod", "node", "scheduler", "priority", "resource", "unit")
_MEANING: Final = (
    "broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod "
    "for resources along with the unit for the resource if any."
)
_UNITS: Final = {
    "cpu": "cores",
    "memory": "bytes",
    "storage": "bytes",
    "ephemeral-storage": "bytes",
}


def resources_text(pods: Iterable[Pod]) -> bytes:
    """Return the metrics of these pods in Prometheus' text format; for any thread."""
    registry = CollectorRegistry()
    registry.register(_Collector(list(pods)))
    return generate_latest(registry)


class _Collector:
    def __init__(self, pods: list[Pod]) -> None:
        self._pods = pods

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        requests = _family("request", "Resources requested by workloads on the cluster")
        limits = _family("limit", "Resources limit for workloads on the cluster")
        for pod in self._pods:
            if pod.spec.node_name and pod.has_ended:
                continue
            _add(requests, pod, pod_requests(pod, WRITTEN))
            _add(limits, pod, pod_limits(pod))
        yield from (family for family in (requests, limits) if family.samples)


def _family(name: str, what: str) -> GaugeMetricFamily:
    text = f"[STABLE] {what}, {_MEANING}"
    return GaugeMetricFamily(f"kube_pod_resource_{name}", text, labels=LABELS)


def _add(family: GaugeMetricFamily, pod: Pod, nanos: Mapping[str, int]) -> None:
    spec = pod.spec
    priority = "" if spec.priority is None else str(spec.priority)
    of_pod = (pod.namespace, pod.name, spec.node_name, spec.scheduler_name, priority)
    for resource, nano in nanos.items():
        if nano:
            family.add_metric((*of_pod, resource, _unit(resource)), nano / NANO)


def _unit(resource: str) -> str:
    if resource.startswith("hugepages-"):
        return "bytes"
    if resource.startswith("attachable-volumes-"):
        return "integer"
    return _UNITS.get(resource, "")
