"""The status of a PodGroup follows from its pods, as with the controller of scheduler-plugins."""

import pytest

from podium.status_controllers.pod_groups import changed_status
from podium.testing import pod


def pods(*phases):
    return [pod(f"p{i}", status={"phase": phase}) for i, phase in enumerate(phases)]


def owned(*names):
    references = [
        {"apiVersion": "v1", "kind": "Owner", "name": each, "uid": each} for each in names
    ]
    return pod("p", owner_references=references)


RUN, DONE, FAIL, PEND = "Running", "Succeeded", "Failed", "Pending"


@pytest.mark.parametrize(
    ("status", "members", "expected"),
    [
        ({}, [], {"phase": "Pending"}),
        ({"phase": "Pending"}, pods(PEND), {}),
        ({"phase": "Pending"}, pods(PEND, PEND), {"phase": "Scheduling"}),
        (
            {"phase": "Pending"},
            [owned("b", "a"), *pods(PEND)],
            {"phase": "Scheduling", "occupiedBy": "default/a,default/b"},
        ),
        ({"phase": "Scheduling"}, pods(RUN, PEND), {"running": 1}),
        ({"phase": "Scheduling"}, pods(RUN, RUN), {"phase": "Running", "running": 2}),
        ({"phase": "Running", "running": 2}, pods(RUN, RUN), {}),
        (
            {"phase": "Running", "running": 2},
            pods(RUN, DONE),
            {"running": 1, "succeeded": 1},
        ),
        (
            {"phase": "Running", "running": 2},
            pods(DONE, DONE),
            {"phase": "Finished", "running": None, "succeeded": 2},
        ),
        (
            {"phase": "Running", "running": 2},
            pods(RUN, FAIL),
            {"phase": "Failed", "running": 1, "failed": 1},
        ),
        ({"phase": "Running", "running": 2}, pods(RUN), {"phase": "Pending", "running": 1}),
        ({"phase": "Finished"}, pods(RUN), {}),
        ({"phase": "Failed"}, pods(RUN, RUN), {}),
        ({"phase": "Scheduling", "scheduleStartTime": "2026-01-03T00:00:01Z"}, pods(RUN, RUN), {}),
        (
            {"phase": "Scheduling", "scheduleStartTime": "2026-01-03T00:00:00Z"},
            pods(RUN, RUN),
            {"phase": "Running", "running": 2},
        ),
    ],
)
def test_one_step(status, members, expected):
    group = {
        "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"minMember": 2},
        "status": status,
    }

    assert changed_status(group, members) == expected
