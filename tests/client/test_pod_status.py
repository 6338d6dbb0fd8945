"""The body of a status patch, byte for byte as kube-scheduler sends it."""

import json

import pytest

from podium.api.objects import Condition, Pod, decode
from podium.client.status_patches import status_patch

NOW = "2026-01-02T03:04:05Z"
MESSAGE = "0/1 nodes are available: 1 Insufficient cpu."


def pending(*conditions, nominated=""):
    status = {"conditions": list(conditions), "nominatedNodeName": nominated}
    return decode(Pod, {"metadata": {"name": "web"}, "status": status})


def said(**changes):
    fields = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": MESSAGE,
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    return fields | changes


FAILED = Condition(
    type="PodScheduled",
    status="False",
    reason="Unschedulable",
    message=MESSAGE,
    observed_generation=1,
)
NEW = (
    '{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z",'
    f'"message":"{MESSAGE}","observedGeneration":1,"reason":"Unschedulable","status":"False",'
    '"type":"PodScheduled"}'
)
ORDER = '"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}]'
READY = {"type": "Ready", "status": "False"}


@pytest.mark.parametrize(
    ("pod", "condition", "nominated", "expected"),
    [
        pytest.param(pending(), FAILED, None, f'"conditions":[{NEW}]', id="the-first-condition"),
        pytest.param(
            pending(READY), FAILED, None, f'{ORDER},"conditions":[{NEW}]', id="beside-another"
        ),
        pytest.param(pending(said()), FAILED, None, None, id="said-already"),
        pytest.param(
            pending(READY, said(message="other")),
            FAILED,
            None,
            f'{ORDER},"conditions":[{{"message":"{MESSAGE}","observedGeneration":1,'
            '"type":"PodScheduled"}]',
            id="another-message",
        ),
        pytest.param(
            pending(said(status="True", reason="", message="", observedGeneration=1)),
            FAILED,
            None,
            '"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[{'
            f'"lastTransitionTime":"{NOW}","message":"{MESSAGE}","reason":"Unschedulable",'
            '"status":"False","type":"PodScheduled"}]',
            id="a-transition",
        ),
        pytest.param(
            pending(said(lastProbeTime=NOW, observedGeneration=3)),
            Condition(type="PodScheduled", status="False", reason="SchedulerError"),
            None,
            '"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[{'
            '"lastProbeTime":null,"message":null,"observedGeneration":null,'
            '"reason":"SchedulerError","type":"PodScheduled"}]',
            id="what-is-no-longer-said",
        ),
        pytest.param(pending(), None, "n1", '"nominatedNodeName":"n1"', id="nominated"),
        pytest.param(pending(nominated="n1"), None, "n1", None, id="nominated-already"),
        pytest.param(
            pending(nominated="n1"), None, "", '"nominatedNodeName":null', id="no-longer-nominated"
        ),
        pytest.param(pending(), None, "", None, id="never-nominated"),
        pytest.param(pending(nominated="n1"), None, None, None, id="nomination-left-alone"),
        pytest.param(
            pending(said()), FAILED, "n2", '"nominatedNodeName":"n2"', id="only-the-nomination"
        ),
        pytest.param(
            pending(),
            FAILED,
            "n2",
            f'"conditions":[{NEW}],"nominatedNodeName":"n2"',
            id="both",
        ),
    ],
)
def test_only_the_difference_is_sent(pod, condition, nominated, expected):
    found = status_patch(pod, condition, nominated, NOW)

    sent = None if found is None else json.dumps(found, separators=(",", ":"))
    assert sent == (None if expected is None else f'{{"status":{{{expected}}}}}')
