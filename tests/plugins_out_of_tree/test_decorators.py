"""Plugins of one function: what they are given, what they may answer, what is refused."""

import asyncio

import pytest

import podium
from podium import framework as fwk
from podium.errors import PluginError
from podium.framework.binding import Target, run_permit, run_post_bind, run_pre_bind
from podium.framework.registry import Registry
from tests.support import toys
from tests.support.builders import node, pod
from tests.support.fakes import FakeHandle


def built(function, handle=None):
    """The plugin that a decorated function stands for."""
    registry = Registry([function])
    (name,) = registry
    return registry.build(name, fwk.NoArgs(), handle or FakeHandle())


def filtering(answer):
    def choosy(pod, node):
        return answer

    return built(podium.filter(choosy))


def filtered(plugin):
    rows = FakeHandle(node("a")).rows
    return plugin.filter(fwk.CycleState(), pod(), rows.at(0))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(None, fwk.SUCCESS, id="nothing"),
        pytest.param(True, fwk.SUCCESS, id="true"),
        pytest.param(
            False, fwk.Status.unschedulable("node(s) refused by choosy"), id="false-has-no-reason"
        ),
        pytest.param("too far", fwk.Status.unschedulable("too far"), id="reason"),
        pytest.param(fwk.Status.unresolvable("x"), fwk.Status.unresolvable("x"), id="status"),
    ],
)
def test_what_a_filter_may_answer(answer, expected):
    assert filtered(filtering(answer)) == expected


@pytest.mark.parametrize("answer", [0, 1, [], 2.5, fwk.wait(3)], ids=repr)
def test_what_a_filter_may_not_answer(answer):
    with pytest.raises(
        TypeError, match=r"^it answered .+; it may answer None, True, False, a text"
    ):
        filtered(filtering(answer))


@pytest.mark.parametrize("answer", [None, "7", 7.5], ids=repr)
def test_a_score_is_a_whole_number(answer):
    @podium.score
    def scoring(pod, node):
        return answer

    rows = FakeHandle(node("a")).rows
    with pytest.raises(TypeError, match=r"a score is a whole number$"):
        built(scoring).score(fwk.CycleState(), pod(), rows.at(0))


def test_a_function_gets_what_its_parameters_name():
    handle, rows, state, subject = FakeHandle(), FakeHandle(node("a")).rows, fwk.CycleState(), pod()
    given = []

    @podium.score
    def all_of_it(state, handle, node, pod):
        given.append((state, handle, node.name, pod))
        return 1

    @podium.score
    def nothing():
        return 2

    assert built(all_of_it, handle).score(state, subject, rows.at(0)) == 1
    assert given == [(state, handle, "a", subject)]
    assert built(nothing).score(state, subject, rows.at(0)) == 2


def test_names_and_weights():
    @podium.score(weight=3)
    def heavy(node):
        return 0

    @podium.filter(name="NoFridays")
    def no_fridays(pod):
        return True

    registry = Registry([heavy, no_fridays])

    assert list(registry) == ["heavy", "NoFridays"]
    assert [registry.entry(name).weight for name in registry] == [3, 1]
    assert registry.entry("heavy").source == f"{__file__}, function {heavy.__qualname__}"
    assert no_fridays(None) is True, "it can still be called"


def test_the_other_points():
    told = []

    @podium.pre_enqueue
    def held(pod):
        return "not yet"

    @podium.permit
    def waits(pod, node_name):
        return fwk.wait(5, "for friends")

    @podium.pre_bind
    async def prepares(node_name):
        told.append(("pre_bind", node_name))
        return "no disk"

    @podium.pre_bind
    def prepares_at_once():
        told.append("at once")

    @podium.post_bind
    async def tells(pod, node_name):
        told.append(("post_bind", pod.key, node_name))

    @podium.post_bind(name="Again")
    def tells_again(pod):
        told.append("again")

    profile = toys.profile(
        *map(built, (held, waits, prepares_at_once, prepares, tells, tells_again))
    )
    target = Target(profile, fwk.CycleState(), pod(), "a")

    assert profile.run_pre_enqueue(pod()) == fwk.Status.unschedulable("not yet").by("held")
    assert run_permit(target)[0] == {"waits": 5.0}
    assert asyncio.run(run_pre_bind(target)) == fwk.Status.unschedulable("no disk").by("prepares")
    asyncio.run(run_post_bind(target))
    assert told == ["at once", ("pre_bind", "a"), ("post_bind", "default/pod", "a"), "again"]


def test_a_parameter_that_nobody_gives_is_refused_at_once():
    with pytest.raises(PluginError) as refused:

        @podium.filter
        def far(pod, nodes, distance):
            """Asks for too much."""

    assert str(refused.value) == (
        "far has the parameters nodes, distance; it may have: pod, node, state, handle"
    )
