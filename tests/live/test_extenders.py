"""The main loop with extenders: the world waits while one is asked, and some of them bind."""

import asyncio

import pytest

from podium import framework as fwk
from podium.cycle.extenders import Extenders
from podium.errors import ExtenderError
from podium.testing.builders import pod
from tests.support import toys
from tests.support.live import play
from tests.support.toy_extenders import ToyExtender

WEB = pod("web")
DOWN = ExtenderError("it is down")


def play_with(scene, *extenders, plugins=(), parallelism=16):
    async def extended(desk):
        desk.see_nodes("n1", "n2")
        await scene(desk)

    play(extended, *plugins, extenders=Extenders(extenders, parallelism))


def test_the_cluster_stands_still_while_an_extender_is_asked():
    """Its answer counts for the nodes it was asked about; what came meanwhile comes after it."""
    bind, answer = toys.Bind("Bind"), asyncio.Event()

    class Slow(ToyExtender):
        async def filter(self, pod, nodes):
            await answer.wait()
            return fwk.Filtered(nodes.names)

    async def scene(desk):
        desk.see(WEB)
        await desk.settle()
        desk.lose(WEB)
        desk.handlers.on_node(desk.cluster.node("n1").node, None)
        assert (desk.gate.is_closed, len(desk.gate), bind.asked) == (True, 2, [])
        assert desk.cluster.node("n1") is not None

        answer.set()
        await desk.settle()
        assert not desk.gate.is_closed
        assert desk.cluster.node("n1") is None
        assert not desk.cluster.is_assumed(WEB.uid)

    play_with(scene, Slow(filter=None), plugins=[bind])


def test_bindings_go_on_while_an_extender_is_asked():
    bound, answer = [], asyncio.Event()

    class Slow(ToyExtender):
        async def filter(self, pod, nodes):
            if pod.name == "slow":
                await answer.wait()
            return fwk.Filtered(nodes.names)

        async def bind(self, pod, node_name):
            bound.append(pod.name)

    async def scene(desk):
        for name in ("quick", "slow", "last"):
            desk.see(pod(name))
        await desk.settle()
        assert bound == ["quick"]
        answer.set()
        await desk.settle()
        assert bound == ["quick", "slow", "last"]

    play_with(scene, Slow(filter=None, bind=None))


def test_an_extender_binds_in_the_place_of_bind_plugins():
    bind, extender = toys.Bind("Bind"), ToyExtender(filter=["n2"], bind=None)

    async def scene(desk):
        desk.see(WEB)
        await desk.settle()

        assert (extender.asked[-1], bind.asked) == (("X", "bind", "n2"), [])
        assert desk.story() == ["Successfully assigned default/web to n2"]

    play_with(scene, extender, plugins=[bind])


@pytest.mark.parametrize(
    ("binders", "by_plugin", "asked"),
    [
        pytest.param([{"interested": False}], True, 0, id="not-interested"),
        pytest.param([{"bind": DOWN, "ignorable": True}], True, 1, id="ignorable"),
        pytest.param([{"bind": DOWN, "ignorable": True}, {"ignorable": True}], False, 2, id="next"),
        pytest.param([{}, {}], False, 1, id="the-first-binds"),
    ],
)
def test_who_binds(binders, by_plugin, asked):
    bind, log = toys.Bind("Bind"), []
    extenders = [ToyExtender(log=log, **{"bind": None, **given}) for given in binders]

    async def scene(desk):
        desk.see(WEB)
        await desk.settle()

        assert (bool(bind.asked), len(log)) == (by_plugin, asked)
        assert len(desk.story()) == 1
        assert desk.cluster.is_assumed(WEB.uid)

    play_with(scene, *extenders, plugins=[bind])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(DOWN, "it is down", id="refuses"),
        pytest.param(RuntimeError("a bug"), "a bug", id="breaks"),
    ],
)
def test_a_binding_that_fails_is_undone(fault, message):
    bind, extender = toys.Bind("Bind"), ToyExtender(bind=fault)

    async def scene(desk):
        desk.see(WEB)
        await desk.settle()

        assert (bind.asked, desk.story()) == ([], [message])
        assert desk.statuses() == [("SchedulerError", message, "")]
        assert not desk.cluster.is_assumed(WEB.uid)
        extender.answers["bind"] = None
        await desk.wait(5)
        assert len(extender.asked) == 2
        assert desk.cluster.is_assumed(WEB.uid)

    play_with(scene, extender, plugins=[bind])


def test_bindings_through_extenders_are_bounded():
    running, most, done = [], [], asyncio.Event()

    class Slow(ToyExtender):
        async def bind(self, pod, node_name):
            running.append(pod.name)
            most.append(len(running))
            await done.wait()
            running.remove(pod.name)

    async def scene(desk):
        for number in range(5):
            desk.see(pod(f"p{number}"))
        await desk.settle()
        assert sorted(running) == ["p0", "p1"]
        done.set()
        await desk.settle()
        assert (running, max(most), len(most)) == ([], 2, 5)

    play_with(scene, Slow(bind=None), parallelism=2)


def test_a_failing_filter_fails_the_attempt_and_the_next_pod_is_tried():
    extender = ToyExtender(filter=lambda names: names, interested=lambda pod: pod.name == "web")
    extender.answers["filter"] = DOWN

    async def scene(desk):
        desk.see(WEB)
        desk.see(pod("db"))
        await desk.settle()

        failure, success = desk.story()
        assert failure == "it is down"
        assert success.startswith("Successfully assigned default/db to ")
        assert desk.statuses()[0] == ("SchedulerError", "it is down", "")

    play_with(scene, extender, plugins=[toys.Bind("Bind")])
