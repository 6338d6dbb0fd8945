"""A profile whose filters do not stop at the first refusal: what several say of one node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium import framework as fwk
from podium.framework.answers import AttemptFailed
from podium.framework.nominated import filter_with_nominated
from podium.framework.status import SUCCESS
from podium.framework.thorough import ThoroughProfile, joined
from podium.testing.builders import node, pod
from podium.testing.handle import FakeHandle
from tests.support.toys import Filter, profile

NODES = fwk.Rows.of(node("a"), node("b"), node("c"))
BUSY = fwk.Status.unschedulable("busy", "full")
FAR = fwk.Status.unresolvable("far")
LATER = fwk.Status.pending("later")
BROKEN = RuntimeError("broken")


def thorough(*plugins):
    usual = profile(*plugins)
    return ThoroughProfile(usual.name, usual.plugins, usual.weights)


def run(*plugins, skip=(), nodes=NODES):
    state = fwk.CycleState()
    state.skip_filter = frozenset(skip)
    return list(thorough(*plugins).run_filters(state, pod(), nodes))


def test_without_filters_every_node_is_fine():
    assert run() == [SUCCESS] * 3


def test_every_filter_is_asked_about_every_node():
    first, second = Filter("F", BUSY), Filter("G")
    run(first, second)

    assert (first.asked, second.asked) == (["a", "b", "c"], ["a", "b", "c"])


def test_skipped_filters_are_left_out():
    assert run(Filter("F", BROKEN), Filter("G", FAR), skip="F") == [FAR.by("G")] * 3


def test_nodes_that_differ_are_told_apart():
    by_name = {"a": BUSY, "b": None, "c": BUSY}
    others = {"a": FAR, "b": FAR, "c": None}
    plugins = Filter("F", lambda pod, n: by_name[n.name]), Filter("G", lambda p, n: others[n.name])

    assert [status.reasons for status in run(*plugins)] == [
        ("busy", "full", "far"),
        ("far",),
        ("busy", "full"),
    ]


@pytest.mark.parametrize(
    ("said", "code", "plugin", "reasons"),
    [
        pytest.param([SUCCESS, SUCCESS], fwk.Code.SUCCESS, "", (), id="nobody"),
        pytest.param(
            [SUCCESS, BUSY.by("G")], fwk.Code.UNSCHEDULABLE, "G", ("busy", "full"), id="one"
        ),
        pytest.param(
            [BUSY.by("F"), BUSY.by("G")],
            fwk.Code.UNSCHEDULABLE,
            "F",
            ("busy", "full", "busy", "full"),
            id="the-first-of-equals-signs",
        ),
        pytest.param(
            [BUSY.by("F"), FAR.by("G")],
            fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "G",
            ("busy", "full", "far"),
            id="unresolvable-counts-most",
        ),
        pytest.param(
            [FAR.by("F"), BUSY.by("G")],
            fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "F",
            ("far", "busy", "full"),
            id="in-any-order",
        ),
        pytest.param(
            [LATER.by("F"), BUSY.by("G")],
            fwk.Code.UNSCHEDULABLE,
            "G",
            ("later", "busy", "full"),
            id="pending-counts-least",
        ),
    ],
)
def test_joined(said, code, plugin, reasons):
    one = joined(said)

    assert (one.code, one.plugin, one.reasons) == (code, plugin, reasons)


def test_each_part_stays_with_who_said_it():
    assert joined([BUSY.by("F"), SUCCESS, FAR.by("H")]).parts == (BUSY.by("F"), FAR.by("H"))
    assert BUSY.parts == (BUSY,)


@pytest.mark.parametrize("answer", [BROKEN, fwk.Status.error("broken")], ids=["raise", "error"])
def test_a_fault_about_a_refused_node_ends_the_search(answer):
    with pytest.raises(AttemptFailed, match='running "G" filter plugin: broken'):
        run(Filter("F", BUSY), Filter("G", answer))


def test_nominated_pods_are_part_of_what_every_filter_sees():
    handle = FakeHandle(node("a"), node("b"))
    handle.nominator.add(fwk.PodInfo(pod("x", priority=10)), fwk.Nominate("b"))
    crowded = Filter("F", lambda pod, node: BUSY if list(node.pods) else None)
    parts, me = thorough(crowded, Filter("G", FAR)), pod("me")
    nominated = handle.nominator.ahead_of(me, handle.state.table)

    found = filter_with_nominated(parts, fwk.CycleState(), me, handle.rows, nominated)

    assert [status.reasons for status in found] == [("far",), ("busy", "full", "far")]


ANSWERS = st.sampled_from([None, BUSY, FAR, LATER])


@given(st.lists(st.lists(ANSWERS, min_size=3, max_size=3), max_size=4))
def test_the_same_nodes_are_feasible_and_the_first_refusal_comes_first(table):
    """Against the profile that stops at the first refusal, and a loop over nodes and filters."""
    plugins = [
        Filter(f"F{place}", lambda pod, node, row=row: row["abc".index(node.name)])
        for place, row in enumerate(table)
    ]
    first = list(profile(*plugins).run_filters(fwk.CycleState(), pod(), NODES))

    for place, (one, other) in enumerate(zip(run(*plugins), first, strict=True)):
        said = [row[place] for row in table if row[place] is not None]
        assert one.ok == other.ok == (not said)
        assert one.reasons == tuple(reason for status in said for reason in status.reasons)
        assert one.reasons[: len(other.reasons)] == other.reasons
        assert (one.code is fwk.Code.UNSCHEDULABLE_AND_UNRESOLVABLE) == (FAR in said)
