"""Odd objects in a snapshot: every command answers, or names the file and what is wrong."""

import json

import pytest
import yaml

from podium import snapshot
from podium.simulation import Simulation
from podium.snapshot import KindName, Snapshot
from tests.support import dumps
from tests.support.commands import Shell

POD = dumps.manifest("new", "1")


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("odd"))


def node(**parts):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "one"}, **parts}


def nested(depth):
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "obj",
    [
        pytest.param(
            node(metadata={"name": "one", "creationTimestamp": None, "labels": None}), id="metadata"
        ),
        pytest.param(node(spec=None, status=None), id="parts"),
        pytest.param(node(status={"conditions": [None], "addresses": [None]}), id="in-lists"),
        pytest.param(
            node(metadata={"name": "one", "uid": "u", "resourceVersion": "9" * 5000}),
            id="long-version",
        ),
    ],
)
def test_nulls_and_long_numbers_are_read(shell, tmp_path, obj):
    assert answers(shell, written(tmp_path, obj)) == ["", ""]


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        pytest.param(
            node(status={"allocatable": {"cpu": "5x"}}), "allocatable[cpu]: '5x'", id="quantity"
        ),
        pytest.param(node(spec=[]), "spec: Expected `object`, got `array`", id="type"),
    ],
)
def test_wrong_objects_are_reported_with_their_file(shell, tmp_path, obj, message):
    path = written(tmp_path, obj)
    for answer in answers(shell, path):
        assert answer.startswith(f"podium: {path}: Node")
        assert message in answer


def test_an_object_that_is_nested_too_deeply(shell, tmp_path):
    path = written(tmp_path, node(other=nested(600)))
    assert "Node: nested too deeply" in answers(shell, path)[-1]


def test_a_path_that_is_too_long(shell, tmp_path):
    for answer in answers(shell, tmp_path / ("x" * 256)):
        assert answer.endswith("cannot be read: File name too long\n")


def test_two_pods_of_one_uid(shell, tmp_path):
    placed = {**POD, "metadata": {"name": "web", "namespace": "default", "uid": "u"}}
    placed["spec"] = {**POD["spec"], "nodeName": "one"}
    raw = json.dumps(placed).encode()
    path = tmp_path / "cluster.podium"
    snapshot.write(Snapshot({KindName("v1", "Pod"): (raw, raw)}), path)
    assert answers(shell, path)[-1].startswith(f"podium: {path}: pod u(default/web) was already")


def test_the_order_of_kinds_in_a_file_does_not_matter(tmp_path):
    path = tmp_path / "cluster.podium"
    first, *objects, end = interleaved()
    path.write_bytes(b"\n".join([first, *objects, end, b""]))
    streamed = Simulation.from_snapshot(path)
    whole = Simulation.from_snapshot(snapshot.load(path))

    assert streamed.schedule().placed == whole.schedule().placed
    assert list(streamed.pending) == list(whole.pending)


def interleaved():
    """A deployment between pods, all of them new, and room for two pods."""
    yield json.dumps({"apiVersion": "podium.dev/v1", "kind": "Snapshot"}).encode()
    small = {"allocatable": {"cpu": "2", "memory": "9Gi", "pods": "9"}}
    template = {"metadata": {"labels": {"app": "d"}}, "spec": POD["spec"]}
    selector = {"matchLabels": {"app": "d"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 1, "selector": selector, "template": template},
    }
    pods = [{**POD, "metadata": {"name": name, "namespace": "default"}} for name in ("a", "b")]
    yield from (json.dumps(each).encode() for each in (node(status=small), pods[0], deployment))
    yield json.dumps(pods[1]).encode()
    yield b'{"end":{"objects":4}}'


def written(folder, obj):
    path = folder / "dump.json"
    path.write_text(json.dumps(obj))
    return path


def answers(shell, path):
    """Return the errors of two commands about this file; empty texts if there are none."""
    subject = path.with_name("pod.yaml")
    subject.write_text(yaml.safe_dump(POD))
    shown = shell.run("snapshot", "show", str(path))
    fitted = shell.run("simulate", "fit", str(subject), "--from", str(path))
    errors = (shown.stderr.partition("podium:"), fitted.stderr.partition("podium:"))
    assert shown.returncode == (2 if errors[0][1] else 0)
    return [start + text for _, start, text in errors]
