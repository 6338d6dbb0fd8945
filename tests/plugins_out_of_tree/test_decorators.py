"""Plugins of one function: what they are given, what they may answer, what is refused."""

import asyncio

import numpy as np
import pytest

import podium
from podium import framework as fwk
from podium.framework.binding import Target, run_permit, run_post_bind, run_pre_bind
from podium.framework.dependencies import EVERYTHING
from podium.framework.registry import Registry
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support import toys


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


@pytest.mark.parametrize("answer", [None, "7", 7.5, True, False, np.True_], ids=repr)
def test_a_score_is_a_whole_number(answer):
    @podium.score
    def scoring(pod, node):
        return answer

    plugin, rows = built(scoring), FakeHandle(node("a")).rows
    with pytest.raises(TypeError, match=r"^expected a whole number as score, got "):
        plugin.score(fwk.CycleState(), pod(), rows.at(0))
    with pytest.raises(TypeError, match=r"^expected a whole number as score, got "):
        plugin.score_all(fwk.CycleState(), pod(), rows)


@pytest.mark.parametrize("answer", [10**30, -(2**63) - 1])
def test_a_score_has_64_bits(answer):
    plugin, rows = built(podium.score(lambda node: answer)), FakeHandle(node("a")).rows
    with pytest.raises(ValueError, match=r"^expected a score from 0 to 100, got .* exceeds 64"):
        plugin.score(fwk.CycleState(), pod(), rows.at(0))
    with pytest.raises(ValueError, match=r"^expected a score from 0 to 100, got .* exceeds 64"):
        plugin.score_all(fwk.CycleState(), pod(), rows)


def test_a_function_gets_what_its_parameters_name():
    handle, rows, state, subject = FakeHandle(), FakeHandle(node("a")).rows, fwk.CycleState(), pod()
    given = []

    @podium.score
    def all_of_it(state, handle, node, pod):
        given.append((state, handle.clock, node.name, pod))
        return 1

    @podium.score
    def nothing():
        return 2

    assert built(all_of_it, handle).score(state, subject, rows.at(0)) == 1
    assert given == [(state, handle.clock, "a", subject)]
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


def test_a_function_reads_the_kinds_that_it_watches():
    @podium.filter(watches=(fwk.StorageClass,))
    def has_classes(pod, handle):
        return len(handle.cluster.objects(fwk.StorageClass)) > 0

    @podium.permit(watches=[fwk.StorageClass])
    def permits(handle):
        return True

    assert not filtered(built(has_classes)).ok
    assert built(permits).watches == (fwk.StorageClass,)


class TestOncePerAttempt:
    """A function that does not look at nodes is called once, and answers for all of them."""

    def test_filter(self):
        asked = []

        @podium.filter
        def no_fridays(pod):
            asked.append(pod.name)
            return "no"

        plugin, rows = built(no_fridays), FakeHandle(*map(node, "abc")).rows
        state = fwk.CycleState()
        assert [s.reasons for s in plugin.filter_all(state, pod(), rows)] == [("no",)] * 3
        assert plugin.filter(state, pod(), rows.at(1)).reasons == ("no",)
        assert asked == ["pod"]

        plugin.filter(fwk.CycleState(), pod("next"), rows.at(0))
        assert asked == ["pod", "next"]

    def test_score(self):
        @podium.score
        def seven(pod):
            return 7

        rows = FakeHandle(*map(node, "abc")).rows
        assert built(seven).score_all(fwk.CycleState(), pod(), rows).tolist() == [7, 7, 7]

    def test_it_depends_on_nothing_of_the_cluster(self):
        plugin = built(podium.filter(lambda pod: True))

        assert plugin.sign is None, "nobody knows what it looks at in the pod"
        assert plugin.depends_on(pod()) == fwk.Dependencies()


def test_a_function_of_nodes_alone_is_the_same_for_all_pods():
    plugins = [built(podium.filter(lambda node: True)), built(podium.score(lambda nodes: [1]))]

    assert [plugin.sign(pod("a")) for plugin in plugins] == [(), ()]
    assert plugins[0].depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.ALL)
    assert plugins[1].depends_on(pod()) == EVERYTHING


def test_what_cannot_be_inferred_is_said():
    @podium.filter(
        sign="metadata.labels", depends_on=fwk.Aspect.LABELS, events=fwk.on("Node", "add|label")
    )
    def said(pod, node):
        return True

    plugin = built(said)
    assert plugin.sign(pod(labels="a=1")) == ((("a", "1"),),)
    assert plugin.depends_on(pod()) == fwk.Dependencies(node=fwk.Aspect.LABELS)
    assert plugin.events_to_register() == [fwk.on("Node", "add|label")]


@pytest.mark.parametrize(
    "sign", [lambda pod: pod.name, ("metadata.name",), fwk.pod_fields("metadata.name")]
)
def test_ways_to_sign(sign):
    plugin = built(podium.score(sign=sign)(lambda pod, node: 1))

    assert plugin.sign(pod("a")) == plugin.sign(pod("a"))
    assert plugin.sign(pod("a")) != plugin.sign(pod("b"))


@pytest.mark.parametrize("wants", ["pod, node, handle", "node, state"])
def test_who_can_look_anywhere_depends_on_everything(wants):
    plugin = built(podium.filter(eval(f"lambda {wants}: True")))

    assert plugin.sign is None
    assert plugin.depends_on(pod()) == EVERYTHING


class TestAllNodesAtOnce:
    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            pytest.param(np.array([True, False, True]), [(), ("no room",), ()], id="array"),
            pytest.param([True, False, True], [(), ("no room",), ()], id="list"),
            pytest.param(
                fwk.Column.of([None, "far", False]), [(), ("far",), ("no room",)], id="column"
            ),
        ],
    )
    def test_filter(self, answer, expected):
        plugin = built(podium.filter(reason="no room")(lambda nodes: answer))
        rows = FakeHandle(*map(node, "abc")).rows

        statuses = plugin.filter_all(fwk.CycleState(), pod(), rows)

        assert [status.reasons for status in statuses] == expected

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            pytest.param(np.array([1.0, 0.0, 1.0]), "returned an array of float64;", id="floats"),
            pytest.param(np.array([1, 0, 1]), "returned an array of int64;", id="numbers"),
            pytest.param(True, "returned bool True;", id="not-an-array"),
            pytest.param(None, "returned NoneType None;", id="nothing"),
            pytest.param(np.array([True]), "returned 1 answers for 3 nodes;", id="length"),
            pytest.param(np.ones((3, 3), bool), "returned a table for 3 nodes;", id="table"),
            pytest.param(fwk.Column.of([True]), "returned 1 answers for 3 nodes;", id="column"),
            pytest.param(
                [True, [True], True], r"returned list \[True, \[True\], True\];", id="ragged"
            ),
        ],
    )
    def test_what_a_filter_may_not_return(self, answer, problem):
        @podium.filter
        def far(nodes):
            return answer

        rows = FakeHandle(*map(node, "abc")).rows
        with pytest.raises((TypeError, ValueError), match=rf"^far\(\) {problem} .*nodes"):
            built(far).filter_all(fwk.CycleState(), pod(), rows)

    @pytest.mark.parametrize(
        "answer", [np.array([1, 2, 3]), [1, 2, 3], np.arange(1, 4, dtype="u1")]
    )
    def test_score(self, answer):
        plugin = built(podium.score(lambda nodes: answer))
        rows = FakeHandle(*map(node, "abc")).rows

        assert plugin.score_all(fwk.CycleState(), pod(), rows).tolist() == [1, 2, 3]

    @pytest.mark.parametrize(
        ("answer", "problem"),
        [
            pytest.param(np.array([1.5, 0, 1]), "returned an array of float64;", id="floats"),
            pytest.param([0.5, 1, 1], "returned list ", id="list-of-floats"),
            pytest.param(7, "returned int 7;", id="not-an-array"),
            pytest.param(np.array([7]), "returned 1 answers for 3 nodes;", id="length"),
            pytest.param(np.array([True] * 3), "returned an array of bool;", id="booleans"),
            pytest.param([True, 5, 5], r"returned list \[True, 5, 5\];", id="one-boolean"),
            pytest.param([1, [2], 3], r"returned list \[1, \[2\], 3\];", id="ragged"),
            pytest.param([10**30, 1, 1], "returned list .*, below 2", id="too-large"),
            pytest.param(np.full(3, 2**63, "u8"), "returned an array of uint64;", id="unsigned"),
        ],
    )
    def test_what_a_score_may_not_return(self, answer, problem):
        @podium.score
        def best(nodes):
            return answer

        rows = FakeHandle(*map(node, "abc")).rows
        with pytest.raises((TypeError, ValueError), match=rf"^best\(\) {problem}"):
            built(best).score_all(fwk.CycleState(), pod(), rows)

    def test_scores_are_scaled(self):
        plugin = built(podium.score(normalize=fwk.scale)(lambda nodes: nodes.free("cpu")))
        rows = FakeHandle(node("a", cpu="1"), node("b", cpu="4")).rows
        state = fwk.CycleState()

        raw = plugin.score_all(state, pod(), rows)

        assert plugin.normalize_score(state, pod(), raw, rows).tolist() == [25, 100]

    def test_one_node_is_a_view_of_one(self):
        rows = FakeHandle(node("a", cpu="1"), node("b", cpu="4")).rows
        state = fwk.CycleState()

        fits = built(podium.filter(lambda nodes: nodes.free("cpu") > 2000))
        scores = built(podium.score(lambda nodes: nodes.free("cpu") // 1000))

        assert [fits.filter(state, pod(), n).ok for n in rows] == [False, True]
        assert [scores.score(state, pod(), n) for n in rows] == [1, 4]
