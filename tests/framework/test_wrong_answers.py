"""A plugin that answers with what is no status fails its pod, by name, and nobody else."""

import numpy as np
import pytest

from podium import framework as fwk
from podium.framework.answers import AttemptFailed
from podium.framework.binding import Target, run_permit, run_pre_flight, run_reserve
from podium.framework.dependencies import EVERYTHING
from podium.state.column import Column
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support import toys

WRONG = [True, False, "no", 0, [], object()]


def anything(wrong):
    return pytest.param(wrong, id=type(wrong).__name__ + f"-{wrong}"[:6])


every_wrong_answer = pytest.mark.parametrize("wrong", [anything(wrong) for wrong in WRONG])


class Liar(
    fwk.PreEnqueuePlugin, fwk.PreFilterPlugin, fwk.FilterPlugin, fwk.PostFilterPlugin,
    fwk.PreScorePlugin, fwk.ReservePlugin, fwk.PermitPlugin, fwk.PreBindPlugin,
):  # fmt: skip
    name = "Liar"

    def __init__(self, wrong):
        self.wrong = wrong

    def pre_enqueue(self, pod):
        return self.wrong

    def pre_filter(self, state, pod, nodes):
        return self.wrong

    def filter(self, state, pod, node):
        return self.wrong

    def post_filter(self, state, pod, statuses):
        return self.wrong

    def pre_score(self, state, pod, nodes):
        return self.wrong

    def reserve(self, state, pod, node_name):
        return self.wrong

    def unreserve(self, state, pod, node_name):
        return self.wrong

    def permit(self, state, pod, node_name):
        return self.wrong

    def pre_bind_pre_flight(self, state, pod, node_name):
        return self.wrong

    async def pre_bind(self, state, pod, node_name):
        return self.wrong


@every_wrong_answer
def test_in_a_cycle(wrong):
    liar, handle = Liar(wrong), FakeHandle(*(node(name) for name in "abcdef"))
    profile, state = toys.profile(liar), fwk.CycleState()
    nodes = handle.rows
    for ask in (
        lambda: profile.run_pre_filters(state, pod(), nodes),
        lambda: profile.run_filters(state, pod(), nodes),
        lambda: profile.filter_one(liar, state, pod(), nodes.at(0)),
        lambda: profile.pre_score(liar, state, pod(), nodes),
    ):
        with pytest.raises(AttemptFailed, match="Liar") as failed:
            ask()
        assert failed.value.status.code is fwk.Code.ERROR
    assert profile.run_pre_enqueue(pod()).code is fwk.Code.ERROR
    none = fwk.NodeStatuses.none(nodes, fwk.SUCCESS)
    assert profile.run_post_filters(state, pod(), none)[1].code is fwk.Code.ERROR


NO = fwk.Status.unschedulable("no")


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        pytest.param(lambda n: Column([None], np.full(n, 1)), "beyond", id="index-past-the-end"),
        pytest.param(lambda n: Column([None, NO], np.full(n, -1)), "beyond", id="negative-index"),
        pytest.param(lambda n: Column([], np.zeros(n, np.intp)), "beyond", id="no-statuses"),
        pytest.param(lambda n: Column([None], np.zeros(n)), "intp", id="index-of-fractions"),
        pytest.param(lambda n: Column([None], np.zeros((n, 2), np.intp)), "6x2", id="a-table"),
        pytest.param(lambda n: Column([None], np.zeros(n - 1, np.intp)), "got 5", id="too-few"),
        pytest.param(lambda n: [None] * n, "expected a Column", id="no-column"),
    ],
)
def test_columns_that_leave_nodes_without_a_status(column, reason):
    class Gaps(toys.Filter):
        def filter_all(self, state, pod, nodes):
            return column(len(nodes))

    profile, nodes = toys.profile(Gaps("Gaps")), fwk.Rows.of(*(node(name) for name in "abcdef"))
    with pytest.raises(AttemptFailed, match=f'^running "Gaps" filter plugin: .*{reason}'):
        profile.run_filters(fwk.CycleState(), pod(), nodes)


@pytest.mark.parametrize("wrong", [{"node": "labels"}, {"cluster": None}, {"scoring": 0.5}])
def test_aspects_are_bits(wrong):
    with pytest.raises(TypeError, match=r"expected a sum of fwk\.Aspect bits"):
        fwk.Dependencies(**wrong)


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        pytest.param("a", "a set of node names, such as {'node-1'}, not 'a'", id="text"),
        pytest.param(None, "a set of node names, such as {'node-1'}, not None", id="nothing"),
        pytest.param([3], "names of nodes, not 3", id="number"),
        pytest.param([["a"]], "names of nodes, not ['a']", id="list-in-a-list"),
    ],
)
def test_a_pre_filter_result_has_names_of_nodes(names, problem):
    with pytest.raises(TypeError) as refused:
        fwk.PreFilterResult(names)

    assert str(refused.value) == f"PreFilterResult takes {problem}"


@pytest.mark.parametrize(
    "names", [["a", "b"], {"a", "b"}, ("b", "a"), {"a": 1, "b": 2}, iter("ab")]
)
def test_names_of_nodes_come_in_any_collection(names):
    assert fwk.PreFilterResult(names).node_names == {"a", "b"}


@pytest.mark.parametrize("wrong", [{"node": 10**9}, {"cluster": 2**70}, {"scoring": -(2**20)}])
def test_aspects_are_bits_that_exist(wrong):
    with pytest.raises(ValueError, match=r"has bits that are not in fwk\.Aspect\.ALL"):
        fwk.Dependencies(**wrong)


def test_aspects_may_be_all_but_some():
    assert fwk.Dependencies(node=~fwk.Aspect.PODS).node & fwk.Aspect.PODS == 0


@pytest.mark.parametrize("wrong", [None, 7])
def test_who_cannot_say_what_it_depends_on_depends_on_everything(wrong, caplog):
    plugin = toys.Filter("F", depends_on=wrong)

    assert toys.profile(plugin).readings.of(pod()).by_name == {"F": EVERYTHING}
    assert "must return fwk.Dependencies, not" in caplog.text


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


class MuteAttribute(Mute, AttributeError):
    """One that is looked at more closely: the decoder's word for a frozen object is explained."""


class Wordless(Exception):
    def __str__(self):
        return None


@pytest.mark.parametrize("fault", [Mute(), MuteAttribute(), Wordless()], ids=lambda f: type(f))
def test_an_exception_that_cannot_be_told_is_named(fault):
    plugin, name = toys.Filter("F", fault), type(fault).__name__

    with pytest.raises(AttemptFailed, match=f'^running "F" filter plugin: {name}$'):
        toys.profile(plugin).run_filters(fwk.CycleState(), pod(), fwk.Rows.of(node("a")))


@every_wrong_answer
def test_from_reserve_on(wrong):
    target = Target(toys.profile(Liar(wrong)), fwk.CycleState(), pod(), "a")
    for status in (run_reserve(target), run_permit(target)[1], run_pre_flight(target)[0]):
        assert (status.code, status.plugin) == (fwk.Code.ERROR, "Liar")
