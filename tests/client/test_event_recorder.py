"""Events as kube-scheduler writes them: fields, series, retries; and who records never waits."""

import asyncio
import json
from dataclasses import replace

import pytest

from podium.api.objects import ObjectMeta, Pod
from podium.client import event_recorder
from podium.client.event_recorder import (
    IDLE_SECONDS,
    MOST_REMEMBERED,
    RETRY_SECONDS,
    SMALL_BURST,
    SMALL_WRITES,
    TRIES,
    ApiEventRecorder,
    EventSender,
    EventSeries,
    cut,
)
from podium.clock import FakeClock
from podium.framework.handle import EventNote
from tests.support.client import with_world
from tests.support.faulty_proxy import answering, hanging_up, holding, losing_the_answer, never

PATH = "/apis/events.k8s.io/v1/namespaces/default/events"
SCHEDULED = EventNote("Normal", "Scheduled", "Binding", "Successfully assigned default/p to n")
FAILED = EventNote("Warning", "FailedScheduling", "Scheduling", "0/1 nodes are available")


def subject(name="p", version="7"):
    meta = ObjectMeta(name=name, namespace="default", uid=f"uid-{name}", resource_version=version)
    return Pod(metadata=meta)


def recorder(world, run=True):
    sender = EventSender(world.client, world.clock)
    if run:
        world.start(sender.run())
    return ApiEventRecorder(sender, "default-scheduler", "host"), sender


def stored(world):
    items = world.api.store.list("events", None).items
    return [item.decode() for item in items]


async def written(world, sender):
    """Let everything that waits be written."""
    task = world.start(sender.flush(3600))
    await world.in_time(task.done)


@with_world
async def test_an_event_has_the_fields_of_kube_scheduler(world):
    events, sender = recorder(world)

    events.record(subject(), subject("other"), SCHEDULED)
    await written(world, sender)

    (sent,) = world.proxy.requests
    assert (sent.method, sent.path) == ("POST", PATH)
    assert json.loads(sent.body) == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "p.17979cfe362a0000", "namespace": "default"},
        "eventTime": "2023-11-14T22:13:20.000000Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "p",
            "namespace": "default",
            "resourceVersion": "7",
            "uid": "uid-p",
        },
        "note": "Successfully assigned default/p to n",
        "type": "Normal",
    }
    assert len(stored(world)) == 1


@with_world
async def test_repeats_become_a_series(world):
    events, sender = recorder(world)
    for _ in range(5):
        events.record(subject(), None, FAILED)
        await written(world, sender)
        world.clock.advance(1)
    assert [one.method for one in world.proxy.requests] == ["POST", "PATCH"]
    patch = json.loads(world.proxy.requests[1].body)
    assert patch == {"series": {"count": 2, "lastObservedTime": "2023-11-14T22:13:21.000000Z"}}

    await world.in_time(lambda: len(world.proxy.requests) == 3)  # idle by now: the last word
    await written(world, sender)

    (event,) = stored(world)
    assert event["series"] == {"count": 5, "lastObservedTime": "2023-11-14T22:13:24.000000Z"}


@with_world
async def test_a_series_that_goes_on_is_written_now_and_then(world):
    events, sender = recorder(world)
    for _ in range(100):  # one each minute
        events.record(subject(), None, FAILED)
        await written(world, sender)
        await world.quiet()
        world.clock.advance(60)

    counts = [json.loads(one.body)["series"]["count"] for one in world.proxy.requests[1:]]
    assert counts[0] == 2
    assert 3 <= len(counts) <= 4  # every half hour or so
    assert counts == sorted(set(counts))


@pytest.mark.parametrize(
    ("other", "note"),
    [
        pytest.param(subject(version="8"), FAILED, id="the-pod-has-changed"),
        pytest.param(subject("q"), FAILED, id="another-pod"),
        pytest.param(subject(), SCHEDULED, id="another-reason"),
    ],
)
@with_world
async def test_what_differs_is_an_event_of_its_own(world, other, note):
    events, sender = recorder(world)

    events.record(subject(), None, FAILED)
    events.record(other, None, note)
    await written(world, sender)

    names = {one["metadata"]["name"] for one in stored(world)}
    assert len(names) == 2


@with_world
async def test_another_note_is_the_same_event(world):
    events, sender = recorder(world)

    events.record(subject(), None, FAILED)
    events.record(subject(), None, EventNote("Warning", "FailedScheduling", "Scheduling", "new"))
    await written(world, sender)

    (event,) = stored(world)
    assert (event["message"], event["series"]["count"]) == ("0/1 nodes are available", 2)
    assert len(world.proxy.requests) == 1  # both before anything was written


@with_world
async def test_repeats_while_the_first_is_being_written(world):
    events, sender = recorder(world)
    released = asyncio.Event()
    world.proxy.instead("events", holding(released))
    events.record(subject(), None, FAILED)
    await world.until(lambda: world.proxy.requests)
    for _ in range(3):
        events.record(subject(), None, FAILED)
    released.set()
    await written(world, sender)

    (event,) = stored(world)
    assert event["series"]["count"] == 4


@with_world
async def test_a_series_whose_event_is_gone_begins_anew(world):
    events, sender = recorder(world)
    events.record(subject(), None, FAILED)
    await written(world, sender)
    (event,) = stored(world)
    world.cluster.delete("events", ("default", event["metadata"]["name"]))

    events.record(subject(), None, FAILED)
    await written(world, sender)

    (event,) = stored(world)
    assert event["series"]["count"] == 2


@with_world
async def test_a_broken_connection_is_tried_again(world):
    events, sender = recorder(world)
    world.proxy.instead("events", hanging_up, hanging_up)

    events.record(subject(), None, SCHEDULED)
    await written(world, sender)

    first, second, third = (one.at for one in world.proxy.requests)
    assert 0 <= second - first <= RETRY_SECONDS
    assert third - second == RETRY_SECONDS
    assert len(stored(world)) == 1


@with_world
async def test_an_event_whose_answer_was_lost_is_written_once(world):
    events, sender = recorder(world)
    events.record(subject(), None, FAILED)
    world.proxy.instead("events", losing_the_answer)
    await written(world, sender)
    assert [one.method for one in world.proxy.requests] == ["POST", "POST"]

    events.record(subject(), None, FAILED)
    await written(world, sender)

    (event,) = stored(world)
    assert event["series"]["count"] == 2


@with_world
async def test_but_not_for_ever(world, caplog):
    events, sender = recorder(world)
    world.proxy.instead("events", *[hanging_up] * (TRIES + 1))

    events.record(subject(), None, SCHEDULED)
    await written(world, sender)

    assert len(world.proxy.requests) == TRIES
    assert caplog.text.count("dropped an event after 12 failed attempts") == 1


@with_world
async def test_a_refusal_is_final(world):
    events, sender = recorder(world)
    world.proxy.instead("events", answering(403))

    events.record(subject(), None, SCHEDULED)
    await written(world, sender)

    assert len(world.proxy.requests) == 1


@with_world
async def test_a_refused_repeat_is_not_sent_over_and_over(world):
    events, sender = recorder(world)
    events.record(subject(), None, FAILED)
    await written(world, sender)
    world.proxy.instead("/events/", *[answering(403)] * 50)
    for _ in range(2):
        events.record(subject(), None, FAILED)
        await world.quiet()

    assert [one.method for one in world.proxy.requests] == ["POST", "PATCH"]


@with_world
async def test_a_missing_right_is_one_warning(world, caplog):
    events, sender = recorder(world)
    world.proxy.instead("events", *[answering(403, "events is forbidden")] * 3)

    for name in ("a", "b", "c"):
        events.record(subject(name), None, SCHEDULED)
    await written(world, sender)

    (warning,) = caplog.records
    assert warning.getMessage() == (
        "cannot write events: forbidden (grant create and patch on events); "
        "continuing without events server='events is forbidden'"
    )


@pytest.mark.parametrize(
    ("spoil", "requests"),
    [
        pytest.param([], 5, id="all-well"),
        pytest.param([answering(429, "later", **{"Retry-After": "2"})], 6, id="later"),
        pytest.param([answering(500, "down")], 6, id="a-fault-of-the-server"),
        pytest.param([answering(409, "there")], 6, id="there-already"),
    ],
)
@with_world
async def test_new_events_are_sent_together(world, spoil, requests):
    """One that fails for now is sent again by itself."""
    events, sender = recorder(world)
    world.proxy.instead("events", *spoil)

    for number in range(5):
        events.record(subject(f"p{number}"), None, SCHEDULED)
    await written(world, sender)

    assert len(world.proxy.requests) == requests
    assert len({name_of(one) for one in world.proxy.requests}) == 5
    assert {one["involvedObject"]["name"] for one in stored(world)} == {f"p{n}" for n in range(5)}


@with_world
async def test_events_that_follow_closely_wait_for_one_another(world):
    """After a first burst, in which each is written at once."""
    events, _ = recorder(world)
    for number in range(SMALL_BURST + 5):
        events.record(subject(f"p{number}"), None, SCHEDULED)
        await world.quiet()
    assert len(world.proxy.requests) == SMALL_BURST

    world.clock.advance(1 / SMALL_WRITES)
    await world.quiet()

    assert len(world.proxy.requests) == SMALL_BURST + 5


@pytest.mark.parametrize("spoil", [hanging_up, losing_the_answer])
@with_world
async def test_events_sent_together_over_a_connection_that_breaks_are_written_once(world, spoil):
    events, sender = recorder(world)
    world.proxy.instead("events", spoil)

    for number in range(5):
        events.record(subject(f"p{number}"), None, SCHEDULED)
    await written(world, sender)

    written_names = [one["involvedObject"]["name"] for one in stored(world)]
    assert sorted(written_names) == [f"p{n}" for n in range(5)]


def name_of(request):
    return json.loads(request.body)["metadata"]["name"]


@with_world
async def test_recording_never_waits(world, monkeypatch, caplog):
    monkeypatch.setattr(event_recorder, "MOST_WAITING", 3)
    events, sender = recorder(world, run=False)

    for number in range(5):
        events.record(subject(f"p{number}"), None, SCHEDULED)

    assert sender.dropped == 2
    assert caplog.text.count("dropping events: ") == 1


@with_world
async def test_the_end_does_not_wait_for_ever(world, caplog):
    events, sender = recorder(world)
    world.proxy.instead("events", never)
    events.record(subject(), None, SCHEDULED)
    task = world.start(sender.flush(5))
    begun = world.clock.now()

    await world.in_time(task.done)

    assert world.clock.now() == begun + 5
    assert "1 events were not written before the end" in caplog.text


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        pytest.param("x" * 1024, "x" * 1024, id="just-fits"),
        pytest.param("x" * 1025, "x" * 1020 + " ...", id="too-long"),
        pytest.param("é" * 513, "é" * 510 + " ...", id="bytes-not-characters"),
        pytest.param("x" + "é" * 512, "x" + "é" * 509 + " ...", id="no-half-characters"),
    ],
)
def test_long_notes_are_cut(note, expected):
    assert cut(note) == expected


@with_world
async def test_a_long_note_is_sent_as_the_api_takes_it(world):
    events, sender = recorder(world)
    events.record(subject(), None, replace(FAILED, note="x" * 2000))
    await written(world, sender)

    (sent,) = world.proxy.requests
    assert json.loads(sent.body)["note"] == "x" * 1020 + " ..."


def test_old_events_are_forgotten():
    clock = FakeClock()
    series = EventSeries(clock)
    for number in range(MOST_REMEMBERED + 10):
        series.see(number, "default", {})
    assert len(series) == MOST_REMEMBERED

    clock.advance(IDLE_SECONDS)

    assert series.end_idle() == []
    assert len(series) == 0
