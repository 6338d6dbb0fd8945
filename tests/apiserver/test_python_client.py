"""The official Python client against the embedded server, unchanged."""

import asyncio
import time

import kubernetes
import pytest

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import FakeClock

pytestmark = pytest.mark.slow


def with_api(scenario):
    """Run a blocking scenario in a thread, with a configured client and the server beside it."""

    async def main():
        async with EmbeddedServer(new_api(FakeClock())) as server:
            settings = kubernetes.client.Configuration(host=server.url)
            with kubernetes.client.ApiClient(settings) as client:
                return await asyncio.to_thread(scenario, client)

    return asyncio.run(main())


def pod(name):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    }


def test_create_list_patch_delete():
    def scenario(client):
        core = kubernetes.client.CoreV1Api(client)
        made = core.create_namespaced_pod("default", pod("a"))
        assert made.status.phase == "Pending"
        core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "1"}}})
        listed = core.list_namespaced_pod("default", label_selector="x=1")
        assert [one.metadata.name for one in listed.items] == ["a"]
        core.delete_namespaced_pod("a", "default")
        with pytest.raises(kubernetes.client.ApiException) as caught:
            core.read_namespaced_pod("a", "default")
        assert (caught.value.status, caught.value.reason) == (404, "Not Found")

    with_api(scenario)


def test_pages():
    def scenario(client):
        core = kubernetes.client.CoreV1Api(client)
        for name in "abc":
            core.create_namespaced_pod("default", pod(name))
        first = core.list_namespaced_pod("default", limit=2)
        rest = core.list_namespaced_pod("default", limit=2, _continue=first.metadata._continue)
        return [one.metadata.name for one in (*first.items, *rest.items)]

    assert with_api(scenario) == ["a", "b", "c"]


def test_watch():
    def scenario(client):
        core = kubernetes.client.CoreV1Api(client)
        version = core.list_namespaced_pod("default").metadata.resource_version
        core.create_namespaced_pod("default", pod("a"))
        core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "1"}}})
        core.delete_namespaced_pod("a", "default")
        found = []
        watch = kubernetes.watch.Watch()
        stream = watch.stream(
            core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=10
        )
        for event in stream:
            found.append(event["type"])
            if len(found) == 3:
                watch.stop()
        return found

    assert with_api(scenario) == ["ADDED", "MODIFIED", "DELETED"]


def test_workloads_scale_and_bind():
    def scenario(client):
        apps, core = kubernetes.client.AppsV1Api(client), kubernetes.client.CoreV1Api(client)
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        apps.create_namespaced_deployment("default", {"metadata": {"name": "web"}, "spec": spec})
        apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 4}})
        assert apps.read_namespaced_deployment("web", "default").spec.replicas == 4
        core.create_namespaced_pod("default", pod("a"))
        target = kubernetes.client.V1ObjectReference(kind="Node", name="n1")
        meta = kubernetes.client.V1ObjectMeta(name="a")
        binding = kubernetes.client.V1Binding(metadata=meta, target=target)
        core.create_namespaced_pod_binding("a", "default", binding, _preload_content=False)
        assert core.read_namespaced_pod("a", "default").spec.node_name == "n1"

    with_api(scenario)


def test_the_leader_election_recipe():
    """The recipe keeps its record in an annotation, by optimistic updates."""
    from kubernetes.leaderelection import electionconfig, leaderelection
    from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

    class Done(Exception):
        """The recipe runs for ever; this ends it."""

    def scenario(client):
        kubernetes.client.Configuration.set_default(client.configuration)
        led = []

        def lead():
            led.append(time.monotonic())

        def stop():
            raise Done

        lock = ConfigMapLock("lock", "default", "me")
        lock.api_instance = kubernetes.client.CoreV1Api(client)
        config = electionconfig.Config(
            lock,
            lease_duration=3,
            renew_deadline=2,
            retry_period=1,
            onstarted_leading=lead,
            onstopped_leading=stop,
        )
        election = leaderelection.LeaderElection(config)
        assert election.acquire()
        core = kubernetes.client.CoreV1Api(client)
        record = core.read_namespaced_config_map("lock", "default").metadata.annotations
        assert "me" in record["control-plane.alpha.kubernetes.io/leader"]

    with_api(scenario)
