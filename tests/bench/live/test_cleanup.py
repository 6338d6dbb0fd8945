"""A cluster is left as it was, however a run ends."""

import asyncio

import pytest

from podium.bench.live.cleanup import check_nodes
from podium.bench.live.writer import Writer
from podium.errors import WorkloadFailed
from tests.support.bench import RUN, Played, workload
from tests.support.client import node, with_world
from tests.support.faulty_proxy import answering

pytestmark = pytest.mark.slow

EVERYTHING = (
    "opcode: createNodes, count: 3, nodeAllocatableStrategy: {csiNodeAllocatable: {disk: {}}}",
    "opcode: createAny, templatePath: class.yaml",
    "opcode: createPods, count: 40, namespace: shop, podTemplatePath: pod.yaml",
)
KINDS = (
    "nodes",
    "pods",
    "namespaces",
    "csinodes.storage.k8s.io",
    "storageclasses.storage.k8s.io",
    "priorityclasses.scheduling.k8s.io",
)


@pytest.fixture
def everything(tmp_path):
    (tmp_path / "class.yaml").write_text("{kind: StorageClass, provisioner: example.com/a}")
    (tmp_path / "pod.yaml").write_text(
        "{kind: Pod, spec: {priority: 10, containers: [{name: a, image: a}]}}"
    )
    return workload(tmp_path, *EVERYTHING)


def standing(world):
    return {
        (kind, one["metadata"].get("namespace"), one["metadata"]["name"])
        for kind in KINDS
        for one in world.api.store.objects(kind)
    }


@with_world
async def test_nothing_of_a_run_is_left(world, everything):
    world.create("nodes", **node("other"))
    before = standing(world)
    played = Played(world)

    await played.play_tidily(everything)

    assert len(played.watch.bound) == 40
    assert standing(world) == before


@with_world
async def test_nothing_is_left_after_a_failure(world, everything):
    before = standing(world)
    world.proxy.instead("/namespaces/shop/pods", answering(422, "pods are not welcome"))

    with pytest.raises(Exception, match="pods are not welcome"):
        await Played(world).play_tidily(everything)

    assert standing(world) == before


@with_world
async def test_nothing_is_left_when_a_run_is_called_off(world, everything):
    before = standing(world)
    played = Played(world)
    running = asyncio.ensure_future(played.run_tidily(everything))
    await world.until(lambda: len(played.names("nodes")) > 1)

    running.cancel()
    await world.in_time(running.done)

    assert running.cancelled()
    assert standing(world) == before


@with_world
async def test_what_cannot_be_deleted_is_told(world, everything, capsys):
    world.proxy.instead("labelSelector", *[answering(403, "not yours")] * 9)

    await Played(world).play_tidily(everything)

    told = capsys.readouterr().err
    assert "podium: some objects are not deleted: not yours" in told
    assert f"kubectl delete nodes,namespaces -l podium.dev/bench={RUN}" in told


@with_world
async def test_nodes_of_the_same_names_are_refused(world):
    for name in ("node-1", "node-2", "other"):
        world.create("nodes", **node(name))
    wanted = {f"node-{number}" for number in range(3)}

    with pytest.raises(WorkloadFailed, match="already has nodes named node-1, node-2"):
        await check_nodes(Writer(world.connection), wanted)


@with_world
async def test_other_nodes_are_warned_of(world, capsys):
    world.create("nodes", **node("other"))

    await check_nodes(Writer(world.connection), {"node-0"})

    assert "already has 1 nodes" in capsys.readouterr().err
