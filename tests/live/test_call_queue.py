"""Which calls wait, are merged, replaced, dropped or sent: for each pod one after another."""

import asyncio
import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.objects import Condition
from podium.live.call_queue import CallQueue, PodBinding, PodStatusPatch, QueuedCall
from podium.testing.builders import pod

WEB = pod("web")
NO_ROOM = Condition("PodScheduled", "False", reason="Unschedulable", message="no room")
ERROR = Condition("PodScheduled", "False", reason="SchedulerError", message="oops")


def in_loop(test):
    """Run the test where there is an event loop, which futures need."""

    @functools.wraps(test)
    def wrapper(*args, **kwargs):
        async def run():
            test(*args, **kwargs)

        asyncio.run(run())

    return wrapper


def patch(condition=None, nominated=None, of=WEB):
    return QueuedCall(PodStatusPatch(of, condition, nominated))


def binding(node="n1", of=WEB):
    return QueuedCall(PodBinding(of, node))


def queue_with(*calls, in_flight=None):
    queue = CallQueue()
    if in_flight is not None:
        queue.add(in_flight)
        assert queue.pop() is in_flight
    for call in calls:
        queue.add(call)
        queue.check_invariants()
    return queue


def wants(queued):
    return queued.call.condition, queued.call.nominated_node_name


@in_loop
def test_calls_of_several_pods_are_sent_in_the_order_of_their_arrival():
    first, second = patch(NO_ROOM, of=pod("a")), binding(of=pod("b"))
    queue = queue_with(first, second)

    assert queue.waiting() == {"pod_status_patch": 1, "pod_binding": 1}
    assert [queue.pop(), queue.pop(), queue.pop()] == [first, second, None]
    assert queue.waiting() == {"pod_status_patch": 0, "pod_binding": 0}


@pytest.mark.parametrize(
    ("older", "newer", "merged"),
    [
        pytest.param((NO_ROOM, None), (ERROR, None), (ERROR, None), id="the-newer-condition"),
        pytest.param((NO_ROOM, None), (None, "n1"), (NO_ROOM, "n1"), id="both"),
        pytest.param((NO_ROOM, "n1"), (ERROR, None), (ERROR, "n1"), id="nomination-stays"),
        pytest.param((None, "n1"), (None, "n2"), (None, "n2"), id="the-newer-nomination"),
    ],
)
@in_loop
def test_patches_of_one_pod_are_merged(older, newer, merged):
    old, new = patch(*older), patch(*newer)
    queue = queue_with(old, new)

    assert old.done.result() is None  # nobody waits for it any more
    assert queue.pop() is new
    assert wants(new) == merged


@in_loop
def test_a_patch_without_effect_is_not_sent():
    queue = queue_with(quiet := patch(None, ""))

    assert quiet.done.done()
    assert queue.pop() is None


@in_loop
def test_a_patch_that_undoes_one_that_waits_drops_both():
    old, new = patch(None, "n1"), patch(None, "")
    queue = queue_with(old, new)

    assert old.done.done()
    assert new.done.done()
    assert queue.pop() is None


@in_loop
def test_a_binding_replaces_a_patch_that_waits():
    old, new = patch(NO_ROOM), binding()
    queue = queue_with(old, new)

    assert old.done.done()
    assert [queue.pop(), queue.pop()] == [new, None]


@in_loop
def test_a_binding_waits_for_a_patch_that_is_being_sent():
    sent, new = patch(NO_ROOM), binding()
    queue = queue_with(new, in_flight=sent)

    assert queue.pop() is None
    assert not sent.done.done()
    queue.finish(sent)
    assert queue.pop() is new


@in_loop
def test_a_patch_after_a_binding_is_dropped():
    bound, late = binding(), patch(NO_ROOM)
    queue = queue_with(bound, late)

    assert late.done.done()
    assert not bound.done.done()
    assert [queue.pop(), queue.pop()] == [bound, None]


@in_loop
def test_a_patch_without_effect_is_kept_while_another_is_being_sent():
    """The one that is being sent may have another effect than the pod that was seen shows."""
    sent, new = patch(None, "n1"), patch(None, "")
    queue = queue_with(new, in_flight=sent)
    queue.finish(sent)

    assert queue.pop() is new


@in_loop
def test_a_patch_starts_from_the_version_that_was_seen_last():
    waiting = patch(None, "n1")
    queue = queue_with(waiting)

    seen = pod("web", labels="a=b")
    queue.sync(seen)

    assert queue.pop().call.pod is seen


@in_loop
def test_a_patch_that_is_no_longer_needed_is_dropped():
    waiting = patch(None, "n1")
    queue = queue_with(waiting)

    queue.sync(WEB.nominated_to("n1"))

    assert waiting.done.done()
    assert queue.pop() is None
    queue.check_invariants()


@in_loop
def test_a_call_that_is_being_sent_stays_as_it_is():
    sent = patch(None, "n1")
    queue = queue_with(in_flight=sent)

    queue.sync(WEB.nominated_to("n1"))

    assert sent.call.pod is WEB
    queue.finish(sent)
    queue.check_invariants()


CALLS = st.one_of(
    st.builds(
        lambda name, condition, node: patch(condition, node, of=pod(name)),
        st.sampled_from("ab"),
        st.sampled_from([None, NO_ROOM, ERROR]),
        st.sampled_from([None, "", "n1"]),
    ),
    st.builds(lambda name: binding(of=pod(name)), st.sampled_from("ab")),
)
STEPS = st.lists(st.sampled_from(["add", "pop", "finish", "sync"]), max_size=30)


@given(steps=STEPS, data=st.data())
def test_every_call_ends_and_no_pod_has_two_at_a_time(steps, data):
    async def run():
        queue, sent, added = CallQueue(), [], []
        for step in steps:
            if step == "add":
                added.append(data.draw(CALLS))
                queue.add(added[-1])
            elif step == "pop" and (popped := queue.pop()) is not None:
                sent.append(popped)
            elif step == "finish" and sent:
                finish(queue, sent.pop(0))
            elif step == "sync":
                queue.sync(pod(data.draw(st.sampled_from("ab"))))
            queue.check_invariants()
            assert len({one.uid for one in sent}) == len(sent)
        while sent or (popped := queue.pop()) is not None:
            finish(queue, sent.pop(0) if sent else popped)
        assert all(one.done.done() for one in added)

    asyncio.run(run())


def finish(queue, call):
    queue.finish(call)
    call.drop()
