"""Reserve, Permit, Bind and PostBind."""

import asyncio

import pytest

from podium import framework as fwk
from podium.clock import FakeClock
from podium.framework.binding import (
    Target,
    run_bind,
    run_permit,
    run_post_bind,
    run_reserve,
    run_unreserve,
    wait_on_permit,
)
from podium.framework.waiting_pods import WaitingPod, WaitingPods
from podium.testing.builders import pod
from tests.support import toys as toy_plugins
from tests.support.toys import Bind, Permit, PostBind, Reserve, profile

BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("no")
WAITING = "one or more plugins asked to wait and no plugin rejected pod"


def target(*plugins):
    return Target(profile(*plugins), fwk.CycleState(), pod(), "a")


def toys(kind, *answers):
    """Plugins A, B, C … with these answers and one log."""
    log = []
    return [kind(chr(ord("A") + i), a, log=log) for i, a in enumerate(answers)], log


@pytest.mark.parametrize(
    ("answers", "status", "ran"),
    [
        pytest.param([], fwk.SUCCESS, "", id="no-plugins"),
        pytest.param([None, fwk.SUCCESS], fwk.SUCCESS, "AB", id="all-fine"),
        pytest.param([None, NO, None], NO.by("B"), "AB", id="first-failure-ends-it"),
        pytest.param([fwk.Status.unresolvable("x")], fwk.Status.unresolvable("x").by("A"), "A",
                     id="code-is-kept"),
        pytest.param([fwk.Status.error("x"), None],
                     fwk.Status.error('running Reserve plugin "A": x').by("A"), "A", id="error"),
        pytest.param([BROKEN], fwk.Status.error('running Reserve plugin "A": broken').by("A"), "A",
                     id="exception"),
    ],
)  # fmt: skip
def test_reserve(answers, status, ran):
    plugins, log = toys(Reserve, *answers)

    assert run_reserve(target(*plugins)) == status
    assert log == [("reserve", name) for name in ran]


def test_unreserve_goes_backward_and_leaves_nobody_out():
    plugins, log = toys(Reserve, None, NO, None)
    subject = target(*plugins)
    run_reserve(subject)
    log.clear()

    assert run_unreserve(subject) == []
    assert log == [("unreserve", name) for name in "CBA"]  # C was never asked to reserve


def test_a_fault_does_not_stop_unreserving(caplog):
    plugins, log = toys(Reserve, None, None, None)
    plugins[1].undo = BROKEN

    run_unreserve(target(*plugins))

    assert [name for _, name in log] == ["C", "B", "A"]
    assert caplog.records[0].exc_info[1] is BROKEN


def test_async_unreserve_is_left_to_be_awaited():
    undone = []

    async def undo():
        undone.append("late")

    plugins, _ = toys(Reserve, None, None)
    plugins[0].undo = lambda pod, node_name: undo()
    left = run_unreserve(target(*plugins))

    async def finish():
        await asyncio.gather(*left)

    assert undone == []
    asyncio.run(finish())
    assert undone == ["late"]


@pytest.mark.parametrize(
    ("answers", "waits", "status", "ran"),
    [
        pytest.param([], {}, fwk.SUCCESS, "", id="no-plugins"),
        pytest.param([None, fwk.SUCCESS], {}, fwk.SUCCESS, "AB", id="all-fine"),
        pytest.param([fwk.wait(10)], {"A": 10}, fwk.Status(fwk.Code.WAIT, (WAITING,), "A"), "A",
                     id="wait"),
        pytest.param([fwk.wait(10, "gang"), None, fwk.wait(20, "quota")], {"A": 10, "C": 20},
                     fwk.Status(fwk.Code.WAIT, ("quota", WAITING), "C"), "ABC",
                     id="all-are-asked-the-last-speaks"),
        pytest.param([fwk.wait(10), NO, None], {}, NO.by("B"), "AB", id="a-rejection-ends-it"),
        pytest.param([fwk.wait(10), fwk.Status.error("x")], {},
                     fwk.Status.error('running Permit plugin "B": x').by("B"), "AB", id="error"),
        pytest.param([BROKEN, None], {},
                     fwk.Status.error('running Permit plugin "A": broken').by("A"), "A",
                     id="exception"),
        pytest.param([fwk.skip()], {}, fwk.Status.error('running Permit plugin "A": ').by("A"), "A",
                     id="skip-is-not-for-here"),
    ],
)  # fmt: skip
def test_permit(answers, waits, status, ran):
    plugins, log = toys(Permit, *answers)

    assert run_permit(target(*plugins)) == (waits, status)
    assert log == [("permit", name) for name in ran]


def waited(end):
    """The outcome for a pod that waits for plugin P until ``end(waiting)`` is called."""
    waiting_pods, clock = WaitingPods(), FakeClock()
    waiting = WaitingPod(pod(), {"P": 10}, clock)
    waiting_pods.add(waiting)

    async def scene():
        task = asyncio.ensure_future(wait_on_permit(waiting_pods, pod()))
        await asyncio.sleep(0)
        assert not task.done()
        end(waiting, clock)
        return await task

    status = asyncio.run(scene())
    assert len(waiting_pods) == 0
    return status


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        pytest.param(lambda w, c: w.allow("P"), fwk.SUCCESS, id="allowed"),
        pytest.param(lambda w, c: w.reject("Q", "no"), NO.by("Q"), id="rejected-as-it-is"),
        pytest.param(lambda w, c: w.preempt("Q", "preempted"),
                     fwk.Status.error("waiting on permit for pod: preempted").by("Q"),
                     id="preempted-is-an-error"),
        pytest.param(lambda w, c: c.advance(10),
                     fwk.Status.unschedulable(
                         "rejected due to timeout after waiting 10s at plugin P").by("P"),
                     id="out-of-time"),
    ],
)  # fmt: skip
def test_wait_on_permit(end, expected):
    assert waited(end) == expected


def test_a_pod_that_does_not_wait_goes_on_at_once():
    assert asyncio.run(wait_on_permit(WaitingPods(), pod())) is fwk.SUCCESS


def test_an_end_before_the_wait_is_not_missed():
    waiting_pods = WaitingPods()
    waiting = WaitingPod(pod(), {"P": 10}, FakeClock())
    waiting_pods.add(waiting)
    waiting.reject("P", "no")

    assert asyncio.run(wait_on_permit(waiting_pods, pod())) == NO.by("P")


def test_nobody_is_told_after_the_wait_was_cancelled():
    waiting_pods = WaitingPods()
    waiting = WaitingPod(pod(), {"P": 10}, FakeClock())
    waiting_pods.add(waiting)

    async def scene():
        task = asyncio.ensure_future(wait_on_permit(waiting_pods, pod()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        waiting.allow("P")  # the plugin cannot know

    asyncio.run(scene())
    assert len(waiting_pods) == 0


@pytest.mark.parametrize(
    ("answers", "status", "ran"),
    [
        pytest.param([None], fwk.SUCCESS.by("A"), "A", id="bound"),
        pytest.param([fwk.skip(), None, None], fwk.SUCCESS.by("B"), "AB", id="first-not-to-skip"),
        pytest.param([fwk.skip(), fwk.skip()], fwk.skip(), "AB", id="all-skip"),
        pytest.param([], fwk.skip(), "", id="nobody-binds"),
        pytest.param([NO, None], NO.by("A"), "A", id="rejection-as-it-is"),
        pytest.param([fwk.Status.error("conflict"), None],
                     fwk.Status.error('running Bind plugin "A": conflict').by("A"), "A",
                     id="error"),
        pytest.param([BROKEN], fwk.Status.error('running Bind plugin "A": broken').by("A"), "A",
                     id="exception"),
    ],
)  # fmt: skip
def test_bind(answers, status, ran):
    plugins, log = toys(Bind, *answers)

    assert asyncio.run(run_bind(target(*plugins))) == status
    assert "".join(log) == ran


def test_post_bind_tells_everybody(caplog):
    plugins, log = toys(PostBind, None, BROKEN, None)
    asyncio.run(run_post_bind(target(*plugins)))

    assert log == ["A", "B", "C"]
    source = f"{toy_plugins.__file__}, class PostBind"
    assert caplog.records[0].getMessage() == (
        f"plugin failed plugin='B' point='PostBind' pod='default/pod' source={source!r}"
    )


def test_plugins_are_told_the_pod_and_the_node():
    seen = []
    plugins, _ = toys(Reserve, lambda pod, node_name: seen.append((pod.key, node_name)))
    run_reserve(target(*plugins))

    assert seen == [("default/pod", "a")]
