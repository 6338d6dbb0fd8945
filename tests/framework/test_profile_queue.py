"""What a profile says of a pod before it is tried: may it be queued, and which pods equal it."""

import pytest

from podium import framework as fwk
from podium.framework.plugin import Point
from tests.support import toys
from tests.support.builders import pod
from tests.support.toys import (
    Bind,
    Filter,
    PreEnqueue,
    PreFilter,
    PreScore,
    Score,
    Toy,
    Unsigned,
    profile,
)

BROKEN = RuntimeError("broken")
NO = fwk.Status.unschedulable("not yet")


@pytest.mark.parametrize(
    ("answers", "status", "ran"),
    [
        pytest.param([], fwk.SUCCESS, "", id="no-plugins"),
        pytest.param([None, fwk.SUCCESS], fwk.SUCCESS, "AB", id="all-fine"),
        pytest.param([None, NO, None], NO.by("B"), "AB", id="first-refusal-gates"),
        pytest.param([fwk.Status.pending("x")], fwk.Status.pending("x").by("A"), "A", id="pending"),
        pytest.param([fwk.Status.error("x")], fwk.Status.error("x").by("A"), "A", id="error"),
        pytest.param([BROKEN, None], fwk.Status.error(BROKEN).by("A"), "A", id="exception"),
    ],
)
def test_pre_enqueue(answers, status, ran):
    log = []
    plugins = [PreEnqueue(chr(ord("A") + i), a, log=log) for i, a in enumerate(answers)]

    assert profile(*plugins).run_pre_enqueue(pod()) == status
    assert "".join(log) == ran


@pytest.mark.parametrize(("first", "ran"), [("", "ABC"), ("C", "CAB"), ("B", "BAC"), ("X", "ABC")])
def test_one_may_be_asked_first(first, ran):
    log = []
    profile(*(PreEnqueue(name, log=log) for name in "ABC")).run_pre_enqueue(pod(), first)

    assert "".join(log) == ran


def test_an_exception_at_pre_enqueue_is_logged(caplog):
    profile(PreEnqueue("A", BROKEN)).run_pre_enqueue(pod())

    assert caplog.records[0].exc_info[1] is BROKEN


def signing(kind, name, sign):
    plugin = kind(name)
    plugin.sign = sign
    return plugin


def by_label(pod):
    return pod.labels.get("app")


def refuse(pod):
    raise fwk.NotSignable


def fail(pod):
    raise BROKEN


class UnsignedFilter(Unsigned, Filter):
    """Cannot say what it looks at."""


class UnsignedBind(Unsigned, Bind):
    """Cannot say either, but does not judge."""


def test_equal_fragments_make_equal_pods():
    subject = profile(signing(Filter, "F", by_label))
    one, two, other = (pod(name, labels=f"app={name[0]}") for name in ("a1", "a2", "b"))

    assert subject.sign(one) == subject.sign(two) != subject.sign(other)


def test_priority_tells_pods_apart():
    subject = profile(Filter("F"))

    assert subject.sign(pod(priority=1)) != subject.sign(pod(priority=2))


def test_profiles_tell_pods_apart():
    first, second = profile(Filter("F")), profile(Filter("F"))
    second.name = "other"

    assert first.sign(pod()) != second.sign(pod())


@pytest.mark.parametrize("kind", [PreFilter, Filter, PreScore, Score])
def test_every_judge_is_asked(kind):
    subject = profile(signing(kind, "P", by_label))

    assert subject.sign(pod(labels="app=a")) != subject.sign(pod(labels="app=b"))


def test_a_plugin_at_several_points_is_asked_once():
    class Both(PreFilter, Filter):
        """Two points."""

    log = []
    subject = profile(signing(Both, "P", log.append))
    subject.sign(pod())

    assert len(log) == 1
    assert len(subject.judges) == 1


def test_one_unsigned_judge_is_enough():
    subject = profile(Filter("F"), UnsignedFilter("G"))

    assert subject.unsigned == ("G",)
    assert subject.sign(pod()) is None


def test_plugins_that_do_not_judge_need_no_signature():
    subject = profile(Filter("F"), UnsignedBind("B"))

    assert subject.unsigned == ()
    assert subject.sign(pod()) is not None


def test_a_plugin_may_refuse_a_pod():
    assert profile(Filter("F"), signing(Filter, "G", refuse)).sign(pod()) is None


def test_an_exception_while_signing_is_logged(caplog):
    assert profile(signing(Filter, "F", fail)).sign(pod()) is None

    (entry,) = caplog.records
    source = f"{toys.__file__}, class Filter"
    asked = "plugin failed plugin='F' point='Sign' pod='default/pod'"
    assert entry.getMessage() == f"{asked} source={source!r}"
    assert entry.exc_info[1] is BROKEN


def test_plugins_stand_at_their_points_in_order():
    plugins = [Filter("F"), Score("S"), Filter("G")]
    subject = profile(*plugins)

    assert [plugin.name for plugin in subject.filters] == ["F", "G"]
    assert [plugin.name for plugin in subject.plugins[Point.SCORE]] == ["S"]
    assert subject.plugins[Point.PERMIT] == ()


def test_queue_sort_is_the_one_plugin_there():
    class First(Toy, fwk.QueueSortPlugin):
        def less(self, first, second):
            return first.timestamp < second.timestamp

    plugin = First("First")

    assert profile(plugin).queue_sort is plugin
