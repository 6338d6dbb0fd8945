"""The handle that a profile's plugins get, and how much is kept for equal pods."""

from functools import partial

import pytest

from podium import framework as fwk
from podium.cycle.outcome import Placed
from podium.cycle.pod_classes import PodClass, PodClasses
from podium.cycle.services import ProfileHandle
from podium.framework.points import Point
from podium.framework.signature import Signature
from podium.framework.status import Nominate
from podium.testing.builders import pod
from tests.support.cycle import Scheduler
from tests.support.toys import Filter, PreScore, Score

FULL = fwk.Status.unschedulable("full")


def handle_of(scheduler):
    profiles = {"default-scheduler": scheduler.profile}
    return ProfileHandle(scheduler.services, "default-scheduler", profiles)


def test_a_handle_gives_what_all_profiles_share():
    scheduler = Scheduler()
    handle, services = handle_of(scheduler), scheduler.services

    assert handle.profile_name == "default-scheduler"
    assert handle.events is scheduler.events
    assert handle.cluster is scheduler.services.cluster.view
    for name in ("nominator", "waiting_pods", "pods_in_pre_bind", "clock", "client"):
        assert getattr(handle, name) is getattr(services, name)


def test_a_handle_knows_its_profile():
    handle = handle_of(Scheduler(Filter("F"), Score("S"), Filter("G")))

    assert handle.plugins(Point.FILTER) == ["F", "G"]
    assert handle.plugins(Point.PERMIT) == []
    assert not handle.follows_pods(fwk.CycleState())


def test_a_handle_is_not_ready_while_plugins_are_built():
    handle = ProfileHandle(Scheduler().services, "default-scheduler", {})

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


def test_the_longest_unused_classes_make_room():
    scheduler = Scheduler(Score("S", 0), nodes=[f"n{number}" for number in range(2000)])
    classes = PodClasses(scheduler.cluster)
    new = partial(PodClass, scheduler.profile, scheduler.cluster, pod())
    always, first, *others = (
        new(Signature((number,), number, frozenset())) for number in range(4000)
    )
    last = others[-1]
    for pod_class in (first, *others):
        classes.keep(always)  # used all the time
        for _ in range(2):
            classes.keep(pod_class)
    kept = len(classes)
    classes.drop(first)  # is gone already
    assert len(classes) == kept < 4000

    classes.drop(always)
    classes.drop(last)
    assert len(classes) == kept - 2


class Signed(Filter):
    """Tells pods apart by name, and every two of the same name are equal."""

    def sign(self, pod):
        return pod.name


def test_classes_that_come_once_do_not_drive_out_those_that_come_again():
    scheduler = Scheduler(Signed("F"), nodes="ab")
    for name in ("again", "again", *map(str, range(2000))):
        scheduler.cycle(pod(name)).run()
    kept = len(scheduler.services.pod_classes)

    assert scheduler.cycle(pod("again")).record.reused
    assert scheduler.cycle(pod("1999")).record.reused  # one of the last few
    assert not scheduler.cycle(pod("7")).record.reused
    assert kept < 20


def test_a_class_that_was_forgotten_stays_when_it_comes_again():
    scheduler = Scheduler(Signed("F"), nodes="ab")
    for name in (*map(str, range(100)), *map(str, range(50)), *map(str, range(100, 200))):
        scheduler.cycle(pod(name)).run()

    reused = [number for number in range(200) if scheduler.cycle(pod(str(number))).record.reused]

    assert set(range(50)) < set(reused)
    assert not set(range(50, 190)) & set(reused)


class Crowded(str):
    """Has the hash of every other."""

    __slots__ = ()

    def __hash__(self):
        return 7


class Colliding(Signed):
    def sign(self, pod):
        return Crowded(pod.name)


def test_signatures_of_equal_hash_are_told_apart():
    scheduler = Scheduler(Colliding("F"), nodes="ab")
    for name in "aabbab":
        assert isinstance(scheduler.cycle(pod(name)).run(), Placed)
        scheduler.cluster.forget(pod(name).uid)

    assert scheduler.cycle(pod("b")).record.reused
    assert not scheduler.cycle(pod("a")).record.reused


def test_classes_without_a_signature_are_not_kept():
    scheduler = Scheduler()
    classes = PodClasses(scheduler.cluster)
    pod_class = PodClass(scheduler.profile, scheduler.cluster, pod())
    classes.keep(pod_class)
    classes.drop(pod_class)

    assert len(classes) == 0
