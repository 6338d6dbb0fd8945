"""How the answers of all PreFilter plugins become one."""

import pytest

from podium import framework as fwk
from podium.framework.answers import AttemptFailed
from podium.framework.pre_filtered import combine
from podium.testing.builders import node, pod
from tests.support import toys
from tests.support.toys import PreFilter, profile

NODES = fwk.Rows.of(node("a"), node("b"), node("c"))
BROKEN = RuntimeError("broken")
U = fwk.Status.unschedulable
UU = fwk.Status.unresolvable


def only(*names):
    return fwk.PreFilterResult(frozenset(names))


def run(*answers, state=None, kept=None):
    """Plugins A, B, C … with these answers; also the names of those that ran."""
    log = []
    plugins = [PreFilter(chr(ord("A") + i), a, log=log) for i, a in enumerate(answers)]
    state = state or fwk.CycleState()
    subject = profile(*plugins)
    if kept is None:
        return subject.run_pre_filters(state, pod(), NODES), "".join(log)

    def ask(plugin):
        return subject.pre_filter(plugin, state, pod(), NODES)

    return combine(plugins, kept, ask, state), "".join(log)


@pytest.mark.parametrize(
    ("answers", "status", "ran"),
    [
        pytest.param([], fwk.SUCCESS, "", id="no-plugins"),
        pytest.param([None, fwk.SUCCESS], fwk.SUCCESS, "AB", id="all-fine"),
        pytest.param([UU("x"), None], UU("x").by("A"), "A", id="unresolvable-stops"),
        pytest.param([U("x"), None], U("x").by("A"), "AB", id="unschedulable-goes-on"),
        pytest.param([U("x"), U("y"), None], U("y").by("B"), "ABC", id="last-unschedulable-wins"),
        pytest.param([U("x"), UU("y"), None], UU("y").by("B"), "AB", id="unresolvable-wins"),
        pytest.param([U("x").by("Z"), None], U("x").by("A"), "AB", id="signed-by-who-said-it"),
        pytest.param([fwk.skip(), None], fwk.SUCCESS, "AB", id="skip"),
        pytest.param([fwk.Status(fwk.Code.SKIP, ("x",))], fwk.SUCCESS, "A", id="skip-with-words"),
        pytest.param([U("x"), fwk.skip()], U("x").by("A"), "AB", id="skip-does-not-forgive"),
    ],
)
def test_statuses(answers, status, ran):
    result, asked = run(*answers)

    assert (result.status, asked) == (status, ran)


@pytest.mark.parametrize(
    ("answers", "names", "by"),
    [
        pytest.param([None], None, "", id="all-nodes"),
        pytest.param([only("a", "b")], "ab", "A", id="one-set"),
        pytest.param([None, only("a")], "a", "B", id="all-and-a-set"),
        pytest.param([only("a", "b"), None, only("b", "c")], "b", "AC", id="sets-intersect"),
        pytest.param([only("a", "b", "c")], "abc", "A", id="even-if-it-is-all"),
        pytest.param([only("nowhere")], {"nowhere"}, "A", id="names-that-are-no-nodes"),
        pytest.param([U("x"), only("a")], "a", "B", id="beside-a-rejection"),
        pytest.param([only("a"), UU("x")], None, "", id="forgotten-by-unresolvable"),
    ],
)
def test_node_sets(answers, names, by):
    result, _ = run(*answers)

    assert result.node_names == (None if names is None else set(names))
    assert result.narrowed_by == set(by)


@pytest.mark.parametrize(
    ("answers", "text", "ran", "by"),
    [
        pytest.param([only(), None], "node(s) didn't satisfy plugin A", "A", "A",
                     id="one-plugin-wants-none"),
        pytest.param([None, only("b"), only("a"), None],
                     "node(s) didn't satisfy plugin(s) [B C] simultaneously", "ABC", "BC",
                     id="two-do-not-agree"),
        pytest.param([U("x"), only()], "node(s) didn't satisfy plugin B", "AB", "B",
                     id="wins-over-unschedulable"),
    ],
)  # fmt: skip
def test_no_node_is_left(answers, text, ran, by):
    result, asked = run(*answers)

    assert result.status == UU(text)  # signed by nobody: no plugin's event helps
    assert (asked, result.narrowed_by, result.node_names) == (ran, set(by), set())


def test_names_are_sorted_in_the_text():
    late, early = PreFilter("Z", only("a")), PreFilter("B", only("b"))

    result = profile(late, early).run_pre_filters(fwk.CycleState(), pod(), NODES)

    text = "node(s) didn't satisfy plugin(s) [B Z] simultaneously"
    assert result.status.message == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(fwk.Status.error("no disk"), "no disk", id="error"),
        pytest.param(BROKEN, "broken", id="exception"),
        pytest.param(fwk.Status.pending("later"), "later", id="pending-is-not-for-here"),
        pytest.param(fwk.Status(fwk.Code.WAIT, ("hm",)), "hm", id="nor-is-wait"),
    ],
)
def test_faults_end_the_attempt(answer, text):
    with pytest.raises(AttemptFailed) as caught:
        run(None, answer, None)

    expected = fwk.Status.error(f'running PreFilter plugin "B": {text}').by("B")
    assert caught.value.status == expected


def test_an_exception_is_logged_with_its_traceback(caplog):
    with pytest.raises(AttemptFailed):
        run(BROKEN)

    (entry,) = caplog.records
    source = f"{toys.__file__}, class PreFilter"
    asked = "plugin failed plugin='A' point='PreFilter' pod='default/pod'"
    assert entry.getMessage() == f"{asked} source={source!r}"
    assert entry.exc_info[1] is BROKEN


def test_an_error_that_is_an_answer_is_not_logged(caplog):
    with pytest.raises(AttemptFailed):
        run(fwk.Status.error("no disk"))

    assert not caplog.records


@pytest.mark.parametrize(
    ("answers", "skipped"),
    [
        pytest.param([fwk.skip(), None, fwk.skip()], "AC", id="those-that-skip"),
        pytest.param([fwk.skip(), UU("x"), fwk.skip()], "A", id="also-when-it-ends-early"),
        pytest.param([None], "", id="none"),
    ],
)
def test_skips_are_remembered(answers, skipped):
    state = fwk.CycleState()
    run(*answers, state=state)

    assert state.skip_filter == set(skipped)


def test_skips_are_remembered_after_a_fault():
    state = fwk.CycleState()
    with pytest.raises(AttemptFailed):
        run(fwk.skip(), BROKEN, state=state)

    assert state.skip_filter == {"A"}


def test_plugins_see_all_nodes_whatever_others_want():
    seen = []
    plugins = [PreFilter("A", only("a")), PreFilter("B", lambda pod, nodes: seen.extend(nodes))]
    profile(*plugins).run_pre_filters(fwk.CycleState(), pod(), NODES)

    assert [node.name for node in seen] == ["a", "b", "c"]


def test_kept_answers_are_taken_instead():
    first, _ = run(only("a", "b"), fwk.skip(), U("x"))
    kept = {name: first.answers[name] for name in "AC"}

    state = fwk.CycleState()
    second, asked = run(None, fwk.skip(), None, state=state, kept=kept)

    assert asked == "B"
    assert (second.node_names, second.status, state.skip_filter) == (
        {"a", "b"},
        U("x").by("C"),
        {"B"},
    )
    assert second.answers == first.answers
