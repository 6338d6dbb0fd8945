"""The lines that tell the story of an attempt, and of one that took long."""

import pytest

from podium import framework as fwk
from podium.cycle.cycle import Cycle
from podium.cycle.record import Record
from podium.framework.calls import Call
from podium.framework.status import Code
from podium.live.attempt import trace
from podium.logs import level_of
from podium.testing.builders import pod
from tests.live.test_scheduler import Filter
from tests.support import toys
from tests.support.live import play

UID = pod("web").uid
CALLS = [
    Call("NodeAffinity", "PreFilter", Code.SUCCESS, 0.02),
    Call("Slow", "Filter", Code.SUCCESS, 0.2),
    Call("Slow", "Score", Code.SUCCESS, 0.01),
    Call("Slow", "ScoreExtensionNormalize", Code.SUCCESS, 0.02),
    Call("Other", "Bind", Code.SUCCESS, 0.1),  # of another pod, meanwhile
]


def lines(caplog, event):
    """The data of the lines with this event."""
    return [each.msg.data for each in caplog.records if each.msg.event == event]


@pytest.fixture(autouse=True)
def everything_is_logged(caplog):
    caplog.set_level(level_of(3), "podium")


@pytest.mark.parametrize("seconds", [{}, {"cycle": 0.099}], ids=["unknown", "short"])
def test_short_attempts_leave_no_trace(caplog, seconds):
    trace(Record("default/web", "u", 1, "p", seconds=seconds), CALLS)
    assert lines(caplog, "Trace of Scheduling") == []


def test_a_long_attempt_says_where_its_time_went(caplog):
    trace(Record("default/web", "u", 3, "p", nodes=7, seconds={"cycle": 0.2614}), CALLS)

    (line,) = lines(caplog, "Trace of Scheduling")
    assert line["steps"] == {"Computing predicates": 0.22, "Prioritizing": 0.03, "Preempting": 0}
    assert line["slowest"] == "Slow at Filter"
    assert (line["pod"], line["attempt"], line["seconds"]) == ("default/web", 3, 0.261)


class LongCycle(Cycle):
    def run(self):
        outcome = super().run()
        self.record.seconds["cycle"] = 0.5
        return outcome


def test_the_loop_traces_what_took_long(caplog):
    async def scene(desk):
        desk.cycle = LongCycle
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()
        (line,) = lines(caplog, "Trace of Scheduling")
        assert (line["pod"], line["seconds"]) == ("default/web", 0.5)

    play(scene, toys.Bind("Bind"))


def test_one_line_tells_all_of_an_attempt(caplog):
    full = Filter("Full", lambda subject, _: fwk.Status.unschedulable("no room"))

    async def scene(desk):
        desk.see_nodes("n1", "n2")
        desk.see(pod("web"))
        await desk.settle()
        (line,) = lines(caplog, "Unable to schedule pod; no fit; waiting")
        assert line == {
            "pod": "default/web",
            "podUID": UID,
            "err": "0/2 nodes are available: 2 no room.",
            "attempt": 1,
            "plugins": ["Full"],
            "seconds": 0,
        }

    play(scene, full, toys.Bind("Bind"))


def test_the_same_for_a_pod_that_is_bound(caplog):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(pod("web"))
        await desk.settle()
        (line,) = lines(caplog, "Successfully bound pod to node")
        assert line == {
            "pod": "default/web", "podUID": UID, "node": "n1", "evaluatedNodes": 1,
            "feasibleNodes": 1, "attempt": 1, "seconds": 0,
        }  # fmt: skip
        assert lines(caplog, "Attempting to schedule pod") == [
            {"pod": "default/web", "podUID": UID}
        ]

    play(scene, toys.Bind("Bind"))
