"""What a failed or ended attempt leaves behind: in which order it is undone, and what is told."""

import asyncio

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import ObjectMeta
from podium.queue.observation import NoObserver
from podium.testing.builders import pod
from tests.support import toys
from tests.support.live import Desk, play

WEB = pod("web")
OTHER = pod("other")
ANEW = msgspec.structs.replace(
    WEB, metadata=ObjectMeta(name="web", namespace="default", uid="uid-2")
)
ERROR = fwk.Status.error("broken")
FAILED, LEFT = "ScheduleAttemptFailure", "AssignedPodDelete"


class Sleeping(toys.Unsigned, toys.Filter, fwk.EnqueueExtensions):
    """Refuses the other pod on every node, until a pod is deleted."""

    def events_to_register(self):
        return [fwk.on("Pod", "delete")]


class Permit(toys.Permit, fwk.EnqueueExtensions):
    def events_to_register(self):
        return [fwk.on("Pod", "delete")]


def sleeping():
    refused = fwk.Status.unschedulable("not this one")
    return Sleeping("Sleeping", lambda subject, _: refused if subject.name == "other" else None)


def observed():
    """A desk and the list of what pods its queue takes back, and why, as it happens."""
    seen = []

    class Watching(NoObserver):
        def incoming(self, queue, event):
            seen.append(event)

    class Watched(Desk):
        observer = Watching()

    return Watched, seen


async def begun(desk, seen):
    """The other pod waits, then the pod is on its way; ``seen`` is of the latter alone."""
    desk.see_nodes("n1")
    desk.see(OTHER)
    await desk.settle()
    seen.clear()
    desk.see(WEB)
    await desk.settle()


@pytest.mark.parametrize(
    ("plugin", "order"),
    [
        pytest.param(toys.Bind("P", ERROR), [LEFT, FAILED], id="error-then-others-go-first"),
        pytest.param(toys.PreBind("P", ERROR), [LEFT, FAILED], id="error-in-pre-bind"),
        pytest.param(
            Permit("P", fwk.wait(0)), [FAILED, LEFT], id="refused-so-its-leaving-does-not-wake-it"
        ),
    ],
)
def test_others_hear_of_the_leaving_before_an_error_and_after_a_refusal(plugin, order):
    kind, seen = observed()

    async def scene(desk):
        await begun(desk, seen)
        assert [event for event in seen if event in (LEFT, FAILED)][:2] == order

    play(scene, sleeping(), plugin, toys.Bind("Bind"), kind=kind)


def test_a_pod_that_the_watch_shows_bound_does_not_leave(caplog):
    """Its binding failed, for all we know; what others hear must be what is."""
    answer = asyncio.Event()
    kind, seen = observed()

    async def binding():
        await answer.wait()
        return ERROR

    async def scene(desk):
        await begun(desk, seen)
        desk.see_bound(WEB, "n1")
        answer.set()
        await desk.wait(20)
        assert LEFT not in seen

    play(scene, sleeping(), toys.Bind("Bind", lambda *_: binding()), kind=kind)
    assert "scheduler cache ForgetPod failed" in caplog.text


def test_what_is_heard_of_a_pod_on_its_way():
    """A change of it is no reason to queue it; when it is deleted, its room is free at once."""
    kind, seen = observed()
    changed = msgspec.structs.replace(
        WEB, metadata=msgspec.structs.replace(WEB.metadata, resource_version="2", labels={"a": "b"})
    )

    async def scene(desk):
        await begun(desk, seen)
        seen.clear()
        desk.see(changed)
        await desk.settle()
        assert seen == []

        desk.lose(changed)
        assert seen == [LEFT]

    play(scene, sleeping(), toys.Bind("Bind", lambda *_: asyncio.Event().wait()), kind=kind)


def failing_flight(answer):
    plugin = toys.PreBind("B")
    plugin.flight = answer
    return plugin


@pytest.mark.parametrize(
    "before", [[], [Permit("P", fwk.wait(60))]], ids=["at-once", "waits-on-permit"]
)
def test_an_error_of_the_preflight_ends_the_binding(before):
    pre_bind, bind = failing_flight(ERROR), toys.Bind("Bind")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        assert desk.story() == ['running PreBindPreFlight "B": broken']
        assert desk.queue.queue_of(WEB.key) == "backoff"
        assert (pre_bind.asked, bind.asked) == ([], [])
        assert len(desk.services.waiting_pods) == 0
        assert WEB.uid not in desk.cluster.pods

    play(scene, *before, pre_bind, bind)


def test_a_binding_waits_for_what_is_being_written_about_its_pod():
    """A condition that says "not scheduled" must not arrive after the pod is bound."""
    written = asyncio.Event()
    bind = toys.Bind("Bind")
    reserve = toys.Reserve("R", ERROR)

    class Slow(Desk):
        def __init__(self, *plugins):
            super().__init__(*plugins)
            patch = self.client.patch_pod_status

            async def patch_slowly(*given):
                await written.wait()
                await patch(*given)

            self.client.patch_pod_status = patch_slowly

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        reserve.answer = None
        await desk.wait(2)
        assert desk.cluster.is_assumed(WEB.uid)
        assert (bind.asked, desk.statuses()) == ([], [])

        written.set()
        await desk.settle()
        assert (bind.asked, len(desk.statuses())) == (["Bind"], 1)

    play(scene, reserve, bind, kind=Slow)


def test_of_a_pod_that_was_made_again_while_it_waited_nothing_stays():
    def waits_at_first(subject, _):
        return fwk.wait(60) if subject.uid == WEB.uid else None

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        desk.see(ANEW)
        await desk.settle()

        assert desk.story() == ["Successfully assigned default/web to n1"]
        assert desk.queue.in_flight_events() == {}

    play(scene, Permit("P", waits_at_first), toys.Bind("Bind"))


def test_a_pod_that_is_gone_keeps_no_nomination():
    promised = pod("web", status={"nominated_node_name": "n1"})

    def goes_meanwhile(desk):
        def refuse(*_):
            desk.known.clear()
            return fwk.Status.unschedulable("no room")

        return refuse

    full = toys.Filter("Full")

    async def scene(desk):
        full.answer = goes_meanwhile(desk)
        desk.see_nodes("n1")
        desk.see(promised)
        assert len(desk.services.nominator) == 1
        await desk.settle()
        assert len(desk.services.nominator) == 0

    play(scene, full, toys.Bind("Bind"))


def test_an_error_after_a_refusal_blames_nobody():
    """Else the pod would sleep until an event that its last failure has nothing to do with."""
    full, reserve = sleeping(), toys.Reserve("R", ERROR)

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(OTHER)
        desk.see(pod("third", node="n1"))
        await desk.settle()
        assert desk.queue.queue_of(OTHER.key) == "unschedulable"

        full.answer = None
        desk.lose(pod("third", node="n1"))
        await desk.wait(2)
        assert desk.story()[-1] == 'running Reserve plugin "R": broken'
        assert desk.queue.queue_of(OTHER.key) == "backoff"

    play(scene, full, reserve, toys.Bind("Bind"))


def test_a_pod_on_its_way_is_not_scheduled_twice():
    bind = toys.Bind("Bind")

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        desk.queue.add(WEB)
        await desk.settle()

        assert bind.asked == ["Bind"]
        assert (desk.queue.pending().total, desk.queue.in_flight_events()) == (0, {})

    play(scene, bind)


def test_a_binding_that_the_end_of_the_process_cuts_off_is_not_told_as_a_failure():
    async def binding():
        await asyncio.Event().wait()

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()
        await desk.tasks.cancel()

        assert (desk.story(), desk.statuses()) == ([], [])

    play(scene, toys.Bind("Bind", lambda *_: binding()))


def test_a_fault_after_assume_gives_the_room_back(caplog):
    async def scene(desk):
        desk.see_nodes("n1")
        desk.profile.reserves = None  # a fault that is no plugin's
        desk.see(WEB)
        await desk.settle()

        assert WEB.uid not in desk.cluster.pods
        assert desk.queue.queue_of(WEB.key) == "backoff"

    play(scene, toys.Bind("Bind"))
    assert "scheduling cycle failed" in caplog.text


class Spoiling(toys.Reserve):
    """Leaves something in the cycle's state that makes the scheduler itself fail."""

    def reserve(self, state, subject, node_name):
        state.get(fwk.PodsToActivate).pods = 7
        return super().reserve(state, subject, node_name)


def test_a_fault_of_the_cycle_undoes_what_was_reserved(caplog):
    plugin = Spoiling("Spoiling", None)

    async def scene(desk):
        desk.see_nodes("n1")
        desk.see(WEB)
        await desk.settle()

        assert plugin.asked[:2] == [("reserve", "Spoiling"), ("unreserve", "Spoiling")]
        assert not desk.cluster.is_assumed(WEB.uid)
        assert WEB.uid not in desk.cluster.pods

    play(scene, plugin, toys.Bind("Bind"))
    assert "scheduling cycle failed" in caplog.text
