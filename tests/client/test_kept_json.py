"""Objects that keep their JSON: whole, but for what a list and a watch say differently."""

import msgspec
import pytest

from podium.api.objects import Pod
from podium.client.resources import NODES, PODS, keeping_json

MANAGED = [{"manager": "kubectl", "operation": "Update"}]
WEB = {
    "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
    "spec": {"containers": [{"name": "c", "command": ["sleep"]}], "hostname": "h"},
    "status": {"podIPs": [{"ip": "10.0.0.1"}]},
}


def sent(**more):
    obj = {**more, **WEB, "metadata": {**WEB["metadata"], "managedFields": MANAGED}}
    return msgspec.json.encode(obj)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(sent(), id="from-a-list"),
        pytest.param(sent(kind="Pod", apiVersion="v1"), id="from-a-watch"),
        pytest.param(msgspec.json.encode(WEB), id="without-managed-fields"),
    ],
)
def test_the_json_is_kept_without_what_nobody_reads(raw):
    kept = keeping_json(PODS).decode(raw, None)

    assert msgspec.json.decode(kept.raw_json) == WEB
    assert kept.raw("status.podIPs.0.ip") == "10.0.0.1"
    assert kept == PODS.decode(raw, None)


def test_only_objects_that_are_wanted_keep_it():
    pods = keeping_json(PODS, lambda pod: not pod.node_name)
    placed = {**WEB, "spec": {"nodeName": "n1"}}

    assert pods.decode(sent(), None).has_raw
    assert not pods.decode(msgspec.json.encode(placed), None).has_raw


def test_everything_else_about_the_kind_stays():
    for kind in (PODS, NODES):
        kept = keeping_json(kind)
        assert (kept.path, kept.field_selector, kept.needed) == (
            kind.path,
            kind.field_selector,
            kind.needed,
        )


def test_without_it_nothing_is_kept():
    assert not PODS.decode(sent(), None).has_raw
    assert isinstance(PODS.decode(sent(), None), Pod)
