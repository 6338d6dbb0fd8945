"""`podium simulate`: what it answers, in which formats, and what it says about mistakes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import yaml

from tests.support.commands import Shell

NODES = 4


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path)


@pytest.fixture
def dump(tmp_path):
    """Four nodes in two zones; three pods of a ReplicaSet on the first, and a bare one."""
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"node-{number}",
                "uid": f"n{number}",
                "labels": {
                    "kubernetes.io/hostname": f"node-{number}",
                    "topology.kubernetes.io/zone": "ab"[number % 2],
                    "pool": "old" if number < 2 else "new",
                },
            },
            "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "10"}},
        }
        for number in range(NODES)
    ]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs"}
    pods = [
        placed(f"web-{number}", "500m", ownerReferences=[{**owner, "controller": True}])
        for number in range(3)
    ]
    return written(tmp_path / "dump.yaml", *nodes, *pods)


def placed(name, cpu, node="node-0", **meta):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, **meta},
        "spec": {"nodeName": node, "containers": [container(cpu)]},
        "status": {"phase": "Running"},
    }


def container(cpu):
    return {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}


def written(path, *objects):
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def pod(path, cpu="1", **spec):
    meta = {"name": "more"}
    spec = {"containers": [container(cpu)], **spec}
    return written(path, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})


# --- answers -------------------------------------------------------------------------------------


def test_fit(shell, dump, tmp_path):
    done = shell.run("simulate", "fit", pod(tmp_path / "pod.yaml"), "--from", dump)

    assert done.returncode == 0
    assert "6 more default/more fit on 3 nodes" in done.stdout
    assert "runs out first: Insufficient cpu" in done.stdout
    assert "note: Service objects are missing" in done.stderr


def test_fit_of_a_pod_that_is_too_large(shell, dump, tmp_path):
    done = shell.run("simulate", "fit", pod(tmp_path / "pod.yaml", "9"), "--from", dump)

    assert done.returncode == 1
    assert "does not fit: no more default/more fit" in done.stdout


def test_drain_as_json(shell, dump):
    done = shell.run("simulate", "drain", "node-0", "--from", dump, "-o", "json")

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["apiVersion"] == "simulation.podium.dev/v1"
    assert report["fits"] is True
    assert {move["pod"] for move in report["moves"]} == {f"default/web-{n}" for n in range(3)}
    assert report["before"]["nodes"] - report["after"]["nodes"] == report["after"]["cordoned"] == 1
    assert report["after"]["resources"][0]["share"] == 0.25


def test_add_with_replicas_as_csv(shell, dump, tmp_path):
    file = pod(tmp_path / "pod.yaml")

    done = shell.run("simulate", "add", "-f", file, "--replicas", "8", "--from", dump, "-o", "csv")

    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert done.returncode == 1
    assert [row["change"] for row in rows] == ["placed"] * 6 + ["unplaced"] * 2
    assert "Insufficient cpu" in rows[-1]["detail"]


@pytest.mark.parametrize(
    ("pods", "verdict"),
    [
        pytest.param([("bare", "1")], "lost: 1 pod that nothing replaces", id="lost"),
        pytest.param(
            [("bare", "1"), ("set", "2")],
            "does not fit: 1 pod without a node; lost: 1 pod that nothing replaces",
            id="both",
        ),
    ],
)
def test_what_a_drain_loses(shell, dump, tmp_path, pods, verdict):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "x"}
    objects = [
        placed(name, cpu, "node-1",
               **({"ownerReferences": [{**owner, "controller": True}]} if name == "set" else {}))
        for name, cpu in pods
    ]  # fmt: skip
    full = [placed(f"full-{number}", "1500m", f"node-{number}") for number in (2, 3)]
    nodes = [each for each in yaml.safe_load_all(Path(dump).read_text()) if each["kind"] == "Node"]
    made = written(tmp_path / "lost.yaml", *nodes, *objects, *full, placed("zero", "1"))

    done = shell.run("simulate", "drain", "node-1", "--from", made)

    assert done.stdout.splitlines()[-1] == verdict
    assert done.returncode == 1


def test_a_pod_of_another_scheduler_does_not_fit(shell, dump, tmp_path):
    file = pod(tmp_path / "pod.yaml", schedulerName="default-schedular")

    done = shell.run("simulate", "add", "-f", file, "--from", dump)

    assert done.returncode == 1
    assert 'no profile is named "default-schedular"; did you mean "default-scheduler"?' in (
        done.stdout
    )


def test_nodes_that_come_and_go(shell, dump):
    done = shell.run(
        "simulate", "nodes", "--remove", "pool=old", "--add", "like:node-3*2", "--from", dump
    )

    assert done.returncode == 0
    assert "add 2 nodes like node-3; then remove nodes pool=old" in done.stdout
    assert "moved  3" in done.stdout


def test_compare_with_a_configuration_that_packs(shell, dump, tmp_path):
    fit = {
        "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    }
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": fit}]}],
    }
    packing = written(tmp_path / "packing.yaml", configuration)

    done = shell.run("simulate", "compare", "default", packing, "--from", dump, "-o", "json")

    comparison = json.loads(done.stdout)
    assert done.returncode == 0
    assert comparison["first"]["placed"] == comparison["second"]["placed"] == 3
    assert comparison["differences"]
    assert comparison["second"]["figures"]["fullness"].count(0) > 0


def test_upgrade(shell, dump):
    done = shell.run("simulate", "upgrade", "--from", dump)

    assert done.returncode == 0
    assert "1.36 against 1.37" in done.stdout
    assert "3 of 3 pods have the same node in both" in done.stdout


def test_a_scenario_file(shell, dump, tmp_path):
    pod(tmp_path / "pod.yaml")
    steps = [
        {"nodes": {"add": "like:node-3*1"}},
        {"drain": ["node-0"]},
        {"add": {"file": "pod.yaml", "replicas": 2}},
        {"fit": "pod.yaml"},
    ]
    scenario = {"apiVersion": "simulation.podium.dev/v1", "kind": "Scenario", "steps": steps}

    done = shell.run(
        "simulate", "run", written(tmp_path / "s.yaml", scenario), "--from", dump, "-o", "json"
    )

    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert len(report["steps"]) == 4
    assert [fit["count"] for fit in report["fit"]] == [3]


def test_plots(shell, dump, tmp_path):
    drawn = tmp_path / "drain.svg"

    done = shell.run("simulate", "drain", "node-0", "--from", dump, "--plot", str(drawn))

    assert done.returncode == 0
    assert "nodes by how full they are" in drawn.read_text()


def test_a_plugin_that_raises_is_named(shell, dump, tmp_path):
    plugin = tmp_path / "broken.py"
    plugin.write_text(
        "import podium\n\n@podium.filter\ndef broken(pod, node):\n    raise ValueError('oops')\n"
    )
    file = pod(tmp_path / "pod.yaml")

    added = shell.run("simulate", "add", "-f", file, "--from", dump, "--plugin", str(plugin))
    fitted = shell.run("simulate", "fit", file, "--from", dump, "--plugin", str(plugin))

    assert added.returncode == 1
    assert 'running "broken" filter plugin: oops' in added.stdout
    assert fitted.returncode == 2
    assert 'default/more: running "broken" filter plugin: oops' in fitted.stderr


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            ("drain", "nodee-0"),
            'no Node "nodee-0" in the simulation; did you mean "node-0"?',
            id="unknown-node",
        ),
        pytest.param(("drain", "nod"), 'did you mean "node-0"?', id="beginning-of-a-name"),
        pytest.param(
            ("nodes", "--add", "like:node-9*2"), 'no Node "node-9"', id="like-unknown-node"
        ),
        pytest.param(
            ("nodes", "--add", "like:node-0*99999999"),
            "the number of nodes must be from 1 to 200,000, not 99,999,999",
            id="many-nodes",
        ),
        pytest.param(("nodes", "--remove", ""), "--remove: must not be empty", id="no-nodes"),
        pytest.param(("drain", ""), "NODE: must not be empty", id="empty-node"),
        pytest.param(("compare", "default", ""), "must not be empty", id="empty-variant"),
        pytest.param(
            ("compare", "default", "default,"), '"default," is not a variant', id="half-a-variant"
        ),
        pytest.param(
            ("compare", "default", "9.99"),
            "podium does not know release 9.99; it knows 1.36 and 1.37",
            id="unknown-release",
        ),
        pytest.param(("fit", ""), "POD.yaml: must not be empty", id="empty-file"),
        pytest.param(("nodes", "--add", "node-1*2"), "expected like:NODE", id="without-like"),
        pytest.param(("nodes", "--remove", "pool=none"), 'no node matches "pool=none"', id="none"),
        pytest.param(("nodes", "--remove", "a in ("), "is not a label selector", id="no-selector"),
        pytest.param(("nodes",), "nothing to do: give --add or --remove", id="nothing"),
        pytest.param(("fit", "missing.yaml"), "missing.yaml: cannot be read", id="no-file"),
        pytest.param(("compare", "default", "none.yaml"), "none.yaml", id="no-configuration"),
        pytest.param(("compare", "default", "none.py"), "none.py: cannot be read", id="no-plugin"),
        pytest.param(
            ("drain", "node-0", "--plot", "x.gif"), "must end with .svg or .png", id="gif"
        ),
        pytest.param(
            ("drain", "node-0", "--context", "x"), "leave it out beside --from", id="both"
        ),
    ],
)
def test_mistakes(shell, dump, args, message):
    done = shell.run("simulate", *args, "--from", dump)

    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


def test_a_dump_without_nodes(shell, tmp_path):
    dump = written(tmp_path / "dump.yaml", placed("web", "1"))

    done = shell.run("simulate", "drain", "node-0", "--from", dump)

    assert done.returncode == 2
    assert "has no nodes, so no pod can be placed" in done.stderr


def test_fit_takes_one_pod(shell, dump):
    done = shell.run("simulate", "fit", dump, "--from", dump)

    assert done.returncode == 2
    assert "must hold one Pod, not Node, Node" in done.stderr


def test_all_problems_of_a_scenario_are_listed(shell, dump, tmp_path):
    steps = [
        {"drian": ["node-0"]},
        {"add": {"file": "web.yaml", "replica": 3}},
        {"add": "none.yaml"},
        {"drain": []},
        {"nodes": {"add": 3}},
        {"nodes": {"add": "like:node-0*99999999"}},
        {"add": {"file": "web.yaml", "replicas": 10**9}},
        {"add": {"file": "web.yaml", "replicas": True}},
        {"fit": "pod.yaml", "drain": ["a"]},
        "drain",
    ]
    file = written(tmp_path / "s.yaml", {"kind": "Scenario", "steps": steps, "stps": []})

    done = shell.run("simulate", "run", file, "--from", dump)

    assert done.returncode == 2
    assert f"{file} has 12 problems" in done.stderr
    for text in (
        "apiVersion: must be simulation.podium.dev/v1, not None",
        'stps: no such field; did you mean "steps"?',
        'steps[0].drian: no such step; did you mean "drain"?',
        'steps[1].add.replica: no such field; did you mean "replicas"?',
        "steps[2].add: ",
        "steps[3].drain: must be a list of names of nodes",
        "steps[4].nodes.add: must be text, not 3",
        "steps[5].nodes: the number of nodes must be from 1 to 200,000, not 99,999,999",
        "steps[6].add: replicas must be from 1 to 200,000, not 1,000,000,000",
        "steps[7].add.replicas: must be a number, not True",
        "steps[8]: must have exactly one of add, drain, fit, nodes",
        "steps[9]: must have exactly one of add, drain, fit, nodes",
    ):
        assert text in done.stderr


@pytest.mark.parametrize("content", ["", "[1, 2]", "a: [", "\x00", "steps: {}"])
def test_a_scenario_that_is_none(shell, dump, tmp_path, content):
    file = tmp_path / "s.yaml"
    file.write_text(content)

    done = shell.run("simulate", "run", str(file), "--from", dump)

    assert done.returncode == 2
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr


def test_pods_on_nodes_that_are_not_there_count_nowhere(shell, tmp_path, dump):
    text = (tmp_path / "dump.yaml").read_text()
    lost = yaml.safe_dump(placed("lost", "1", node="node-7"))
    (tmp_path / "dump.yaml").write_text(f"{text}---\n{lost}")

    done = shell.run("simulate", "fit", pod(tmp_path / "pod.yaml"), "--from", dump)

    assert "6 more default/more fit on 3 nodes" in done.stdout
