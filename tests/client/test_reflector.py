"""The reflector against a misbehaving server: each way in which a list or a watch can go wrong."""

import logging

import pytest

from podium.client import reflector
from podium.client.pacing import FIRST_SECONDS, MOST_SECONDS
from podium.client.resources import CLAIMS, NODES, PODS
from podium.errors import Forbidden, Unreachable
from tests.support.client import listed, pod, watched, with_world
from tests.support.faulty_proxy import (
    answering,
    hanging_up,
    never,
    saying,
    silent,
    streaming,
)

# --- watches --------------------------------------------------------------------------------------


@with_world
async def test_a_watch_that_breaks_off_goes_on_where_it_was(world):
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    world.create("pods", **pod("a"))
    await world.until(lambda: story.told)

    world.proxy.cut_watches()
    world.create("pods", **pod("b"))
    await world.in_time(lambda: len(story.told) == 2)

    seen = informer.get("default/a").metadata.resource_version
    assert f"resourceVersion={seen}" in watched(world)[-1].path
    assert len(listed(world)) == 1


@with_world
async def test_a_forgotten_version_is_listed_anew_and_only_differences_are_told(world):
    for name in "abc":
        world.create("pods", **pod(name))
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    del story.told[:]
    gone = {"kind": "Status", "code": 410, "message": "too old"}
    world.proxy.instead("watch=true", streaming({"type": "ERROR", "object": gone}))
    world.proxy.cut_watches()
    await world.quiet()

    world.cluster.delete("pods", ("default", "a"))
    world.cluster.modify("pods", ("default", "b"), lambda obj: {**obj, "metadata": label(obj)})
    world.create("pods", **pod("d"))
    await world.in_time(lambda: len(listed(world)) == 2 and len(story.told) == 3)

    assert sorted(story.told) == [
        ("add", "default/d"),
        ("delete", "default/a"),
        ("update", "default/b"),
    ]


def label(obj):
    return {**obj["metadata"], "labels": {"changed": "yes"}}


@with_world
async def test_what_was_told_before_is_not_told_again(world):
    informer, story = world.follow(NODES)
    await informer.wait_synced()
    old = {"type": "ADDED", "object": {"metadata": {"name": "n", "uid": "u"}}}
    at = {version: event(old, version) for version in (100, 101, 102)}
    dead = event({**old, "type": "DELETED"}, 103)
    world.proxy.instead("watch=true", streaming(at[101], at[101], at[100], at[102], dead, at[102]))
    world.proxy.cut_watches()
    await world.in_time(lambda: ("delete", "n") in story.told)
    await world.quiet()

    assert story.told == [("add", "n"), ("update", "n"), ("delete", "n")]


def event(one, version):
    meta = {**one["object"]["metadata"], "resourceVersion": str(version)}
    return {**one, "object": {"metadata": meta}}


@with_world
async def test_what_is_not_known_cannot_be_deleted(world):
    informer, story = world.follow(NODES)
    await informer.wait_synced()
    ghost = {"metadata": {"name": "ghost", "uid": "u", "resourceVersion": "900"}}
    world.proxy.instead("watch=true", streaming({"type": "DELETED", "object": ghost}))
    world.proxy.cut_watches()

    await world.in_time(lambda: len(watched(world)) == 3)

    assert not story.told


@with_world
async def test_events_lost_without_a_trace_come_to_light(world):
    world.create("pods", **pod("a"))
    informer, _ = world.follow(PODS)
    await informer.wait_synced()
    world.proxy.faults.drop = 1.0
    world.cluster.delete("pods", ("default", "a"))
    world.create("pods", **pod("b"))
    await world.quiet()
    world.proxy.faults.drop = 0.0
    assert informer.get("default/a")
    begun = world.clock.now()

    await world.in_time(lambda: [one.key for one in informer.objects()] == ["default/b"])

    assert world.clock.now() - begun < reflector.RELIST_SECONDS + 2 * reflector.WATCH_SECONDS


@with_world
async def test_an_event_that_does_not_fit_brings_a_list(world):
    """A change of something unknown: its addition was lost, and maybe more."""
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    world.clock.advance(reflector.SUSPICION_SECONDS + 1)
    world.proxy.faults.drop = 1.0
    for name in "ab":
        world.create("pods", **pod(name))
    await world.quiet()
    world.proxy.faults.drop = 0.0
    world.cluster.modify("pods", ("default", "b"), lambda obj: {**obj, "metadata": label(obj)})

    await world.in_time(lambda: len(story.told) == 2, limit=10)

    assert story.told == [("add", "default/a"), ("add", "default/b")]


@with_world
async def test_after_a_good_time_it_is_quick_again(world):
    world.proxy.streams_lists = False
    world.proxy.instead("limit=", *[hanging_up] * 40)
    informer, story = world.follow(PODS)
    await world.in_time(lambda: informer.has_synced)  # by now it waits half a minute each time
    good = world.clock.now()
    await world.in_time(lambda: world.clock.now() > good + 60)
    world.proxy.instead("watch=true", hanging_up, hanging_up)  # aiohttp tries twice
    world.proxy.cut_watches()
    world.create("pods", **pod("a"))
    begun = world.clock.now()

    await world.in_time(lambda: story.told)

    assert world.clock.now() - begun < 4 * FIRST_SECONDS


@with_world
async def test_a_watch_that_told_something_goes_on_at_once(world):
    """kube-apiserver ends the watch of who is slow for a moment, without a word."""
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    await world.until(lambda: world.proxy.watches)
    begun = world.clock.now()
    for number in range(5):
        world.create("pods", **pod(f"p{number}"))
        await world.until(lambda number=number: len(story.told) == number + 1)
        world.proxy.end_watches()
        await world.until(lambda number=number: informer.watches == number + 2)

    assert world.clock.now() == begun
    assert len(story.told) == 5


@with_world
async def test_a_known_version_is_asked_for_again_soon_however_often_that_failed(world):
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    world.proxy.instead("watch=true", *[hanging_up] * 40)
    world.proxy.cut_watches()
    world.create("pods", **pod("a"))
    begun, tries = world.clock.now(), len(watched(world))
    await world.in_time(lambda: story.told)

    waited = (world.clock.now() - begun) / (len(watched(world)) - tries - 1)
    assert reflector.RESUME_SECONDS / 4 < waited < 2 * reflector.RESUME_SECONDS


@with_world
async def test_pauses_do_not_grow_while_watches_send_something(world):
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    await world.until(lambda: world.proxy.watches)
    begun = world.clock.now()
    for number in range(10):
        world.create("pods", **pod(f"p{number}"))
        await world.in_time(lambda number=number: len(story.told) == number + 1)
        world.proxy.cut_watches()

    assert world.clock.now() - begun < 10 * 2 * FIRST_SECONDS


@with_world
async def test_a_forgotten_version_is_listed_soon_but_not_over_and_over(world):
    gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
    world.proxy.streams_lists = False
    informer, _ = world.follow(PODS)
    await informer.wait_synced()
    world.clock.advance(MOST_SECONDS)
    world.proxy.instead("watch=true", *[hanging_up] * 20, *[streaming(gone)] * 12)
    world.proxy.cut_watches()
    await world.in_time(lambda: len(listed(world)) == 12)

    refused = watched(world)[21]  # the pauses had grown by then
    assert listed(world)[1].at - refused.at < 2 * FIRST_SECONDS
    assert listed(world)[11].at - refused.at > 4 * MOST_SECONDS


@with_world
async def test_a_watch_that_ends_without_news_is_waited_for(world):
    world.proxy.streams_lists = False
    world.proxy.instead("watch=true", *[saying("")] * 3)
    informer, _ = world.follow(PODS)
    await informer.wait_synced()
    begun = world.clock.now()

    await world.in_time(lambda: informer.watches == 4)

    assert world.clock.now() - begun > 2 * FIRST_SECONDS


@with_world
async def test_silence_ends_a_watch(world):
    world.proxy.streams_lists = False
    world.proxy.instead("watch=true", never)
    _, story = world.follow(PODS)
    await world.until(lambda: watched(world))
    world.create("pods", **pod("a"))
    begun = world.clock.now()

    await world.in_time(lambda: story.told)

    assert world.clock.now() - begun < reflector.SILENCE_SECONDS + 5


@with_world
async def test_a_kind_of_which_nothing_is_told_is_no_trouble(world, caplog):
    """kube-apiserver leaves bookmarks out where nothing has changed, for two minutes and more."""
    world.proxy.streams_lists = False
    world.proxy.instead("watch=true", *[silent] * 5)
    informer, story = world.follow(PODS)
    await informer.wait_synced()
    world.create("pods", **pod("a"))
    begun = world.clock.now()

    await world.in_time(lambda: story.told)

    assert world.clock.now() - begun == pytest.approx(5 * reflector.SILENCE_SECONDS, abs=1)
    assert informer.trouble is None
    assert "WARNING" not in caplog.text


@with_world
async def test_a_watch_in_good_health_is_never_silent_for_long(world):
    informer, _ = world.follow(PODS)
    assert informer.silent_seconds == float("inf")
    await informer.wait_synced()
    begun, longest = world.clock.now(), 0.0

    def two_hours_later():
        nonlocal longest
        longest = max(longest, informer.silent_seconds)
        return world.clock.now() > begun + 7200

    await world.in_time(two_hours_later)

    assert longest <= 61
    assert len(listed(world)) <= 5  # one in half an hour
    assert len(watched(world)) <= 24  # each lasts five minutes at least


# --- trouble --------------------------------------------------------------------------------------

FORBIDDEN = answering(403, 'User "me" cannot list resource "persistentvolumeclaims"')


@with_world
async def test_an_optional_kind_that_is_forbidden_is_one_warning(world, caplog):
    world.proxy.instead("persistentvolumeclaims", *[FORBIDDEN] * 10)  # streamed and in pages
    informer, _ = world.follow(CLAIMS)
    await informer.wait_synced()
    assert isinstance(informer.trouble, Forbidden)
    begun = world.clock.now()

    await world.in_time(lambda: informer.trouble is None)

    (warning,) = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert "cannot list persistentvolumeclaims: forbidden (grant list and watch on " in warning
    assert "; continuing without scheduling of pods with persistent volume claims; " in warning
    assert world.clock.now() - begun >= 5 * reflector.LASTING_SECONDS


@with_world
async def test_a_needed_kind_that_is_forbidden_is_an_error(world, caplog):
    world.proxy.instead("nodes", *[FORBIDDEN] * 5)
    informer, _ = world.follow(NODES)
    await world.until(lambda: informer.trouble)
    assert not informer.has_synced

    await world.in_time(lambda: informer.has_synced)

    (error,) = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert "cannot list nodes: forbidden (grant list and watch on nodes); " in error.getMessage()
    assert informer.trouble is None


@with_world
async def test_a_right_to_list_but_not_to_watch_is_one_warning(world, caplog):
    world.proxy.streams_lists = False
    world.proxy.instead("watch=true", *[FORBIDDEN] * 3)
    informer, _ = world.follow(CLAIMS)
    await world.until(lambda: informer.trouble)
    assert informer.has_synced

    await world.in_time(lambda: informer.trouble is None)

    assert caplog.text.count("WARNING") == 1
    assert "cannot watch persistentvolumeclaims: forbidden" in caplog.text


@with_world
async def test_an_unreachable_server_is_one_warning(world, caplog):
    world.proxy.streams_lists = False
    world.proxy.instead("limit=", *[hanging_up] * 20)
    informer, _ = world.follow(NODES)
    await world.in_time(lambda: isinstance(informer.trouble, Unreachable))

    await world.in_time(lambda: informer.has_synced)

    assert caplog.text.count("WARNING") == 1
    assert informer.trouble is None
