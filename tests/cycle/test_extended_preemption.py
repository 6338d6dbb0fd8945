"""Extenders between the two steps of a preemption."""

import pytest

from podium import framework as fwk
from podium.errors import ExtenderError, StateNotFound
from podium.framework.preemption import Candidate
from podium.state.pod_info import PodInfo
from podium.testing.builders import pod
from tests.support import toys
from tests.support.toy_extenders import Extended, ToyExtender

WEB = pod("web")
DOWN = ExtenderError("it is down")


class Preempting(toys.Toy, fwk.PreemptionPlugin):
    """Proposes nodes with one victim each; takes the first that is left."""

    def propose(self, state, pod, statuses):
        return fwk.Proposal([candidate(name) for name in self.answer])

    def choose(self, pod, candidates):
        self.asked.append([each.node for each in candidates])
        if not candidates:
            return None, fwk.Status.unschedulable("nobody left")
        return fwk.Nominate(candidates[0].node), fwk.SUCCESS


def candidate(node, *victims):
    infos = tuple(PodInfo(pod(name)) for name in victims or ("victim",))
    return Candidate(node, infos, 0)


def nowhere():
    return toys.Filter("F", fwk.Status.unschedulable("full"))


def test_extenders_have_a_say_in_preemption():
    plugin = Preempting("P", ["a", "b", "c"])
    log = []
    first = ToyExtender("first", preempt=lambda found: found[1:], log=log)
    uninterested = ToyExtender("none", preempt=[], interested=False, log=log)
    second = ToyExtender("second", preempt=lambda found: found[1:], log=log)

    outcome = Extended(nowhere(), plugin, first, uninterested, second).attempt(WEB)

    assert log == [("first", "preempt", ["a", "b", "c"]), ("second", "preempt", ["b", "c"])]
    assert (outcome.nominate, plugin.asked) == (fwk.Nominate("c"), [["c"]])
    assert outcome.message == "0/3 nodes are available: 3 full."


def test_preemption_ends_when_extenders_leave_nothing():
    plugin, later = Preempting("P", ["a"]), ToyExtender("later", preempt=[])

    outcome = Extended(nowhere(), plugin, ToyExtender(preempt=[]), later).attempt(WEB)

    assert (plugin.asked, later.asked) == ([[]], [])
    assert (outcome.nominate, outcome.message) == (
        None,
        "0/3 nodes are available: 3 full. nobody left",
    )


NO_VICTIM = 'expected at least one victim pod on node "b"'


@pytest.mark.parametrize(
    ("answer", "message", "left"),
    [
        pytest.param(DOWN, "it is down", ["a", "b"], id="raises"),
        pytest.param(RuntimeError("a bug"), "a bug", ["a", "b"], id="breaks"),
        pytest.param([candidate("a"), Candidate("b", (), 0)], NO_VICTIM, ["a"], id="no-victims"),
    ],
)
@pytest.mark.parametrize("ignorable", [False, True])
def test_a_failing_preemption(answer, message, left, ignorable):
    plugin = Preempting("P", ["a", "b"])
    extender = ToyExtender(preempt=answer, ignorable=ignorable)

    outcome = Extended(nowhere(), plugin, extender).attempt(WEB)

    if ignorable:
        assert (outcome.nominate, plugin.asked) == (fwk.Nominate("a"), [left])
    else:
        assert (outcome.post_filter.code, outcome.nominate) == (fwk.Code.ERROR, None)
        assert outcome.message == f"0/3 nodes are available: 3 full. preemption: {message}"
        assert plugin.asked == []


def test_without_preemption_plugins_nobody_is_asked():
    extender = ToyExtender(preempt=[])
    post_filter = toys.PostFilter("P", (fwk.Nominate("a"), fwk.SUCCESS))

    assert Extended(nowhere(), extender).attempt(WEB).nominate == fwk.Nominate("")
    assert Extended(nowhere(), extender, post_filter).attempt(WEB).nominate == fwk.Nominate("a")
    assert extender.asked == []


def test_what_post_filter_leaves_in_the_state_is_not_there_for_the_next_pod():
    class Noting(toys.PostFilter):
        def post_filter(self, state, pod, statuses):
            with pytest.raises(StateNotFound):
                state.get(list)
            state.put([pod.name])
            return super().post_filter(state, pod, statuses)

    plugin = Noting("P", (None, fwk.SUCCESS))
    scheduler = Extended(nowhere(), plugin, ToyExtender())
    for name in ("one", "two"):
        assert scheduler.attempt(pod(name)).post_filter.ok
    assert plugin.asked == ["P", "P"]


def test_nodes_that_an_extender_refused_are_open_to_preemption():
    seen = []
    post_filter = toys.PostFilter(
        "P", lambda pod, statuses: seen.append(dict(statuses)) or (None, fwk.SUCCESS)
    )
    answer = fwk.Filtered([], {"a": "busy"}, {"b": "never"})

    Extended(ToyExtender(filter=answer), post_filter).attempt(WEB)

    assert [(name, status.code) for name, status in seen[0].items()] == [
        ("a", fwk.Code.UNSCHEDULABLE),
        ("b", fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    ]
