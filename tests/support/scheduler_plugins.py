"""Clusters whose scheduler runs plugins of scheduler-plugins, and objects for them."""

import asyncio
from pathlib import Path

import yaml

from podium import app, config
from podium.testing import SimulatedCluster

ROOT = Path(__file__).resolve().parents[2]
DEFINITIONS = ROOT / "deploy" / "components" / "scheduler-plugins"
LABEL = "scheduling.x-k8s.io/pod-group"
MEMORY_NODE = {"memory": "300", "cpu": "32", "pods": "32"}


def definition(name):
    return yaml.safe_load((DEFINITIONS / f"{name}.yaml").read_text())


def coscheduling(**args):
    """The profile that the documentation of scheduler-plugins shows."""
    return {
        "schedulerName": "default-scheduler",
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
            "queueSort": {"enabled": [{"name": "Coscheduling"}], "disabled": [{"name": "*"}]},
        },
        "pluginConfig": [{"name": "Coscheduling", "args": args}] if args else [],
    }


def capacity_scheduling():
    """The profile that the documentation of scheduler-plugins shows."""
    plugin = {"enabled": [{"name": "CapacityScheduling"}]}
    return {
        "schedulerName": "default-scheduler",
        "plugins": {"multiPoint": plugin, "postFilter": {**plugin, "disabled": [{"name": "*"}]}},
    }


def quota(namespace, minimum=None, maximum=None, name=None):
    limits = {"min": minimum, "max": maximum}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name or namespace, "namespace": namespace},
        "spec": {key: value for key, value in limits.items() if value is not None},
    }


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def configured(*profiles):
    registry = app.in_tree()
    value = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": list(profiles),
    }
    return config.from_value(value, registry), registry


def play(scene, *profiles, definitions=("pod-groups",)):
    """Run ``scene(cluster)`` on a cluster with these profiles."""

    async def run():
        cluster = SimulatedCluster(*configured(*profiles))
        for each in definitions:  # before the scheduler starts: it looks for new kinds rarely
            await cluster.create(definition(each))
        async with cluster:
            await scene(cluster)

    asyncio.run(run())


def group(name, minimum, namespace="default", resources=None, timeout=None):
    spec = {"minMember": minimum}
    if resources is not None:
        spec["minResources"] = resources
    if timeout is not None:
        spec["scheduleTimeoutSeconds"] = timeout
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def member(name, of=None, namespace="default", priority=None, gates=(), **requests):
    """A pod that belongs to the group ``of``, if it is given."""
    spec = {"containers": [{"name": "c", "image": "app", "resources": {"requests": requests}}]}
    if priority:
        spec["priorityClassName"] = priority
    if gates:
        spec["schedulingGates"] = [{"name": each} for each in gates]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {LABEL: of} if of else {},
        },
        "spec": spec,
    }


def placed(cluster):
    """The names of the pods that have a node."""
    return {one["metadata"]["name"] for one in cluster.list("pods") if one["spec"].get("nodeName")}
