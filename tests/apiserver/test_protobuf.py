"""Requests in protobuf: well-formed ones become objects; others are refused, by 415 when they
might be in order."""

import pytest

from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.protobuf import MEDIA, decode
from podium.apiserver.statuses import Refusal
from tests.support.apiserver import CONFIG_MAPS, with_server

KINDS = builtin_kinds()


def field(number, value):
    """One field: bytes and texts with their length, numbers as such."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def envelope(api_version, kind, message):
    named_type = field(1, api_version) + field(2, kind)
    return b"k8s\x00" + field(1, named_type) + field(2, message)


META = field(1, field(1, "x") + field(11, field(1, "app") + field(2, "web")))


def test_texts_numbers_maps_and_lists():
    policy = field(1, "get") + field(1, "list") + field(3, "pods")
    role = decode(
        envelope("rbac.authorization.k8s.io/v1", "Role", META + field(2, policy)),
        KINDS.of("rbac.authorization.k8s.io/v1", "Role").schema,
    )

    assert role == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "x", "labels": {"app": "web"}},
        "rules": [{"verbs": ["get", "list"], "resources": ["pods"]}],
    }


def test_quantities_bytes_times_and_either_numbers_or_texts():
    quota = field(2, field(1, field(1, "pods") + field(2, field(1, "3"))))
    assert decode(envelope("v1", "ResourceQuota", META + quota), schema("ResourceQuota"))[
        "spec"
    ] == {"hard": {"pods": "3"}}

    secret = field(2, field(1, "a") + field(2, b"\x00\xff"))
    assert decode(envelope("v1", "Secret", META + secret), schema("Secret"))["data"] == {
        "a": "AP8="
    }

    port = field(3, 80) + field(4, field(1, 1) + field(3, "http"))
    service = field(2, field(1, port))
    assert decode(envelope("v1", "Service", META + service), schema("Service"))["spec"] == {
        "ports": [{"port": 80, "targetPort": "http"}]
    }


def test_what_nobody_set_is_left_out():
    """Go sends every field that is no pointer; a JSON client would not have."""
    spec = field(11, 0) + field(12, 0) + field(10, "") + field(4, 0)
    container = field(1, "c") + field(2, "nginx") + field(16, 0) + field(8, b"")
    body = field(1, field(1, "x") + field(2, "") + field(7, 0)) + field(
        2, field(2, container) + spec
    )

    found = decode(envelope("v1", "Pod", body), schema("Pod"))

    assert found["metadata"] == {"name": "x"}
    assert found["spec"] == {
        "containers": [{"name": "c", "image": "nginx", "resources": {}}],
        "terminationGracePeriodSeconds": 0,
    }


def test_fields_of_a_message_that_json_has_in_place():
    """A volume's source and a probe's handler are messages of their own, but only in protobuf."""
    volume = field(1, "v") + field(2, field(19, field(3, 0o644) + field(2, field(1, "k"))))
    probe = field(1, field(2, field(1, "/ready") + field(2, field(2, 8080)))) + field(4, 5)
    container = field(1, "c") + field(11, probe)

    found = decode(
        envelope("v1", "Pod", META + field(2, field(1, volume) + field(2, container))),
        schema("Pod"),
    )

    assert found["spec"]["volumes"] == [
        {"name": "v", "configMap": {"items": [{"key": "k"}], "defaultMode": 0o644}}
    ]
    assert found["spec"]["containers"] == [
        {
            "name": "c",
            "readinessProbe": {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 5},
        }
    ]


def test_json_inside_protobuf():
    """Field sets and the data of revisions travel as JSON texts."""
    entry = field(1, "kubectl") + field(7, field(1, '{"f:data":{}}'))
    owned = field(1, field(1, "x") + field(17, entry))
    assert decode(envelope("v1", "ConfigMap", owned), schema("ConfigMap"))["metadata"] == {
        "name": "x",
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:data": {}}}],
    }

    broken = field(1, field(17, field(7, field(1, "{"))))
    with pytest.raises(Refusal, match="the JSON inside it is broken"):
        decode(envelope("v1", "ConfigMap", broken), schema("ConfigMap"))


def schema(kind):
    return KINDS.of("v1", kind).schema


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"k8s\x00\x0a\xff", id="cut-short"),
        pytest.param(b"k8s\x00" + b"\xff" * 20, id="endless-number"),
        pytest.param(envelope("v1", "ConfigMap", field(9, "x")), id="unknown-field"),
        pytest.param(envelope("v1", "ConfigMap", field(1, 5)), id="number-for-a-message"),
    ],
)
def test_what_cannot_be_read_is_415(body):
    with pytest.raises(Refusal) as caught:
        decode(body, schema("ConfigMap"))

    assert caught.value.code == 415


@pytest.mark.parametrize("body", [b"", b"{}", b"k8s"])
def test_what_is_no_protobuf_is_400(body):
    with pytest.raises(Refusal, match=r"unrecognized \(must be of type ConfigMap\)") as caught:
        decode(body, schema("ConfigMap"))

    assert caught.value.code == 400


@with_server
async def test_a_request_is_answered_in_json(client):
    body = envelope("v1", "ConfigMap", META + field(2, field(1, "a") + field(2, "b")))

    status, made = await client.call("POST", CONFIG_MAPS, body, MEDIA)

    assert (status, made["data"]) == (201, {"a": "b"})
