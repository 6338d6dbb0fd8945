"""Manifests for scenarios, and a cluster with a proxy between API server and scheduler."""

import asyncio

from prometheus_client.parser import text_string_to_metric_families

from podium import app, config
from podium.config.feature_gates import NO_CHOICE
from podium.testing import SimulatedCluster
from tests.support.faulty_proxy import FaultyProxy

HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


def node(name="n1", labels=None, taints=(), **capacity):
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110", **capacity}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": list(taints)},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(name="web", labels=None, cpu=None, scheduler=None, **spec):
    requests = {"cpu": cpu} if cpu else {}
    container = {"name": "c", "image": "app:1", "resources": {"requests": requests}}
    chosen = {"schedulerName": scheduler} if scheduler else {}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"containers": [container], **chosen, **spec},
    }


def configured(*plugins, gates=NO_CHOICE, **fields):
    """A configuration with these plugins at all their points, beside the default ones."""
    registry = app.in_tree(gates)
    for plugin in plugins:
        registry.register(plugin)
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": {"multiPoint": {"enabled": [{"name": plugin.name} for plugin in plugins]}},
    }
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
        **fields,
    }
    return config.from_value(value, registry), registry


class ClusterBehindProxy(SimulatedCluster):
    """A cluster with a proxy between API server and scheduler, to answer instead of it."""

    async def address(self, url):
        self.proxy = await self._ends.enter_async_context(FaultyProxy(url, self.clock))
        return self.proxy.url


def play(scene, *plugins, cluster=SimulatedCluster):
    """Run ``scene(cluster)`` with these plugins enabled beside the default ones."""

    async def run():
        async with cluster(*configured(*plugins, gates=cluster.gates)) as made:
            await scene(made)

    asyncio.run(run())


def scrape(cluster):
    """``total(name, **labels)``: the sum of the samples that a scrape of metrics shows now."""
    text = cluster.scheduler.scheduler.metrics.text().decode()
    families = text_string_to_metric_families(text)
    samples = [sample for family in families for sample in family.samples]

    def total(name, **labels):
        found = [
            sample.value
            for sample in samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        return sum(found) if found else None

    return total


def reasons(cluster, name="web"):
    """(reason, message) of the events about a pod, but for the kubelet's."""
    events = cluster.events_of(name)
    ours = ("Scheduled", "FailedScheduling", "Preempted")
    return [(one["reason"], one["message"]) for one in events if one["reason"] in ours]
