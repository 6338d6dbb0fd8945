"""Filter plugins one after the other, and the pods that dry runs add and remove."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.answers import AttemptFailed
from podium.framework.profile import refusals
from podium.state.rows import PodsOnRows
from podium.testing.builders import node, pod
from tests.support import toys
from tests.support.toys import Filter, PreFilter, Toy, profile, reply

NODES = fwk.Rows.of(node("a"), node("b"), node("c"))
BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("no")


def unless(name, status=NO):
    return lambda pod, node: None if node.name == name else status


def when(name, status=NO):
    return lambda pod, node: status if node.name == name else None


def run(*plugins, skip=(), nodes=NODES):
    state = fwk.CycleState()
    state.skip_filter = frozenset(skip)
    return list(profile(*plugins).run_filters(state, pod(), nodes))


def test_without_filters_every_node_is_fine():
    assert run() == [fwk.SUCCESS] * 3


def test_first_refusal_decides_and_is_signed():
    first, second = Filter("F", when("a")), Filter("G", when("b"))

    assert run(first, second) == [NO.by("F"), NO.by("G"), fwk.SUCCESS]


def test_a_refused_node_is_not_judged_again():
    first, second, third = Filter("F", when("a")), Filter("G", unless("c")), Filter("H")
    run(first, second, third)

    assert (first.asked, second.asked, third.asked) == (["a", "b", "c"], ["b", "c"], ["c"])


def test_nothing_is_asked_when_no_node_is_left():
    first, second = Filter("F", NO), Filter("G", BROKEN)

    assert run(first, second) == [NO.by("F")] * 3


def test_skipped_filters_are_left_out():
    assert run(Filter("F", BROKEN), Filter("G", when("a")), skip="F")[0] == NO.by("G")


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(fwk.Status.unschedulable("x"), id="unschedulable"),
        pytest.param(fwk.Status.unresolvable("x"), id="unresolvable"),
        pytest.param(fwk.Status.pending("x"), id="pending"),
    ],
)
def test_rejections(status):
    assert run(Filter("F", status)) == [status.by("F")] * 3


def test_a_refusal_is_signed_by_who_gave_it():
    assert run(Filter("F", NO.by("G")))[0].plugin == "F"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(fwk.Status.error("no disk"), "no disk", id="error"),
        pytest.param(BROKEN, "broken", id="exception"),
        pytest.param(fwk.Status(fwk.Code.WAIT, ("hm",)), "hm", id="wait"),
        pytest.param(fwk.Status(fwk.Code.SKIP, ("hm",)), "hm", id="skip-is-not-for-here"),
    ],
)
@pytest.mark.parametrize("form", ["all-nodes", "one-node"])
def test_faults_end_the_search(answer, text, form):
    plugin = Filter("F", lambda pod, node: reply(answer) if node.name == "c" else None)
    subject, state = profile(plugin), fwk.CycleState()
    judge = {
        "all-nodes": lambda: subject.run_filters(state, pod(), NODES),
        "one-node": lambda: subject.filter_one(plugin, state, pod(), NODES.at(2)),
    }[form]

    with pytest.raises(AttemptFailed) as caught:
        judge()

    assert caught.value.status == fwk.Status.error(f'running "F" filter plugin: {text}').by("F")


def test_an_exception_is_logged_with_its_traceback(caplog):
    with pytest.raises(AttemptFailed):
        run(Filter("F", BROKEN))

    (entry,) = caplog.records
    source = f"{toys.__file__}, class Filter"
    asked = "plugin failed plugin='F' point='Filter' pod='default/pod'"
    assert entry.getMessage() == f"{asked} source={source!r}"
    assert entry.exc_info[1] is BROKEN


class Whole(Toy, fwk.FilterPlugin):
    """Answers for all nodes at once, with whatever it was given."""

    def filter(self, state, pod, node):
        raise AssertionError("the other form is enough")

    def filter_all(self, state, pod, nodes):
        return self.answer


def test_an_error_that_no_node_has_is_none():
    verdicts = fwk.Column([fwk.SUCCESS, fwk.Status.error("nobody's")], np.zeros(3, np.intp))

    assert run(Whole("F", verdicts)) == [fwk.SUCCESS] * 3


@pytest.mark.parametrize("size", [0, 2, 4])
def test_an_answer_for_other_nodes_is_a_fault(size, caplog):
    text = rf'^running "F" filter plugin: expected an answer for each of 3 nodes, got {size}$'
    with pytest.raises(AttemptFailed, match=text):
        run(Whole("F", fwk.Column.uniform(fwk.SUCCESS, size)))


def test_filter_one_has_the_same_rules():
    plugin, state = Filter("F", when("a")), fwk.CycleState()
    subject = profile(plugin)

    assert subject.filter_one(plugin, state, pod(), NODES.at(0)) == NO.by("F")
    assert subject.filter_one(plugin, state, pod(), NODES.at(1)) is fwk.SUCCESS


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param([fwk.SUCCESS] * 2, [False, False], id="all-fine"),
        pytest.param([NO] * 2, [True, True], id="all-refused"),
        pytest.param([NO, fwk.SUCCESS], [True, False], id="mixed"),
    ],
)
def test_refusals(statuses, expected):
    assert refusals(fwk.Column.of(statuses)).tolist() == expected


class Follower(PreFilter, fwk.PreFilterExtensions):
    """Answers to every pod that is added or removed."""

    def add_pod(self, state, pod, other, node):
        self.asked.append((self.name, "add", other.key, node.name))
        return reply(self.answer)

    def remove_pod(self, state, pod, other, node):
        self.asked.append((self.name, "remove", other.key, node.name))
        return reply(self.answer)


def follow(what, *plugins, skip=()):
    state = fwk.CycleState()
    state.skip_filter = frozenset(skip)
    others = PodsOnRows(NODES, [fwk.PodInfo(pod("x"))], np.array([1], np.intp))
    subject = profile(*plugins)
    (subject.add_pods if what == "AddPod" else subject.remove_pods)(state, pod(), others)
    return subject.follows_pods(state)


@pytest.mark.parametrize("what", ["AddPod", "RemovePod"])
def test_followers_that_take_part_are_told(what):
    log = []
    plugins = [Follower("A", log=log), PreFilter("B", log=log), Follower("C", log=log)]

    assert follow(what, *plugins, skip="A")
    assert log == [("C", "add" if what == "AddPod" else "remove", "default/x", "b")]


def test_nobody_follows_when_all_skip():
    assert not follow("AddPod", Follower("A"), PreFilter("B"), skip="A")


@pytest.mark.parametrize("what", ["AddPod", "RemovePod"])
@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(fwk.Status.error("no disk"), "no disk", id="error"),
        pytest.param(NO, "no", id="rejection"),
        pytest.param(fwk.skip(), "", id="skip"),
        pytest.param(BROKEN, "broken", id="exception"),
    ],
)
def test_anything_but_success_of_a_follower_is_a_fault(what, answer, text):
    with pytest.raises(AttemptFailed) as caught:
        follow(what, Follower("A", answer), Follower("B", AssertionError("not reached")))

    expected = fwk.Status.error(f'running {what} on PreFilter plugin "A": {text}').by("A")
    assert caught.value.status == expected
