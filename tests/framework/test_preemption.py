"""A preemption in two steps, with and without somebody to ask in between."""

import pytest

from podium import framework as fwk
from podium.errors import ExtenderError
from podium.framework.preemption import Candidate
from podium.testing.builders import pod
from tests.support import toys

WEB = pod("web")
A, B = Candidate("a", (), 0), Candidate("b", (), 1)
NOTHING = None, fwk.Status.unschedulable("nobody to evict")


class Preempting(toys.Toy, fwk.PreemptionPlugin):
    """Proposes ``answer``; remembers what is left to choose from."""

    def propose(self, state, pod, statuses):
        return self.answer

    def choose(self, pod, candidates):
        self.asked.append([candidate.node for candidate in candidates])
        return fwk.Nominate(candidates[0].node), fwk.SUCCESS


def steps(*plugins):
    return toys.profile(*plugins).post_filtering(fwk.CycleState(), WEB, None)


def end_of(steps, sent=None):
    with pytest.raises(StopIteration) as end:
        next(steps) if sent is None else steps.send(sent)
    return end.value.value


def test_without_anybody_to_ask_every_candidate_is_left():
    plugin = Preempting("P", fwk.Proposal([A, B]))
    profile = toys.profile(plugin)

    answer = profile.run_post_filters(fwk.CycleState(), WEB, None)

    assert (answer, plugin.asked) == ((fwk.Nominate("a"), fwk.SUCCESS), [["a", "b"]])
    assert plugin.post_filter(fwk.CycleState(), WEB, None) == answer


def test_the_plugin_chooses_among_what_is_left():
    plugin = Preempting("P", fwk.Proposal([A, B]))
    walk = steps(plugin)

    assert next(walk) == [A, B]
    assert end_of(walk, [B]) == (fwk.Nominate("b"), fwk.SUCCESS)
    assert plugin.asked == [["b"]]


def test_a_plugin_that_has_nothing_to_propose_is_heard_at_once():
    answer = end_of(steps(Preempting("P", NOTHING)))

    assert answer == (None, fwk.Status.unschedulable("nobody to evict").by("P"))


def test_what_extenders_raise_is_the_answer_of_the_preemption():
    walk = steps(Preempting("P", fwk.Proposal([A])))
    next(walk)

    with pytest.raises(StopIteration) as end:
        walk.throw(ExtenderError("no such node"))

    nominate, status = end.value.value
    assert nominate is None
    assert (status.code, status.plugin) == (fwk.Code.ERROR, "P")
    assert status.message == "preemption: no such node"


def test_a_proposal_ends_no_walk_and_order_is_kept():
    first = Preempting("P", fwk.Proposal([A]))
    first.choose = lambda pod, candidates: NOTHING
    second = Preempting("Q", fwk.Proposal([B]))
    walk = steps(first, second)

    assert next(walk) == [A]
    assert walk.send([A]) == [B]
    assert end_of(walk, [B])[0] == fwk.Nominate("b")
