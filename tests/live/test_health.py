"""Health checks: which endpoint asks what, and the answers, as kube-scheduler gives them."""

import pytest

from podium.live.health import PING, Answer, Check, Health, all_of, one_of

BAD = Check("bad", lambda: "a secret")
GOOD = Check("good", lambda: None)


def health(**changes):
    well = {
        "is_stopping": lambda: False,
        "is_synced": lambda: True,
        "watches": lambda: None,
        "event_loop": lambda: None,
        "election": lambda: None,
    }
    return Health(**(well | changes))


def failing(health):
    """``{endpoint: {check: why}}`` of all that fail."""
    return {
        endpoint: {check.name: check.failing() for check in checks if check.failing()}
        for endpoint, checks in health.checks().items()
    }


@pytest.mark.parametrize(
    ("checks", "excluded", "verbose", "expected"),
    [
        pytest.param([GOOD], [], False, Answer(200, "ok"), id="well"),
        pytest.param(
            [PING, GOOD],
            [],
            True,
            Answer(200, "[+]ping ok\n[+]good ok\nreadyz check passed\n"),
            id="verbose",
        ),
        pytest.param(
            [PING, BAD],
            [],
            False,
            Answer(500, "[+]ping ok\n[-]bad failed: reason withheld\nreadyz check failed\n"),
            id="failure-is-verbose-and-keeps-its-reason",
        ),
        pytest.param([PING, BAD], ["bad"], False, Answer(200, "ok"), id="excluded"),
        pytest.param(
            [PING, BAD],
            ["bad"],
            True,
            Answer(200, "[+]ping ok\n[+]bad excluded: ok\nreadyz check passed\n"),
            id="excluded-verbose",
        ),
        pytest.param(
            [PING],
            ["x", "a", "x"],
            True,
            Answer(
                200,
                "[+]ping ok\nwarn: some health checks cannot be excluded: "
                'no matches for "a","x"\nreadyz check passed\n',
            ),
            id="unknown-exclusions",
        ),
    ],
)
def test_all_checks(checks, excluded, verbose, expected):
    assert all_of("readyz", checks, excluded, verbose) == expected


def test_one_check_tells_its_reason():
    assert one_of(BAD) == Answer(500, "internal server error: a secret\n")
    assert one_of(GOOD) == Answer(200, "ok")


def test_an_excluded_check_is_not_run():
    def explode():
        raise AssertionError

    assert all_of("livez", [Check("bomb", explode)], ["bomb"], False).status == 200


def test_checks_by_endpoint():
    names = {
        endpoint: [check.name for check in checks] for endpoint, checks in health().checks().items()
    }

    assert names == {
        "healthz": ["leaderElection", "event-loop"],
        "livez": ["ping", "event-loop"],
        "readyz": ["leaderElection", "shutdown", "sched-handler-sync", "watches"],
    }


def test_checks_without_leader_election():
    names = {
        endpoint: [check.name for check in checks]
        for endpoint, checks in health(election=None).checks().items()
    }

    assert names["healthz"] == ["ping", "event-loop"]
    assert names["readyz"] == ["shutdown", "sched-handler-sync", "watches"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, {}, id="well"),
        pytest.param(
            {"is_stopping": lambda: True},
            {"readyz": {"shutdown": "process is shutting down"}},
            id="stopping",
        ),
        pytest.param(
            {"is_synced": lambda: False},
            {"readyz": {"sched-handler-sync": "handlers are not fully synchronized"}},
            id="before-the-first-lists",
        ),
        pytest.param({"watches": lambda: "old"}, {"readyz": {"watches": "old"}}, id="stale"),
        pytest.param(
            {"event_loop": lambda: "stuck"},
            {"healthz": {"event-loop": "stuck"}, "livez": {"event-loop": "stuck"}},
            id="stalled",
        ),
        pytest.param(
            {"election": lambda: "late"},
            {"healthz": {"leaderElection": "late"}, "readyz": {"leaderElection": "late"}},
            id="leader-that-renews-no-more",
        ),
    ],
)
def test_what_fails_where(changes, expected):
    assert failing(health(**changes)) == {"healthz": {}, "livez": {}, "readyz": {}} | expected
