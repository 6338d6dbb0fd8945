"""The scheduler ends: what is under way is finished, for so long; and nothing is begun."""

import asyncio

import pytest

from podium import framework as fwk
from podium.live.tasks import DRAIN_SECONDS
from tests.support.faulty_proxy import holding, never
from tests.support.scenarios import ClusterBehindProxy, node, play, pod, reasons

pytestmark = pytest.mark.slow

SCHEDULED = ("Scheduled", "Successfully assigned default/web to n1")


def test_a_binding_under_way_is_finished_and_none_is_begun():
    answered = asyncio.Event()

    async def scene(cluster):
        cluster.proxy.instead("/binding", holding(answered))
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        ending = asyncio.ensure_future(cluster.scheduler.stop())
        await cluster.create(pod("late"))
        await cluster.wait(DRAIN_SECONDS - 1)
        assert not ending.done()

        answered.set()
        await cluster.settle()
        await ending
        assert (cluster.node_of("web"), cluster.node_of("late")) == ("n1", None)
        assert (reasons(cluster), reasons(cluster, "late")) == ([SCHEDULED], [])

    play(scene, cluster=ClusterBehindProxy)


def test_a_binding_that_takes_too_long_is_cut_off(caplog):
    async def scene(cluster):
        cluster.proxy.instead("/binding", never)
        await cluster.create(node(), pod("web"))
        await cluster.settle()
        ending = asyncio.ensure_future(cluster.scheduler.stop())
        await cluster.wait(DRAIN_SECONDS + 1)

        assert ending.done()
        assert reasons(cluster) == []  # it has not failed; whoever schedules next may find it bound

    play(scene, cluster=ClusterBehindProxy)
    assert "cancelled 1 bindings that were still under way" in caplog.text


def test_what_is_being_told_about_a_pod_is_told_to_the_end():
    answered = asyncio.Event()

    async def scene(cluster):
        for path in ("/pods/web/status", "/events"):
            cluster.proxy.instead(path, holding(answered))
        await cluster.create(node(), pod("web", cpu="64"))
        await cluster.settle()
        ending = asyncio.ensure_future(cluster.scheduler.stop())
        await cluster.settle()
        answered.set()
        await cluster.settle()
        await ending

        assert "1 Insufficient cpu" in cluster.why_pending("web")
        assert [reason for reason, _ in reasons(cluster)] == ["FailedScheduling"]

    play(scene, cluster=ClusterBehindProxy)


def test_plugins_are_closed_once_and_last():
    order = []

    class Closing(fwk.PostBindPlugin, fwk.PermitPlugin):
        name = "Closing"

        def permit(self, state, subject, node_name):
            return None

        async def post_bind(self, state, subject, node_name):
            order.append("bound")

        def close(self):
            order.append("closed")

    async def scene(cluster):
        await cluster.create(node(), pod("web"))
        await cluster.settle()

    play(scene, Closing)
    assert order == ["bound", "closed"]
