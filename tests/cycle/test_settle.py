"""Assume, Reserve and Permit, and how they are undone."""

import asyncio

import pytest

from podium import framework as fwk
from podium.cycle.outcome import Placed, Rejected
from podium.framework.cycle_state import PodsToActivate
from podium.framework.status import Nominate
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Permit, Reserve

BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("no quota")
CLEAR = Nominate("")


@pytest.mark.parametrize(
    ("answer", "code", "message", "blamed"),
    [
        pytest.param(NO, fwk.Code.UNSCHEDULABLE, "0/1 nodes are available: 1 no quota.", "B",
                     id="rejection"),
        pytest.param(fwk.Status.unresolvable("x", "y"), fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
                     "0/1 nodes are available: 1 x, 1 y.", "B", id="code-is-kept"),
        pytest.param(fwk.Status.pending("x"), fwk.Code.PENDING,
                     "0/1 nodes are available: 1 x.", "B", id="pending"),
        pytest.param(fwk.Status.error("no disk"), fwk.Code.ERROR,
                     'running {} plugin "B": no disk', None, id="error"),
        pytest.param(BROKEN, fwk.Code.ERROR, 'running {} plugin "B": broken', None, id="exception"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("point", [Reserve, Permit])
def test_failure(point, answer, code, message, blamed):
    log = []
    plugins = [Reserve("A", log=log), point("B", answer, log=log), Reserve("C", log=log)]
    scheduler = Scheduler(*plugins)

    outcome = scheduler.attempt(pod("web", cpu="1"))

    assert isinstance(outcome, Rejected)
    assert outcome.status.code is code
    assert outcome.message == outcome.status.message == message.format(point.__name__)
    assert (outcome.status.plugin, outcome.nominate) == ("B", CLEAR)
    if blamed is None:
        assert outcome.diagnosis is None
    else:
        assert outcome.diagnosis.unschedulable_plugins == {blamed}
    assert "uid-web" not in scheduler.cluster.pods
    assert scheduler.cluster.rows().requested("cpu").sum() == 0


def test_undo_is_in_reverse_and_includes_the_never_reserved():
    log = []
    plugins = [Reserve("A", log=log), Reserve("B", NO, log=log), Reserve("C", log=log)]
    Scheduler(*plugins).attempt(pod())

    assert [what for what, _ in log] == ["reserve"] * 2 + ["unreserve"] * 3
    assert [name for _, name in log] == ["A", "B", "C", "B", "A"]


def test_what_a_plugin_has_cancelled_ends_no_cycle():
    class Cancelled(Reserve):
        def reserve(self, state, pod, node_name):
            raise asyncio.CancelledError

    log = []
    outcome = Scheduler(Reserve("A", log=log), Cancelled("B")).attempt(pod())

    assert outcome.status.code is fwk.Code.ERROR
    assert log == [("reserve", "A"), ("unreserve", "A")]


def test_the_pod_still_counts_while_it_is_unreserved():
    counted = []
    reserve = Reserve("A", NO)
    scheduler = Scheduler(reserve)
    reserve.undo = lambda pod, node_name: counted.append(pod.uid in scheduler.cluster.pods)
    scheduler.attempt(pod())

    assert counted == [True]


def test_async_unreserve_goes_to_the_shell():
    undone = []

    async def undo():
        undone.append("late")

    reserve = Reserve("A", NO)
    reserve.undo = lambda pod, node_name: undo()
    scheduler = Scheduler(reserve)
    scheduler.attempt(pod())

    (work,) = scheduler.spawned
    assert undone == []
    asyncio.run(work)
    assert undone == ["late"]


def test_a_failed_pod_can_be_tried_again():
    reserve = Reserve("A", NO)
    scheduler = Scheduler(reserve)
    web = pod("web", cpu="1")
    cycle = scheduler.cycle(web)
    assert isinstance(cycle.run(), Rejected)

    reserve.answer = None
    again = type(cycle)(scheduler.services, scheduler.profile, cycle.queued)

    assert isinstance(again.run(), Placed)
    scheduler.cluster.check_invariants()


def test_a_pod_that_is_already_there_cannot_be_assumed():
    reserve = Reserve("A")
    scheduler = Scheduler(reserve)
    scheduler.cluster.add_pod(pod("web", node="a"))

    outcome = scheduler.attempt(pod("web"))

    assert isinstance(outcome, Rejected)
    text = "pod uid-web(default/web) is in the cache, so can't be assumed"
    assert (outcome.status.code, outcome.message) == (fwk.Code.ERROR, text)
    assert (outcome.nominate, reserve.asked) == (CLEAR, [])
    assert "uid-web" in scheduler.cluster.pods


def test_assuming_ends_the_nomination():
    scheduler = Scheduler()
    web = pod("web")
    scheduler.services.nominator.add(fwk.PodInfo(web), Nominate("a"))
    scheduler.attempt(web)

    assert len(scheduler.services.nominator) == 0


def test_permit_may_hold_the_pod():
    scheduler = Scheduler(Permit("P", fwk.wait(10, "gang")), Permit("Q", fwk.wait(60)))

    outcome = scheduler.attempt(pod("web"))

    assert isinstance(outcome, Placed)
    assert outcome.status.is_wait
    assert scheduler.cluster.is_assumed("uid-web")
    waiting = scheduler.services.waiting_pods.get("uid-web")
    assert sorted(waiting.pending_plugins) == ["P", "Q"]
    scheduler.clock.advance(10)
    assert waiting.outcome.message == "rejected due to timeout after waiting 10s at plugin P"


def test_a_rejection_beats_waiting():
    scheduler = Scheduler(Permit("P", fwk.wait(10)), Permit("Q", NO))

    assert isinstance(scheduler.attempt(pod()), Rejected)
    assert len(scheduler.services.waiting_pods) == 0


class Activating(Permit):
    """Wants another pod tried, whatever it answers."""

    def permit(self, state, pod, node_name):
        other = self.other
        state.get(PodsToActivate).pods[other.key] = other
        return self.answer


def activating(answer=None):
    plugin = Activating("P", answer)
    plugin.other = pod("other")
    return plugin


@pytest.mark.parametrize("answer", [None, fwk.wait(10)], ids=["go", "wait"])
def test_pods_are_activated_when_the_cycle_succeeds(answer):
    scheduler = Scheduler(activating(answer))
    outcome = scheduler.attempt(pod())

    assert [found.name for found in scheduler.activated] == ["other"]
    assert outcome.target.state.get(PodsToActivate).pods == {}  # told once


def test_no_pods_are_activated_when_it_fails():
    scheduler = Scheduler(activating(NO))
    scheduler.attempt(pod())

    assert scheduler.activated == []


def test_each_pod_has_a_list_of_its_own():
    scheduler = Scheduler(activating())
    first, second = (scheduler.attempt(pod(name)).target.state for name in "xy")

    assert first.get(PodsToActivate) is not second.get(PodsToActivate)


def test_what_reserve_puts_is_its_pods_alone():
    class Counting(Reserve):
        def reserve(self, state, pod, node_name):
            assert state.find(int) is None
            state.put(1)

    scheduler = Scheduler(Counting("A"))

    assert isinstance(scheduler.attempt(pod("x")), Placed)
    assert isinstance(scheduler.attempt(pod("y")), Placed)
