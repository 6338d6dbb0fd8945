"""Every call of a plugin is counted where it is made, timed, and told to whoever listens."""

import asyncio

import pytest

from podium import framework as fwk
from podium.clock import FakeClock, give_way
from podium.framework.answers import AttemptFailed
from podium.framework.binding import (
    Target,
    run_bind,
    run_permit,
    run_post_bind,
    run_pre_bind,
    run_reserve,
    run_unreserve,
)
from podium.framework.calls import Calls, source_of
from podium.framework.profile import Profile
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support import toys
from tests.support.cycle import Scheduler

REFUSED = fwk.Status.unschedulable("no")
BROKEN = RuntimeError("broken")
TOYS = toys.__file__


class Seconds:
    """A timer that a toy turns on."""

    now = 0.0

    def __call__(self):
        return self.now

    def taking(self, seconds, answer=None):
        def take(*_):
            self.now += seconds
            return toys.reply(answer)

        return take


class Told:
    """Remembers what an observer hears."""

    def __init__(self, samples=True):
        self.points, self.plugins, self._samples = [], [], samples

    def point(self, profile, point, status, seconds):
        self.points.append((profile, point, status, seconds))

    def plugin(self, plugin, point, status, seconds):
        self.plugins.append((plugin, point, status, seconds))

    def samples_plugins(self):
        return self._samples


def counted(*plugins, **given):
    timer = given.pop("timer", None) or Seconds()
    plain = toys.profile(*plugins)
    calls = Calls("default-scheduler", timer=timer, **given)
    return Profile(plain.name, plain.plugins, plain.weights, calls)


def numbers(profile, point):
    (count,) = profile.calls.at(point).values()
    return (count.calls, count.evaluations, count.rejections, count.errors)


@pytest.fixture
def nodes():
    return FakeHandle(*(node(name) for name in "abcdef")).rows


def test_filter_counts_nodes(nodes):
    profile = counted(toys.Filter("F", lambda _, node: REFUSED if node.name < "c" else None))
    profile.run_filters(fwk.CycleState(), pod(), nodes)
    profile.filter_one(profile.filters[0], fwk.CycleState(), pod(), nodes.at(0))
    profile.filter_one(profile.filters[0], fwk.CycleState(), pod(), nodes.at(5))

    assert numbers(profile, "Filter") == (3, 8, 0, 0)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(REFUSED, id="one-reason"),
        pytest.param(fwk.Status.unschedulable("no cpu", "no memory"), id="two-reasons"),
        pytest.param(fwk.Status.unschedulable(), id="none"),
    ],
)
@pytest.mark.parametrize("reuse", [True, False], ids=["reuse", "scratch"])
def test_refusals_are_counted_by_attempt_and_node(status, reuse):
    refuse = toys.Filter("F", lambda _, node: status if node.name < "c" else None)
    scheduler = Scheduler(refuse, nodes="abcd", reuse=reuse)

    scheduler.attempt(pod("web-1"))
    scheduler.attempt(pod("web-2"))

    (count,) = scheduler.profile.calls.at("Filter").values()
    assert count.rejections == 4


def test_refusals_that_leave_room_for_nominated_pods_are_counted_by_node():
    """Statuses of nodes that were judged twice are counted on another way."""
    crowded = fwk.Status.unschedulable("no cpu", "no memory")
    refuse = toys.Filter("F", lambda _, node: crowded if list(node.pods) else None)
    scheduler = Scheduler(refuse, nodes="ab")
    waiting = fwk.PodInfo(pod("waiting", priority=10))
    scheduler.services.nominator.add(waiting, fwk.Nominate("a"))

    outcome = scheduler.attempt(pod("web"))

    (count,) = scheduler.profile.calls.at("Filter").values()
    assert (outcome.record.node, count.rejections) == ("b", 1)


def test_score_counts_nodes(nodes):
    profile = counted(toys.Normalizing("S", 7))
    scores = profile.score_all(profile.scores[0], fwk.CycleState(), pod(), nodes)
    profile.normalize(profile.scores[0], fwk.CycleState(), pod(), scores, nodes)
    profile.score_one(profile.scores[0], fwk.CycleState(), pod(), nodes.at(0))

    assert numbers(profile, "Score") == (2, 7, 0, 0)
    assert numbers(profile, "ScoreExtensionNormalize") == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(None, (1, 1, 0, 0), id="success"),
        pytest.param(fwk.skip(), (1, 0, 0, 0), id="skip-is-no-evaluation"),
        pytest.param(REFUSED, (1, 1, 1, 0), id="rejection"),
        pytest.param(BROKEN, (1, 1, 0, 1), id="error"),
    ],
)
def test_pre_filter_and_pre_score(nodes, answer, expected):
    profile = counted(toys.PreFilter("F", answer), toys.PreScore("S", answer))
    for ask in (
        lambda: profile.run_pre_filters(fwk.CycleState(), pod(), nodes),
        lambda: profile.pre_score(profile.pre_scores[0], fwk.CycleState(), pod(), nodes),
    ):
        try:
            ask()
        except AttemptFailed:
            assert answer in (BROKEN, REFUSED)

    assert numbers(profile, "PreFilter") == expected
    assert numbers(profile, "PreScore") == expected


def test_faults_at_filter_and_score(nodes):
    profile = counted(toys.Filter("F", BROKEN), toys.Score("S", BROKEN))
    for ask in (
        lambda: profile.run_filters(fwk.CycleState(), pod(), nodes),
        lambda: profile.score_all(profile.scores[0], fwk.CycleState(), pod(), nodes),
    ):
        with pytest.raises(AttemptFailed):
            ask()

    assert numbers(profile, "Filter") == numbers(profile, "Score") == (1, 1, 0, 1)


def test_the_other_points(nodes):
    profile = counted(
        toys.PreEnqueue("E", REFUSED), toys.PostFilter("P", (None, REFUSED)),
        toys.Reserve("R"), toys.Permit("W", fwk.wait(3)),
        toys.PreBind("V", REFUSED), toys.Bind("B", fwk.skip()), toys.PostBind("A", BROKEN),
    )  # fmt: skip
    target = Target(profile, fwk.CycleState(), pod(), "a")
    profile.run_pre_enqueue(pod())
    none = fwk.NodeStatuses.none(nodes, fwk.SUCCESS)
    profile.run_post_filters(fwk.CycleState(), pod(), none)
    run_reserve(target)
    run_permit(target)
    run_unreserve(target)

    async def bind():
        await run_pre_bind(target)
        await run_bind(target)
        await run_post_bind(target)

    asyncio.run(bind())

    found = {(each.point, each.calls, each.rejections, each.errors) for each in profile.calls}
    assert found == {
        ("PreEnqueue", 1, 1, 0), ("PostFilter", 1, 1, 0), ("Reserve", 1, 0, 0),
        ("Permit", 1, 0, 0), ("Unreserve", 1, 0, 0), ("PreBind", 1, 1, 0), ("Bind", 1, 0, 0),
        ("PostBind", 1, 0, 1),
    }  # fmt: skip


def test_an_async_unreserve_is_counted_when_it_is_over():
    async def undo(pod, node_name):
        raise BROKEN

    plugin = toys.Reserve("R")
    plugin.undo = undo
    profile = counted(plugin)
    (left,) = run_unreserve(Target(profile, fwk.CycleState(), pod(), "a"))
    assert next(iter(profile.calls.at("Unreserve").values())).calls == 0

    asyncio.run(_finish(left))

    assert numbers(profile, "Unreserve") == (1, 1, 0, 1)


async def _finish(work):
    await work


def test_a_plain_function_will_do_where_async_is_allowed():
    class Plain(fwk.PreBindPlugin):
        name = "Plain"

        def __init__(self):
            pass

        def pre_bind(self, state, pod, node_name):
            return REFUSED

    target = Target(counted(Plain()), fwk.CycleState(), pod(), "a")

    assert asyncio.run(run_pre_bind(target)) == REFUSED.by("Plain")


def test_time(nodes, caplog):
    timer = Seconds()
    profile = counted(toys.PreFilter("Slow", timer.taking(1.5)), timer=timer)
    profile.run_pre_filters(fwk.CycleState(), pod(), nodes)
    profile.pre_filters[0].answer = timer.taking(0.25)
    profile.run_pre_filters(fwk.CycleState(), pod(), nodes)

    (count,) = profile.calls.at("PreFilter").values()
    assert (count.seconds, count.longest) == (1.75, 1.5)  # the second call is no news
    assert [record.getMessage() for record in caplog.records] == [
        (
            "a plugin's call took long, and all pods waited for it"
            f" plugin='Slow' point='PreFilter' seconds=1.5 source='{TOYS}, class PreFilter'"
        )
    ]


def test_what_may_wait_may_take_long(caplog):
    timer = Seconds()
    profile = counted(toys.Bind("B", timer.taking(20)), timer=timer)
    asyncio.run(run_bind(Target(profile, fwk.CycleState(), pod(), "a")))

    assert not caplog.records


def test_a_plugin_that_does_not_return_is_named_once(caplog):
    clock = FakeClock()

    async def scene():
        done = asyncio.Event()
        profile = counted(toys.Bind("Stuck", lambda *_: done.wait()), clock=clock)
        binding = asyncio.ensure_future(run_bind(Target(profile, fwk.CycleState(), pod(), "a")))
        await give_way()
        clock.advance(29)
        assert not caplog.records
        clock.advance(100)
        binding.cancel()
        await asyncio.gather(binding, return_exceptions=True)
        clock.advance(100)

    asyncio.run(scene())
    assert [record.getMessage() for record in caplog.records] == [
        (
            "a plugin has not returned yet; only its own pod waits for it"
            " plugin='Stuck' point='Bind' pod='default/pod' seconds=30.0"
            f" source='{TOYS}, class Bind'"
        )
    ]


def test_an_observer_hears_of_points_as_a_whole_and_of_plugins_in_a_sample(nodes):
    timer, told = Seconds(), Told()
    profile = counted(
        toys.PreFilter("A", timer.taking(0.1)), toys.PreFilter("B", timer.taking(0.2, REFUSED)),
        toys.PreEnqueue("E"), observer=told, timer=timer,
    )  # fmt: skip
    profile.run_pre_enqueue(pod())
    profile.run_pre_filters(fwk.CycleState(), pod(), nodes)
    profile.calls.report()
    profile.calls.report()

    name, point, status, seconds = told.points[0]
    assert (name, point, status) == ("default-scheduler", "PreFilter", "Unschedulable")
    assert seconds == pytest.approx(0.3)
    assert len(told.points) == 1, "the queue tells of PreEnqueue"
    assert [each[:3] for each in told.plugins] == [
        ("E", "PreEnqueue", "Success"),
        ("A", "PreFilter", "Success"),
        ("B", "PreFilter", "Unschedulable"),
    ]


def test_a_standby_keeps_nothing_of_the_pods_it_queues():
    """It runs no cycles, after which calls are reported."""
    told = Told()
    profile = counted(toys.PreEnqueue("E"), observer=told)
    for _ in range(100):
        profile.run_pre_enqueue(pod())

    assert not profile.calls.unreported
    assert [each[:3] for each in told.plugins] == [("E", "PreEnqueue", "Success")] * 100


def test_outside_of_the_sample_only_points_are_told(nodes):
    told = Told(samples=False)
    profile = counted(toys.Normalizing("S", 7), observer=told)
    scores = profile.score_all(profile.scores[0], fwk.CycleState(), pod(), nodes)
    profile.normalize(profile.scores[0], fwk.CycleState(), pod(), scores, nodes)
    profile.calls.report()

    assert [each[1:3] for each in told.points] == [("Score", "Success")]
    assert not told.plugins


def test_a_change_to_an_object_is_told_in_words_that_help(nodes):
    def change(pod, nodes):
        pod.spec.node_name = "mine"

    profile = counted(toys.PreFilter("Writer", change))
    with pytest.raises(AttemptFailed) as failed:
        profile.run_pre_filters(fwk.CycleState(), pod(), nodes)

    assert failed.value.status.message == (
        'running PreFilter plugin "Writer": it tried to change PodSpec, but objects are read-only'
        " for plugins: write through handle.client, or keep it in the state"
    )


def test_source():
    assert source_of(toys.Filter) == f"{toys.__file__}, class Filter"
