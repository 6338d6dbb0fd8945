"""What a profile says of a pod before it is tried: may it be queued, and which pods equal it."""

import pytest

from podium import framework as fwk
from podium.framework.points import Point
from podium.framework.profile import Profile
from podium.testing.builders import pod
from tests.support import toys
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
    plugins = {Point.FILTER: [Filter("F")]}
    first, second = Profile("first", plugins, {}), Profile("second", plugins, {})

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


def test_an_unsigned_judge_is_left_out_alone():
    subject = profile(signing(Filter, "F", by_label), UnsignedFilter("G"))

    assert subject.unsigned == ("G",)
    assert subject.sign(pod()).unsigned == {"G"}
    assert subject.sign(pod(labels="app=a")).key != subject.sign(pod(labels="app=b")).key


def test_plugins_that_do_not_judge_need_no_signature():
    subject = profile(Filter("F"), UnsignedBind("B"))

    assert subject.unsigned == ()
    assert subject.sign(pod()).unsigned == frozenset()


def test_a_plugin_may_refuse_a_pod():
    signature = profile(Filter("F"), signing(Filter, "G", refuse)).sign(pod())

    assert signature.unsigned == {"G"}
    assert signature.problems == ()


def test_an_exception_while_signing_is_logged(caplog):
    signature = profile(signing(Filter, "F", fail)).sign(pod())

    assert signature.unsigned == {"F"}
    (problem,) = signature.problems
    assert problem.startswith('plugin "F": sign(pod) raised RuntimeError: broken; return a hash')
    (entry,) = caplog.records
    source = f"{toys.__file__}, class Filter"
    asked = "plugin failed plugin='F' point='Sign' pod='default/pod'"
    assert entry.getMessage() == f"{asked} source={source!r}"
    assert entry.exc_info[1] is BROKEN


@pytest.mark.parametrize("answer", [["a"], {"a": 1}, ("a", ["b"])], ids=repr)
def test_a_signature_that_cannot_be_hashed_is_left_out(answer, caplog):
    subject = profile(signing(Filter, "F", by_label), signing(Filter, "G", lambda pod: answer))
    signature, other = subject.sign(pod(labels="app=a")), subject.sign(pod(labels="app=b"))

    assert signature.unsigned == {"G"}
    assert signature.key != other.key
    (problem,) = signature.problems
    said = f"sign(pod) returned {answer!r}, which cannot be hashed"
    assert problem.startswith(f'plugin "G": {said}; return a hashable value')
    assert "point='Sign'" in caplog.records[0].getMessage()


def test_who_is_left_out_tells_pods_apart():
    """Else a pod would get results that were kept without asking the plugin."""

    def sometimes(pod):
        if pod.name == "b":
            raise fwk.NotSignable
        return

    subject = profile(signing(Filter, "F", sometimes))

    assert subject.sign(pod("a")).key != subject.sign(pod("b")).key


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
