"""The handle that a profile's plugins get, and how much is kept for equal pods."""

from functools import partial

import pytest

from podium import framework as fwk
from podium.cycle.reuse import Kind, Kinds
from podium.cycle.services import ProfileHandle
from podium.framework.plugin import Point
from podium.framework.status import Nominate
from tests.builders import pod
from tests.cycle.harness import Scheduler
from tests.toys import Filter, PreScore, Score

FULL = fwk.Status.unschedulable("full")


def handle_of(scheduler):
    handle = ProfileHandle(scheduler.services, "default-scheduler")
    handle.profile = scheduler.profile
    return handle


def test_a_handle_gives_what_all_profiles_share():
    scheduler = Scheduler()
    handle, services = handle_of(scheduler), scheduler.services

    assert handle.profile_name == "default-scheduler"
    for name in ("cluster", "nominator", "waiting_pods", "pods_in_pre_bind", "clock", "client",
                 "events"):  # fmt: skip
        assert getattr(handle, name) is getattr(services, name)


def test_a_handle_knows_its_profile():
    handle = handle_of(Scheduler(Filter("F"), Score("S"), Filter("G")))

    assert handle.plugins(Point.FILTER) == ["F", "G"]
    assert handle.plugins(Point.PERMIT) == []
    assert not handle.follows_pods(fwk.CycleState())


def test_a_handle_is_not_ready_while_plugins_are_built():
    handle = ProfileHandle(Scheduler().services, "default-scheduler")

    with pytest.raises(RuntimeError, match="the profile is still being built"):
        handle.plugins(Point.FILTER)


def test_filters_leave_room_for_nominated_pods():
    seats = Filter("F", lambda pod, node: FULL if node.pods else None)
    scheduler = Scheduler(seats, nodes="ab")
    scheduler.services.nominator.add(fwk.PodInfo(pod("other", priority=9)), Nominate("a"))

    statuses = handle_of(scheduler).run_filters(fwk.CycleState(), pod(), scheduler.cluster.rows())

    assert list(statuses) == [FULL.by("F"), fwk.SUCCESS]


def test_what_plugins_start_goes_to_the_shell():
    scheduler = Scheduler()
    handle = handle_of(scheduler)

    async def work():
        """Nothing."""

    coroutine = work()
    handle.spawn("work", coroutine)
    handle.activate([pod("other")])

    assert scheduler.spawned == [coroutine]
    assert [found.name for found in scheduler.activated] == ["other"]
    coroutine.close()


def test_scores_can_be_asked_for():
    prepared = PreScore("P")
    scores = Score("S", lambda pod, node: ord(node.name) - ord("a"))
    scheduler = Scheduler(prepared, scores, weights={"S": 3})

    totals = handle_of(scheduler).run_scores(fwk.CycleState(), pod(), scheduler.cluster.rows())

    assert totals.tolist() == [0, 3, 6]
    assert prepared.asked == [["a", "b", "c"]]


def test_the_longest_unused_kinds_make_room():
    scheduler = Scheduler(Score("S", 0), nodes=[f"n{number}" for number in range(2000)])
    kinds = Kinds(scheduler.cluster)
    new = partial(Kind, scheduler.profile, scheduler.cluster, pod())
    always = new()
    for signature in range(1, 5000):
        kinds.keep(0, always)  # used all the time
        kinds.keep(signature, new())
    kept = len(kinds)
    kinds.drop(1)  # is gone already
    assert len(kinds) == kept < 5000

    kinds.drop(0)
    kinds.drop(4999)
    assert len(kinds) == kept - 2


def test_kinds_without_a_signature_are_not_kept():
    scheduler = Scheduler()
    kinds = Kinds(scheduler.cluster)
    kinds.keep(None, Kind(scheduler.profile, scheduler.cluster, pod()))
    kinds.drop(None)

    assert len(kinds) == 0
