"""The cluster of ``snapshot_story`` on a real API server, and what a scheduler decides there."""

import json
import time

from tests.support.snapshot_story import PENDING, STORY

PODS = "/api/v1/namespaces/story/pods"
_PATIENCE_SECONDS = 60


def tell_story(side):
    """Create all objects of the story."""
    for path, obj in STORY:
        write(side, "POST", path, obj)
        if obj["kind"] == "Node":  # an API server taints new nodes
            remove = [{"op": "replace", "path": "/spec/taints", "value": obj["spec"]["taints"]}]
            write(side, "PATCH", f"{path}/{obj['metadata']['name']}", remove)


def write(side, method, path, obj=None):
    body = None if obj is None else json.dumps(obj).encode()
    content = "application/json-patch+json" if method == "PATCH" else "application/json"
    code, answer, _ = side.request(method, path, body, **{"Content-Type": content})
    assert code < 300, answer
    return answer


def until_decided(read):
    """Wait until every pending pod has a node or a message; return these by name."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        found = {each["metadata"]["name"]: outcome(each) for each in read()}
        if all(any(found[name]) for name in PENDING):
            return {name: found[name] for name in PENDING}
    raise AssertionError(found)


def outcome(pod):
    conditions = pod["status"].get("conditions") or []
    messages = [each.get("message", "") for each in conditions if each["status"] == "False"]
    return pod["spec"].get("nodeName", ""), "".join(messages)
