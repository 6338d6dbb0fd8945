"""SIGUSR2: where state and informers differ, and both as text."""

import logging

import pytest

from podium.live.debugger import Debugger
from podium.testing.builders import node, pod
from tests.support import toys
from tests.support.live import play


class Known:
    """What informers would know."""

    def __init__(self, desk):
        self._desk = desk
        self.extra_nodes = []

    def nodes(self):
        rows = self._desk.cluster.table
        live = [rows.nodes[row] for row in rows.live_rows().tolist()]
        return [*live, *self.extra_nodes]

    def pods(self):
        return self._desk.known.values()


@pytest.fixture(autouse=True)
def _shown(caplog):
    caplog.set_level(logging.INFO)


def debugger(desk):
    return Debugger(desk.cluster, desk.queue, desk.services.nominator, Known(desk))


def test_equal_sides_say_nothing(caplog):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("placed", node="n1"))
        desk.see(pod("web"))
        await desk.settle()
        debugger(desk).compare()
        assert "Cache mismatch" not in caplog.text

    play(scene, toys.Filter("Full", toys.fwk.Status.unschedulable("no room")), toys.Bind("Bind"))


def test_differences_are_named(caplog):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("placed", node="n1"))
        watcher = debugger(desk)
        watcher.known.extra_nodes.append(node("n2"))
        desk.known["default/missed"] = pod("missed")
        del desk.known["default/placed"]
        watcher.compare()

        assert "missedNodes=['n2'] redundantNodes=[]" in caplog.text
        assert "missedPods=['uid-missed'] redundantPods=['uid-placed']" in caplog.text

    play(scene, toys.Bind("Bind"))


def test_the_dump_shows_nodes_with_their_pods_and_the_queue(caplog):
    async def scene(desk):
        desk.handlers.on_node(None, node("n1", cpu="4", memory="1Gi", pods=110))
        desk.see(pod("placed", node="n1", cpu="500m", status={"phase": "Running"}))
        desk.see(pod("ghost", node="gone"))
        desk.see(pod("web"))
        await desk.settle()
        debugger(desk).dump()

    play(scene, toys.Filter("Full", toys.fwk.Status.unschedulable("no room")), toys.Bind("Bind"))
    nodes, queue = (record.getMessage().replace("\n\t", "\n") for record in caplog.records[-2:])
    assert (
        "Node name: n1\nDeleted: false\n"
        "Requested Resources: {MilliCPU:500 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 "
        "ScalarResources:map[]}\n"
        "Allocatable Resources:{MilliCPU:4000 Memory:1073741824 EphemeralStorage:0 "
        "AllowedPodNumber:110 ScalarResources:map[]}\n"
        "Scheduled Pods(number: 1):\n"
        "name: placed, namespace: default, uid: uid-placed, phase: Running, nominated node: "
    ) in nodes
    assert "\n\nNode name: gone\nDeleted: true\n" in nodes
    assert "summary='activeQ:0; backoffQ:0; unschedulablePods:1'" in queue
    assert "name: web, namespace: default, uid: uid-web" in queue
