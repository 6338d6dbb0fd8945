"""How the answers of all PostFilter plugins become one."""

import pytest

from podium import framework as fwk
from podium.testing.builders import node, pod
from tests.support.toys import PostFilter, profile

NODES = fwk.Rows.of(node("a"))
STATUSES = fwk.NodeStatuses.none(NODES, fwk.Status.unschedulable("full"))
BROKEN = RuntimeError("broken")
FAULT = 'running PostFilter plugin "A": broken'
U = fwk.Status.unschedulable
UU = fwk.Status.unresolvable
A, B = fwk.Nominate("a"), fwk.Nominate("b")
CLEAR = fwk.Nominate("")


def run(*answers):
    """Plugins A, B, C … with these answers; also the names of those that ran."""
    log = []
    plugins = [PostFilter(chr(ord("A") + i), a, log=log) for i, a in enumerate(answers)]
    subject = profile(*plugins)
    return subject.run_post_filters(fwk.CycleState(), pod(), STATUSES), "".join(log)


@pytest.mark.parametrize(
    ("answers", "wish", "status", "ran"),
    [
        pytest.param([], None, U(), "", id="no-plugins"),
        pytest.param([(A, fwk.SUCCESS), (B, U("x"))], A, fwk.SUCCESS, "A", id="success-ends-it"),
        pytest.param([(None, U("x")), (A, fwk.SUCCESS)], A, fwk.SUCCESS, "AB",
                     id="success-forgets-reasons"),
        pytest.param([(None, U("x", "y")), (None, U("z"))], None, U("x", "y", "z").by("A"), "AB",
                     id="reasons-are-joined-first-is-blamed"),
        pytest.param([(None, fwk.Status.pending("x"))], None, U("x").by("A"), "A",
                     id="pending-counts-as-unschedulable"),
        pytest.param([(A, U("x")), (B, U("y"))], B, U("x", "y").by("A"), "AB",
                     id="last-wish-wins"),
        pytest.param([(CLEAR, U("x")), (None, U("y"))], CLEAR, U("x", "y").by("A"), "AB",
                     id="no-wish-leaves-the-last"),
        pytest.param([(A, U("x")), (CLEAR, U("y"))], CLEAR, U("x", "y").by("A"), "AB",
                     id="clearing-is-a-wish"),
        pytest.param([(CLEAR, UU("x")), (A, fwk.SUCCESS)], CLEAR, UU("x").by("A"), "A",
                     id="unresolvable-ends-it"),
        pytest.param([(A, U("x")), (None, UU("y"))], None, UU("y").by("B"), "AB",
                     id="unresolvable-stands-alone"),
        pytest.param([(A, U("x")), (B, fwk.Status.error("no disk")), (A, fwk.SUCCESS)], None,
                     fwk.Status.error("no disk").by("B"), "AB", id="error-ends-it-unwrapped"),
        pytest.param([(A, fwk.skip())], None, fwk.Status(fwk.Code.ERROR, (), "A"), "A",
                     id="skip-is-not-for-here"),
        pytest.param([BROKEN, (A, fwk.SUCCESS)], None, fwk.Status.error(FAULT).by("A"), "A",
                     id="exception"),
    ],
)  # fmt: skip
def test_post_filters(answers, wish, status, ran):
    assert run(*answers) == ((wish, status), ran)


def test_the_message_about_an_exception_names_the_plugin():
    (_, status), _ = run(BROKEN)

    assert status.message == 'running PostFilter plugin "A": broken'


def test_an_answer_that_is_no_pair_is_a_fault(caplog):
    (_, status), _ = run(None)

    assert status.code is fwk.Code.ERROR
    assert caplog.records[0].getMessage().startswith("plugin failed plugin='A' point='PostFilter'")


def test_plugins_get_the_statuses():
    seen = []

    def answer(pod, statuses):
        seen.append(statuses)
        return None, fwk.SUCCESS

    run(answer)

    assert seen == [STATUSES]
