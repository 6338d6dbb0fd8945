"""A stock kube-scheduler on the embedded cluster: it binds every pod, and the kubelets run them."""

import asyncio
import json

import pytest

from podium.apiserver.api import Call
from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
from tests.support.control_plane.plane import write_kubeconfig
from tests.support.control_plane.processes import Program, free_port

pytestmark = pytest.mark.cluster

NODES, PODS = 100, 1000
# Far beyond what it takes; a scheduler that is stuck ends the test instead of hanging it.
DEADLINE_SECONDS = 240


def scheduler(binaries, url, folder):
    """kube-scheduler with JSON bodies, as the embedded server reads them for every kind."""
    kubeconfig = write_kubeconfig(folder / "kubeconfig", {"server": url}, {})
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            "kubeconfig": str(kubeconfig),
            "contentType": "application/json",
            "qps": 1000,
            "burst": 1000,
        },
        "leaderElection": {"leaderElect": True},
    }
    (folder / "config.json").write_text(json.dumps(config))
    arguments = [
        binaries["kube-scheduler"],
        f"--config={folder / 'config.json'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={free_port()}",
        "--authentication-skip-lookup",
    ]
    return Program(arguments, folder / "kube-scheduler.log")


def pod(number):
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    containers = [{"name": "c", "image": "nginx", "resources": resources}]
    return {"metadata": {"name": f"pod-{number}"}, "spec": {"containers": containers}}


async def all_running(cluster, count):
    """Wait until so many pods run, told by the store's events."""
    running, done = set(), asyncio.Event()

    def listen(resource, event):
        if resource == "pods" and event.new is not None:
            status = event.new.decode()["status"]
            if status.get("phase") == "Running":
                running.add(event.key)
            if len(running) == count:
                done.set()

    cluster.api.store.listen(listen)
    async with asyncio.timeout(DEADLINE_SECONDS):
        await done.wait()


def test_schedules_a_thousand_pods(binaries, tmp_path):
    async def main():
        async with EmbeddedCluster(
            ClusterOptions(nodes=NODES, release=binaries.release)
        ) as cluster:
            waiting = asyncio.create_task(all_running(cluster, PODS))
            with scheduler(binaries, cluster.url, tmp_path):
                for number in range(PODS):
                    cluster.api.create(cluster.api.kind("pods"), "default", pod(number), Call())
                await waiting
            return [item.decode() for item in cluster.api.store.list("pods").items]

    pods = asyncio.run(main())

    assert len(pods) == PODS
    assert len({pod["spec"]["nodeName"] for pod in pods}) == NODES
    assert all(pod["status"]["phase"] == "Running" for pod in pods)
