import pytest

from podium import framework as fwk
from podium.framework.status import Code, Status

FAULT = RuntimeError("disk on fire")


def test_code_names_are_those_users_see():
    assert [code.value for code in Code] == [
        "Success",
        "Error",
        "Unschedulable",
        "UnschedulableAndUnresolvable",
        "Wait",
        "Skip",
        "Pending",
    ]


@pytest.mark.parametrize(
    ("status", "code", "rejects"),
    [
        pytest.param(fwk.SUCCESS, Code.SUCCESS, False, id="success"),
        pytest.param(fwk.skip(), Code.SKIP, False, id="skip"),
        pytest.param(Status(Code.WAIT), Code.WAIT, False, id="wait"),
        pytest.param(Status.error("x"), Code.ERROR, False, id="error"),
        pytest.param(Status.unschedulable("x"), Code.UNSCHEDULABLE, True, id="unschedulable"),
        pytest.param(
            Status.unresolvable("x"),
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            True,
            id="unresolvable",
        ),
        pytest.param(Status.pending("x"), Code.PENDING, True, id="pending"),
    ],
)
def test_codes(status, code, rejects):
    assert status.code is code
    assert status.is_rejection == rejects
    assert status.ok == (code is Code.SUCCESS)
    assert status.is_skip == (code is Code.SKIP)
    assert status.is_wait == (code is Code.WAIT)


@pytest.mark.parametrize(
    ("status", "reasons", "message"),
    [
        pytest.param(fwk.SUCCESS, (), "", id="nothing-to-say"),
        pytest.param(Status.unschedulable("a", "b"), ("a", "b"), "a, b", id="joined"),
        pytest.param(Status.error("a"), ("a",), "a", id="error-from-text"),
        pytest.param(Status.error(FAULT), ("disk on fire",), "disk on fire", id="error-from-fault"),
        pytest.param(
            Status(Code.ERROR, ("a", "b"), cause=FAULT),
            ("disk on fire", "a", "b"),
            "disk on fire, a, b",
            id="fault-comes-first",
        ),
    ],
)
def test_reasons(status, reasons, message):
    assert status.reasons == reasons
    assert status.message == message


@pytest.mark.parametrize(
    ("status", "text"),
    [
        pytest.param(fwk.SUCCESS, "Success", id="code-alone"),
        pytest.param(Status.unschedulable("a", "b"), "Unschedulable: a, b", id="with-reasons"),
    ],
)
def test_text(status, text):
    assert str(status) == text


def test_signing_changes_nothing_else():
    status = Status(Code.ERROR, ("a",), cause=FAULT)

    assert status.by("P") == Status(Code.ERROR, ("a",), "P", FAULT)
    assert status.plugin == ""


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Status.unresolvable("a").by("P"), id="code"),
        pytest.param(Status.unschedulable("b").by("P"), id="reasons"),
        pytest.param(Status.unschedulable("a").by("Q"), id="plugin"),
        pytest.param(Status(Code.UNSCHEDULABLE, ("a",), "P", FAULT), id="fault"),
    ],
)
def test_equality_looks_at(other):
    status = Status.unschedulable("a").by("P")

    assert status == Status.unschedulable("a").by("P")
    assert status != other
    assert len({status, other}) == 2


def test_faults_are_equal_by_identity():
    assert Status.error(FAULT) == Status.error(FAULT)
    assert Status.error(FAULT) != Status.error(RuntimeError("disk on fire"))


def test_wait_has_seconds_and_perhaps_a_reason():
    assert fwk.wait(10) == fwk.Wait(10, "")
    assert fwk.wait(10, "gang") == fwk.Wait(10, "gang")
