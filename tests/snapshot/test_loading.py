"""Loading: all accepted formats, what is missing from them, and files that cannot be read."""

import gzip
import json
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podium import snapshot
from podium.errors import InvalidObject, InvalidSnapshot
from podium.snapshot import KindName
from podium.snapshot.anonymizing import anonymize
from podium.snapshot.summary import summarize
from tests.support.search import examples

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "image": "app"}]},
}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s"},
    "data": {"a": "c2VjcmV0"},
}


def untyped(obj):
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}


def typed_list(*objects):
    kind = f"{objects[0]['kind']}List"
    return {"apiVersion": "v1", "kind": kind, "items": [untyped(obj) for obj in objects]}


def kubectl_list(*objects):
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


EXPORT = {
    "pods": [untyped(POD)],
    "nodes": [untyped(NODE)],
    "pvs": [],
    "pvcs": None,
    "storageClasses": [],
    "priorityClasses": [],
    "schedulerConfig": {"apiVersion": "kubescheduler.config.k8s.io/v1", "parallelism": 8},
    "namespaces": [],
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(kubectl_list(NODE, POD)), id="kubectl-json"),
        pytest.param(yaml.safe_dump(kubectl_list(NODE, POD)), id="kubectl-yaml"),
        pytest.param(yaml.safe_dump_all([NODE, POD]), id="several-documents"),
        pytest.param(json.dumps(NODE) + "\n" + json.dumps(POD, indent=2), id="several-json-values"),
        pytest.param(yaml.safe_dump_all([typed_list(NODE), typed_list(POD)]), id="typed-lists"),
        pytest.param(json.dumps(EXPORT), id="simulator-json"),
        pytest.param(yaml.safe_dump(EXPORT), id="simulator-yaml"),
    ],
)
@pytest.mark.parametrize("compress", [False, True])
def test_formats(tmp_path, text, compress):
    file = tmp_path / "dump"
    file.write_bytes(gzip.compress(text.encode()) if compress else text.encode())

    loaded = snapshot.load(file)

    assert list(loaded.dicts("Node")) == [NODE]
    assert list(loaded.dicts("Pod")) == [POD]
    assert loaded.source == str(file)


def test_simulator_configuration(tmp_path):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(EXPORT))
    assert snapshot.load(file).configuration == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 8,
    }


def test_directory(tmp_path):
    """As ``kubectl cluster-info dump --output-directory`` writes it."""
    (tmp_path / "default").mkdir()
    (tmp_path / "nodes.json").write_text(json.dumps(typed_list(NODE)))
    (tmp_path / "default" / "pods.json").write_text(json.dumps(typed_list(POD)))
    (tmp_path / "default" / "logs.txt").write_text("{")

    loaded = snapshot.load(tmp_path)

    assert {name.kind: len(found) for name, found in loaded.objects.items()} == {
        "Pod": 1,
        "Node": 1,
    }


def test_repeated_objects_are_noted(tmp_path):
    newer = {**POD, "spec": {"nodeName": "n"}}
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all([NODE, POD, newer]))

    loaded = snapshot.load(file)

    assert list(loaded.dicts("Pod")) == [newer]
    (note,) = loaded.notes
    key = f"{POD['metadata'].get('namespace', '')}/{POD['metadata']['name']}".removeprefix("/")
    assert note == f"objects that are there more than once: Pod {key}; the last of each counts"


def test_secrets_are_left_out_and_noted(tmp_path):
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all([NODE, SECRET]))

    loaded = snapshot.load(file)

    assert list(loaded.objects) == [KindName("v1", "Node")]
    assert loaded.notes == ("left out, because no decision depends on them: 1 Secret",)


def pod_with(**spec):
    return {**POD, "spec": {**POD["spec"], **spec}}


@pytest.mark.parametrize(
    ("objects", "missing"),
    [
        pytest.param([NODE, POD], {"Service", "PodDisruptionBudget"}, id="plain"),
        pytest.param([POD], {"Node", "Service", "PodDisruptionBudget"}, id="no-nodes"),
        pytest.param([NODE], {"Pod", "Service", "PodDisruptionBudget"}, id="no-pods"),
        pytest.param(
            [NODE, pod_with(priorityClassName="high")],
            {"Service", "PodDisruptionBudget", "PriorityClass"},
            id="priority-by-name",
        ),
        pytest.param(
            [NODE, pod_with(priorityClassName="high", priority=5)],
            {"Service", "PodDisruptionBudget"},
            id="priority-is-known",
        ),
        pytest.param(
            [NODE, pod_with(resourceClaims=[{"name": "gpu"}])],
            {
                "Service",
                "PodDisruptionBudget",
                "DeviceClass",
                "ResourceSlice",
                "DeviceTaintRule",
                "ResourceClaimTemplate",
                "ResourceClaim",
            },
            id="resource-claims",
        ),
    ],
)
def test_missing_kinds(tmp_path, objects, missing):
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(kubectl_list(*objects)))

    loaded = snapshot.load(file)

    assert {each.kind for each in loaded.missing} == missing
    assert loaded.is_partial


def test_missing_says_what_it_means(tmp_path):
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(kubectl_list(NODE, POD)))
    services = snapshot.load(file).missing[0]
    assert (
        str(services)
        == "Service objects are missing (not in the file): default spreading may differ"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "it holds no Kubernetes objects", id="empty"),
        pytest.param(b"hello", "it holds no Kubernetes objects", id="text"),
        pytest.param(b"\x00\x01\xff", "not UTF-8 text", id="binary"),
        pytest.param(b"{" * 300, "JSON is malformed", id="deep-yaml"),
        pytest.param(
            b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply", id="deep-json"
        ),
        pytest.param(b'{"kind":"List","items":[{"kind":', "cut short", id="json-cut-short"),
        pytest.param(b"a: b: c", "not readable as YAML", id="bad-yaml"),
        pytest.param(yaml.safe_dump(SECRET).encode(), "only Secret", id="only-secrets"),
        pytest.param(
            b'{"apiVersion":"v1","kind":"Pod","metadata":{}}',
            r"object 1 \(Pod\): it has no metadata.name",
            id="no-name",
        ),
        pytest.param(gzip.compress(b"x" * 1000)[:-6], "cut short", id="gzip-cut-short"),
        pytest.param(b"\x1f\x8bnot gzip at all", "damaged", id="not-gzip"),
    ],
)
def test_unreadable_files(tmp_path, data, message):
    file = tmp_path / "dump"
    file.write_bytes(data)
    with pytest.raises(InvalidSnapshot, match=message) as raised:
        snapshot.load(file)
    assert str(file) in str(raised.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "Pod", "x", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "apiVersion",
                    "kind",
                    "metadata",
                    "name",
                    "namespace",
                    "annotations",
                    "labels",
                    "spec",
                    "status",
                    "items",
                    "pods",
                    "nodes",
                    "volumes",
                    "ephemeral",
                    "containers",
                    "env",
                    "image",
                    "images",
                    "names",
                    "key",
                    "value",
                    "values",
                    "drivers",
                    "devices",
                    "conditions",
                    "selector",
                    "template",
                    "schedulerConfig",
                    "hostIP",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)
KINDS = [("v1", "Pod"), ("v1", "Node"), ("storage.k8s.io/v1", "CSINode")]


@given(value=json_values, kind=st.sampled_from(KINDS))
@examples(300)
def test_strange_values_are_loaded_or_refused(tmp_path_factory, value, kind):
    """Nothing but an InvalidSnapshot or InvalidObject comes out, also of what follows."""
    file = tmp_path_factory.mktemp("strange") / "dump.json"
    typed = {"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "n"}}
    inner = value if isinstance(value, dict) else {"spec": value}
    for content in (value, [typed, value], {**typed, **inner}, {**inner, **typed}):
        file.write_text(json.dumps(content))
        with suppress(InvalidSnapshot, InvalidObject):
            loaded = snapshot.load(file)
            anonymize(loaded)
            summarize(loaded)


def test_no_such_file(tmp_path):
    with pytest.raises(InvalidSnapshot, match="cannot be read: No such file"):
        snapshot.load(tmp_path / "nowhere")


def test_directory_without_objects(tmp_path):
    with pytest.raises(InvalidSnapshot, match=r"a directory without files \*.yaml"):
        snapshot.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param('{"a": NaN, "b": ]', "JSON is malformed: invalid character", id="nan"),
        pytest.param('{"a": 1} {"a": NaN}', "JSON has no such value: NaN", id="nan-later"),
        pytest.param('{"a": 1}\n{"a": ', "cut short|malformed|Expecting", id="cut-later"),
    ],
)
def test_json_that_cannot_be_read_is_reported_as_json(tmp_path, text, why):
    file = tmp_path / "dump.json"
    file.write_text(text)
    with pytest.raises(InvalidSnapshot, match=why) as found:
        snapshot.load(file)
    assert "YAML" not in str(found.value)


def test_large_numbers_and_a_list_of_objects(tmp_path):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "x": 10**30}
    other = {**node, "metadata": {"name": "b"}}
    several = tmp_path / "several.json"
    several.write_text(f"{json.dumps(node)} {json.dumps(other)}")
    listed = tmp_path / "listed.json"
    listed.write_text(json.dumps([node, other]))
    assert snapshot.load(several).objects == snapshot.load(listed).objects
    assert len(snapshot.load(listed)) == 2
