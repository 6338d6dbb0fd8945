"""The binding cycle without NominatedNodeNameForExpectation, beside the usual one."""

import pytest

from podium import framework as fwk
from podium.live.binding import QuietBinder
from podium.testing.builders import pod
from tests.support import toys
from tests.support.live import Desk, play

WEB = pod("web")
EXPECTED = [(None, None, "n1")]


class QuietDesk(Desk):
    binder = QuietBinder


class Waiting(toys.Permit, fwk.EnqueueExtensions):
    def events_to_register(self):
        return []


def pre_bind(flight, log):
    plugin = toys.PreBind("B", log=log)
    plugin.flight = flight
    return plugin


@pytest.mark.parametrize(("kind", "told"), [(Desk, EXPECTED), (QuietDesk, [])])
def test_where_a_waiting_pod_is_expected(kind, told):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        assert desk.statuses() == told

        desk.services.waiting_pods.get(WEB.uid).allow("P")
        await desk.settle()
        assert desk.story() == ["Successfully assigned default/web to n1"]

    play(scene, Waiting("P", fwk.Wait(60)), toys.Bind("Bind"), kind=kind)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        pytest.param(Desk, [], id="skipped-as-it-wished"),
        pytest.param(QuietDesk, ["B"], id="run-all-the-same"),
    ],
)
def test_a_pre_bind_without_work(kind, asked):
    log = []

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        assert desk.story() == ["Successfully assigned default/web to n1"]

    play(scene, pre_bind(fwk.skip(), log), toys.Bind("Bind"), kind=kind)
    assert log == asked
