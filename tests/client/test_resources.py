"""Kinds of the API: where they are, and that the quick way to decode them is the right one."""

import json

import msgspec
import pytest

from podium.api.objects import Condition, Lease, Node, Pod, ReplicaSet, decode
from podium.client.resources import LEASES, PODS, custom_resource, resource_of, typed
from podium.errors import InvalidObject


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(PODS.path, "/api/v1/pods", id="all-pods"),
        pytest.param(
            PODS.path_of("a/b", "binding"), "/api/v1/namespaces/a/pods/b/binding", id="subresource"
        ),
        pytest.param(resource_of(Node).path_of("n"), "/api/v1/nodes/n", id="no-namespace"),
        pytest.param(
            resource_of(ReplicaSet).path, "/apis/apps/v1/replicasets", id="a-group-of-its-own"
        ),
        pytest.param(
            LEASES.path_in("kube-system"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
            id="to-create-in",
        ),
        pytest.param(
            custom_resource("foos.v1beta1.a.example.com").path,
            "/apis/a.example.com/v1beta1/foos",
            id="custom",
        ),
    ],
)
def test_paths(path, expected):
    assert path == expected


def test_a_type_that_is_no_kind():
    with pytest.raises(LookupError):
        resource_of(str)
    assert resource_of(Lease) is LEASES


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="nothing-special"),
        pytest.param(
            {
                "status": {
                    "conditions": [{"type": "Ready", "lastProbeTime": None, "status": "True"}]
                }
            },
            id="the-usual-null",
        ),
        pytest.param(
            {"status": {"conditions": [{"type": "Ready", "lastProbeTime": None}]}}, id="at-the-end"
        ),
        pytest.param({"spec": {"nodeName": None}, "status": None}, id="other-nulls"),
    ],
)
def test_the_quick_way_decodes_the_same(changes):
    obj = {"metadata": {"name": "a", "namespace": "b", "uid": "u"}, "spec": {"priority": 3}}
    raw = json.dumps(obj | changes, separators=(",", ":")).encode()

    assert typed(Pod)(raw, None) == decode(Pod, raw)


def test_the_usual_null_needs_no_second_attempt():
    """API servers write it into every condition of a pod."""
    raw = b'{"status":{"conditions":[{"type":"Ready","lastProbeTime":null}]}}'

    assert msgspec.json.decode(raw, type=Pod).status.conditions == (Condition("Ready"),)


@pytest.mark.parametrize("resource", [PODS, custom_resource("foos.v1.example.com")])
@pytest.mark.parametrize("raw", [b'{"metadata":{"name":"\xff"}}', b"[" * 100_000, b"{"])
def test_what_cannot_be_read_is_an_invalid_object(resource, raw):
    with pytest.raises(InvalidObject):
        resource.decode(raw, None)
