"""Cells of tables: durations, and one word for a pod's state."""

import pytest

from podium.apiserver.json_path import first_value
from podium.apiserver.kinds.columns import human_duration
from podium.apiserver.kinds.core.pods import pod_status


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "<invalid>"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (12_000, "3h20m"),
        (28_800, "8h"),
        (172_800, "2d"),
        (180_000, "2d2h"),
        (700_000, "8d"),
        (63_072_000, "2y"),
        (64_000_000, "2y10d"),
        (260_000_000, "8y"),
    ],
)
def test_durations(seconds, expected):
    assert human_duration(seconds) == expected


def container(ready=False, **state):
    return {"ready": ready, "state": state}


@pytest.mark.parametrize(
    ("status", "meta", "expected"),
    [
        pytest.param({"phase": "Pending"}, {}, "Pending", id="phase"),
        pytest.param({"phase": "Failed", "reason": "Evicted"}, {}, "Evicted", id="reason"),
        pytest.param(
            {"phase": "Pending", "containerStatuses": [container(waiting={"reason": "Creating"})]},
            {},
            "Creating",
            id="waiting",
        ),
        pytest.param(
            {"phase": "Failed", "containerStatuses": [container(terminated={"exitCode": 3})]},
            {},
            "ExitCode:3",
            id="exit-code",
        ),
        pytest.param({"phase": "Running"}, {"deletionTimestamp": "x"}, "Terminating", id="deleted"),
        pytest.param(
            {
                "phase": "Pending",
                "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
            },
            {},
            "SchedulingGated",
            id="gated",
        ),
        pytest.param(
            {"phase": "Pending", "initContainerStatuses": [container(running={})]},
            {},
            "Init:0/1",
            id="initialising",
        ),
    ],
)
def test_pod_states(status, meta, expected):
    pod = {"metadata": meta, "spec": {"initContainers": [{"name": "i"}]}, "status": status}

    assert pod_status(pod) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".a.b", 1),
        (".list[1]", "y"),
        (".a['b']", 1),
        ('.conditions[?(@.type=="Ready")].status', "True"),
        (".none.b", None),
        (".a..b", None),
    ],
)
def test_json_paths(path, expected):
    obj = {
        "a": {"b": 1},
        "list": ["x", "y"],
        "conditions": [{"type": "Other"}, {"type": "Ready", "status": "True"}],
    }

    assert first_value(obj, path) == expected
