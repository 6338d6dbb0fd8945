"""The embedded cluster as a whole, in this process, with the real clock's fast sister."""

import asyncio

import pytest

from podium.apiserver.api import Call
from podium.apiserver.embedded_cluster import (
    ClusterOptions,
    EmbeddedCluster,
    NodeGroup,
    add_nodes,
    read_template,
)
from podium.apiserver.subresources import bind
from podium.clock import sleep
from podium.errors import PodiumError
from tests.support.controllers import World, pod

BIG = {
    "metadata": {"name": "big", "labels": {"tier": "gold"}},
    "status": {"capacity": {"cpu": "96"}},
}


def test_pods_run_on_a_fast_clock():
    async def scenario():
        async with EmbeddedCluster(ClusterOptions(nodes=2, speed=100)) as cluster:
            assert cluster.url.startswith("http://127.0.0.1:")
            kind = cluster.api.kind("pods")
            cluster.api.create(kind, "default", pod(), Call())
            bind(cluster.api, ("default", "web"), {"target": {"name": "node-1"}}, Call())
            await sleep(cluster.clock, 20)
            return cluster.api.store.get("pods", "default", "web")["status"]

    assert asyncio.run(scenario())["phase"] == "Running"


def test_nodes_are_ready_when_clients_come():
    async def scenario():
        async with EmbeddedCluster(ClusterOptions(nodes=50)) as cluster:
            return cluster.api.store.objects("nodes")

    ready = [
        one["status"]
        for node in asyncio.run(scenario())
        for one in node["status"]["conditions"]
        if one["type"] == "Ready"
    ]
    assert ready == ["True"] * 50


def test_a_port_that_is_taken_is_told():
    async def scenario():
        async with EmbeddedCluster(ClusterOptions(nodes=0)) as first:
            second = EmbeddedCluster(ClusterOptions(nodes=0, port=first.server.port))
            with pytest.raises(PodiumError, match="choose another with --port"):
                await second.start()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("template", "names"),
    [
        pytest.param({}, ["node-0", "node-1"], id="default"),
        pytest.param(BIG, ["big-0", "big-1"], id="named"),
        pytest.param({"metadata": {"generateName": "worker"}}, ["worker0", "worker1"], id="prefix"),
    ],
)
def test_nodes_after_a_template(template, names):
    world = World()

    add_nodes(world.cluster, NodeGroup(2, template))
    world.settle()

    assert world.names("nodes") == names
    capacity = template.get("status", {}).get("capacity", {"cpu": "8"})
    assert world.status("nodes", names[1])["allocatable"]["cpu"] == capacity["cpu"]


def test_names_sort_in_the_order_of_numbers():
    world = World(kubelets=False)

    add_nodes(world.cluster, NodeGroup(11, {}))

    assert world.names("nodes")[:3] == ["node-00", "node-01", "node-02"]


def test_a_template_that_the_server_refuses():
    taints = [{"key": "gpu", "effect": "Sometimes"}]

    with pytest.raises(PodiumError, match=r"node of the template is refused: .*taints\[0\]"):
        add_nodes(World(kubelets=False).cluster, NodeGroup(1, {"spec": {"taints": taints}}))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("{", "not readable as YAML", id="broken"),
        pytest.param("", "must hold exactly one object of kind Node, but is empty", id="empty"),
        pytest.param("kind: Pod", "but has Pod", id="no-node"),
        pytest.param("{kind: Node, status: 5}", "status", id="wrong-type"),
    ],
)
def test_bad_templates_are_named(tmp_path, text, why):
    path = tmp_path / "node.yaml"
    path.write_text(text)

    with pytest.raises(PodiumError, match=why) as caught:
        read_template(path)

    assert str(path) in str(caught.value)
