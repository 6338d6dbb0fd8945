"""What the exceptions tell about what happened."""

import pytest

from podium.errors import ApiError, Unreachable


@pytest.mark.parametrize(
    ("fault", "is_refusal"),
    [
        pytest.param(ApiError("invalid", 422), True, id="invalid"),
        pytest.param(ApiError("no right", 403), True, id="forbidden"),
        pytest.param(ApiError("gone", 404), True, id="not-found"),
        pytest.param(ApiError("changed", 409), True, id="conflict"),
        pytest.param(ApiError("later", 429), True, id="too-many-requests"),
        pytest.param(ApiError("too slow", 408), False, id="the-request-timed-out"),
        pytest.param(ApiError("broken", 500), False, id="the-server-failed"),
        pytest.param(ApiError("too slow", 504), False, id="a-gateway-timed-out"),
        pytest.param(Unreachable("cut"), False, id="no-answer"),
    ],
)
def test_a_refusal_says_that_nothing_was_done(fault, is_refusal):
    assert fault.is_refusal is is_refusal


@pytest.mark.parametrize(
    ("fault", "may_be_done"),
    [
        pytest.param(ApiError("changed", 409), False, id="refused"),
        pytest.param(ApiError("broken", 500), True, id="the-server-failed"),
        pytest.param(Unreachable("cut"), True, id="no-answer"),
        pytest.param(Unreachable("refused", sent=False), False, id="not-sent"),
    ],
)
def test_an_earlier_try_can_put_a_refusal_in_doubt(fault, may_be_done):
    assert fault.may_be_done is may_be_done

    fault.follows_doubt = True

    assert fault.may_be_done
    assert not fault.is_refusal
